package exec

import (
	"io"
	"os"
	"sync"
)

// oneAtATime is a writer for the program and for what the session tells its user: both write at once. A file needs
// none, as each write to it is one call of the system.
func oneAtATime(w io.Writer) io.Writer {
	switch w.(type) {
	case nil, *os.File, *turns:
		return w
	}
	return &turns{w: w}
}

// turns is a writer that several may use.
type turns struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (t *turns) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.Write(b)
}
