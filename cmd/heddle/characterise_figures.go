package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/lab/characterise"
	"github.com/heddle-sim/heddle/report/figure"
)

// drawProfiles writes sharing.svg (NUBA's Figure 3), compute.svg and memory.svg (UGPU's Figures 2 and 3) into dir, as
// far as the profiles have their numbers.
func drawProfiles(dir string, groups [][]characterise.Profile, seeds *characterise.Seeds) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	figures := map[string]*figure.Figure{
		"compute.svg": sliceFigure(characterise.ComputeBound, groups, seeds),
		"memory.svg":  sliceFigure(characterise.MemoryBound, groups, seeds),
		"sharing.svg": sharingFigure(groups, seeds),
	}
	drawn := 0
	for _, name := range []string{"sharing.svg", "compute.svg", "memory.svg"} {
		if figures[name] == nil {
			continue
		}
		drawn++
		if err := figures[name].Write(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if drawn == 0 {
		return fmt.Errorf("nothing to draw: figures need applications that the papers name, with --sweep or at " +
			"--size paper")
	}
	return nil
}

// sharingFigure is nil if no application of NUBA's table was measured at the preset of its claims.
func sharingFigure(groups [][]characterise.Profile, seeds *characterise.Seeds) *figure.Figure {
	f := &figure.Figure{
		Title: "Pages by the number of SMs that touch them",
		Note:  "As NUBA's Figure 3: 64 SMs, pages of 4 KB, CTAs in contiguous groups. The groups are the paper's.",
	}
	one := 1.0
	for _, class := range []string{characterise.LowSharing, characterise.HighSharing} {
		p := figure.Panel{
			Title: class + "-sharing in the paper", YLabel: "share of pages", Kind: figure.Stacked,
			YMax: &one,
		}
		for _, name := range []string{"1 SM", "2 to 10", "11 to 25", "26 to 64"} {
			p.Series = append(p.Series, figure.Series{Name: name})
		}
		for _, x := range claimed(groups, seeds, "nuba") {
			// a sweep has a size of its own
			if x.claim.Sharing != class || x.profile.Memory == nil || x.profile.Size != x.preset ||
				len(x.profile.SMs) > 0 {
				continue
			}
			p.Ticks = append(p.Ticks, x.claim.Name)
			for i, v := range x.profile.Memory.SharedBy {
				p.Series[i].Y = append(p.Series[i].Y, v)
			}
		}
		if len(p.Ticks) > 0 {
			f.Panels = append(f.Panels, p)
		}
	}
	if len(f.Panels) == 0 {
		return nil
	}
	return f
}

// sliceFigure is nil where no application of the class has a sweep.
func sliceFigure(class string, groups [][]characterise.Profile, seeds *characterise.Seeds) *figure.Figure {
	byChannels := figure.Panel{
		Title: "40 SMs", XLabel: "memory channels",
		YLabel: "IPC relative to 40 SMs and 16 channels",
	}
	bySMs := figure.Panel{Title: "16 channels", XLabel: "SMs", YLabel: byChannels.YLabel}
	zero, one := 0.0, 1.0
	for _, p := range []*figure.Panel{&byChannels, &bySMs} {
		p.YMin, p.RefLine = &zero, &one
	}
	for _, x := range claimed(groups, seeds, "ugpu") {
		if x.claim.Bound != class || len(x.profile.SMs) == 0 {
			continue
		}
		byChannels.Series = append(byChannels.Series, relative(x.claim.Name, x.profile.Channel))
		bySMs.Series = append(bySMs.Series, relative(x.claim.Name, x.profile.SMs))
	}
	if len(bySMs.Series) == 0 {
		return nil
	}
	return &figure.Figure{
		Title:  "Performance of " + class + "-bound applications by channels and SMs",
		Note:   "As UGPU's Figures 2 and 3: each alone in an isolated slice. The classes are the paper's.",
		Panels: []figure.Panel{byChannels, bySMs},
	}
}

// relative is a curve over its middle point: half of the machine.
func relative(name string, points []characterise.Point) figure.Series {
	s := figure.Series{Name: name}
	half := points[len(points)/2].IPC
	for _, p := range points {
		if half > 0 {
			s.X, s.Y = append(s.X, float64(p.N)), append(s.Y, p.IPC/half)
		}
	}
	return s
}

// claimedProfile is a profile with what a paper says of its application.
type claimedProfile struct {
	claim   *characterise.Claim
	profile *characterise.Profile
	preset  string // at which the claim is judged
}

// claimed lists the profiles of one seed's applications, in the order of its claims.
func claimed(groups [][]characterise.Profile, seeds *characterise.Seeds, seed string) (out []claimedProfile) {
	for i := range seeds.Claims {
		c := &seeds.Claims[i]
		for _, g := range groups {
			for k := range g {
				if c.Seed == seed && g[k].App == c.App {
					out = append(out, claimedProfile{c, &g[k], seeds.PresetOf(c)})
				}
			}
		}
	}
	return out
}
