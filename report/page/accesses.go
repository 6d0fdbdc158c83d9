package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// accessesView is which managed pages were accessed when (Ganguly, Figures 13 and 19): a point for each cell
// of time and pages, the darker the more accesses.
type accessesView struct {
	Drawing template.HTML
	Note    string
}

// accessCells is into how many cells a drawing is divided, by time and by page.
const (
	accessColumns, accessRows = 160, 100
	accessCell                = 5 // pixels
)

func accessesOf(r *sim.Result) *accessesView {
	if r.Touches == nil || len(r.Touches.Accesses) == 0 || r.Cycles == 0 {
		return nil
	}
	pages, rows := ranked(r)
	count := make([]uint64, accessColumns*accessRows)
	owner := make([]int, len(count))
	var most uint64
	for _, a := range r.Touches.Accesses {
		x := min(accessColumns-1, int(a.Cycle*accessColumns/(r.Cycles+1)))
		y := rows[key{a.Tenant, a.Page}] * accessRows / pages
		k := y*accessColumns + x
		count[k] += uint64(a.N)
		owner[k] = a.Tenant
		most = max(most, count[k])
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="accesses" viewBox="0 0 %d %d" role="img" aria-label="accesses of pages over time">`,
		accessColumns*accessCell, accessRows*accessCell)
	for k, n := range count {
		if n == 0 {
			continue
		}
		x, y := k%accessColumns, accessRows-1-k/accessColumns
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" opacity="%.2f"/>`, x*accessCell,
			y*accessCell, accessCell, accessCell, palette(owner[k]), 0.3+0.7*float64(n)/float64(most))
	}
	b.WriteString(`</svg>`)
	note := fmt.Sprintf("From left to right %s cycles, from the bottom the %s pages that were accessed, by "+
		"application and address; colours are those of applications, darkest: %s accesses.", whole(r.Cycles),
		whole(uint64(pages)), whole(most))
	return &accessesView{template.HTML(b.String()), note}
}

// key is a page of an application.
type key struct {
	tenant int
	page   uint64
}

// ranked gives the pages that were accessed a row each, by application and address.
func ranked(r *sim.Result) (pages int, rows map[key]int) {
	rows = map[key]int{}
	var list []key
	for _, a := range r.Touches.Accesses {
		k := key{a.Tenant, a.Page}
		if _, known := rows[k]; !known {
			rows[k] = 0
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.page, b.page))
	})
	for i, k := range list {
		rows[k] = i
	}
	return len(list), rows
}
