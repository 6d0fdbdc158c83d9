package workload

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// ParseError wraps a complaint about a model file; its text has file, line and column.
type ParseError struct{ Err error }

func (e *ParseError) Error() string { return e.Err.Error() }
func (e *ParseError) Unwrap() error { return e.Err }

// header is the key that makes a YAML file a model.
var header = regexp.MustCompile(`(?m)^model[ \t]*:`)

// Is says whether path is a model file: a YAML file with the key model. An error
// means that it could not be read.
func Is(path string) (bool, error) {
	if !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") {
		return false, nil
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false, err
	}
	src, err := yamldoc.ReadFile(path)
	if err != nil {
		return false, err
	}
	return header.Match(src), nil
}

// Read reads a model file.
func Read(path string) (*Model, error) {
	src, err := yamldoc.ReadFile(path)
	if err != nil {
		return nil, &ParseError{err}
	}
	return Parse(path, src)
}

// Parse reads the text of a model; file names it in messages. Errors are *ParseError.
func Parse(file string, src []byte) (*Model, error) {
	m := &Model{file: file}
	root, err := yamldoc.Parse(file, bytes.TrimPrefix(src, []byte("\ufeff")))
	if err == nil {
		if err = yamldoc.Decode(root, "a model", m); err == nil {
			err = (&checker{m: m, root: root}).model()
		}
	}
	if err != nil {
		return nil, &ParseError{err}
	}
	return m, nil
}

// Limits of a model: far above real kernels, so that a slip of the keyboard does
// not become a run of years.
const (
	maxBody    = 4096
	maxCTAs    = 1 << 24
	maxCount   = 1 << 30
	maxShared  = 1 << 20
	maxRegs    = 255
	maxEntries = 256 // allocations, kernels, accesses
)

// checker validates a decoded model against its text and fills in the defaults.
type checker struct {
	m    *Model
	root *yamldoc.Node
}

// at is the value of a key, or the mapping when it has no such key.
func at(n *yamldoc.Node, key string) *yamldoc.Node {
	if v := n.Get(key); v != nil {
		return v
	}
	return n
}

// number gives an absent whole number its default and checks the range.
func number(n *yamldoc.Node, key string, v *int, def, low, high int) error {
	if n.Get(key) == nil {
		*v = def
	}
	if *v < low || *v > high {
		if n.Get(key) == nil {
			return n.Errorf("%s is missing: a whole number from %d to %d", key, low, high)
		}
		return at(n, key).Errorf("%s is %d; it must be from %d to %d", key, *v, low, high)
	}
	return nil
}

// name gives an absent word its default and checks it.
func name(n *yamldoc.Node, key string, v *string, def string, known ...string) error {
	if n.Get(key) == nil {
		*v = def
	}
	if !slices.Contains(known, *v) {
		return at(n, key).Errorf("%s cannot be %q%s", key, *v, yamldoc.DidYouMean(*v, known))
	}
	return nil
}

