package script

import "testing"

func TestLoadMethod(t *testing.T) {
	for src, want := range map[string]string{
		"a.load(1)":               "a.load_(1)",
		"a.load":                  "a.load_",
		"a.loads(1).load (2)":     "a.loads(1).load_ (2)",
		"load('a.load') # a.load": "load('a.load') # a.load",
		`"\".load".load`:          `"\".load".load_`,
		`"""x"".load""".load`:     `"""x"".load""".load_`,
		"'a\nb.load(":             "'a\nb.load_(",
		"'''.load":                "'''.load",
		"#.load\n.load\n#":        "#.load\n.load_\n#",
	} {
		if got := allowLoadMethod(src); got != want {
			t.Errorf("%q -> %q, want %q", src, got, want)
		}
	}
}
