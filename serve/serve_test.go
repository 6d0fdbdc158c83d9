package serve

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/live"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// result is one of the given applications under a sharing mode, each with an IPC of its own.
func result(machine, mode string, seed uint64, apps ...string) *sim.Result {
	r := &sim.Result{
		Version: sim.ResultVersion, Complete: true, Cycles: 1000 + seed, Seconds: 1e-6,
		Spec: sim.Spec{
			Machine: machine, Seed: seed, Sharing: sim.Sharing{Mode: mode},
			Length: sim.Length{MaxCycles: 1000, Budget: true},
		},
		Machine: sim.MachineSheet{Name: machine, Numbers: []sheets.Entry{{Path: "sm.count", Value: "80"}}},
		Wall:    sim.Wall{Host: "h", CyclesPerS: 50_000},
	}
	for i, a := range apps {
		r.Spec.Apps = append(r.Spec.Apps, sim.App{Name: a, Path: "apps/x/" + a})
		r.Tenants = append(r.Tenants, sim.Tenant{
			Name: a, SMs: 4, Cycles: 1000, ThreadInsts: uint64(1000 * (i + 1)), IPC: float64(i + 1),
		})
	}
	return r
}

// alone is the alone-run of application a of a shared one, with twice its progress.
func alone(of *sim.Result, a int) *sim.Result {
	r := result(of.Spec.Machine, "alone", of.Spec.Seed, "alone")
	r.Spec = lab.AloneSpec(&of.Spec, a)
	r.Tenants[0].ThreadInsts = 2 * of.Tenants[a].ThreadInsts
	return r
}

// site is a store with results in it, and a server that has read them.
type site struct {
	t     testing.TB
	dir   string
	store *lab.Store
	s     *Server
	web   *httptest.Server // where a browser finds it
	n     int
}

func newSite(t testing.TB, roots ...string) *site {
	x := &site{t: t, dir: t.TempDir()}
	var err error
	if x.store, err = lab.OpenStore(x.dir, "code"); err != nil {
		t.Fatal(err)
	}
	x.s = &Server{}
	if x.s, err = New(stopped(), Options{Store: x.dir, Roots: roots}); err != nil {
		t.Fatal(err)
	}
	return x
}

// stopped is the context of a server that a test refreshes by itself.
func stopped() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (x *site) put(rs ...*sim.Result) {
	x.t.Helper()
	for _, r := range rs {
		x.n++
		r.SpecHash = fmt.Sprintf("%064d", x.n)
		if err := x.store.Put(r); err != nil {
			x.t.Fatal(err)
		}
	}
}

func (x *site) fresh() { x.s.index.refresh(x.t.Context()) }

// get asks the server.
func (x *site) get(path string, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req.Host = "localhost:7077"
	for i := 0; i+1 < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	x.s.ServeHTTP(w, req)
	return w
}

func (x *site) list(ask string) (l listing) {
	x.t.Helper()
	w := x.get("/api/results?" + ask)
	if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil || w.Code != http.StatusOK {
		x.t.Fatalf("%s: %d %v %s", ask, w.Code, err, w.Body)
	}
	return l
}

func TestListAndSearch(t *testing.T) {
	x := newSite(t)
	mps := result("ugpu", "mps", 1, "PVC", "DXTC")
	x.put(mps, alone(mps, 0), alone(mps, 1), result("nuba", "bp", 2, "BFS"), result("ugpu", "ugpu", 3, "PVC", "LBM"))
	x.fresh()
	if l := x.list(""); l.Total != 5 || l.Matching != 5 || len(l.Rows) != 5 {
		t.Errorf("%+v", l)
	}
	for ask, want := range map[string]int{
		"pvc": 3, "PVC dxtc": 1, "machine:ugpu": 4, "machine:nuba": 1, "app:lbm": 1, "policy:ugpu": 1,
		"is:alone": 3, "is:shared": 2, "-is:alone pvc": 2, "app:mps": 0, "zzz": 0, "": 5, "is:malformed": 0,
	} {
		if l := x.list("q=" + strings.ReplaceAll(ask, " ", "+")); l.Matching != want {
			t.Errorf("%q: %d results, want %d", ask, l.Matching, want)
		}
	}
	l := x.list("sort=-cycles&limit=2&offset=1")
	if len(l.Rows) != 2 || l.Matching != 5 || l.Rows[0].Cycles > l.Rows[1].Cycles {
		t.Errorf("%+v", l.Rows)
	}
	for _, bad := range []string{"q=machin:x", "sort=size", "limit=many"} {
		if w := x.get("/api/results?" + bad); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, w.Code)
		}
	}
}

