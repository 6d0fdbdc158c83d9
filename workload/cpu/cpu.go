// Package cpu models the memory behaviour of CPU programs that cannot be shipped: the ten SPEC CPU2017 programs of
// Hydrogen's mixes. Each program has two models. One consists of estimates alone. The other, called measured, has the
// misses in caches of 2 to 19 MB that were measured on a processor (published.csv); the rest of it are estimates.
//
// A reader must know three types. Model is a program's file. Stream emits its
// accesses beyond the private caches, endlessly. Access is one of them: an address,
// the instructions before it, whether it writes and whether it waits.
package cpu

import (
	"embed"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/workload/draw"
)

const (
	line      = 64  // bytes of an access
	blockLine = 4   // lines of a block of 256 bytes, the unit of spatial locality
	block     = 256 // bytes
)

// Model is a CPU program as written.
type Model struct {
	Name    string  `yaml:"cpu_model"`
	Source  string  `yaml:"source"`
	Class   string  `yaml:"class"`   // row-buffer-MPKI class: H, M, L; "-": not classified
	MPKI    float64 `yaml:"mpki"`    // target: misses of a 2 MB LLC per 1000 instructions, without prefetching
	RSS     float64 `yaml:"rss"`     // resident set, MB (1e6 bytes)
	Spatial float64 `yaml:"spatial"` // lines used of a block when it is visited, 1 to 4
	Writes  float64 `yaml:"writes"`  // target: part of write-backs in misses and write-backs
	MLP     float64 `yaml:"mlp"`     // mean number of accesses in flight together

	APKI    float64 `yaml:"apki"`    // accesses emitted per 1000 instructions
	Store   float64 `yaml:"store"`   // part of the block visits that write
	Streams int     `yaml:"streams"` // sequential streams; together they sweep the resident set
	Sweep   float64 `yaml:"sweep"`   // part of the block visits that belong to a stream, the others are Zipf's
	Near    float64 `yaml:"near"`    // part of all block visits that go to near data
	NearMB  float64 `yaml:"near_mb"` // size of the near data in MB, all used alike; 0 if near is 0
	Theta   float64 `yaml:"theta"`   // exponent of the Zipf distribution over all blocks
}

//go:embed *.yaml
var shipped embed.FS

