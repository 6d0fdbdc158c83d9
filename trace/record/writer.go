package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/isa"
)

// Writer makes a recording. Its grids may be run by several goroutines, one per
// CTA; the rest is for one goroutine. Commit or Abort ends it.
type Writer struct {
	path string
	tmp  *os.File
	enc  *zstd.Encoder
	x    index
	code map[*isa.Code]int32
	dev  *device // nil: grids alone are recorded

	mu     sync.Mutex
	at     int64  // end of the file
	raw    []byte // the page being filled
	packed []byte
	free   []*logCTA
	left   int // CTAs launched and not ended
	err    error
}

// Create begins a recording of application app. The file appears at path, in place
// of one that is there, when Commit is called.
func Create(path, app string) (*Writer, error) {
	tmp, err := scratch.File(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return nil, fmt.Errorf("recording %w", scratch.Unwritten(path, err))
	}
	w := &Writer{path: path, tmp: tmp, code: map[*isa.Code]int32{}}
	w.x.app = app
	if w.enc, err = newEncoder(); err == nil {
		err = w.write(header())
	}
	if err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	return w, nil
}

func (w *Writer) write(b []byte) error {
	n, err := w.tmp.Write(b)
	w.at += int64(n)
	if err != nil {
		return fmt.Errorf("recording %w", scratch.Unwritten(w.path, err))
	}
	return nil
}

// Abort gives the recording up and removes its file. After Commit it does nothing.
func (w *Writer) Abort() error {
	if w.tmp == nil {
		return nil
	}
	err := errors.Join(w.tmp.Close(), os.Remove(w.tmp.Name()))
	w.tmp = nil
	return err
}

// Commit completes the file and gives it its name. On error the file is removed.
func (w *Writer) Commit() error {
	if err := w.complete(); err != nil {
		return errors.Join(err, w.Abort())
	}
	name := w.tmp.Name()
	w.tmp = nil
	if err := os.Rename(name, w.path); err != nil {
		return errors.Join(fmt.Errorf("recording %w", scratch.Unwritten(w.path, err)), os.Remove(name))
	}
	return nil
}

func (w *Writer) complete() error {
	if w.err == nil && w.left > 0 {
		w.err = fmt.Errorf("recording %s: %d CTAs have not ended", w.path, w.left)
	}
	if err := w.flush(); err != nil {
		return err
	}
	if w.dev != nil {
		for r := range w.dev.regions {
			w.dev.settle(r)
		}
	}
	for i := range w.x.launches {
		slices.SortStableFunc(w.x.launches[i].pieces, func(a, b piece) int {
			if before(a, b) {
				return -1
			}
			if before(b, a) {
				return 1
			}
			return 0
		})
	}
	text := w.x.encode()
	if len(text) > maxIndex {
		return fmt.Errorf("recording %s: the index of %d bytes is too large; record a shorter run", w.path, len(text))
	}
	packed := w.enc.EncodeAll(text, nil)
	at := w.at
	if err := errors.Join(w.write(packed), w.write(trailer(at, packed, len(text)))); err != nil {
		return err
	}
	if err := errors.Join(w.tmp.Chmod(0o644), w.tmp.Sync()); err != nil {
		return fmt.Errorf("recording %w", scratch.Unwritten(w.path, err))
	}
	if err := w.tmp.Close(); err != nil {
		return fmt.Errorf("recording %w", scratch.Unwritten(w.path, err))
	}
	return nil
}

// flush writes the page that is being filled. The first error sticks.
func (w *Writer) flush() error {
	if w.err != nil || len(w.raw) == 0 {
		return w.err
	}
	w.packed = w.enc.EncodeAll(w.raw, w.packed[:0])
	w.x.pages = append(w.x.pages, page{at: w.at, size: len(w.packed), full: len(w.raw), sum: checksum(w.packed)})
	w.raw = w.raw[:0]
	w.err = w.write(w.packed)
	return w.err
}

// room starts a new page where n more bytes would make this one large.
func (w *Writer) room(n int) error {
	if len(w.raw) > 0 && len(w.raw)+n > pageTarget {
		return w.flush()
	}
	return w.err
}

