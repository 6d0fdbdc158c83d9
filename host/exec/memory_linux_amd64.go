package exec

import (
	"maps"
	"slices"

	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/mem"
)

// allocate gives v[0] bytes of device (v[1] = 0), managed (1) or host memory (2): the address is v[0].
func (c *call) allocate() int32 {
	if c.v[0] == 0 || c.v[0] > shim.WindowBytes || len(c.s.c.Space().Regions()) >= mostHandles {
		return outOfMemory
	}
	n := int64(c.v[0])
	var a *host.Array
	var err error
	switch c.v[1] {
	case 0:
		a, err = c.s.c.Malloc(host.U8, n, "")
	case 1:
		a, err = c.s.c.MallocManaged(host.U8, n, "")
	case 2:
		if a, err = c.s.c.HostArray(host.U8, n, ""); err == nil {
			err = c.s.c.HostRegister(a)
		}
	default:
		return invalidValue
	}
	if err != nil {
		return c.failed(err, outOfMemory)
	}
	c.v[0] = a.Addr()
	if a.Kind() == mem.Host {
		from, to := pagesOf(a.Region())
		c.broken = c.s.protect(from, to, readWrite)
	}
	return success
}

// Rights of the program on pages of the window.
const (
	none = iota
	read
	readWrite
)

// pagesOf are the pages of a region, those at its ends whole.
func pagesOf(r *mem.Region) (from, to uint64) {
	return r.Base &^ (page - 1), (r.End() + page - 1) &^ (page - 1)
}

// protect gives the program rights on pages.
func (s *session) protect(from, to uint64, rights uint64) error {
	if from >= to {
		return nil
	}
	return s.push(shim.Protect, packet{v: [shim.Values]uint64{from, to - from, rights, from - mem.DefaultBase}})
}

// withdraw takes the rights on a region's pages, but for those that it shares with host memory of another.
func (s *session) withdraw(r *mem.Region) error {
	from, to := pagesOf(r)
	for _, o := range s.c.Space().Regions() {
		if o == r || o.Kind != mem.Host {
			continue
		}
		if o.Base < from+page && o.End() > from {
			from += page
		}
		if o.Base < to && o.End() > to-page {
			to -= page
		}
	}
	return s.protect(from, to, none)
}

// free frees the allocation that begins at v[0].
func (c *call) free() int32 {
	r := c.s.c.Space().Find(c.v[0])
	if r == nil || r.Base != c.v[0] || r.Kind == mem.Symbol {
		return c.refused(invalidValue, "0x%x is not the start of an allocation: %s", c.v[0],
			c.s.c.Space().Nearest(c.v[0]))
	}
	if e := c.finish(); e != success {
		return e
	}
	a, err := c.s.d.At(r.Base, r.Len())
	if err == nil {
		err = c.s.c.Free(a)
	}
	if err != nil {
		return c.failed(err, invalidValue)
	}
	if r.Kind != mem.Device {
		c.s.managed.forget(r)
		c.broken = c.s.withdraw(r)
	}
	return success
}

// pointer describes the memory at v[0]: v is cudaMemoryType, base and bytes.
func (c *call) pointer() int32 {
	r := c.s.c.Space().Find(c.v[0])
	if r == nil {
		c.v = [shim.Values]uint64{}
		return success
	}
	kind := map[mem.Kind]uint64{mem.Host: 1, mem.Device: 2, mem.Symbol: 2, mem.Managed: 3}[r.Kind]
	if c.s.variables[r] {
		kind = 3
	}
	c.v = [shim.Values]uint64{kind, r.Base, uint64(r.Len())}
	return success
}

// side is one side of a copy: rows in an allocation, or in the staging area.
type side struct {
	a     *host.Array // nil: staging
	bytes []byte
	pitch int64
}

// side checks rows of width bytes from addr on.
func (c *call) side(addr, pitch, width, height uint64) (side, int32) {
	if pitch < width || height == 0 || pitch > shim.WindowBytes/height {
		return side{}, invalidValue
	}
	n := int64(pitch*(height-1) + width)
	if addr == shim.Staged {
		if n > shim.StagingBytes {
			return side{}, invalidValue
		}
		return side{nil, c.s.w.staged(n), int64(pitch)}, success
	}
	a, err := c.s.d.At(addr, n)
	if err != nil {
		return side{}, c.failed(err, invalidValue)
	}
	return side{a, a.Raw(), int64(pitch)}, success
}

