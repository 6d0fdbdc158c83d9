package cpu

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// pageBits: programs whose addresses are not bounded get their memory in pages of 4 KiB, those of a
// trace being spread over 47 bits.
const pageBits = 12

// Frames is the memory of a program's cores: pieces of it as they are touched first.
type Frames struct {
	Bytes uint64 // of a piece: a power of two, at least 4 KiB
	// Take is where a piece lies; it is asked for when one is touched first, and never else.
	Take func() (addr uint64, err error)
}

// pages is where the memory of one core's program lies. Of one whose addresses are bounded a list
// of pieces knows it, of others a table, which grows as pages are touched for the first time,
// and at no other time.
type pages struct {
	frames *Frames
	shift  uint
	pieces []uint64 // nil: the program's addresses are not bounded; where each lies, plus 1

	table []translation // open addressing, at most half full; a power of two places
	n     int
	// What is left of the core's last piece, for small pages. Each core has pieces of its own: of one
	// that all draw from, copies of a program in step would each get every so many-th page, and with
	// it a part of the sets of their L2.
	next, end uint64
	recent    [64]translation // by the low bits of the page
	err       error
}

// translation is a page and its frame; a page's number is stored plus 1.
type translation struct{ page, frame uint64 }

func newPages(source scalar.Source, f *Frames) pages {
	p := pages{frames: f, shift: uint(bits.TrailingZeros64(f.Bytes))}
	if b, ok := source.(scalar.Bounded); ok {
		p.pieces = make([]uint64, (b.Bytes()+f.Bytes-1)>>p.shift)
	} else {
		p.table = make([]translation, 1<<10)
	}
	return p
}

// physical is where an address lies.
func (p *pages) physical(addr uint64) uint64 {
	if p.pieces != nil {
		at := p.pieces[addr>>p.shift]
		if at == 0 {
			at = p.piece(addr >> p.shift)
		}
		return at - 1 + addr&(1<<p.shift-1)
	}
	page := addr >> pageBits
	r := &p.recent[page%uint64(len(p.recent))]
	if r.page != page+1 {
		*r = translation{page + 1, p.frame(page)}
	}
	return r.frame | addr&(1<<pageBits-1)
}

// piece takes one.
func (p *pages) piece(i uint64) uint64 {
	addr, err := p.frames.Take()
	if err != nil && p.err == nil {
		p.err = err
	}
	p.pieces[i] = addr + 1
	return addr + 1
}

// small is a free page of 4 KiB.
func (p *pages) small() (addr uint64, err error) {
	if p.next == p.end {
		if addr, err = p.frames.Take(); err != nil {
			return 0, err
		}
		p.next, p.end = addr, addr+p.frames.Bytes
	}
	addr = p.next
	p.next += 1 << pageBits
	return addr, nil
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
	frame, err := p.small()
	if err != nil && p.err == nil {
		p.err = err
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
