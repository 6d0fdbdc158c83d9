// Package serve shows results and running simulations in a browser: one process, no database. An index in memory
// follows the files of the result store and of result directories. Running processes describe themselves (lab/live).
// The server never writes a file.
//
// A reader must know three types: Server, the pages and who may see them (hosts); index, which follows the files;
// Row, a result in the list (and Study, the figures of a paper).
package serve

import (
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/report/page"
	"github.com/heddle-sim/heddle/sim"
)

//go:embed web
var web embed.FS

// Options say which results are shown, and to which readers.
type Options struct {
	Store string   // the result store; "": none
	Roots []string // folders that are, or hold, result directories or figures of studies
	// Token, if not empty, is required: once in the address, then in a cookie, or as a bearer. Without a token, only
	// requests to this computer's own names are answered.
	Token string
	// TakesWithin is how long a reader may take for one answer, or for one message of a stream; 0: a minute. A reader
	// that does not read is cut off, because unread answers would fill the memory.
	TakesWithin time.Duration
}

// Server answers requests. Its methods may be called from several goroutines.
type Server struct {
	o      Options
	index  index
	events events
	mux    http.ServeMux

	building chan struct{} // has one for each page that is being built
}

// pagesAtOnce bounds the pages that are built at the same time: each holds its results in memory.
const pagesAtOnce = 4

// New makes a server and keeps it fresh until the context ends.
func New(ctx context.Context, o Options) (*Server, error) {
	s := &Server{o: o, building: make(chan struct{}, pagesAtOnce)}
	if s.o.TakesWithin == 0 {
		s.o.TakesWithin = time.Minute
	}
	s.index.store = o.Store
	for _, r := range o.Roots {
		s.index.roots = append(s.index.roots, filepath.Clean(r))
	}
	files, err := fs.Sub(web, "web")
	if err != nil {
		return nil, err
	}
	s.mux.Handle("GET /", http.FileServerFS(files))
	s.mux.HandleFunc("GET /api/results", s.results)
	s.mux.HandleFunc("GET /api/live", s.live)
	s.mux.HandleFunc("GET /events", s.stream)
	s.mux.HandleFunc("GET /page", s.page)
	s.mux.HandleFunc("GET /api/studies", s.listStudies)
	s.mux.HandleFunc("GET /study", s.study)
	s.mux.HandleFunc("GET /figure", s.figure)
	go s.index.keep(ctx)
	go s.watch(ctx)
	return s, nil
}

const cookie = "heddle-token"

// ServeHTTP answers requests of readers that may see the pages.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A writer without deadlines (a recorder in a test) holds its own answer.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.TakesWithin))
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' "+
		"'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; form-action 'none'; "+
		"base-uri 'none'")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "these pages are read-only", http.StatusMethodNotAllowed)
		return
	}
	if s.o.Token == "" {
		if !ownName(r.Host) { // another site's name that leads here: its scripts must not read results
			http.Error(w, "use the name localhost; other names need heddle serve --listen",
				http.StatusForbidden)
			return
		}
		s.mux.ServeHTTP(w, r)
		return
	}
	same := func(t string) bool { return subtle.ConstantTimeCompare([]byte(t), []byte(s.o.Token)) == 1 }
	if t := r.URL.Query().Get("token"); t != "" && same(t) { // keep the token out of addresses from now on
		http.SetCookie(w, &http.Cookie{
			Name: cookie, Value: t, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: 30 * 86400,
		})
		q := r.URL.Query()
		q.Del("token")
		to := *r.URL
		to.RawQuery = q.Encode()
		http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
		return
	}
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	c, err := r.Cookie(cookie)
	if !same(bearer) && (err != nil || !same(c.Value)) {
		http.Error(w, "a token is needed: use the address that heddle serve printed", http.StatusUnauthorized)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// ownName says that a request's host is a name of this computer that another computer cannot have.
func ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// reply writes JSON.
func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone does not matter
}

// listing is the answer of /api/results.
type listing struct {
	Version  int    `json:"version"`  // of the index
	Total    int    `json:"total"`    // results there are
	Pending  int    `json:"pending"`  // files that have not been read yet
	Matching int    `json:"matching"` // of the search
	Offset   int    `json:"offset"`
	Rows     []*Row `json:"rows"`
}

