package accelsim

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/internal/kernelname"
	"github.com/heddle-sim/heddle/mem"
)

// ahead is how many kernels are read before the machine has run them, when a trace
// uses several streams; with one, a kernel is read when the one before has ended,
// which costs no simulated time.
const ahead = 32

// Program is a kernelslist.g as a host program: copies to the device and launches,
// in order, each kernel on its stream. It implements host.Program and may be run
// many times, also at once.
type Program struct {
	Ignored int // lines of the list that are neither allocation nor copy nor kernel

	name    string
	file    string
	opt     Options
	list    []command
	streams int // streams of the kernels
}

// Load reads a kernelslist.g and the headers of its kernels. args are the
// application's arguments: unknown=other sets Options.Other. Errors are
// *host.Error.
func Load(file string, args map[string]string, opt Options) (*Program, error) {
	p, err := load(file, args, opt)
	return p, input(err)
}

// input marks an error as one of the input, with its position.
func input(err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return &host.Error{Pos: own.Pos(), Err: errors.New(own.Msg)}
	}
	return &host.Error{Err: err}
}

func load(file string, args map[string]string, opt Options) (*Program, error) {
	for k, v := range args {
		if k != "unknown" || v != "other" {
			return nil, &Error{
				File: file,
				Msg: fmt.Sprintf("argument %s=%s: a trace takes only the argument unknown=other, which takes "+
					"unknown opcodes as "+
					"register-only instructions", k, v),
			}
		}
		opt.Other = true
	}
	s, err := openStream(file)
	if err != nil {
		return nil, err
	}
	list, ignored, err := readList(s)
	if err = errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	p := &Program{
		Ignored: ignored, name: filepath.Base(filepath.Dir(abs)), file: file, opt: opt.withDefaults(),
		list: list,
	}
	seen := map[uint64]bool{}
	for i := range p.list {
		c := &p.list[i]
		if c.kernel == "" {
			continue
		}
		path := p.path(c)
		if c.header, err = ReadHeader(path); err != nil {
			var own *Error
			if errors.As(err, &own) {
				return nil, err
			}
			return nil, &Error{File: file, Line: c.line, Msg: missing(path, err)}
		}
		seen[c.header.Stream] = true
	}
	p.streams = len(seen)
	return p, nil
}

func (p *Program) path(c *command) string { return filepath.Join(filepath.Dir(p.file), c.kernel) }

// Name implements host.Program: the name of the folder.
func (p *Program) Name() string { return p.name }

// Kernels lists the kernels' files in order.
func (p *Program) Kernels() (files []string) {
	for i := range p.list {
		if c := &p.list[i]; c.kernel != "" {
			files = append(files, p.path(c))
		}
	}
	return files
}

// Copies is the number of copies to the device and their bytes.
func (p *Program) Copies() (n int, bytes int64) { return p.ranges(copyCommand) }

// Allocations is the number of allocations that the list names and their bytes.
func (p *Program) Allocations() (n int, bytes int64) {
	n, bytes = p.ranges(allocCommand)
	m, more := p.ranges(managedCommand)
	return n + m, bytes + more
}

// ranges counts the lines of a command.
func (p *Program) ranges(what string) (n int, bytes int64) {
	for i := range p.list {
		if c := &p.list[i]; c.what == what {
			n++
			bytes += c.bytes
		}
	}
	return n, bytes
}

// running is a kernel the machine has not finished, as far as is known.
type running struct {
	trace *Trace
	end   *host.Event
}

// replay is one run of a Program.
type replay struct {
	p       *Program
	c       *host.Context
	m       mapper
	mapped  [slots][]uint64 // pages that belong to a region
	streams map[uint64]*host.Stream
	pending []running // oldest first
}

// Run implements host.Program.
func (p *Program) Run(c *host.Context) error {
	r := &replay{p: p, c: c, streams: map[uint64]*host.Stream{0: c.DefaultStream()}}
	line := 0
	c.SetWhere(func() string { return p.file + ":" + strconv.Itoa(line) })
	if err := r.allocate(); err != nil {
		return input(err)
	}
	var err error
	for i := range p.list {
		cmd := &p.list[i]
		line = cmd.line
		switch {
		case cmd.kernel != "":
			err = r.launch(cmd)
		case cmd.what == copyCommand:
			err = r.copy(cmd)
		}
		if err != nil {
			break
		}
	}
	for err == nil && len(r.pending) > 0 {
		err = r.wait()
	}
	for _, k := range r.pending { // only after an error: the machine does not run on
		err = errors.Join(err, k.trace.Close())
	}
	return r.final(err)
}

// final tells errors of the trace from those of the device, which know their class.
func (r *replay) final(err error) error {
	var own *Error
	if errors.As(err, &own) {
		return input(err)
	}
	return err
}

