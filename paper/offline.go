package paper

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/control"
)

// UGPU-offline: the best static slices by profiling (UGPU, section 6). Slices isolate, so what a program reaches
// alone on a slice is what it reaches there beside any other: one profile of each program by SMs and channel
// groups serves every mix it is in, and a division of the machine is judged by a sum of entries. Entries are made as
// the search asks for them, each an ordinary run that is kept.

// offline searches slices for a scheme.
type offline struct {
	book   *Book
	scheme *Scheme
}

// best searches the division of the machine among the programs with the largest sum of progress: first among the slices
// the scheme lists for their classes, then from one division to the best neighbour for as long as one is better.
func (o *offline) best(programs []string) ([]control.Alloc, error) {
	tables := make([][]control.Point, len(programs))
	var all error
	for i, p := range programs {
		points := o.scheme.Offline[o.book.Study.list.Program(p).Class]
		if len(points) == 0 {
			return nil, fmt.Errorf("scheme %s has no slices to profile %s on", o.scheme.Name, p)
		}
		for _, at := range points {
			slice := control.Alloc{SMs: at[0], Groups: at[1]}
			x, err := o.progress(p, slice)
			all = worse(all, err)
			tables[i] = append(tables[i], control.Point{Alloc: slice, Progress: x})
		}
	}
	if all != nil {
		return nil, all
	}
	best, stp, err := control.BestStatic(control.Machine{SMs: o.book.machine.SM.Count, Groups: o.book.groups()}, tables)
	for err == nil && len(o.scheme.Step) > 0 {
		var to []control.Alloc
		var x float64
		if to, x, err = o.bestNeighbour(programs, best); err != nil || x <= stp {
			break
		}
		best, stp = to, x
	}
	return best, err
}

// progress is a program's IPC on a slice over that on the whole machine.
func (o *offline) progress(program string, at control.Alloc) (float64, error) {
	alone, err := o.book.Whole(program)
	x, err2 := o.book.Slice(program, at.SMs, at.Groups)
	return x / alone, worse(err, err2)
}

// bestNeighbour is the neighbour of a division with the largest sum of progress, the first of equals.
func (o *offline) bestNeighbour(programs []string, at []control.Alloc) (best []control.Alloc, stp float64,
	err error,
) {
	for _, next := range neighbours(at, o.scheme.Step) {
		sum := 0.0
		for i, p := range programs {
			x, err2 := o.progress(p, next[i])
			err = worse(err, err2)
			sum += x
		}
		if sum > stp {
			best, stp = next, sum
		}
	}
	return best, stp, err
}

// neighbours are the divisions at which two programs have exchanged step SMs, step groups or both, in either
// direction. Both at once matter: where a program's SMs ask for just what its channels give, one without the other
// gains nothing. A program that would have no SM or no group left exchanges nothing.
func neighbours(at []control.Alloc, step []int) (out [][]control.Alloc) {
	for i := range at {
		for j := range i {
			for _, sms := range []int{-step[0], 0, step[0]} {
				for _, groups := range []int{-step[1], 0, step[1]} {
					next := slices.Clone(at)
					next[i].SMs, next[j].SMs = at[i].SMs+sms, at[j].SMs-sms
					next[i].Groups, next[j].Groups = at[i].Groups+groups, at[j].Groups-groups
					if next[i] != at[i] && min(next[i].SMs, next[j].SMs, next[i].Groups, next[j].Groups) > 0 {
						out = append(out, next)
					}
				}
			}
		}
	}
	return out
}

// worse is an error that is more than a run still to be done, else any: so all runs are asked for before it is
// reported.
func worse(a, b error) error {
	if a == nil || errors.Is(a, errPending) && b != nil {
		return b
	}
	return a
}
