package cpu

import (
	"fmt"

	"heddle/isa/scalar"
)

// pageBits: programs get their memory in pages of 4 KiB.
const pageBits = 12

// Frames hands out the memory of a program's cores, page after page, in the order in which they
// touch it first: addresses of a trace are spread over 47 bits, those of memory are not.
type Frames struct {
	Base  uint64 // where it begins
	Bytes uint64 // how much there is
	// More takes another piece of the machine's memory, on machines whose other programs have
	// theirs from the same; nil: there is no more.
	More func(bytes uint64) (base uint64, ok bool)
	used uint64
}

// piece is how much memory is taken at once for programs whose addresses are not bounded.
const piece = 2 << 20

// take is a free page.
func (f *Frames) take() (addr uint64, ok bool) {
	if f.used+1<<pageBits > f.Bytes {
		if f.More == nil {
			return 0, false
		}
		if f.Base, ok = f.More(piece); !ok {
			return 0, false
		}
		f.Bytes, f.used = piece, 0
	}
	addr = f.Base + f.used
	f.used += 1 << pageBits
	return addr, true
}

// pages is where the pages of one core's program lie. The table grows as pages are touched
// for the first time, and at no other time.
type pages struct {
	frames *Frames
	whole  uint64        // where the memory of a program that is bounded begins
	table  []translation // nil: it is; open addressing, at most half full; a power of two places
	n      int
	recent [64]translation // by the low bits of the page
	err    error
}

// translation is a page and its frame; a page's number is stored plus 1.
type translation struct{ page, frame uint64 }

// newPages is those of a program; of one whose addresses are bounded all at once, in one piece.
func newPages(source scalar.Source, f *Frames) (pages, error) {
	p := pages{frames: f}
	b, bounded := source.(scalar.Bounded)
	if !bounded {
		p.table = make([]translation, 1<<10)
		return p, nil
	}
	n := (b.Bytes() + 1<<pageBits - 1) &^ (1<<pageBits - 1)
	if f.More != nil {
		if p.whole, bounded = f.More(n); !bounded {
			return p, fmt.Errorf("the program has %d bytes of memory, and the machine has no piece as large left", n)
		}
		return p, nil
	}
	if n > f.Bytes-f.used {
		return p, fmt.Errorf("the program has %d bytes of memory, and of %d there are %d left", b.Bytes(), f.Bytes,
			f.Bytes-f.used)
	}
	p.whole = f.Base + f.used
	f.used += n
	return p, nil
}

// physical is where an address lies.
func (p *pages) physical(addr uint64) uint64 {
	if p.table == nil {
		return p.whole + addr
	}
	page := addr >> pageBits
	r := &p.recent[page%uint64(len(p.recent))]
	if r.page != page+1 {
		*r = translation{page + 1, p.frame(page)}
	}
	return r.frame | addr&(1<<pageBits-1)
}

func (p *pages) frame(page uint64) uint64 {
	for i := p.slot(page); ; i++ {
		t := &p.table[i&uint64(len(p.table)-1)]
		switch {
		case t.page == page+1:
			return t.frame
		case t.page == 0:
			return p.touch(page, t)
		}
	}
}

func (p *pages) slot(page uint64) uint64 { return page * 0x9E3779B97F4A7C15 >> 20 }

// touch gives a page its frame.
func (p *pages) touch(page uint64, t *translation) uint64 {
	frame, ok := p.frames.take()
	if !ok && p.err == nil {
		p.err = fmt.Errorf("the program touches more than the %d bytes of memory there are for it", p.frames.Bytes)
	}
	*t = translation{page + 1, frame}
	if p.n++; 2*p.n > len(p.table) {
		old := p.table
		p.table = make([]translation, 2*len(old))
		for _, o := range old {
			if o.page == 0 {
				continue
			}
			i := p.slot(o.page - 1)
			for p.table[i&uint64(len(p.table)-1)].page != 0 {
				i++
			}
			p.table[i&uint64(len(p.table)-1)] = o
		}
	}
	return frame
}
