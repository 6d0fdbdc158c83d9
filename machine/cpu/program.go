package cpu

import (
	"errors"
	"fmt"
	"io"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// batch is how many operations a core reads with one call.
const batch = 64

// program is the program of a core: its source, and the operations that have been read.
type program struct {
	source  scalar.Source
	length  int64 // instructions of an execution; 0: up to the source's end
	left    int64 // of them to be read
	buffer  [batch]scalar.Inst
	at, n   int
	target  int64 // instruction that the next operation belongs to; 0: not looked at yet
	within  bool  // the operation before it belongs to the same
	started bool  // since it was rewound, something has been read
	last    bool  // the next operation is the last of this execution
	passed  bool  // the end of an execution has been read
	once    bool  // there is one execution
	over    bool  // and it has been
	err     error
}

// next is the next operation, nil at an error; instructions dispatched so far.
func (p *program) next(dispatched int64) *scalar.Inst {
	if p.over || p.at == p.n && !p.read() {
		return nil
	}
	in := &p.buffer[p.at]
	if p.target != 0 {
		return in
	}
	own := int64(1)
	if p.within {
		own = 0
	}
	n := int64(in.Before) + own
	if p.length > 0 && n >= p.left && !(in.More && n == p.left) {
		if n > p.left { // the execution ends among the plain ones
			*in = scalar.Inst{Before: uint32(p.left - 1)}
			n = p.left
		}
		p.last = true
	}
	p.left -= n
	p.target = dispatched + n
	return in
}

// took goes on to the operation behind the next.
func (p *program) took() {
	p.within = p.buffer[p.at].More
	p.target = 0
	p.at++
	if p.last {
		p.begin()
		p.passed, p.over = true, p.once
	}
}

// begin makes the source begin again: another execution.
func (p *program) begin() {
	p.at, p.n, p.left, p.last, p.within, p.started = 0, 0, p.length, false, false, false
	p.err = p.source.Rewind()
}

// read fills the buffer. At the source's end an execution ends, or, if it shall have more instructions, continues at
// the beginning. The next execution begins there in any case.
func (p *program) read() bool {
	for p.err == nil && !p.passed {
		var n int
		n, err := p.source.Read(p.buffer[:])
		if n > 0 {
			p.at, p.n, p.started = 0, n, true
			return true
		}
		switch {
		case err == nil:
			p.err = fmt.Errorf("the program's source gave no instruction and no error")
		case !errors.Is(err, io.EOF):
			p.err = err
		case !p.started:
			p.err = fmt.Errorf("the program is empty: it has no instruction")
		default:
			p.started, p.within = false, false
			p.err = p.source.Rewind()
			if p.length == 0 {
				p.passed, p.over = true, p.once
			}
		}
	}
	return false
}