// pieces splits a range where its parts may be moved apart.
func (r *replay) pieces(c *command, do func(at, n uint64) error) error {
	for addr, left := c.addr, uint64(c.bytes); left > 0; {
		n := min(left, 1<<slotShift-addr&(1<<slotShift-1))
		at, ok := r.m.move(addr)
		if !ok {
			return &Error{File: r.p.file, Line: c.line, Msg: tooWide(addr)}
		}
		if err := do(at, n); err != nil {
			return err
		}
		addr += n
		left -= n
	}
	return nil
}

// allocate makes the regions that the list names before the first kernel runs: of allocations, which are managed
// memory where the line or the run says so, and of pages that copies fill and no allocation holds; ranges that
// overlap or touch become one.
func (r *replay) allocate() error {
	managed := func(c *command) bool {
		return c.what == managedCommand || c.what == allocCommand && r.c.AllManaged()
	}
	if err := r.manage(managed); err != nil {
		return err
	}
	for _, what := range []string{allocCommand, copyCommand} {
		for i := range r.p.list {
			c := &r.p.list[i]
			if c.what != what || managed(c) {
				continue
			}
			if err := r.pieces(c, func(at, n uint64) error { r.m.touch(at, n); return nil }); err != nil {
				return err
			}
			if what == allocCommand { // each its own region
				if err := r.regions(c.line); err != nil {
					return err
				}
			}
		}
	}
	return r.regions(0)
}

// manage makes the regions of managed memory. They begin and end where the address space wants them to, so that small
// allocations beside each other are one.
func (r *replay) manage(is func(*command) bool) error {
	unit := max(1<<pageShift, r.c.Space().ManagedAlign())
	var all []span
	for i := range r.p.list {
		c := &r.p.list[i]
		if c.kernel != "" || !is(c) {
			continue
		}
		err := r.pieces(c, func(at, n uint64) error {
			base := at &^ (unit - 1)
			all = append(all, span{base, (at+n+unit-1)&^(unit-1) - base})
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.base, b.base) })
	for i := 0; i < len(all); {
		s := all[i]
		for i++; i < len(all) && all[i].base < s.base+s.bytes; i++ {
			s.bytes = max(s.bytes, all[i].base+all[i].bytes-s.base)
		}
		r.m.touch(s.base, s.bytes)
		r.m.fresh(&r.mapped)
		if err := r.region(s, mem.Managed, 0); err != nil {
			return err
		}
	}
	return nil
}

// regions allocates the touched pages that have no region yet, as device memory.
func (r *replay) regions(line int) error {
	for _, s := range r.m.fresh(&r.mapped) {
		if err := r.region(s, mem.Device, line); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) region(s span, k mem.Kind, line int) error {
	name := fmt.Sprintf("recorded 0x%x", r.m.recorded(s.base))
	if _, err := r.c.AllocAt(s.base, int64(s.bytes), k, name); err != nil {
		return &Error{File: r.p.file, Line: line, Msg: err.Error()}
	}
	return nil
}

// copy carries out a copy to the device: it waits, as cudaMemcpy does. Managed memory is written where the host has it.
func (r *replay) copy(c *command) error {
	return r.pieces(c, func(at, n uint64) error {
		for n > 0 { // a copy may fill several regions
			reg := r.c.Space().Find(at)
			part := min(n, reg.End()-at)
			do := r.c.CopyIn
			if reg.Kind == mem.Managed {
				do = r.c.HostWrite
			}
			if err := do(reg, int64(at-reg.Base), int64(part)); err != nil {
				return err
			}
			at, n = at+part, n-part
		}
		return nil
	})
}

// launch reads a kernel and enqueues it.
func (r *replay) launch(c *command) error {
	most := ahead
	if r.p.streams <= 1 {
		most = 1
	}
	for len(r.pending) >= most {
		if err := r.wait(); err != nil {
			return err
		}
	}
	opt := r.p.opt
	for _, k := range r.pending {
		opt.Memory -= k.trace.store.inMemory()
	}
	opt.Memory = max(1, opt.Memory)
	t, err := readMapped(r.p.path(c), opt, &r.m)
	if err != nil {
		return err
	}
	r.pending = append(r.pending, running{trace: t, end: r.c.NewEvent()})
	if err := r.regions(c.line); err != nil {
		return err
	}
	id := t.Stream
	if r.streams[id] == nil {
		r.streams[id] = r.c.NewStream()
	}
	if err := r.c.LaunchGrid(kernelname.Plain(t.Name), t.Launch(), r.streams[id]); err != nil {
		return err
	}
	return r.pending[len(r.pending)-1].end.Record(r.streams[id])
}

// wait waits for the oldest kernel and gives its records back.
func (r *replay) wait() error {
	k := r.pending[0]
	if err := k.end.Synchronize(); err != nil {
		return err
	}
	r.pending = r.pending[1:]
	return k.trace.Close()
}
