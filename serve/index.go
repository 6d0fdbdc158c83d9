package serve

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report/measures"
	"github.com/heddle-sim/heddle/sim"
)

// found is a file that is a result, or looks like one.
type found struct {
	path string
	kind place
	// same: nothing has changed in its folder of the store, whose files are only ever replaced
	same bool
}

// place is where a result lies.
type place uint8

const (
	inStore place = iota
	inFailed
	inDirectory // result.json of a result directory
	inStudy     // NAME.json beside NAME.csv: a figure, perhaps
)

func (f found) place() string {
	if f.kind == inDirectory {
		return filepath.Dir(f.path)
	}
	return ""
}

// known is a file that was read.
type known struct {
	size   int64
	mod    time.Time
	row    *Row    // nil of a figure
	figure *figure // nil for a result, and for a file that turned out to be no figure
}

// folder is a folder of the store as it was last listed.
type folder struct {
	mod    time.Time
	listed time.Time
	files  []found
}

// index holds a row for every result. One goroutine keeps it fresh; others read.
type index struct {
	store string   // "": none
	roots []string // folders with result directories in them

	folders map[string]folder
	files   map[string]known // by path

	mu      sync.RWMutex
	rows    []*Row // the youngest first
	byID    map[string]*Row
	alone   map[string][]*Row
	studies []*Study
	version int // counts publications
	pending int // files not read yet
}

const (
	refreshEvery = time.Second
	publishEvery = time.Second
	depth        = 5 // of folders below a root
	// fresh is how young a folder's time may be when it was listed without being listed again:
	// file systems count in steps of up to two seconds.
	fresh = 3 * time.Second
)

// keep refreshes the index until the context ends. A refresh takes at most a tenth of the time.
func (x *index) keep(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		x.refresh(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(max(refreshEvery, 9*time.Since(begun))):
		}
	}
}

// refresh lists the files, reads those that are new or have changed, and publishes now and then.
func (x *index) refresh(ctx context.Context) {
	if x.files == nil {
		x.files, x.folders = map[string]known{}, map[string]folder{}
	}
	var todo []found
	changed := false
	seen := map[string]bool{}
	for _, f := range x.list() {
		seen[f.path] = true
		old, have := x.files[f.path]
		if have && f.same {
			continue
		}
		info, err := os.Stat(f.path)
		if err != nil {
			continue // gone meanwhile
		}
		if !have || old.size != info.Size() || !old.mod.Equal(info.ModTime()) {
			x.files[f.path] = known{info.Size(), info.ModTime(), old.row, old.figure}
			todo = append(todo, f)
		}
	}
	for path := range x.files {
		if !seen[path] {
			delete(x.files, path)
			changed = true
		}
	}
	if changed || len(todo) > 0 || x.byID == nil {
		x.read(ctx, todo)
	}
}

// read reads files with all cores, the youngest first, and publishes meanwhile.
func (x *index) read(ctx context.Context, todo []found) {
	slices.SortStableFunc(todo, func(a, b found) int { return x.files[b.path].mod.Compare(x.files[a.path].mod) })
	type answer struct {
		path   string
		row    *Row
		figure *figure
	}
	work, answers := make(chan int), make(chan answer, 64)
	times := make([]time.Time, len(todo))
	for i, f := range todo {
		times[i] = x.files[f.path].mod
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(1, len(todo))) {
		wg.Go(func() {
			for i := range work {
				f := todo[i]
				if f.kind == inStudy {
					answers <- answer{f.path, nil, readFigure(f.path, times[i])}
				} else {
					answers <- answer{f.path, readRow(f, times[i]), nil}
				}
			}
		})
	}
	go func() {
		for i := range todo {
			if ctx.Err() != nil {
				break
			}
			work <- i
		}
		close(work)
		wg.Wait()
		close(answers)
	}()
	said, left := time.Now(), len(todo)
	for a := range answers {
		k := x.files[a.path]
		k.row, k.figure = a.row, a.figure
		x.files[a.path] = k
		left--
		if time.Since(said) > publishEvery {
			x.publish(left)
			said = time.Now()
		}
	}
	x.publish(left)
}

// publish makes the rows that have been read visible to readers.
func (x *index) publish(pending int) {
	rows := make([]*Row, 0, len(x.files))
	byID := make(map[string]*Row, len(x.files))
	alone := map[string][]*Row{}
	var figures []*figure
	for _, k := range x.files {
		if k.figure != nil {
			figures = append(figures, k.figure)
		}
		if k.row == nil {
			continue
		}
		rows = append(rows, k.row)
		byID[k.row.ID] = k.row
		if k.row.alone != "" {
			alone[k.row.alone] = append(alone[k.row.alone], k.row)
		}
	}
	for i, r := range rows {
		if len(r.needs) > 0 { // rows that are read by others do not change: a copy
			own := *r
			own.STP, own.ANTT = 0, 0
			own.measure(alone)
			rows[i], byID[r.ID] = &own, &own
		}
	}
	slices.SortFunc(rows, func(a, b *Row) int { return cmp.Or(b.When.Compare(a.When), cmp.Compare(a.ID, b.ID)) })
	all := studies(figures)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rows, x.byID, x.alone, x.studies, x.pending = rows, byID, alone, all, pending
	x.version++
}

// snapshot is the list as it is now. It is never changed.
func (x *index) snapshot() (rows []*Row, version, pending int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.rows, x.version, x.pending
}

// allStudies are the studies there are now. They are never changed.
func (x *index) allStudies() []*Study {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.studies
}

// find returns the row of an ID, and those of its alone-runs.
func (x *index) find(id string) (r *Row, alone []*Row) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if r = x.byID[id]; r != nil {
		alone = aloneRuns(r, x.alone)
	}
	return r, alone
}

// list finds the files. Folders of the store are listed again only when their time says so.
func (x *index) list() (out []found) {
	if x.store != "" {
		dirs, _ := filepath.Glob(filepath.Join(x.store, lab.EntryFolders)) // the pattern is well formed
		for _, d := range dirs {
			out = append(out, x.folder(d, inStore)...)
		}
		out = append(out, x.folder(filepath.Join(x.store, lab.FailedFolders), inFailed)...)
	}
	for _, root := range x.roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // what cannot be listed is not shown; its parent is
			case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir() && strings.Count(path[len(root):], string(filepath.Separator)) > depth:
				return fs.SkipDir
			case d.Name() == sim.ResultFile && !d.IsDir():
				out = append(out, found{path: path, kind: inDirectory})
			case strings.HasSuffix(path, measures.Suffix) && !d.IsDir():
				out = append(out, found{path: path, kind: inStudy})
			}
			return nil
		})
	}
	return out
}

func (x *index) folder(dir string, kind place) []found {
	info, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	have, ok := x.folders[dir]
	if ok && have.mod.Equal(info.ModTime()) && have.listed.Sub(have.mod) > fresh {
		return have.files
	}
	now := time.Now()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	f := folder{mod: info.ModTime(), listed: now}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			f.files = append(f.files, found{filepath.Join(dir, e.Name()), kind, true})
		}
	}
	x.folders[dir] = f
	changed := slices.Clone(f.files)
	for i := range changed {
		changed[i].same = false
	}
	return changed
}
