package host

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem"
)

// slow is a device with time for tests: operations run only while the program
// waits, lowest ready stream first, 100 cycles each.
type slow struct {
	queues  [][]*Op
	cycle   uint64
	trace   []string // executed operations and touches
	failAt  string   // the operation with this name fails with failErr
	failErr error
	allocs  []string
}

func (d *slow) Enqueue(op *Op) error {
	for len(d.queues) <= op.Stream {
		d.queues = append(d.queues, nil)
	}
	d.queues[op.Stream] = append(d.queues[op.Stream], op)
	return nil
}

func (d *slow) Wait(op *Op) error {
	for !op.Done {
		ran := false
		for s, q := range d.queues {
			if len(q) == 0 || q[0].Kind == OpWait && !q[0].After.Done {
				continue
			}
			head := q[0]
			if head.Name == d.failAt && d.failErr != nil {
				return d.failErr
			}
			head.Start = d.cycle
			if head.Kind != OpWait {
				d.cycle += 100
				name := head.Name
				if head.Initial {
					name = "initial " + name
				}
				d.trace = append(d.trace, fmt.Sprintf("%d:%s", s, name))
			}
			if head.Apply != nil {
				head.Apply()
			}
			head.End, head.Done = d.cycle, true
			d.queues[s] = q[1:]
			ran = true
			break
		}
		if !ran {
			return &Deadlock{"no stream can go on"}
		}
	}
	return nil
}

func (d *slow) Touch(r *mem.Region, off, n int64, write bool) error {
	d.trace = append(d.trace, fmt.Sprintf("touch %s %d+%d %v", r.Name, off, n, write))
	return nil
}

func (d *slow) Advise(r *mem.Region, a Advice) error {
	d.trace = append(d.trace, fmt.Sprintf("advise %s %d", r.Name, a))
	return nil
}

func (d *slow) SetQoS(kernel string, ipc float64) error {
	d.trace = append(d.trace, fmt.Sprintf("qos %s %g", kernel, ipc))
	return nil
}

func (d *slow) Cycle() uint64 { return d.cycle }

func (d *slow) Allocated(r *mem.Region) error {
	d.allocs = append(d.allocs, "+"+r.Name)
	return nil
}

func (d *slow) Freed(r *mem.Region) error {
	d.allocs = append(d.allocs, "-"+r.Name)
	return nil
}

func newSlow() (*Context, *slow) {
	d := &slow{}
	return New(d, mem.NewSpace(1<<24), Options{CoreMHz: 100}), d
}
