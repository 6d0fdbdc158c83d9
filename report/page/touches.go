package page

import (
	"fmt"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// touchesView has the SMs and partitions that touch pages: how many SMs a page has, and from which partitions the
// pages of each home are touched.
type touchesView struct {
	Table  table
	Homes  []heatRow // a row per home; empty where pages have none
	Local  string    // of the pages of the map, the share that only their home touches
	Legend string
}

// heatRow is the pages of a home.
type heatRow struct {
	Home  int
	Cells []heatCell
}

// heatCell is the pages of a home that some SM of a partition touches.
type heatCell struct {
	Title string
	Depth string // of the colour, from 0 to 1
}

func touchesOf(r *sim.Result) *touchesView {
	t := r.Touches
	if t == nil {
		return nil
	}
	v := &touchesView{}
	names, _ := report.SharingClasses(len(t.BySMs))
	pages, all := report.BySharing(t.BySMs)
	v.Table.Head, v.Table.Rows = []string{"touched by", "pages", "share"}, nil
	for k, n := range names {
		v.Table.Rows = append(v.Table.Rows, []string{n, whole(pages[k]), shareOf(pages[k], all)})
	}
	v.Table.Rows = append(v.Table.Rows, []string{"all", whole(all), ""})
	v.homes(t.Homes)
	return v
}

func (v *touchesView) homes(homes [][]uint64) {
	var most, local, sum uint64
	for h, row := range homes {
		for p, n := range row {
			most, sum = max(most, n), sum+n
			if h == p {
				local += n
			}
		}
	}
	if most == 0 {
		return
	}
	for h, row := range homes {
		r := heatRow{Home: h}
		for p, n := range row {
			r.Cells = append(r.Cells, heatCell{
				Title: fmt.Sprintf("home %d, partition %d: %d pages", h, p, n),
				Depth: fmt.Sprintf("%.3f", float64(n)/float64(most)),
			})
		}
		v.Homes = append(v.Homes, r)
	}
	v.Local = shareOf(local, sum)
	v.Legend = fmt.Sprintf("white: none, darkest: %d pages", most)
}

func shareOf(n, all uint64) string {
	if all == 0 {
		return ""
	}
	return percent(float64(n) / float64(all))
}
