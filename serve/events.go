package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/lab/live"
)

// Now is the list of running simulations with its age: /events sends it when it changes, and /api/live answers it.
type Now struct {
	Version   int       `json:"version"` // of the index
	Total     int       `json:"total"`
	Pending   int       `json:"pending"`
	Processes []Process `json:"processes"`
}

// Process is a status with facts that only an observer can see.
type Process struct {
	live.Status
	Lost bool `json:"lost"` // it ended without a last status
}

const (
	lookEvery = time.Second
	// aliveEvery is how often a stream without news sends a comment, so that no proxy on the way takes it for dead.
	aliveEvery = 15 * time.Second
)

// events passes news on to all streams.
type events struct {
	mu      sync.Mutex
	last    []byte
	version int           // counts news
	news    chan struct{} // closed with the next news
}

// now looks at the running simulations.
func (s *Server) now(at time.Time) Now {
	rows, version, pending := s.index.snapshot()
	n := Now{Version: version, Total: len(rows), Pending: pending, Processes: []Process{}}
	if s.o.Store == "" {
		return n
	}
	for _, st := range live.Read(s.o.Store) {
		n.Processes = append(n.Processes, Process{st, st.Lost(at)})
	}
	return n
}

// watch looks every second and tells streams of changes.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		text, err := json.Marshal(s.now(time.Now()))
		if err == nil { // statuses are plain data
			s.events.tell(text)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tell publishes a text, if it is news.
func (e *events) tell(text []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if bytes.Equal(text, e.last) {
		return
	}
	e.last = text
	e.version++
	if e.news != nil {
		close(e.news)
	}
	e.news = make(chan struct{})
}

// get returns the newest text, and a channel that is closed when there is a newer one.
func (e *events) get() (text []byte, version int, news <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.news == nil {
		e.news = make(chan struct{})
	}
	return e.last, e.version, e.news
}

func (s *Server) live(w http.ResponseWriter, _ *http.Request) { reply(w, s.now(time.Now())) }

// stream sends news, as server-sent events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	sent := 0
	for {
		text, version, news := s.events.get()
		var err error
		_ = out.SetWriteDeadline(time.Now().Add(s.o.TakesWithin))
		if version != sent {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
			sent = version
		} else {
			_, err = fmt.Fprint(w, ": still here\n\n")
		}
		if err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-news:
		case <-time.After(aliveEvery):
		case <-r.Context().Done():
			return
		}
	}
}