// results answers q (words), sort, offset and limit.
func (s *Server) results(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ask := query{order: q.Get("sort"), limit: pageRows}
	var err error
	ask.words, err = parseTerms(q.Get("q"))
	if name := strings.TrimPrefix(ask.order, "-"); err == nil && name != "" {
		if _, ok := orders()[name]; !ok {
			err = fmt.Errorf("no order %q", name)
		}
	}
	for name, to := range map[string]*int{"offset": &ask.offset, "limit": &ask.limit} {
		if v := q.Get(name); v != "" && err == nil {
			*to, err = strconv.Atoi(v)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rows, version, pending := s.index.snapshot()
	page, matching := pick(rows, &ask)
	reply(w, listing{version, len(rows), pending, matching, ask.offset, page})
}

// maxCompared bounds the runs of one page.
const maxCompared = 50

// page shows the runs of the ids given, as heddle report does: one, or several compared.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	ids := r.URL.Query()["id"]
	if len(ids) == 0 || len(ids) > maxCompared {
		http.Error(w, fmt.Sprintf("give from 1 to %d results by id", maxCompared), http.StatusBadRequest)
		return
	}
	body, status, err := s.build(r.Context(), ids)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // a client that has gone does not matter
}

// build makes the page of some runs when it is its turn, or returns the status of its failure.
func (s *Server) build(ctx context.Context, ids []string) (body []byte, status int, err error) {
	select {
	case s.building <- struct{}{}:
		defer func() { <-s.building }()
	case <-ctx.Done():
		return nil, http.StatusServiceUnavailable, ctx.Err()
	}
	var runs []page.Run
	var details []string
	for _, id := range ids {
		row, alone := s.index.find(id)
		if row == nil {
			return nil, http.StatusNotFound, errors.New("there is no result " + id)
		}
		res, err := load(row, alone)
		if err != nil {
			return nil, http.StatusUnprocessableEntity, err
		}
		runs = append(runs, page.Run{Label: label(row), Result: res})
		details = append(details, row.Detail)
	}
	tellApart(runs, details)
	if body, err = page.Render(runs); err != nil {
		return nil, http.StatusInternalServerError, err
	}
	return body, http.StatusOK, nil
}

// load reads the whole result of a row, with the metrics that its alone-runs give it.
func load(row *Row, alone []*Row) (*sim.Result, error) {
	if row.Kind == kindMalformed {
		return nil, errors.New(row.Problem)
	}
	if row.Place != "" {
		return report.Read(row.Place)
	}
	if row.Kind == kindFailed {
		f, err := lab.ReadFailed(row.file)
		if err != nil {
			return nil, err
		}
		if len(f.Result) == 0 {
			return nil, fmt.Errorf("%s failed on %s at %s, and left no result:\n\n%s", f.Label, f.Host,
				f.When.Format("2006-01-02 15:04:05 MST"), f.Message)
		}
		return lab.DecodeEntry(row.file, f.Result)
	}
	r, err := entry(row)
	if err != nil || len(alone) == 0 {
		return r, err
	}
	var base []*sim.Result
	for _, a := range alone {
		b, err := entry(a)
		if err != nil {
			return nil, err
		}
		base = append(base, b)
	}
	if err := lab.Against(r, base); err != nil {
		r.Warnings = append(r.Warnings, err.Error())
	}
	return r, nil
}

func entry(row *Row) (*sim.Result, error) {
	text, _, err := lab.ReadEntry(row.file)
	if err != nil {
		return nil, err
	}
	r, err := lab.DecodeEntry(row.file, text)
	if err == nil && len(r.Tenants) == 0 {
		err = errors.New(row.file + " holds no application")
	}
	return r, err
}

// label names a run on a page.
func label(r *Row) string {
	if r.Place != "" {
		return filepath.Base(r.Place)
	}
	return strings.Join(r.Apps, "+") + " " + r.Sharing
}

// tellApart labels runs of one name by their details, and those of the same details by numbers.
func tellApart(runs []page.Run, details []string) {
	twice := func(i int) bool {
		return slices.ContainsFunc(runs, func(r page.Run) bool { return r.Label == runs[i].Label && r != runs[i] })
	}
	for _, more := range []func(i int) string{
		func(i int) string { return " " + details[i] },
		func(i int) string { return fmt.Sprintf(" #%d", i+1) },
	} {
		var longer []string
		for i := range runs {
			if longer = append(longer, runs[i].Label); twice(i) {
				longer[i] = strings.TrimSpace(runs[i].Label + more(i))
			}
		}
		for i := range runs {
			runs[i].Label = longer[i]
		}
	}
}