// rows moves height rows of width bytes.
func rows(dst, src side, width, height int64) {
	if dst.pitch == width && src.pitch == width {
		width, height = width*height, 1
	}
	for y := range height {
		copy(dst.bytes[y*dst.pitch:y*dst.pitch+width], src.bytes[y*src.pitch:y*src.pitch+width])
	}
}

// copy copies v[5] rows of v[4] bytes to v[0], pitch v[1], from v[2], pitch v[3], in stream v[6]; it waits unless v[7].
func (c *call) copy() int32 {
	dst, e := c.side(c.v[0], c.v[1], c.v[4], c.v[5])
	if e != success {
		return e
	}
	src, e := c.side(c.v[2], c.v[3], c.v[4], c.v[5])
	if e != success {
		return e
	}
	width, height := int64(c.v[4]), int64(c.v[5])
	s, e := c.streamOf(c.v[6])
	if e != success {
		return e
	}
	if e := c.s.runGates(c); e != success && c.v[7] == 0 {
		return e
	}
	n := width * height
	move := func() { rows(dst, src, width, height) }
	var err error
	switch {
	case dst.a == nil && src.a == nil:
		return invalidValue
	case src.a == nil:
		if c.v[7] != 0 { // the staging area is another copy's by then
			src.bytes = slices.Clone(src.bytes)
		}
		err = c.transfer(dst.a, host.Move{N: n, ToGPU: true, Bytes: move}, s.s)
	case dst.a == nil:
		err = c.transfer(src.a, host.Move{N: n, Bytes: move}, s.s)
	default:
		err = dst.a.CopyRows(src.a, n, move, s.s)
	}
	if err == nil && c.v[7] == 0 {
		err = s.s.Synchronize()
	}
	return c.failed(err, invalidValue)
}

// transfer is a copy between the staging area and an allocation.
func (c *call) transfer(a *host.Array, m host.Move, s *host.Stream) error {
	if a.Kind() == mem.Host { // of the program, too: no link is crossed
		if err := s.Synchronize(); err != nil {
			return err
		}
		m.Bytes()
		return nil
	}
	return a.Transfer(m, s)
}

// fill sets v[5] rows, pitch v[1], of v[4] elements of v[3] bytes at v[0] to v[2], in stream v[6]; it does not wait.
func (c *call) fill() int32 {
	size := c.v[3]
	if size != 1 && size != 2 && size != 4 || c.v[4] > shim.WindowBytes {
		return invalidValue
	}
	width := c.v[4] * size
	dst, e := c.side(c.v[0], max(c.v[1], width), width, c.v[5])
	if e != success {
		return e
	}
	s, e := c.streamOf(c.v[6])
	if e != success || dst.a == nil {
		return invalidHandle
	}
	value, rowsLeft := c.v[2], int64(c.v[5])
	pattern := []byte{byte(value), byte(value >> 8), byte(value >> 16), byte(value >> 24)}[:size]
	set := func() {
		for y := range rowsLeft {
			row := dst.bytes[y*dst.pitch : y*dst.pitch+int64(width)]
			n := copy(row, pattern)
			for n < len(row) {
				n += copy(row[n:], row[:n])
			}
		}
	}
	if dst.a.Kind() == mem.Managed {
		if err := c.s.revoke(); err != nil {
			c.broken = err
			return launchFailed
		}
	}
	return c.failed(dst.a.CopyRows(dst.a, int64(width)*rowsLeft, set, s.s), invalidValue)
}

// ---- managed memory

// chunk is the unit in which the program gets managed memory, in bytes.
const chunk = 64 << 10

// managed is what the program may do with managed memory now.
type managed struct{ rights map[uint64]int } // by address / chunk

