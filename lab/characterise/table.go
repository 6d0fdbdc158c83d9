package characterise

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/text"
)

// Table is rows under a heading; the first row names the columns.
type Table struct {
	Title, Note string
	Rows        [][]string
}

const none = "-" // a cell without a value

// Tables lays out the profiles of one preset beside what the papers claim.
func Tables(profiles []Profile, s *Seeds) []Table {
	if t := sweeps(profiles); len(t.Rows) > 1 {
		return []Table{traffic(profiles, s), conditions(profiles), t}
	}
	return []Table{traffic(profiles, s), conditions(profiles), sharing(profiles, s), regularity(profiles, s)}
}

// claim is what a seed says of an application; nil when it says nothing.
func (s *Seeds) claim(app, seed string) *Claim {
	for i := range s.Claims {
		if s.Claims[i].App == app && s.Claims[i].Seed == seed {
			return &s.Claims[i]
		}
	}
	return nil
}

// label marks an application whose memory was observed in part.
func (p *Profile) label() string {
	if p.Skipped != "" {
		return p.App + " *"
	}
	return p.App
}

// arguments are those given besides the preset, and the machine's parameters.
func (p *Profile) arguments() string {
	var list []string
	for _, m := range []map[string]string{p.Args, p.Set} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			list = append(list, k+"="+m[k])
		}
	}
	return strings.Join(list, " ")
}

