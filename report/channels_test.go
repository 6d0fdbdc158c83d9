package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// The channels of a fast tier come first and say so, and what was written is read again.
func TestChannelNames(t *testing.T) {
	for _, c := range []struct {
		machine string
		want    []string // the first name, the last ones
		count   int
	}{
		{"qv100", []string{"channel_0_bytes", "channel_31_bytes"}, 32},
		{
			"hydrogen",
			[]string{"fast_channel_0_bytes", "fast_channel_15_bytes", "channel_0_bytes", "channel_3_bytes"},
			20,
		},
	} {
		m, from, err := sheets.Load(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		r := &sim.Result{
			Machine: sim.MachineSheet{Name: c.machine, Numbers: from.List(m)},
			Epochs:  []sim.Epoch{{Cycle: 100, ChannelBytes: make([]uint64, c.count)}},
		}
		for k := range r.Epochs[0].ChannelBytes {
			r.Epochs[0].ChannelBytes[k] = uint64(32 * k)
		}
		var b bytes.Buffer
		if err := ChannelsCSV(&b, r); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(b.String(), "\n")
		names := strings.Split(head, ",")
		if len(names) != 1+c.count || names[1] != c.want[0] || names[len(names)-1] != c.want[len(c.want)-1] {
			t.Errorf("%s: %s", c.machine, head)
		}
		for _, w := range c.want {
			if strings.Count(","+head+",", ","+w+",") != 1 {
				t.Errorf("%s: %s is not there once: %s", c.machine, w, head)
			}
		}
		again := &sim.Result{Epochs: []sim.Epoch{{Cycle: 100}}}
		if err := readChannels(b.Bytes(), again); err != nil || len(again.Epochs[0].ChannelBytes) != c.count ||
			again.Epochs[0].ChannelBytes[c.count-1] != uint64(32*(c.count-1)) {
			t.Errorf("%s: read %v, %v", c.machine, again.Epochs[0].ChannelBytes, err)
		}
	}
}
