package yamldoc

// sort is a sort of YAML file that users write: the keys that no other sort has, and what takes it.
type sort struct {
	what string
	keys []string
	use  string
}

func sorts() []sort {
	return []sort{
		{"a run file", []string{"apps"}, "heddle run FILE"},
		{"a sweep file", []string{"vary"}, "heddle sweep FILE"},
		{
			"a machine sheet",
			[]string{"sources", "base", "sm", "dram", "llc"},
			"--machine FILE, or machine: FILE in a run file",
		},
		{"a study", []string{"figures", "schemes", "mixes"}, "heddle reproduce FOLDER"},
	}
}

// Instead is an error if a file that should be of one kind ("a run file") is of another: it has keys of that other
// kind and none of its own.
func (n *Node) Instead(want string) error {
	var other *sort
	for _, s := range sorts() {
		for _, k := range s.keys {
			switch {
			case n.Get(k) == nil:
			case s.what == want:
				return nil
			case other == nil:
				other = &s
			}
		}
	}
	if other == nil {
		return nil
	}
	return n.Errorf("this is %s, and %s is needed here; %s takes it", other.what, want, other.use)
}