// TestNamesOfAloneRuns: they are all called alone; the list says what ran.
func TestNamesOfAloneRuns(t *testing.T) {
	x := newSite(t)
	cpu := result("hydrogen", "alone", 1, "alone")
	cpu.Spec.Apps = []sim.App{{Name: "alone", CPU: &sim.CPU{Model: "mcf"}}}
	trace := result("hydrogen", "alone", 2, "alone")
	trace.Spec.Apps = []sim.App{{Name: "alone", CPU: &sim.CPU{Trace: "traces/gcc.xz"}}}
	gpu := result("ugpu", "mps", 3, "PVC", "DXTC")
	x.put(cpu, trace, alone(gpu, 1))
	x.fresh()
	for _, name := range []string{"mcf", "gcc.xz", "DXTC"} {
		if l := x.list("q=app:" + name); l.Matching != 1 || l.Rows[0].Apps[0] != name {
			t.Errorf("%s: %+v", name, l.Rows)
		}
	}
}

// TestMetricsOfTheStore: shared runs of the store get their metrics from their alone-runs, but
// only where those are known for sure.
func TestMetricsOfTheStore(t *testing.T) {
	x := newSite(t)
	shared := result("ugpu", "mps", 1, "PVC", "DXTC")
	x.put(shared, alone(shared, 0))
	x.fresh()
	stp := func() float64 { return x.list("q=is:shared").Rows[0].STP }
	if s := stp(); s != 0 {
		t.Errorf("STP %g without an alone-run of the second application", s)
	}
	x.put(alone(shared, 1))
	x.fresh()
	if s := stp(); s != 1 { // half the progress of alone, twice
		t.Errorf("STP %g, want 1", s)
	}
	id := x.list("q=is:shared").Rows[0].ID
	if w := x.get("/page?id=" + id); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "STP") {
		t.Errorf("the run's page has no STP: %d", w.Code)
	}
	other := alone(shared, 1)
	other.Tenants[0].ThreadInsts *= 3 // its application has changed, nobody knows when
	x.put(other)
	x.fresh()
	if s := stp(); s != 0 {
		t.Errorf("STP %g with two alone-runs of one identity", s)
	}
}

func TestMalformedResultsAreShown(t *testing.T) {
	root := t.TempDir()
	x := newSite(t, root)
	x.put(result("ugpu", "mps", 1, "PVC"))
	files, err := filepath.Glob(filepath.Join(x.dir, "??", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		name = filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	good, err := json.Marshal(result("nuba", "bp", 1, "BFS"))
	if err != nil {
		t.Fatal(err)
	}
	write("good/result.json", string(good))
	write("cut/result.json", string(good[:len(good)/2]))
	write("old/result.json", `{"version": 1}`)
	write("empty/result.json", "")
	write("list/result.json", "[]")
	write("nothing/result.json", `{"version": 2, "tenants": []}`)
	write("odd/result.json", strings.Replace(string(good), `"run_cycles":1001`, `"run_cycles":"many"`, 1))
	write(".hidden/result.json", "")
	bad := strings.Replace(string(text), `"run_cycles":1001`, `"run_cycles":1002`, 1)
	if bad == string(text) || os.WriteFile(files[0], []byte(bad), 0o644) != nil {
		t.Fatal("nothing was damaged")
	}
	x.fresh()
	if l := x.list("q=is:malformed"); l.Matching != 7 || l.Total != 8 {
		t.Errorf("%d of %d are malformed", l.Matching, l.Total)
	}
	for _, r := range x.list("q=is:malformed").Rows {
		if r.Problem == "" {
			t.Errorf("%+v", r)
		}
		if w := x.get("/page?id=" + r.ID); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", r.Problem, w.Code)
		}
	}
	write("cut/result.json", string(good)) // mended
	x.fresh()
	if l := x.list("q=is:malformed"); l.Matching != 6 {
		t.Errorf("%d are malformed after one was mended", l.Matching)
	}
}

func TestPagesOfRuns(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := report.BeginDir(filepath.Join(root, "deep", "one"))
	if err != nil {
		t.Fatal(err)
	}
	r := result("nuba", "bp", 1, "BFS")
	r.SpecHash = "x"
	if err := dir.Commit(r); err != nil {
		t.Fatal(err)
	}
	x := newSite(t, root)
	x.put(result("ugpu", "mps", 1, "PVC", "DXTC"), result("ugpu", "mps", 2, "PVC", "DXTC"))
	failed := &lab.Task{Hash: "f", Job: lab.Job{Label: "bad point"}, Err: errors.New("no such <kernel>")}
	if err := x.store.PutFailed(failed); err != nil {
		t.Fatal(err)
	}
	x.fresh()
	var ids []string
	for _, r := range x.list("is:result&q=is:result").Rows {
		ids = append(ids, "id="+r.ID)
	}
	w := x.get("/page?" + strings.Join(ids, "&"))
	for _, want := range []string{"PVC+DXTC mps #", "one", `id="compare"`} {
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%d, no %q", w.Code, want)
		}
	}
	f := x.list("q=is:failed").Rows
	if len(f) != 1 || f[0].Problem != "no such <kernel>" || f[0].Apps[0] != "bad point" {
		t.Fatalf("%+v", f)
	}
	if w := x.get("/page?id=" + f[0].ID); w.Code != http.StatusUnprocessableEntity ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("%d %q", w.Code, w.Header())
	}
	for ask, want := range map[string]int{
		"/page": 400, "/page?id=nosuch": 404, "/page?id=../../etc": 404, "/nosuch": 404,
	} {
		if w := x.get(ask); w.Code != want {
			t.Errorf("%s: %d, want %d", ask, w.Code, want)
		}
	}
}

