package probe

import (
	"bufio"
	"fmt"
	"io"
)

// Source yields requests in order. ok is false at the end.
type Source interface {
	Next() (addr uint64, write, ok bool, err error)
}

// Trace reads lines of `R 0xADDR` or `W 0xADDR`, or with LD for R and ST for W (hexadecimal
// with 0x, else decimal). Blank lines and the rest of a line after # are ignored. It holds one
// line at a time.
type Trace struct {
	// Limit, when not 0, is the first address that is an error: the end of the device.
	Limit uint64

	name string
	in   *bufio.Reader
	line int
}

// NewTrace reads in; name stands in error messages.
func NewTrace(name string, in io.Reader) *Trace {
	return &Trace{name: name, in: bufio.NewReaderSize(in, 1<<16)}
}

// Next implements Source.
func (t *Trace) Next() (addr uint64, write, ok bool, err error) {
	for {
		line, err := t.in.ReadSlice('\n')
		if err != nil && err != io.EOF {
			return 0, false, false, fmt.Errorf("%s:%d: %w", t.name, t.line+1, err)
		}
		if len(line) == 0 {
			return 0, false, false, nil
		}
		t.line++
		addr, write, some, good := parseLine(line)
		if !good {
			return 0, false, false, fmt.Errorf("%s:%d: want `R 0xADDR`, `W 0xADDR`, `LD 0xADDR` or `ST 0xADDR`, got %q",
				t.name, t.line, trim(line))
		}
		if some && t.Limit > 0 && addr >= t.Limit {
			return 0, false, false, fmt.Errorf("%s:%d: address %#x is beyond the device, which ends at %#x", t.name,
				t.line, addr, t.Limit)
		}
		if some {
			return addr, write, true, nil
		}
		if err == io.EOF {
			return 0, false, false, nil
		}
	}
}

func trim(b []byte) string {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return string(b[:min(len(b), 80)])
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// parseLine reads one line; some is false for lines without a request.
func parseLine(b []byte) (addr uint64, write, some, good bool) {
	i := skip(b, 0)
	if i == len(b) || b[i] == '#' {
		return 0, false, false, true
	}
	word := i + 1
	switch {
	case b[i]|0x20 == 'r':
	case b[i]|0x20 == 'w':
		write = true
	case word < len(b) && b[i]|0x20 == 'l' && b[word]|0x20 == 'd':
		word++
	case word < len(b) && b[i]|0x20 == 's' && b[word]|0x20 == 't':
		word, write = word+1, true
	default:
		return 0, false, false, false
	}
	j := skip(b, word)
	if j == word {
		return 0, false, false, false
	}
	addr, j, good = number(b, j)
	if !good {
		return 0, false, false, false
	}
	if j < len(b) && !blank(b[j]) && b[j] != '#' {
		return 0, false, false, false
	}
	j = skip(b, j)
	return addr, write, true, j == len(b) || b[j] == '#'
}

func skip(b []byte, i int) int {
	for i < len(b) && blank(b[i]) {
		i++
	}
	return i
}

// number reads a hexadecimal or decimal number that fits 64 bits.
func number(b []byte, i int) (v uint64, end int, ok bool) {
	base, most := uint64(10), ^uint64(0)/10 // most is the largest v that has room for one more digit, or nearly
	if i+1 < len(b) && b[i] == '0' && b[i+1]|0x20 == 'x' {
		base, most, i = 16, ^uint64(0)/16, i+2
	}
	first := i
	for ; i < len(b); i++ {
		d := uint64(b[i]) - '0'
		if d > 9 {
			d = uint64(b[i]|0x20) - 'a' + 10
			if d < 10 || d >= base {
				break
			}
		}
		next := v*base + d
		if v > most || next < d {
			return 0, i, false
		}
		v = next
	}
	return v, i, i > first
}
