package stride

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/heddle-sim/heddle/machine/sm"
)

// Cores counts cores of the computer that no simulation uses. The simulations of a process share one; each borrows
// cores from it for the length of a stride. Its methods may be called by several goroutines.
type Cores struct{ spare atomic.Int32 }

// NewCores has n cores to spare.
func NewCores(n int) *Cores {
	c := &Cores{}
	c.Give(n)
	return c
}

// Give adds n cores; a simulation that begins takes its own with n = -1, whether there is one or not.
func (c *Cores) Give(n int) { c.spare.Add(int32(n)) }

// borrow takes as many cores as there are, most at most.
func (c *Cores) borrow(most int) int {
	for c != nil {
		have := c.spare.Load()
		n := min(have, int32(most))
		if n <= 0 {
			break
		}
		if c.spare.CompareAndSwap(have, have-n) {
			return int(n)
		}
	}
	return 0
}

// crew runs SMs on several cores of the computer. What an SM does in a stride depends on no other SM, so results
// depend neither on the number of workers nor on which worker runs which SM.
type crew struct {
	cores   *Cores        // nil: there is one worker, the machine's own goroutine
	workers []*sm.Scratch // the working memory of each
	used    int           // workers of the last stride
	cfg     *sm.Config
	sms     []*sm.SM
	run     func(i int)    // runs SM i
	memory  func()         // runs the memory side
	list    []int32        // SMs to run; besideSMs: the memory side
	next    atomic.Int32   // the first in the list that no worker has taken
	busy    sync.WaitGroup // helpers at work
	helpers []func()       // the work of the workers but the first
	failure atomic.Pointer[failure]
}

// failure is a panic of a worker. The machine's own goroutine panics with it when the other workers are done, so that
// the caller of the simulation can recover.
type failure struct {
	cause any
	stack []byte
}

// besideSMs is the memory side in the list of a crew.
const besideSMs = -1

// Hire makes the first worker, whose working memory the SMs share outside strides, and lends it cores.
func (l *Strides) Hire(cores *Cores, cfg *sm.Config) *sm.Scratch {
	c := &l.crew
	c.cores, c.cfg, c.used = cores, cfg, 1
	c.workers = []*sm.Scratch{sm.NewScratch(cfg)}
	return c.workers[0]
}

// each runs the SMs of the list, on all cores to spare if they may run at the same time, and empties it.
func (c *crew) each(atOnce bool) {
	helpers := 0
	if atOnce && len(c.list) > 1 {
		helpers = c.cores.borrow(len(c.list) - 1)
		c.used = 1 + helpers
	}
	for len(c.helpers) < helpers {
		c.add(len(c.helpers) + 1)
	}
	c.next.Store(0)
	c.busy.Add(helpers)
	for _, help := range c.helpers[:helpers] {
		go help()
	}
	c.work(0)
	if helpers > 0 {
		c.busy.Wait()
		c.cores.Give(helpers)
	}
	c.list = c.list[:0]
	if f := c.failure.Load(); f != nil {
		panic(fmt.Sprintf("%v\n%s", f.cause, f.stack))
	}
}

// add makes worker w.
func (c *crew) add(w int) {
	c.workers = append(c.workers, sm.NewScratch(c.cfg))
	c.helpers = append(c.helpers, func() {
		c.work(w)
		c.busy.Done()
	})
}

// work runs SMs that no other worker has taken, until there is none.
func (c *crew) work(w int) {
	defer func() {
		if cause := recover(); cause != nil {
			c.failure.CompareAndSwap(nil, &failure{cause, debug.Stack()})
		}
	}()
	work := c.workers[w]
	for {
		k := int(c.next.Add(1)) - 1
		if k >= len(c.list) {
			return
		}
		if i := int(c.list[k]); i == besideSMs {
			c.memory()
		} else {
			c.sms[i].Work(work)
			c.run(i)
		}
	}
}

// Cores is the number of cores of the computer that ran the last stride.
func (l *Strides) Cores() int { return l.crew.used }