func (c *checker) model() error {
	m, n := c.m, c.root
	if strings.TrimSpace(m.Name) == "" {
		return n.Errorf("a model needs a name: `model: triad`")
	}
	if strings.TrimSpace(m.Source) == "" {
		return n.Errorf("a model needs a source: a reference for its numbers, or `source: \"estimate: why\"`")
	}
	if err := number(n, "rounds", &m.Rounds, 1, 1, maxCount); err != nil {
		return err
	}
	for _, l := range []struct {
		key string
		n   int
	}{{"allocations", len(m.Allocations)}, {"kernels", len(m.Kernels)}} {
		if l.n == 0 || l.n > maxEntries {
			return at(n, l.key).Errorf("a model has 1 to %d %s, this one %d", maxEntries, l.key, l.n)
		}
	}
	for i := range m.Allocations {
		if err := c.allocation(i, n.Get("allocations").Items[i]); err != nil {
			return err
		}
	}
	for i := range m.Kernels {
		if err := c.kernel(i, n.Get("kernels").Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) allocation(i int, n *yamldoc.Node) error {
	a := &c.m.Allocations[i]
	if strings.TrimSpace(a.Name) == "" {
		return n.Errorf("an allocation needs a name")
	}
	total := Bytes(0)
	for j := range i {
		total += c.m.Allocations[j].Bytes
		if c.m.Allocations[j].Name == a.Name {
			return at(n, "name").Errorf("two allocations are called %s", a.Name)
		}
	}
	if a.Bytes < 256 || a.Bytes > maxBytes-total {
		return at(n, "bytes").Errorf("allocation %s has %d bytes; it must have at least 256, and all together at "+
			"most 256 GiB", a.Name, a.Bytes)
	}
	if err := name(n, "memory", &a.Memory, "device", "device", "managed"); err != nil {
		return err
	}
	for _, k := range []struct {
		key string
		on  bool
	}{{"copy_in", a.CopyIn}, {"copy_out", a.CopyOut}} {
		if k.on && a.Memory != "device" {
			return at(n, k.key).Errorf("%s is for device memory; managed memory moves on demand", k.key)
		}
	}
	return nil
}

func (c *checker) kernel(i int, n *yamldoc.Node) error {
	k := &c.m.Kernels[i]
	k.line = int32(n.Line)
	if strings.TrimSpace(k.Name) == "" {
		return n.Errorf("a kernel needs a name")
	}
	for _, o := range c.m.Kernels[:i] {
		if o.Name == k.Name {
			return at(n, "name").Errorf("two kernels are called %s", k.Name)
		}
	}
	err := errors.Join( // yamldoc errors of one kernel: the first is reported
		number(n, "ctas", &k.CTAs, 0, 1, maxCTAs),
		number(n, "threads", &k.Threads, 0, 32, 1024),
		number(n, "registers", &k.Registers, 32, 1, maxRegs),
		number(n, "iterations", &k.Iterations, 1, 1, maxCount),
		number(n, "launches", &k.Launches, 1, 1, maxCount),
		number(n, "dependence", &k.Dependence, 4, 1, 64),
		number(n, "load_use", &k.LoadUse, 4, 1, maxBody),
		number(n, "conflict", &k.Conflict, 1, 1, 32),
		name(n, "order", &k.Order, "batched", "batched", "spread"),
	)
	if err != nil {
		return first(err)
	}
	if k.Threads%32 != 0 {
		return at(n, "threads").Errorf("threads is %d; a model has whole warps, so a multiple of 32", k.Threads)
	}
	if k.Shared > maxShared {
		return at(n, "shared").Errorf("a CTA with %d bytes of shared memory; at most %d", k.Shared, maxShared)
	}
	if err := c.mix(k, n); err != nil {
		return err
	}
	if err := c.divergence(k, n); err != nil {
		return err
	}
	body := 0
	for j := range k.Accesses {
		if len(k.Accesses) > maxEntries {
			return at(n, "accesses").Errorf("a kernel has at most %d accesses", maxEntries)
		}
		if err := c.access(k, &k.Accesses[j], n.Get("accesses").Items[j]); err != nil {
			return err
		}
		body += k.Accesses[j].Count
	}
	for _, e := range k.Mix.counts() {
		body += *e.n
	}
	if body >= maxBody {
		return n.Errorf("kernel %s has %d instructions per iteration; at most %d", k.Name, body, maxBody-1)
	}
	return nil
}

// first is the first of joined errors.
func first(err error) error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()[0]
	}
	return err
}

// count is one entry of a mix.
type count struct {
	key string
	n   *int
}

// counts lists the mix in the order of the file format.
func (m *Mix) counts() []count {
	return []count{
		{"int", &m.Int},
		{"mad", &m.Mad},
		{"move", &m.Move},
		{"fp", &m.FP},
		{"dp", &m.DP},
		{"sfu", &m.SFU},
		{"tensor", &m.Tensor},
		{"shared_load", &m.SharedLoad},
		{"shared_store", &m.SharedStore},
		{"barrier", &m.Barrier},
		{"fence", &m.Fence},
	}
}

func (c *checker) mix(k *Kernel, n *yamldoc.Node) error {
	mix := at(n, "mix")
	for i, e := range k.Mix.counts() {
		low, def := 0, 0
		k.Mix.lines[i] = int32(at(mix, e.key).Line)
		if e.key == "int" {
			low, def = 1, 1
		}
		if n.Get("mix") == nil {
			*e.n = def
			continue
		}
		if err := number(mix, e.key, e.n, def, low, maxBody); err != nil {
			return err
		}
	}
	if k.Mix.SharedLoad+k.Mix.SharedStore > 0 && k.Shared < 128 {
		return mix.Errorf("kernel %s accesses shared memory: give it at least 128 bytes, as in `shared: 4 KiB`", k.Name)
	}
	return nil
}

func (c *checker) divergence(k *Kernel, n *yamldoc.Node) error {
	d := &k.Divergence
	node := n.Get("divergence")
	if node == nil {
		d.Lanes, d.Paths = 32, 1
		return nil
	}
	if !(d.Share >= 0 && d.Share <= 1) {
		return at(node, "share").Errorf("share is %g; it is the share of the iterations, from 0 to 1", d.Share)
	}
	if err := number(node, "lanes", &d.Lanes, 0, 1, 31); err != nil {
		return err
	}
	if err := number(node, "paths", &d.Paths, 1, 1, 2); err != nil {
		return err
	}
	if d.Paths == 2 && k.Mix.Barrier > 0 {
		return at(node, "paths").Errorf("a warp on two paths would meet the barrier twice; use paths: 1 or a kernel " +
			"without barriers")
	}
	return nil
}

