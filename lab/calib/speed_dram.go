package calib

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
)

// memoryAlone measures one channel with its queue always full, without a machine around
// it.
func memoryAlone(w io.Writer) error {
	fmt.Fprint(w, "## The memory alone\n\nOne channel whose queue is always full: reads that follow one another in "+
		"their rows, and random places a third of\nwhich are written.\n\n| channel of | traffic | clocks per request "+
		"| M requests/s |\n|---|---|---|---|\n")
	for _, name := range []string{"qv100", "ugpu", "h100"} {
		m, _, err := sheets.Load(name)
		if err != nil {
			return err
		}
		cfg, err := dram.FromSheet(&m.DRAM)
		if err != nil {
			return err
		}
		for _, random := range []bool{false, true} {
			f := feeder{cfg: &cfg, random: random, rng: rand.NewPCG(1, 2)}
			best, clocks := f.measure()
			fmt.Fprintf(w, "| %s | %s | %.1f | %.1f |\n", name, map[bool]string{
				false: "sequential",
				true:  "random",
			}[random], clocks, best/1e6)
		}
	}
	fmt.Fprintln(w)
	return nil
}

// feeder keeps the queue of a channel full.
type feeder struct {
	cfg    *dram.Config
	random bool
	rng    *rand.PCG
	seq    uint64
}

// measure serves requests for about a second, in parts of which the fastest counts, and
// returns requests per second and clocks per request.
func (f *feeder) measure() (best, clocks float64) {
	const part = 200_000
	c := dram.New(f.cfg)
	var now uint64
	parts := 0
	for total := 0.0; total < 1 || parts < 3; parts++ {
		start := cpuSeconds()
		for served := 0; served < part; {
			at, write := f.next()
			for !c.CanPush(write) || !c.Push(now, at, write, 1, 0, 0) {
				now = max(now+1, c.Tick(now))
				for _, _, ok := c.Pop(); ok; _, _, ok = c.Pop() {
					served++
				}
			}
		}
		took := cpuSeconds() - start
		total += took
		best = max(best, part/took)
	}
	return best, float64(now) / float64(parts*part)
}

// next is the place of the next request, and whether it is written.
func (f *feeder) next() (at dram.Loc, write bool) {
	n := f.seq
	f.seq++
	if f.random {
		n = f.rng.Uint64()
		write = n>>40%3 == 0
	}
	digit := func(of int) uint64 {
		d := n % uint64(of)
		n /= uint64(of)
		return d
	}
	at.Col = uint32(digit(f.cfg.Columns))
	at.BankGroup, at.Bank, at.Rank = uint8(digit(f.cfg.Sids*f.cfg.Groups)), uint8(digit(f.cfg.Banks)),
		uint8(digit(f.cfg.Ranks))
	at.Row = uint32(digit(f.cfg.Rows))
	return at, write
}