// Grid wraps g so that everything its CTAs do is recorded as the next launch.
func (w *Writer) Grid(name string, g isa.Grid) (isa.Grid, error) {
	code, geo := g.Code(), g.Geometry()
	n, known := w.code[code]
	if !known {
		if err := checkCode(code); err != nil {
			return nil, fmt.Errorf("recording: %w", err)
		}
		n = int32(slices.IndexFunc(w.x.codes, func(c *isa.Code) bool { return reflect.DeepEqual(c, code) }))
		if n < 0 {
			n = int32(len(w.x.codes))
			w.x.codes = append(w.x.codes, code)
		}
		w.code[code] = n
	}
	if err := checkGeometry(&geo); err != nil {
		return nil, fmt.Errorf("recording: kernel %s: %w", name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left += geo.CTAs
	w.x.launches = append(w.x.launches, launch{name: name, code: n, geo: geo, ctas: make([]span, geo.CTAs)})
	return &logGrid{Grid: g, w: w, launch: len(w.x.launches) - 1, code: code.Instr, geo: geo}, nil
}

// logGrid records what a grid does.
type logGrid struct {
	isa.Grid
	w      *Writer
	launch int
	code   []isa.Instr
	geo    isa.Geometry
}

// logCTA records what a CTA does.
type logCTA struct {
	isa.CTA
	g     *logGrid
	index int
	warps []stream
	buf   []byte
}

// Start implements isa.Grid.
func (g *logGrid) Start(cta int, at isa.Place) isa.CTA {
	inner := g.Grid.Start(cta, at)
	g.w.mu.Lock()
	var c *logCTA
	if n := len(g.w.free); n > 0 {
		c = g.w.free[n-1]
		g.w.free = g.w.free[:n-1]
	}
	g.w.mu.Unlock()
	if c == nil {
		c = &logCTA{}
	}
	c.CTA, c.g, c.index = inner, g, cta
	if cap(c.warps) < g.geo.Warps {
		c.warps = append(c.warps[:cap(c.warps)], make([]stream, g.geo.Warps-cap(c.warps))...)
	}
	c.warps = c.warps[:g.geo.Warps]
	for i := range c.warps {
		c.warps[i].begin(inner.PC(i))
	}
	return c
}

// Step implements isa.CTA.
func (c *logCTA) Step(w int, now uint64, s *isa.Step) error {
	batch := s.Batch
	s.Batch = false // a recording has every instruction
	err := c.CTA.Step(w, now, s)
	if s.Batch = batch; err != nil {
		return err
	}
	e := &c.warps[w]
	e.step(c.g.code, s)
	if len(e.buf) >= pieceBytes-maxEvent {
		return c.g.w.spill(c, w)
	}
	return nil
}

// spill writes what a warp has done so far.
func (w *Writer) spill(c *logCTA, warp int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &c.warps[warp]
	if err := w.room(len(e.buf)); err != nil {
		return err
	}
	l := &w.x.launches[c.g.launch]
	l.pieces = append(l.pieces, piece{int32(c.index), int32(warp), span{
		int32(len(w.x.pages)), int32(len(w.raw)),
		int32(len(e.buf)),
	}})
	w.raw = append(w.raw, e.buf...)
	e.buf = e.buf[:0]
	return nil
}

// Release implements isa.CTA: the streams go to the file.
func (c *logCTA) Release() {
	c.CTA.Release()
	w := c.g.w
	f := fields{c.buf[:0]}
	for i := range c.warps {
		c.warps[i].flush()
		f.i(int64(c.warps[i].start))
		f.u(uint64(len(c.warps[i].buf)))
	}
	for i := range c.warps {
		f.b = append(f.b, c.warps[i].buf...)
	}
	c.buf = f.b
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.room(len(c.buf)) == nil {
		w.x.launches[c.g.launch].ctas[c.index] = span{int32(len(w.x.pages)), int32(len(w.raw)), int32(len(c.buf))}
		w.raw = append(w.raw, c.buf...)
	}
	w.left--
	c.CTA, c.g = nil, nil
	w.free = append(w.free, c)
}
