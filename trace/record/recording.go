package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/isa"
)

// Recording is an opened recording. Its grids may be run by several goroutines,
// one per CTA.
type Recording struct {
	path  string
	file  io.ReaderAt
	close func() error
	x     *index
	code  []*static

	mu     sync.Mutex
	dec    *zstd.Decoder
	packed []byte
	cache  [cachePages]cached
	slot   []int16 // by page: its place in cache, -1: none
	clock  uint64
	free   []*cta
}

// cachePages bounds the decompressed pages that are kept: CTAs start in almost the
// order in which they ended when they were recorded, so most are used many times.
const cachePages = 128

type cached struct {
	page int32
	used uint64 // clock of the latest use; 0: empty
	b    []byte
}

// Open opens the recording at path and reads its index.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r, err := open(path, f, st.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.close = f.Close
	return r, nil
}

func open(path string, file io.ReaderAt, size int64) (*Recording, error) {
	d, err := newDecoder()
	if err != nil {
		return nil, err
	}
	r := &Recording{path: path, file: file, dec: d}
	if r.x, err = readIndex(file, size, d); err != nil {
		d.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range r.x.codes {
		r.code = append(r.code, newStatic(c))
	}
	r.slot = make([]int16, len(r.x.pages))
	for i := range r.slot {
		r.slot[i] = -1
	}
	return r, nil
}

// Close ends the use of the recording and its grids.
func (r *Recording) Close() error {
	r.dec.Close()
	if r.close == nil {
		return nil
	}
	return r.close()
}

// App is the name of the recorded application.
func (r *Recording) App() string { return r.x.app }

// Launches is the number of recorded kernel launches.
func (r *Recording) Launches() int { return len(r.x.launches) }

// Grid is launch i as a grid that replays it.
func (r *Recording) Grid(i int) isa.Grid {
	l := &r.x.launches[i]
	return &grid{r: r, l: l, t: r.code[l.code]}
}

// page gives the bytes of a page, which stay valid until the next call. The caller
// holds the lock.
func (r *Recording) page(n int32) ([]byte, error) {
	r.clock++
	if i := r.slot[n]; i >= 0 {
		r.cache[i].used = r.clock
		return r.cache[i].b, nil
	}
	oldest := 0
	for i := range r.cache {
		if r.cache[i].used < r.cache[oldest].used {
			oldest = i
		}
	}
	c := &r.cache[oldest]
	if c.used > 0 {
		r.slot[c.page] = -1
	}
	c.used = 0
	p := &r.x.pages[n]
	if cap(r.packed) < p.size {
		r.packed = make([]byte, p.size)
	}
	r.packed = r.packed[:p.size]
	if _, err := r.file.ReadAt(r.packed, p.at); err != nil {
		return nil, fmt.Errorf("page %d at byte %d: %w", n, p.at, err)
	}
	if checksum(r.packed) != p.sum {
		return nil, fmt.Errorf("page %d at byte %d is damaged", n, p.at)
	}
	b, err := r.dec.DecodeAll(r.packed, c.b[:0])
	if err != nil {
		return nil, fmt.Errorf("page %d at byte %d is damaged: %w", n, p.at, err)
	}
	if len(b) != p.full {
		return nil, fmt.Errorf("page %d at byte %d has %d bytes, the index says %d", n, p.at, len(b), p.full)
	}
	*c = cached{page: n, used: r.clock, b: b}
	r.slot[n] = int16(oldest)
	return b, nil
}

// copySpan copies a stretch of a page over dst. The caller holds the lock.
func (r *Recording) copySpan(dst []byte, s span) ([]byte, error) {
	b, err := r.page(s.page)
	if err != nil {
		return dst[:0], err
	}
	return append(dst[:0], b[s.at:s.at+s.size]...), nil
}

// pieces are those of one warp.
func (l *launch) piecesOf(cta, warp int) []piece {
	key := piece{cta: int32(cta), warp: int32(warp)}
	from := sort.Search(len(l.pieces), func(i int) bool { return !before(l.pieces[i], key) })
	to := from + sort.Search(len(l.pieces)-from, func(i int) bool { return before(key, l.pieces[from+i]) })
	return l.pieces[from:to]
}