// Names lists the shipped models in alphabetical order.
func Names() (names []string) {
	entries, err := shipped.ReadDir(".")
	if err != nil {
		return nil // an embedded directory always reads
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads a shipped model.
func Load(name string) (*Model, error) {
	src, err := shipped.ReadFile(name + ".yaml")
	if err != nil {
		near := yamldoc.DidYouMean(name, Names())
		if near == "" {
			near = ": there are " + strings.Join(Names(), ", ")
		}
		return nil, fmt.Errorf("no CPU model %q%s", name, near)
	}
	return Parse(name+".yaml", src)
}

// Parse reads the text of a model; errors have file, line and column.
func Parse(file string, src []byte) (*Model, error) {
	root, err := yamldoc.Parse(file, src)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if err := yamldoc.Decode(root, "a CPU model", m); err != nil {
		return nil, err
	}
	if m.Name == "" || strings.TrimSpace(m.Source) == "" {
		return nil, root.Errorf("a CPU model needs cpu_model (its name) and source")
	}
	for _, c := range []struct {
		key          string
		v, low, high float64
	}{
		{"mpki", m.MPKI, 0.001, 1000},
		{"rss", m.RSS, 1, 1 << 17},
		{"spatial", m.Spatial, 1, blockLine},
		{"writes", m.Writes, 0, 0.5},
		{"mlp", m.MLP, 1, 1000},
		{"apki", m.APKI, 0.001, 1000},
		{"store", m.Store, 0, 1},
		{"streams", float64(m.Streams), 1, 64},
		{"sweep", m.Sweep, 0, 1},
		{"near", m.Near, 0, 1},
		{"near_mb", m.NearMB, 0, m.RSS},
		{"theta", m.Theta, 0, 4},
	} {
		if !(c.v >= c.low && c.v <= c.high) {
			return nil, root.At(c.key).Errorf("%s is %g; it must be from %g to %g", c.key, c.v, c.low, c.high)
		}
	}
	if m.Near > 0 && m.NearMB == 0 {
		return nil, root.At("near").Errorf("near is %g, but near_mb (its size in MB) is missing", m.Near)
	}
	return m, nil
}

// nearby is the blocks of near data.
func (m *Model) nearby() uint64 { return max(1, uint64(m.NearMB*1e6)/block) }

// Divided is the model with a resident set, and near data, that are n times smaller, with at least a block for each
// stream: the misses in caches smaller by the same factor stay the same.
func (m *Model) Divided(n int) *Model {
	d := *m
	d.RSS = max(m.RSS/float64(n), float64(m.Streams*block)/1e6)
	d.NearMB = m.NearMB / float64(n)
	return &d
}

// Access is one access of the program beyond its private caches.
type Access struct {
	Addr  uint64 // of the line, below Stream.Bytes
	Gap   uint32 // instructions since the access before
	Write bool
	// Dependent: it cannot start before the previous access has been answered.
	Dependent bool
}

// Stream emits a program's accesses. The n-th one depends on model and seed alone.
type Stream struct {
	blocks, seed, n uint64
	zipf            *draw.Zipf
	shuffle         draw.Perm
	sweep, store    uint64 // thresholds
	near, nearby    uint64 // a threshold, and blocks of near data
	more, wait      uint64
	base            uint64 // lines of every visit
	gap             uint64 // mean instructions between accesses, times 2^16
	streams         uint64
	swept           uint64 // visits by streams so far
	visit           uint64
	at              uint64 // next line of the visit
	left            uint64 // lines left of it
	write           bool
}

// New starts the program's stream.
func (m *Model) New(seed uint64) *Stream {
	s := &Stream{
		blocks: uint64(m.RSS*1e6) / block, seed: draw.Key(seed, 5, 0), sweep: draw.Threshold(m.Sweep),
		store: draw.Threshold(m.Store), near: draw.Threshold(m.Near), nearby: m.nearby(),
		base: uint64(m.Spatial), gap: uint64(1000 / m.APKI * (1 << 16)), wait: draw.Threshold(1 / m.MLP),
		streams: uint64(m.Streams),
	}
	s.more = draw.Threshold(m.Spatial - float64(s.base))
	s.zipf, s.shuffle = draw.NewZipf(s.blocks, m.Theta), draw.NewPerm(s.blocks, s.seed)
	return s
}

// Bytes is the resident set: every address is below it.
func (s *Stream) Bytes() uint64 { return s.blocks * block }

// Next makes the next access. It allocates nothing.
func (s *Stream) Next(a *Access) {
	if s.left == 0 {
		s.begin()
	}
	h := draw.Key(s.seed, 1, s.n)
	s.n++
	// gaps are even over [0, 2*mean]: nothing is known of their distribution
	a.Gap = uint32((draw.Below(h, 2*s.gap) + 1<<15) >> 16)
	a.Addr, a.Write, a.Dependent = s.at*line, s.write, draw.Mix(h) < s.wait
	s.at++
	s.left--
}

// begin chooses the next block: one of near data, the next of a stream, or one by popularity.
func (s *Stream) begin() {
	h := draw.Key(s.seed, 2, s.visit)
	s.visit++
	var b uint64
	if s.near > 0 && draw.Mix(h+4) < s.near {
		b = s.shuffle.At(draw.Below(draw.Mix(h+5), s.nearby))
	} else if draw.Mix(h+1) < s.sweep || s.sweep == ^uint64(0) {
		which, step := s.swept%s.streams, s.swept/s.streams
		part := s.blocks / s.streams
		b = which*part + step%part
		s.swept++
	} else {
		b = s.shuffle.At(s.zipf.Rank(h))
	}
	s.left = s.base
	if draw.Mix(h+2) < s.more {
		s.left++
	}
	// the lines of a block that are used stay the same from visit to visit
	s.at = b*blockLine + draw.Below(draw.Key(s.seed, 3, b), blockLine-s.left+1)
	s.write = draw.Mix(h+3) < s.store
}
