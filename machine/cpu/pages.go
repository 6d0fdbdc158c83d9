package cpu

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// pageBits: programs whose addresses are not bounded get their memory in pages of 4 KiB, those of a
// trace being spread over 47 bits.
const pageBits = 12

// Frames is the memory of a program's cores: pieces of it get their places when they are touched first.
type Frames struct {
	Bytes uint64 // of a piece: a power of two, at least 4 KiB
	// Take gives a piece its place, when the piece is touched first.
	Take func() (addr uint64, err error)
}

// pages has the places of one core's memory. If the program's addresses are bounded, a list of pieces has them. The
// pages of others are numbered as they are touched, and fill pieces one after the other: a table finds the number of
// a page. It grows as pages are touched for the first time, and at no other time.
type pages struct {
	frames *Frames
	shift  uint
	// Where each piece lies; of a bounded program plus 1, as the others are not yet touched. Each core has pieces
	// of its own: of one that all draw from, copies of a program in step would each get every n-th page, and with
	// it a part of the sets of their L2.
	pieces  []uint64
	bounded bool

	table   []uint32 // open addressing, at most half full: a page's number plus 1; a power of two places
	touched []uint64 // pages by their numbers
	recent  [64]translation
	err     error
}

// translation is a page and its frame, by the low bits of the page; a page is stored plus 1.
type translation struct{ page, frame uint64 }

func newPages(source scalar.Source, f *Frames) pages {
	p := pages{frames: f, shift: uint(bits.TrailingZeros64(f.Bytes))}
	if b, ok := source.(scalar.Bounded); ok {
		p.pieces, p.bounded = make([]uint64, (b.Bytes()+f.Bytes-1)>>p.shift), true
	} else {
		p.table = make([]uint32, 1<<10)
	}
	return p
}

// physical is the physical address of an address.
func (p *pages) physical(addr uint64) uint64 {
	if p.bounded {
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

// take is the place of the next free piece.
func (p *pages) take() uint64 {
	addr, err := p.frames.Take()
	if err != nil && p.err == nil {
		p.err = err
	}
	return addr
}

// piece takes one for part i of a bounded program.
func (p *pages) piece(i uint64) uint64 {
	p.pieces[i] = p.take() + 1
	return p.pieces[i]
}

// frame is the place of a page.
func (p *pages) frame(page uint64) uint64 {
	mask := uint64(len(p.table) - 1)
	i := p.slot(page)
	for ; p.table[i&mask] != 0; i++ {
		if n := p.table[i&mask] - 1; p.touched[n] == page {
			return p.place(n)
		}
	}
	return p.touch(page, &p.table[i&mask])
}

// place is the place of the page with a number.
func (p *pages) place(n uint32) uint64 {
	in := p.shift - pageBits // log2 of the pages in a piece
	return p.pieces[n>>in] + uint64(n)&(1<<in-1)<<pageBits
}

func (p *pages) slot(page uint64) uint64 { return page * 0x9E3779B97F4A7C15 >> 20 }

// touch gives a page its number, and a frame.
func (p *pages) touch(page uint64, at *uint32) uint64 {
	n := uint32(len(p.touched))
	if p.touched = append(p.touched, page); int(n>>(p.shift-pageBits)) == len(p.pieces) {
		p.pieces = append(p.pieces, p.take())
	}
	if *at = n + 1; 2*len(p.touched) > len(p.table) {
		p.table = make([]uint32, 2*len(p.table))
		mask := uint64(len(p.table) - 1)
		for n, page := range p.touched {
			i := p.slot(page)
			for p.table[i&mask] != 0 {
				i++
			}
			p.table[i&mask] = uint32(n) + 1
		}
	}
	return p.place(n)
}
