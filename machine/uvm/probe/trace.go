package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// line is one line of a trace: its word is alloc, R, W, kernel or, where there is nothing, empty.
type line struct {
	word     string
	addr     uint64
	bytes    uint64
	readOnly bool
}

const want = "want `alloc NAME 0xBASE BYTES [ro]`, `R 0xADDR`, `W 0xADDR` or `kernel NAME`"

// parse reads a line. Blank lines and the rest of a line after # are ignored.
func parse(text string) (l line, err error) {
	text, _, _ = strings.Cut(text, "#")
	f := strings.Fields(text)
	if len(f) == 0 {
		return l, nil
	}
	l.word = f[0]
	switch {
	case f[0] == "alloc" && (len(f) == 4 || len(f) == 5 && f[4] == "ro"):
		l.readOnly = len(f) == 5
		if l.addr, err = address(f[2]); err != nil {
			return l, err
		}
		if l.bytes, err = strconv.ParseUint(f[3], 10, 64); err != nil || l.bytes == 0 {
			return l, fmt.Errorf("allocation of %.40q bytes: want a whole decimal number, at least 1", f[3])
		}
	case (f[0] == "R" || f[0] == "W") && len(f) == 2:
		l.addr, err = address(f[1])
	case f[0] == "kernel" && len(f) > 1: // a name may have blanks
	default:
		return l, fmt.Errorf("%s, got %.80q", want, text)
	}
	return l, err
}

func address(text string) (uint64, error) {
	if len(text) < 3 || !strings.EqualFold(text[:2], "0x") {
		return 0, fmt.Errorf("address %.40q: write it as 0x200000", text)
	}
	a, err := strconv.ParseUint(text[2:], 16, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("address %.40q has more than 64 bits", text)
	} else if err != nil {
		return 0, fmt.Errorf("address %.40q is no hexadecimal number", text)
	}
	return a, nil
}

// scan calls f for every line with something in it; errors are named by file and line.
func scan(file string, in io.Reader, f func(l *line) error) error {
	lines := bufio.NewScanner(in)
	n := 0
	for lines.Scan() {
		n++
		l, err := parse(lines.Text())
		if err == nil && l.word != "" {
			err = f(&l)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: %w: %s", file, n+1, err, want)
	} else if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
