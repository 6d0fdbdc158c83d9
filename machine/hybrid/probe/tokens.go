package probe

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/machine/hybrid"
)

// Access is a miss of the GPU.
type Access struct {
	Cycle uint64
	Dirty bool // the victim has to be written back
}

// Tokens says what happened to each miss, in order.
type Tokens struct {
	Accesses []Outcome `json:"accesses"`
}

// Outcome says what happened to a miss.
type Outcome struct {
	Cycle   uint64 `json:"cycle"`
	Migrate bool   `json:"migrate"`
	Tokens  uint64 `json:"tokens"` // left after it
}

// RunTokens lets the misses of a trace ask for migrations.
func RunTokens(t hybrid.Tokens, trace []Access) *Tokens {
	r := &Tokens{Accesses: make([]Outcome, 0, len(trace))}
	for _, a := range trace {
		migrate := t.Miss(a.Cycle, a.Dirty)
		r.Accesses = append(r.Accesses, Outcome{a.Cycle, migrate, t.Left()})
	}
	return r
}

// ReadTrace reads lines of `CYCLE miss` or `CYCLE miss-dirty`, CYCLE in decimal and never
// below that of the line before. Blank lines and the rest of a line after # are ignored.
// Errors name the line of the file, which is called name.
func ReadTrace(name string, in io.Reader) ([]Access, error) {
	var trace []Access
	line := 0
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		a, ok := parseAccess(words)
		if !ok {
			return nil, fmt.Errorf("%s:%d: want `CYCLE miss` or `CYCLE miss-dirty`, got %.80q", name, line,
				lines.Text())
		}
		if n := len(trace); n > 0 && a.Cycle < trace[n-1].Cycle {
			return nil, fmt.Errorf("%s:%d: cycle %d comes after cycle %d: misses must be in order of time", name, line,
				a.Cycle, trace[n-1].Cycle)
		}
		trace = append(trace, a)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	return trace, nil
}

// parseAccess reads the words of a line.
func parseAccess(words []string) (a Access, ok bool) {
	if len(words) != 2 || (words[1] != "miss" && words[1] != "miss-dirty") {
		return a, false
	}
	cycle, err := strconv.ParseUint(words[0], 10, 64)
	return Access{cycle, words[1] == "miss-dirty"}, err == nil
}
