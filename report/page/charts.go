package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// chart is what the script draws of a run.
type chart struct {
	Label   string      `json:"label"`
	Cycles  uint64      `json:"cycles"`
	Tenants []string    `json:"tenants"`
	Colors  []string    `json:"colors"`
	X       []uint64    `json:"x"`         // ends of epochs
	IPC     [][]float64 `json:"ipc"`       // per tenant
	GBs     [][]float64 `json:"bandwidth"` // per tenant
	OnCPU   []bool      `json:"on_cpu"`    // tenants whose IPC is of the CPU's clock
	Memory  [][]float64 `json:"memory"`    // per channel, GB/s,
	Fast    int         `json:"fast"`      // of these, the first Fast belong to a fast tier
	Tracks  []track     `json:"tracks"`
	Marks   []mark      `json:"marks"`
}

// track is the row of one SM or channel group.
type track struct {
	Name  string `json:"name"`
	Spans []bar  `json:"spans"`
}

// bar is one owner's time. State is empty where the owner simply owns.
type bar struct {
	Start  uint64 `json:"start"`
	End    uint64 `json:"end"`
	Tenant int    `json:"tenant"` // -1: nobody's
	State  string `json:"state,omitempty"`
}

// mark is one decision.
type mark struct {
	Cycle   uint64 `json:"cycle"`
	Changed bool   `json:"changed"`
	Touched uint64 `json:"touched"`
	Swept   uint64 `json:"swept"`
	Gained  uint64 `json:"gained"`
}

func newChart(in Run) chart {
	r := in.Result
	c := chart{Label: in.Label, Cycles: r.Cycles, Tracks: []track{}, Marks: []mark{}, X: []uint64{}}
	for i := range r.Tenants {
		c.Tenants = append(c.Tenants, r.Tenants[i].Name)
		c.Colors = append(c.Colors, palette(i))
		c.IPC = append(c.IPC, nil)
		c.GBs = append(c.GBs, nil)
		c.OnCPU = append(c.OnCPU, r.Tenants[i].CPU != nil && r.Tenants[i].SMs == 0)
	}
	for _, e := range r.Epochs {
		c.X = append(c.X, e.Cycle)
		for i := range e.Tenants {
			c.IPC[i] = append(c.IPC[i], e.Tenants[i].IPC)
			c.GBs[i] = append(c.GBs[i], e.Tenants[i].BandwidthGBs)
		}
	}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		var p pages
		for j := range d.Groups {
			p.add(&d.Groups[j])
		}
		c.Marks = append(c.Marks, mark{d.Cycle, d.Changed, p.Touched, p.Swept, p.Gained})
	}
	c.Tracks, c.Memory, c.Fast = tracks(in, c.Tenants), memory(r), report.FastChannels(r)
	return c
}

// memory is what each channel moved over time, in GB/s.
func memory(r *sim.Result) [][]float64 {
	out := [][]float64{}
	if len(r.Epochs) == 0 || r.Cycles == 0 {
		return out
	}
	cycle, before := r.Seconds/float64(r.Cycles), uint64(0)
	for range r.Epochs[0].ChannelBytes {
		out = append(out, nil)
	}
	for i := range r.Epochs {
		e := &r.Epochs[i]
		for k := range out {
			out[k] = append(out[k], float64(e.ChannelBytes[k])/(float64(e.Cycle-before)*cycle)/1e9)
		}
		before = e.Cycle
	}
	return out
}

// tracks lists SMs and then channel groups, each in the order of their numbers.
func tracks(in Run, tenants []string) []track {
	at := map[string]int{}
	out := []track{}
	for _, s := range in.Result.Spans {
		if !isOwnership(s.Track) || s.End <= s.Start {
			continue
		}
		i, ok := at[s.Track]
		if !ok {
			i = len(out)
			at[s.Track] = i
			out = append(out, track{Name: s.Track})
		}
		b := bar{Start: s.Start, End: s.End, Tenant: slices.Index(tenants, s.Name)}
		if b.Tenant < 0 { // draining, switching: whose it was or becomes
			b.State, b.Tenant = s.Name, s.Tenant
		}
		out[i].Spans = append(out[i].Spans, b)
	}
	for i := range out {
		slices.SortStableFunc(out[i].Spans, func(a, b bar) int { return cmp.Compare(a.Start, b.Start) })
	}
	slices.SortFunc(out, func(a, b track) int {
		return cmp.Or(cmp.Compare(kind(a.Name), kind(b.Name)), cmp.Compare(ordinal(a.Name), ordinal(b.Name)),
			cmp.Compare(a.Name, b.Name))
	})
	return out
}

func kind(track string) int {
	if strings.HasPrefix(track, "SM ") {
		return 0
	}
	return 1
}

// ordinal is the number a track's name ends in.
func ordinal(track string) int {
	n, err := strconv.Atoi(track[strings.LastIndexByte(track, ' ')+1:])
	if err != nil {
		return -1
	}
	return n
}