func TestWhoMayLook(t *testing.T) {
	x := newSite(t)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:7077": 200, "127.0.0.1:7077": 200, "[::1]:7077": 200,
		"evil.example": 403, "evil.example:7077": 403, "10.0.0.1": 403, "127.0.0.1.evil.example": 403,
	} {
		if w := x.get("/api/live", "Host", host); w.Code != want {
			t.Errorf("asked for %s: %d, want %d", host, w.Code, want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		req := httptest.NewRequest(method, "/api/live", nil)
		req.Host = "localhost"
		w := httptest.NewRecorder()
		if x.s.ServeHTTP(w, req); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	x.s.o.Token = "secret"
	for _, c := range []struct {
		path, header, value string
		want                int
	}{
		{"/api/live", "Host", "node7", 401},
		{"/", "Host", "node7", 401},
		{"/api/live?token=secre", "Host", "node7", 401},
		{"/api/live?token=secret&q=1", "Host", "node7", 303},
		{"/api/live", "Authorization", "Bearer secret", 200},
		{"/api/live", "Authorization", "Bearer secret2", 401},
		{"/api/live", "Authorization", "Bearer ", 401},
		{"/events", "Cookie", cookie + "=nonsense", 401},
		{"/api/live", "Cookie", cookie + "=secret", 200},
	} {
		w := x.get(c.path, c.header, c.value)
		if w.Code != c.want {
			t.Errorf("%s with %s %q: %d, want %d", c.path, c.header, c.value, w.Code, c.want)
		}
		if to := w.Header().Get("Location"); c.want == 303 && to != "/api/live?q=1" {
			t.Errorf("on to %s", to)
		}
	}
}

func TestEventsTellWhatChanges(t *testing.T) {
	x := newSite(t)
	server := httptest.NewServer(x.s)
	defer server.Close()
	x.s.events.tell([]byte(`{"first":1}`))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() string {
		for lines.Scan() {
			if s, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return s
			}
		}
		return ""
	}
	if s := next(); !strings.Contains(s, "first") {
		t.Errorf("%q", s)
	}
	b, err := live.Open(x.dir, "sweep", "s.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Plan([]lab.Job{{Label: "a"}}, 0)
	if err := b.Close(true); err != nil {
		t.Fatal(err)
	}
	now, err := json.Marshal(x.s.now(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	x.s.events.tell(now)
	if s := next(); !strings.Contains(s, `"title":"s.yaml"`) || !strings.Contains(s, `"todo":1`) {
		t.Errorf("%q", s)
	}
}

// TestReaderThatDoesNotRead asks for more than the connection's buffers hold and reads nothing: the server
// lets it go.
func TestReaderThatDoesNotRead(t *testing.T) {
	s, err := New(t.Context(), Options{TakesWithin: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	s.mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<20))
		ended <- err
	})
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprint(c, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the answer ended with %v, want a deadline", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server waits for a reader that does not read")
	}
}

// Few pages are built at once, whoever asks: the others wait for their turn, or until who asked has gone.
func TestPagesWaitForTheirTurn(t *testing.T) {
	s, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range pagesAtOnce {
		s.building <- struct{}{}
	}
	ctx, leave := context.WithCancel(t.Context())
	ask := func(ctx context.Context) chan int {
		code := make(chan int, 1)
		go func() {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/page?id=x", nil))
			code <- w.Code
		}()
		return code
	}
	gone, waits := ask(ctx), ask(t.Context())
	leave()
	if code := <-gone; code != http.StatusServiceUnavailable {
		t.Errorf("status %d for a reader that has gone", code)
	}
	select {
	case code := <-waits:
		t.Errorf("status %d before it is its turn", code)
	case <-time.After(20 * time.Millisecond):
	}
	<-s.building
	if code := <-waits; code != http.StatusNotFound {
		t.Errorf("status %d", code)
	}
}

func TestMembers(t *testing.T) {
	text := `{"a": [1, {"b": "}\"]"}], "c" : -1.5e3,"d":"x\\", "e":null , "é":{}}`
	var got []string
	err := members([]byte(text), func(name string, value []byte) error {
		got = append(got, name+"="+string(value))
		return nil
	})
	want := []string{`a=[1, {"b": "}\"]"}]`, "c=-1.5e3", `d="x\\"`, "e=null", "é={}"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q %v", got, err)
	}
}

// FuzzMembers holds members against encoding/json: where that reads an object, they have the same
// members.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a": [1, {"b": "}\"]"}], "c" : -1.5e3,"d":"x\\", "e":null}`)
	f.Add(`{"a":1,}`)
	f.Fuzz(func(t *testing.T, text string) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal([]byte(text), &want) == nil && want != nil
		got := map[string]string{}
		err := members([]byte(text), func(name string, value []byte) error {
			got[name] = string(value)
			return nil
		})
		if !valid {
			return // what is wanted of it is decoded, and refused, elsewhere
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %v %v", text, got, err)
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Errorf("%q: %s is %q, want %q", text, k, got[k], v)
			}
		}
	})
}

