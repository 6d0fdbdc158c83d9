// Package mem holds the data that components exchange, and memory: the functional address space of an application
// (Space, Region), the requests of the timed machine, the bounded queues between components and the address maps.
package mem

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// Kind says what sort of memory a region is.
type Kind uint8

const (
	Device  Kind = iota // cudaMalloc
	Managed             // cudaMallocManaged
	Host                // ordinary host memory; a kernel may touch it only once registered
	Symbol              // a .global or .const variable of a module
)

func (k Kind) String() string { return [...]string{"device", "managed", "host", "symbol"}[k] }

// Region is one allocation. Its bytes are held once; timing models never copy them.
type Region struct {
	Base       uint64 // virtual address, 256-byte aligned
	Data       []byte // nil in a region that has a length only (Reserve, AllocAt)
	Kind       Kind
	Name       string // for messages: the symbol, or "alloc#3"
	Registered bool   // a Host region the GPU may access (zero copy)
	ReadOnly   bool   // .const
	bytes      int64  // length of a region without Data
}

// Len is the length of the region in bytes.
func (r *Region) Len() int64 {
	if r.Data == nil {
		return r.bytes
	}
	return int64(len(r.Data))
}

// End is the first address past the region.
func (r *Region) End() uint64 { return r.Base + uint64(r.Len()) }

// Align is the alignment of every allocation in bytes, as the CUDA runtime gives.
const Align = 256

// DefaultBase is the first device address handed out; GPGPU-Sim's allocator
// starts there too, so address-hashed results are comparable.
const DefaultBase = 0xc0000000

// Space is the virtual address space of one application. Bytes between regions
// are not mapped, so an overrun is caught.
type Space struct {
	regions []*Region // sorted by Base
	next    uint64
	count   int
	limit   int64  // bytes of device memory; 0 = no limit
	used    int64  // bytes of device memory
	total   int64  // bytes of all kinds that the computer holds
	most    int64  // that it may hold
	managed uint64 // alignment of managed regions; nothing else lies in their last unit of it
	backing Backing
}

// Backing provides the bytes of regions that do not lie on the Go heap: memory that another process sees, too.
type Backing interface {
	// Bytes are n zeroed bytes for a region at base.
	Bytes(base uint64, n int64) ([]byte, error)
	// Release ends their use.
	Release(base uint64, n int64)
}

// BackBy makes all regions allocated from now on lie in b.
func (s *Space) BackBy(b Backing) { s.backing = b }

// Hold bounds all memory of the application at n bytes, where that is less than 64 GB: its bytes are held by the
// computer that simulates.
func (s *Space) Hold(n int64) { s.most = min(s.most, n) }

// hostLimit is what an application may hold where nothing less is said.
const hostLimit = 64 << 30

// NewSpace makes an empty space that may hold limit bytes of device memory (0: no limit).
func NewSpace(limit int64) *Space { return NewSpaceAt(DefaultBase, limit) }

// NewSpaceAt is NewSpace with another first address, a multiple of Align.
func NewSpaceAt(base uint64, limit int64) *Space {
	return &Space{next: base, limit: limit, managed: Align, most: hostLimit}
}

// AlignManaged makes managed regions begin at multiples of n bytes, a power of two of at least Align, with no other
// region before the next multiple.
func (s *Space) AlignManaged(n uint64) { s.managed = n }

// Alloc reserves n bytes, zeroed. An empty name gets a numbered one.
func (s *Space) Alloc(n int64, k Kind, name string) (*Region, error) {
	return s.AllocAligned(n, k, name, Align)
}

// AllocAligned is Alloc at a multiple of align, a power of two, with nothing else before the next one.
func (s *Space) AllocAligned(n int64, k Kind, name string, align uint64) (*Region, error) {
	r, err := s.reserve(n, k, name, align)
	if err != nil {
		return nil, err
	}
	if n > s.most-s.total {
		total := s.total
		if err := s.Free(r.Base); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("out of memory: %d bytes asked, %d in use; the application may hold %d in all on this "+
			"computer: take a smaller size, or raise the limit (--memory-limit; 64 GiB without one)", n, total, s.most)
	}
	if s.backing != nil {
		if r.Data, err = s.backing.Bytes(r.Base, n); err != nil {
			return nil, errors.Join(err, s.Free(r.Base))
		}
	} else {
		r.Data = make([]byte, n)
		LargePages(unsafe.Pointer(&r.Data[0]), uintptr(n))
	}
	s.total += n
	return r, nil
}

// Reserve is Alloc without the bytes (Data is nil): for programs whose data is not looked at, as when a recording is
// replayed.
func (s *Space) Reserve(n int64, k Kind, name string) (*Region, error) {
	return s.reserve(n, k, name, Align)
}

