package stat

import (
	"reflect"
	"strings"
	"testing"
)

func TestSums(t *testing.T) {
	a := NewTable("sm", []Desc{{Name: "insts"}}, 2, 2)
	b := NewTable("noc_request", []Desc{{Name: "stalls"}, {Name: "flits"}}, 1, 2)
	c := NewTable("noc_reply", []Desc{{Name: "flits"}}, 1, 2)
	s := Set{a, b, c}
	a.Row(0, 1)[0], a.Row(1, 1)[0], b.Row(0, 1)[1] = 3, 4, 10
	before := s.Sums(1)
	a.Row(0, 1)[0], b.Row(0, 1)[1], c.Row(0, 1)[0] = 13, 11, 5
	d := s.Sums(1).Minus(before)
	if want := (Sums{{10}, {0, 1}, {5}}); !reflect.DeepEqual(d, want) {
		t.Errorf("difference %v, want %v", d, want)
	}
	sum := s.Zero()
	sum.Add(before)
	sum.Add(d)
	if !reflect.DeepEqual(sum, s.Sums(1)) {
		t.Errorf("%v plus %v is not %v", before, d, sum)
	}
	flits, err := s.Parts("noc.flits")
	if err != nil || flits.Of(d) != 6 {
		t.Errorf("flits of both networks: %d, %v", flits.Of(d), err)
	}
	if both, err := s.Parts("sm.insts", "noc_reply.flits", "cpu.insts"); err != nil || both.Of(d) != 15 {
		t.Errorf("parts of several tables: %d, %v", both.Of(d), err)
	}
	if _, err := s.Parts("noc.stalls"); err == nil || !strings.Contains(err.Error(), "noc_reply counts no stalls") {
		t.Errorf("%v", err)
	}
	g := Set{NewTable("sm", []Desc{{Name: "insts"}, {Name: "ctas_now", Kind: Gauge}}, 1, 1)}
	g[0].Row(0, 0)[1] = 3
	full := g.Sums(0)
	g[0].Row(0, 0)[0], g[0].Row(0, 0)[1] = 5, 2
	if d := g.Sums(0).Minus(full); !reflect.DeepEqual(d, Sums{{5, 0}}) {
		t.Errorf("a gauge that falls makes a difference of %v", d)
	}
	if OfKind("nocturnal", "noc") || !OfKind("dram_far", "dram") || !OfKind("dram", "dram") {
		t.Error("kinds")
	}
}
