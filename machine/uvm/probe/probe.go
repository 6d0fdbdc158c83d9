// Package probe runs the runtime of unified memory without a machine, access by access. Each access is complete
// before the next: its pages have arrived, and evicted pages are gone. Read Run and Result.
package probe

import (
	"fmt"
	"io"

	"github.com/heddle-sim/heddle/machine/uvm"
)

// Move is contiguous pages that come in one transfer.
type Move struct {
	Page  string `json:"page"` // address of the first
	Bytes int64  `json:"bytes"`
}

// Eviction is pages that leave as one unit.
type Eviction struct {
	Page      string `json:"page"` // address of the first
	Bytes     int64  `json:"bytes"`
	WriteBack bool   `json:"write_back"` // written back; else the pages are invalidated
}

// Event is an access with an effect: a fault, or an access that was served on the host ("remote").
type Event struct {
	Access  int        `json:"access"` // counted from 0
	Kind    string     `json:"kind"`
	Page    string     `json:"page"` // address of the page that was accessed
	Migrate []Move     `json:"migrate,omitzero"`
	Evict   []Eviction `json:"evict,omitzero"` // in the order in which units were chosen
}

// Totals are sums over the events; migrated, evicted and written_back in bytes.
type Totals struct {
	Faults      uint64 `json:"faults"`
	Migrated    uint64 `json:"migrated"`
	Evicted     uint64 `json:"evicted"`
	WrittenBack uint64 `json:"written_back"`
	Remote      uint64 `json:"remote"`
	DMAToDevice uint64 `json:"dma_h2d"` // entries of migrate
	DMAToHost   uint64 `json:"dma_d2h"` // entries of evict that are written back
	Fallbacks   uint64 `json:"fallbacks"`
	Thrashed    uint64 `json:"thrashed"` // bytes that came again after having been evicted
}

// Result is the result of a trace.
type Result struct {
	Events []Event `json:"events"`
	Totals Totals  `json:"totals"`
}

// Run runs a trace. Errors name the line of file.
func Run(o uvm.Options, file string, in io.Reader) (*Result, error) {
	r, err := uvm.New(o)
	if err != nil {
		return nil, err
	}
	res := &Result{Events: []Event{}}
	n := 0
	err = scan(file, in, func(l *line) error {
		switch l.word {
		case "alloc":
			return r.Allocate(0, l.addr, l.bytes, l.readOnly)
		case "kernel":
			r.Kernel(0)
		case "R", "W":
			n++
			return res.access(r, n-1, l.addr, l.word == "W")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &r.Totals
	res.Totals.Faults, res.Totals.Remote, res.Totals.Fallbacks = t.Faults, t.Remote, t.Fallbacks
	res.Totals.Migrated, res.Totals.Evicted = t.Migrated*uvm.PageSize, t.Evicted*uvm.PageSize
	res.Totals.WrittenBack, res.Totals.Thrashed = t.Written*uvm.PageSize, t.Thrashed*uvm.PageSize
	return res, nil
}

func (res *Result) access(r *uvm.Runtime, n int, addr uint64, write bool) error {
	v, err := r.Access(addr, write)
	if err != nil {
		return err
	}
	e := Event{Access: n, Page: hex(addr &^ (uvm.PageSize - 1))}
	switch v {
	case uvm.Remote:
		e.Kind = "remote"
	case uvm.Fault:
		e.Kind, e.Migrate, e.Evict = "fault", []Move{}, []Eviction{}
		res.serve(r, &e, addr)
		r.Used(addr, write)
	default:
		return nil
	}
	res.Events = append(res.Events, e)
	return nil
}

// serve carries out what a fault leads to.
func (res *Result) serve(r *uvm.Runtime, e *Event, addr uint64) {
	p := r.Plan([]uint64{addr})
	for i := range p.Out {
		o := &p.Out[i]
		r.Leave(o)
		r.Gone(o)
		e.Evict = append(e.Evict, Eviction{hex(o.Addr), int64(o.Pages) * uvm.PageSize, o.WriteBack})
		if o.WriteBack {
			res.Totals.DMAToHost++
		}
	}
	for i := range p.In {
		r.Arrive(&p.In[i])
		e.Migrate = append(e.Migrate, Move{hex(p.In[i].Addr), int64(p.In[i].Pages) * uvm.PageSize})
	}
	res.Totals.DMAToDevice += uint64(len(p.In))
}

func hex(a uint64) string { return fmt.Sprintf("0x%x", a) }