func (s *Space) reserve(n int64, k Kind, name string, align uint64) (*Region, error) {
	if n <= 0 {
		return nil, fmt.Errorf("allocation of %d bytes: the size must be positive", n)
	}
	onDevice := k == Device || k == Symbol // managed memory may exceed the device's
	if onDevice && s.limit > 0 && n > s.limit-s.used {
		return nil, fmt.Errorf("out of device memory: %d bytes asked, %d of %d in use", n, s.used, s.limit)
	}
	if name == "" {
		name = fmt.Sprintf("alloc#%d", s.count)
	}
	s.count++
	align = max(align, Align)
	if k == Managed {
		align = max(align, s.managed)
	}
	s.next = (s.next + align - 1) &^ (align - 1)
	r := &Region{Base: s.next, Kind: k, Name: name, bytes: n}
	s.next += (uint64(n) + align - 1) &^ (align - 1)
	if onDevice {
		s.used += n
	}
	s.regions = append(s.regions, r) // next only grows, so the slice stays sorted
	return r, nil
}

// ManagedAlign is what managed regions are aligned to, in bytes.
func (s *Space) ManagedAlign() uint64 { return s.managed }

// AllocAt reserves n bytes at base, which no region covers; base is a multiple of ManagedAlign for managed memory.
// They have no contents (Data is nil): a recording has the addresses of an application's memory, and not its
// contents. Later Allocs lie behind.
func (s *Space) AllocAt(base uint64, n int64, k Kind, name string) (*Region, error) {
	if n <= 0 || base+uint64(n) < base {
		return nil, fmt.Errorf("allocation of %d bytes at 0x%x: the range must not be empty nor wrap around", n, base)
	}
	onDevice := k == Device || k == Symbol
	if onDevice && s.limit > 0 && n > s.limit-s.used {
		return nil, fmt.Errorf("out of device memory: %d bytes asked, %d of %d in use", n, s.used, s.limit)
	}
	i := s.index(base) + 1
	if i > 0 && s.regions[i-1].End() > base || i < len(s.regions) && s.regions[i].Base < base+uint64(n) {
		return nil, fmt.Errorf("allocation of %d bytes at 0x%x: the range overlaps another allocation", n, base)
	}
	r := &Region{Base: base, Kind: k, Name: name, bytes: n}
	s.count++
	if onDevice {
		s.used += n
	}
	s.regions = slices.Insert(s.regions, i, r)
	s.next = max(s.next, (r.End()+Align-1)&^(Align-1))
	return r, nil
}

// Free releases the region that begins at base.
func (s *Space) Free(base uint64) error {
	i := s.index(base)
	if i < 0 || s.regions[i].Base != base {
		return fmt.Errorf("free of 0x%x, which is not the start of an allocation", base)
	}
	r := s.regions[i]
	s.total -= int64(len(r.Data))
	if r.Kind == Device || r.Kind == Symbol {
		s.used -= r.Len()
	}
	s.regions = append(s.regions[:i], s.regions[i+1:]...)
	if s.backing != nil && r.Data != nil {
		s.backing.Release(r.Base, r.Len())
	}
	return nil
}

// index is the last region whose Base is at most addr, or -1.
func (s *Space) index(addr uint64) int {
	return sort.Search(len(s.regions), func(i int) bool { return s.regions[i].Base > addr }) - 1
}

// Find returns the region that contains addr, or nil.
func (s *Space) Find(addr uint64) *Region {
	i := s.index(addr)
	if i < 0 || addr >= s.regions[i].End() {
		return nil
	}
	return s.regions[i]
}

// Regions lists the live allocations in address order. The slice is the space's own.
func (s *Space) Regions() []*Region { return s.regions }

// Nearest describes the allocation that holds addr, or is closest to it, for error messages.
func (s *Space) Nearest(addr uint64) string {
	var best *Region
	var dist uint64
	i := s.index(addr)
	for _, j := range []int{i, i + 1} {
		if j < 0 || j >= len(s.regions) {
			continue
		}
		r := s.regions[j]
		d := r.Base - addr
		switch {
		case addr >= r.End():
			d = addr - r.End() + 1
		case addr >= r.Base:
			d = 0
		}
		if best == nil || d < dist {
			best, dist = r, d
		}
	}
	if best == nil {
		return "nothing is allocated"
	}
	if addr >= best.Base && addr < best.End() {
		return fmt.Sprintf("byte %d of %s %s [0x%x, 0x%x) of %d bytes", addr-best.Base, best.Kind, best.Name, best.Base,
			best.End(), best.Len())
	}
	side := "past the end of"
	if addr < best.Base {
		side = "before"
	}
	return fmt.Sprintf("%d bytes %s %s %s [0x%x, 0x%x) of %d bytes", dist, side, best.Kind, best.Name, best.Base,
		best.End(), best.Len())
}
