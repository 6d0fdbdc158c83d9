package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/heddle-sim/heddle/sim"
)

// AccessesCSV writes a line for each managed page that was accessed in an epoch: the epoch's end in core cycles, the
// page's application, its virtual number, and the accesses of warps to its lines.
func AccessesCSV(w io.Writer, r *sim.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"cycle", "tenant", "page", "accesses"}); err != nil {
		return err
	}
	for _, a := range r.Touches.Accesses {
		if err := c.Write([]string{
			strconv.FormatUint(a.Cycle, 10), r.Tenants[a.Tenant].Name, strconv.FormatUint(a.Page, 10),
			strconv.FormatUint(uint64(a.N), 10),
		}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// readAccesses takes what AccessesCSV wrote.
func readAccesses(text []byte, r *sim.Result) error {
	if r.Touches == nil {
		return errors.New("the run counted no touches")
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	tenants := map[string]int{}
	for i := range r.Tenants {
		tenants[r.Tenants[i].Name] = i
	}
	for i, row := range rows[min(1, len(rows)):] {
		cycle, err := strconv.ParseUint(row[0], 10, 64)
		page, err2 := strconv.ParseUint(row[2], 10, 64)
		n, err3 := strconv.ParseUint(row[3], 10, 32)
		tenant, known := tenants[row[1]]
		if err != nil || err2 != nil || err3 != nil || !known {
			return fmt.Errorf("line %d: %q: want cycle, application, page and accesses", i+2, row)
		}
		a := sim.PageAccess{Cycle: cycle, Tenant: tenant, Page: page, N: uint32(n)}
		r.Touches.Accesses = append(r.Touches.Accesses, a)
	}
	return nil
}
