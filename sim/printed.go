package sim

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// mostPrinted is how many bytes of what an application prints are kept.
const mostPrinted = 16 << 20

// printed keeps what an application prints, up to a limit: one that prints in an endless loop must not fill the
// memory. One that was
// given up may still be writing.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
	lost uint64 // bytes that were not kept
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keep := min(len(b), mostPrinted-p.text.Len())
	p.text.Write(b[:keep])
	p.lost += uint64(len(b) - keep)
	return len(b), nil
}

// lines are the printed lines. The last line says how much was not kept.
func (p *printed) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := strings.TrimRight(p.text.String(), "\n")
	if s == "" {
		return nil
	}
	list := strings.Split(s, "\n")
	if p.lost > 0 {
		list = append(list, fmt.Sprintf("(%d more bytes were printed; a result keeps the first %d MiB)", p.lost,
			mostPrinted>>20))
	}
	return list
}