func (m *managed) forget(r *mem.Region) {
	for k := r.Base / chunk; k <= (r.End()-1)/chunk; k++ {
		delete(m.rights, k)
	}
}

// touch is the program's access to address v[0], a write if v[1].
func (c *call) touch() int32 {
	r := c.s.c.Space().Find(c.v[0])
	if r == nil || r.Kind != mem.Managed && !c.s.variables[r] {
		what := "not memory of this program"
		if r != nil {
			what = r.Kind.String() + " memory, " + r.Name + ", which only kernels and copies reach"
		} else {
			what += ": " + c.s.c.Space().Nearest(c.v[0])
		}
		c.s.say("the program itself touches 0x%x, %s; copy it with cudaMemcpy, or allocate it with cudaMallocManaged",
			c.v[0], what)
		return illegalAddress
	}
	if e := c.finish(); e != success {
		return e
	}
	key := c.v[0] / chunk
	from, to := key*chunk, (key+1)*chunk
	for _, o := range c.s.c.Space().Regions() {
		lo, hi := max(o.Base, from), min(o.End(), to)
		if o.Kind != mem.Managed || lo >= hi {
			continue // a variable has nothing to move
		}
		if err := c.s.d.Touch(o, int64(lo-o.Base), int64(hi-lo), c.v[1] != 0); err != nil {
			return c.failed(err, launchFailed)
		}
	}
	rights := read
	if c.v[1] != 0 {
		rights = readWrite
	}
	rights = max(rights, c.s.managed.rights[key])
	c.s.managed.rights[key] = rights
	c.broken = c.s.protect(from, to, uint64(rights))
	return success
}

// revoke takes the managed memory from the program: a kernel may touch it. Pages with host memory stay.
func (s *session) revoke() error {
	if len(s.managed.rights) == 0 {
		return nil
	}
	for _, k := range slices.Sorted(maps.Keys(s.managed.rights)) {
		from, to := k*chunk, (k+1)*chunk
		for _, o := range s.c.Space().Regions() {
			if o.Kind == mem.Host && o.Base < to && o.End() > from {
				first, last := pagesOf(o)
				if err := s.protect(from, min(first, to), none); err != nil {
					return err
				}
				from = min(last, to)
			}
		}
		if err := s.protect(from, to, none); err != nil {
			return err
		}
	}
	clear(s.managed.rights)
	return nil
}

// region is v[1] bytes of managed memory from v[0] on.
func (c *call) region() (*host.Array, int32) {
	if c.v[1] == 0 || c.v[1] > shim.WindowBytes {
		return nil, invalidValue
	}
	a, err := c.s.d.At(c.v[0], int64(c.v[1]))
	if err != nil {
		return nil, c.failed(err, invalidValue)
	}
	return a, success
}

// prefetch moves v[1] bytes from v[0] on to the device (v[2]) or the host, in stream v[3].
func (c *call) prefetch() int32 {
	a, e := c.region()
	if e != success {
		return e
	}
	s, e := c.streamOf(c.v[3])
	if e != success {
		return e
	}
	if c.v[2] != 0 {
		if err := c.s.revoke(); err != nil {
			c.broken = err
			return launchFailed
		}
	}
	return c.failed(c.s.c.PrefetchAsync(a, c.v[2] != 0, s.s), invalidValue)
}

// advise gives hint v[2], for device v[3] (below 0: the host), on v[1] bytes from v[0] on.
func (c *call) advise() int32 {
	a, e := c.region()
	if e != success {
		return e
	}
	onHost := int64(c.v[3]) < 0
	var hint host.Advice
	switch c.v[2] {
	case 1:
		hint = host.ReadMostly
	case 2:
		hint = host.UnsetReadMostly
	case 3:
		hint = host.PreferDevice
		if onHost {
			hint = host.PreferHost
		}
	case 4:
		hint = host.UnsetPreferred
	case 5:
		hint = host.AccessedByDevice
	case 6:
		hint = host.UnsetAccessedBy
	default:
		return invalidValue
	}
	if onHost && c.v[2] >= 5 {
		return success // the host reaches all of it
	}
	return c.failed(c.s.c.MemAdvise(a, hint), invalidValue)
}
