package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// The L1 spreads lines over its sets as l1d.index says.
func TestL1Index(t *testing.T) {
	for _, kind := range []string{"linear", "xor", "ipoly"} {
		s, _, err := sheets.Resolve("qv100", map[string]string{"l1d.index": kind, "l1d.sets": "16", "l1d.ways": "16"})
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := Derive(s)
		if err != nil {
			t.Fatal(err)
		}
		set, err := addrmap.NewSetIndex(kind, 16)
		if err != nil {
			t.Fatal(err)
		}
		var l1 L1
		if err := l1.carve(&cfg.l1, 0); err != nil {
			t.Fatal(err)
		}
		for n := range uint64(4096) {
			if got, want := l1.tags.Set(n*128), uint32(set.Of(n)); uint32(got) != want {
				t.Fatalf("%s: line %d in set %d, want %d", kind, n, got, want)
			}
		}
	}
}
