package cpu

import (
	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/sheets"
)

// branches predicts conditional branches: gshare, two-bit counters chosen by place and global
// history (McFarling, WRL TN-36, 1993). Targets are taken to be known.
type branches struct {
	penalty  int64 // ticks from the end of a wrongly predicted branch to the next dispatch; 0: all are known
	wrong    int32 // position of a branch dispatch waits for
	history  uint64
	mask     uint64
	counters []uint8
}

func newBranches(b sheets.CPUBranch) branches {
	p := branches{penalty: int64(b.Mispredict) * perCycle, wrong: none}
	if b.Mispredict > 0 {
		p.mask = 1<<b.History - 1
		p.counters = make([]uint8, 1<<b.History)
		for i := range p.counters {
			p.counters[i] = 1 // weakly not taken
		}
	}
	return p
}

// predict predicts a conditional branch, learns where it went, and says that it was wrong.
func (b *branches) predict(in *scalar.Inst, row []uint64) (wrong bool) {
	row[Branches]++
	if b.penalty == 0 {
		return false
	}
	n := &b.counters[(in.Site^in.Site>>20^b.history)&b.mask]
	wrong = (*n >= 2) != in.Taken
	bit := uint64(0)
	if in.Taken {
		*n = min(*n+1, 3)
		bit = 1
	} else if *n > 0 {
		*n--
	}
	b.history = b.history<<1 | bit
	if wrong {
		row[Mispredicts]++
	}
	return wrong
}
