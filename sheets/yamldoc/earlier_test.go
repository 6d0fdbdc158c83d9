package yamldoc

import (
	"strings"
	"testing"
)

// A key is read by its earlier name, too, but not by both, and only today's name is suggested.
func TestEarlierNames(t *testing.T) {
	type entry struct {
		Period uint64 `yaml:"period" was:"epoch"`
	}
	for _, c := range []struct{ text, says string }{
		{"period: 5", ""},
		{"epoch: 5", ""},
		{"epoch: 5\nperiod: 5", "epoch is the earlier name of period, which is given, too: keep period"},
		{"periods: 5", "did you mean period?"},
		{"epochs: 5", `unknown key "epochs"`},
	} {
		root, err := Parse("x.yaml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		var e entry
		err = Decode(root, "an entry", &e)
		switch {
		case c.says == "" && (err != nil || e.Period != 5):
			t.Errorf("%q: %v, %+v", c.text, err, e)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%q: %v, want %q", c.text, err, c.says)
		}
	}
}