// belongs names, for each key of an access, the patterns it has a meaning with.
var belongs = []struct {
	key      string
	patterns []Pattern
}{
	{"row", []Pattern{Stencil}},
	{"plane", []Pattern{Stencil}},
	{"tile", []Pattern{Tiled}},
	{"stride", []Pattern{Strided}},
	{"block", []Pattern{Random, Zipf, Chase}},
	{"theta", []Pattern{Zipf}},
	{"sharers", []Pattern{Shared}},
	{"layout", []Pattern{Shared}},
}

// pattern is the access's, by its name; the checker has seen to it that it is one.
func (a *Access) pattern() Pattern { return Pattern(slices.Index(Patterns[:], a.Pattern)) }

func (c *checker) access(k *Kernel, a *Access, n *yamldoc.Node) error {
	a.line = int32(n.Line)
	var names []string
	for i := range c.m.Allocations {
		names = append(names, c.m.Allocations[i].Name)
	}
	on := slices.Index(names, a.On)
	if on < 0 {
		return at(n, "on").Errorf("on names an allocation; there is no %q%s", a.On, yamldoc.DidYouMean(a.On, names))
	}
	err := errors.Join(
		name(n, "op", &a.Op, "load", "load", "store", "atomic", "reduce"),
		name(n, "pattern", &a.Pattern, "", Patterns[:]...),
		name(n, "cache", &a.Cache, "ca", "ca", "cg", "cs", "cv", "nc"),
		number(n, "width", &a.Width, 4, 1, 16),
		number(n, "count", &a.Count, 1, 1, maxBody),
		number(n, "reuse", &a.Reuse, 1, 1, maxCount),
		name(n, "layout", &a.Layout, "blocked", "blocked", "interleaved"),
	)
	if err != nil {
		return first(err)
	}
	if a.Width&(a.Width-1) != 0 || a.Width < 4 && a.Op != "load" && a.Op != "store" {
		return at(n, "width").Errorf("width is %d; a lane moves 1, 2, 4, 8 or 16 bytes, an atomic at least 4", a.Width)
	}
	p := a.pattern()
	for _, b := range belongs {
		if n.Get(b.key) != nil && !slices.Contains(b.patterns, p) {
			return n.At(b.key).Errorf("%s has no meaning with pattern %s, only with %v", b.key, p, b.patterns)
		}
	}
	return c.shape(k, a, p, c.m.Allocations[on].Bytes, n)
}

// shape checks what one pattern needs to know; bytes is the allocation's length.
func (c *checker) shape(k *Kernel, a *Access, p Pattern, bytes Bytes, n *yamldoc.Node) error {
	size := func(key string, v *Bytes, def, high Bytes) error {
		if n.Get(key) == nil {
			*v = def
		}
		if *v < Bytes(a.Width) || *v > high || *v%Bytes(a.Width) != 0 {
			return at(n, key).Errorf("pattern %s needs %s: a multiple of width (%d bytes) up to %d, not %d", p, key,
				a.Width, high, *v)
		}
		return nil
	}
	switch p {
	case Stencil:
		if a.Plane != 0 {
			if err := size("plane", &a.Plane, 0, bytes); err != nil {
				return err
			}
		}
		return size("row", &a.Row, 0, bytes)
	case Tiled:
		return size("tile", &a.Tile, 0, bytes)
	case Strided:
		return size("stride", &a.Stride, 0, bytes)
	case Random, Zipf, Chase:
		if n.Get("theta") == nil {
			a.Theta = 0.9
		}
		if !(a.Theta >= 0 && a.Theta <= 4) {
			return at(n, "theta").Errorf("theta is %g; it must be from 0 (uniform) to 4", a.Theta)
		}
		if p == Chase && a.Op != "load" {
			return at(n, "op").Errorf("a pointer chase loads; %s has no next pointer", a.Op)
		}
		if err := size("block", &a.Block, Bytes(a.Width), min(bytes, Bytes(32*a.Width))); err != nil {
			return err
		}
		if a.Block&(a.Block-1) != 0 {
			return at(n, "block").Errorf("block is %d bytes; it must be a power of two", a.Block)
		}
		return nil
	case Shared:
		if err := number(n, "sharers", &a.Sharers, k.CTAs, 1, k.CTAs); err != nil {
			return err
		}
		if k.CTAs%a.Sharers != 0 {
			return at(n, "sharers").Errorf("%d sharers do not divide %d CTAs", a.Sharers, k.CTAs)
		}
		if groups := Bytes(k.CTAs / a.Sharers); bytes/groups < Bytes(a.Width) {
			return at(n, "sharers").Errorf("%d slices do not fit into %d bytes", groups, bytes)
		}
	}
	return nil
}
