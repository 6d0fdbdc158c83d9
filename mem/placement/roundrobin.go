package placement

// roundRobin gives consecutive pages to consecutive groups (NUBA, section 4).
func roundRobin(v *View) int { return v.Turn % len(v.Groups) }

func roundRobinEntry() Entry {
	return Entry{
		Name: "round-robin", What: "pages go to the tenant's channel groups in turn", Source: "UGPU paper, section 4",
		Make: always(roundRobin),
	}
}