func number(v *float64) string {
	if v == nil {
		return none
	}
	return fmt.Sprintf("%g", *v)
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

func megabytes(n uint64) string { return fmt.Sprintf("%.3g", float64(n)/1e6) }

// claimed is what a seed's claim says in words; none where it says nothing.
func claimed(c *Claim, of func(*Claim) string) string {
	if c == nil || of(c) == "" {
		return none
	}
	return of(c)
}

func traffic(profiles []Profile, s *Seeds) Table {
	t := Table{
		Title: "Traffic and bound",
		Note: "MPKI and APKI: LLC misses and accesses per 1000 thread instructions. Bound: UGPU compares the demand " +
			"of all SMs with the supply of all channels (section 3.2); APKI and hit rate are measured. Flops do not " +
			"include matrix instructions.",
		Rows: [][]string{{
			"app", "thread insts", "MPKI", "MPKI (UGPU)", "APKI", "L1 hit", "LLC hit", "writes", "flop/B",
			"IPC", "GB/s", "demand/supply", "bound", "UGPU", "SMQoS",
		}},
	}
	for i := range profiles {
		p := &profiles[i]
		x := p.Traffic
		if x == nil {
			continue
		}
		u, q := s.claim(p.App, "ugpu"), s.claim(p.App, "smqos")
		mpki := none
		if u != nil {
			mpki = number(u.MPKI)
		}
		bound := func(c *Claim) string { return c.Bound }
		name := p.App
		if x.Stopped {
			name += " +"
		}
		t.Rows = append(t.Rows, []string{
			name, fmt.Sprintf("%.3g M", float64(x.ThreadInsts)/1e6), fmt.Sprintf("%.3g",
				x.MPKI), mpki, fmt.Sprintf("%.3g", x.APKI), percent(x.L1Hit), percent(x.LLCHit),
			percent(x.WriteShare), fmt.Sprintf("%.3g", x.Intensity), fmt.Sprintf("%.0f", x.IPC), fmt.Sprintf("%.0f",
				x.Bandwidth), fmt.Sprintf("%.2f", x.Demand/x.Supply),
			x.Bound(), claimed(u, bound), claimed(q, bound),
		})
	}
	return t
}

func sharing(profiles []Profile, s *Seeds) Table {
	t := Table{
		Title: "Footprint and sharing",
		Note: "Pages of 4 KB by the number of SMs (of 64) that touch them, with CTAs in contiguous groups " +
			"(distributed scheduling), as in NUBA's Figure 3. 1 SM, dealt: the same with CTAs dealt one by one. " +
			"Read-only shared: lines of 128 B that several SMs read in a launch that does not write them. " +
			"Low sharing: more than 80 % of the pages have one SM.",
		Rows: [][]string{{
			"app", "launches", "CTAs", "footprint MB", "MB (UGPU)", "MB (NUBA)", "read-only shared MB",
			"MB (NUBA)", "1 SM", "2-10", "11-25", "26-64", "1 SM, dealt", "sharing", "NUBA",
		}},
	}
	for i := range profiles {
		p := &profiles[i]
		m := p.Memory
		if m == nil {
			continue
		}
		u, n := s.claim(p.App, "ugpu"), s.claim(p.App, "nuba")
		size := func(c *Claim) string { return fmt.Sprintf("%g", c.Footprint) }
		shared := none
		if n != nil {
			shared = number(n.ReadOnly)
		}
		row := []string{
			p.label(), fmt.Sprint(m.Launches), fmt.Sprint(m.CTAs), megabytes(m.Bytes), claimed(u, size),
			claimed(n, size), megabytes(m.ReadOnlyShared), shared,
		}
		for _, v := range m.SharedBy {
			row = append(row, percent(v))
		}
		t.Rows = append(t.Rows, append(row, percent(m.DealtBy[0]), m.Sharing(),
			claimed(n, func(c *Claim) string { return c.Sharing })))
	}
	return t
}

func regularity(profiles []Profile, s *Seeds) Table {
	t := Table{
		Title: "Regularity",
		Note: fmt.Sprintf("Shapes of warp accesses to global memory with at least two lanes: uniform, unit stride, "+
			"strided below a line, block (a dense row repeated in groups of lanes), sparse (a stride of a line or "+
			"more), scattered. Wide: scattered over more than %d pages. Order: of a launch's first touches of 64 KiB "+
			"blocks, the share next to a block that it had touched (67 %% in random order; launches on at least %d "+
			"blocks). Repeat: touched pages that an earlier launch had touched. Spread: of a launch's first touches "+
			"of pages, the share in warp accesses with more than %d first touches. Thin: pages of which a launch "+
			"touches fewer than %d of 32 lines. Patterns (UVM, section 6.2): irregular if wide, spread or thin is "+
			"above %.0f %%, or order below %.0f %%; random if wide or spread is at least %.0f %%; regular if repeat "+
			"is at least %.0f %%; otherwise streaming.",
			together, enough, together, few, 100*irregular, 100*ordered, 100*random, 100*repeated),
		Rows: [][]string{{
			"app", "accesses", "single lane", "uniform", "unit", "strided", "block", "sparse",
			"scattered", "wide", "order", "repeat", "spread", "thin", "pattern", "UVM",
		}},
	}
	for i := range profiles {
		p := &profiles[i]
		m := p.Memory
		if m == nil {
			continue
		}
		row := []string{p.label(), fmt.Sprint(m.Accesses)}
		for _, v := range m.Shapes {
			row = append(row, percent(v))
		}
		order := none
		if m.OrderTouches > 0 {
			order = percent(m.Order)
		}
		t.Rows = append(t.Rows, append(row, order, percent(m.Repeat), m.Pattern(),
			claimed(s.claim(p.App, "uvm"), func(c *Claim) string { return c.Pattern })))
	}
	return t
}

func sweeps(profiles []Profile) Table {
	t := Table{
		Title: "IPC by SMs and channels",
		Note: "IPC relative to half of the machine: by SMs with half of the channels, and by channels with half of " +
			"the SMs, as in UGPU's Figures 2 and 3. The slice is isolated, and translation is on.",
	}
	head := []string{"app", "arguments"}
	for i := range profiles {
		p := &profiles[i]
		if len(p.SMs) == 0 {
			continue
		}
		row := []string{p.App, p.arguments()}
		for _, list := range []struct {
			what   string
			points []Point
		}{{"SMs", p.SMs}, {"channels", p.Channel}} {
			for _, x := range list.points {
				if len(t.Rows) == 0 {
					head = append(head, fmt.Sprintf("%d %s", x.N, list.what))
				}
				cell := none
				if half := list.points[len(list.points)/2].IPC; half > 0 && x.IPC > 0 {
					cell = fmt.Sprintf("%.2f", x.IPC/half)
				}
				row = append(row, cell)
			}
		}
		if len(t.Rows) == 0 {
			t.Rows = append(t.Rows, head)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Text prints the tables for a terminal.
func Text(w io.Writer, profiles []Profile, s *Seeds) error {
	for _, t := range Tables(profiles, s) {
		if len(t.Rows) < 2 {
			continue
		}
		fmt.Fprintln(w, text.Folded(t.Title, 2, text.Width))
		if err := text.Table(w, "  ", t.Rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, line := range append(omissions(profiles), verdicts([][]Profile{profiles}, s)...) {
		fmt.Fprintln(w, text.Folded(line, 2, text.Width))
	}
	return nil
}