// fill writes n entries into the store, of which a hundred have different applications. No result
// is waited for to be on the disk, as Put does.
func (x *site) fill(n int) {
	x.t.Helper()
	machines, modes := []string{"ugpu", "nuba", "qv100"}, []string{"mps", "bp", "ugpu", "slices"}
	for i := range n {
		r := result(machines[i%3], modes[i%4], uint64(i), fmt.Sprintf("app%d", i%100), fmt.Sprintf("app%d", i%7))
		r.SpecHash = fmt.Sprintf("%064d", i)
		text, err := json.Marshal(r)
		if err != nil {
			x.t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		key := sha256.Sum256([]byte(r.SpecHash))
		name := hex.EncodeToString(key[:])
		entry := fmt.Sprintf(`{"version":2,"key":%q,"sum":%q,"result":%s}`, name, hex.EncodeToString(sum[:]), text)
		dir := filepath.Join(x.dir, name[:2])
		if err := errors.Join(os.MkdirAll(dir, 0o755),
			os.WriteFile(filepath.Join(dir, name+".json"), []byte(entry), 0o644)); err != nil {
			x.t.Fatal(err)
		}
	}
}

// BenchmarkList measures answers about 10 000 results: the first page, a search, a search in a
// sorted order; and looking for changes, which happens in the background.
func BenchmarkList(b *testing.B) {
	x := newSite(b)
	x.fill(10_000)
	begun := time.Now()
	x.fresh()
	first := time.Since(begun)
	if l := x.list(""); l.Total != 10_000 || l.Pending != 0 {
		b.Fatalf("%d results, %d pending", l.Total, l.Pending)
	}
	b.Run("first-read", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(first.Seconds(), "s")
	})
	for name, ask := range map[string]string{
		"page": "", "search": "q=machine:ugpu+app77", "sorted": "q=policy:mps&sort=stp", "thousand": "limit=1000",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if w := x.get("/api/results?" + ask); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
		})
	}
	b.Run("refresh", func(b *testing.B) {
		for b.Loop() {
			x.fresh()
		}
	})
}
