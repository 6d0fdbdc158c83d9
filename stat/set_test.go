package stat

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	a := NewTable("sm", []Desc{{Name: "insts"}, {Name: "stalls"}}, 2, 2)
	b := NewTable("llc", []Desc{{Name: "hits"}}, 1, 2)
	a.Row(0, 1)[1], a.Row(1, 1)[1] = 3, 4
	s := Set{a, b}
	c, err := s.Find("sm.stalls")
	if err != nil || c.Of(1) != 7 || c.Of(0) != 0 || c.At(1, 1) != 4 {
		t.Errorf("%v %d %d %d", err, c.Of(1), c.Of(0), c.At(1, 1))
	}
	for name, want := range map[string]string{
		"sm.stall": "sm has insts, stalls", "cpu.insts": "this machine counts sm, llc",
		"hits": "this machine counts sm, llc",
	} {
		if _, err := s.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
