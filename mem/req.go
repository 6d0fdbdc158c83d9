package mem

import "github.com/heddle-sim/heddle/isa"

// Op is what a request asks of the memory system.
type Op uint8

const (
	Read     Op = iota // sectors of a line
	Write              // write-through data
	AtomicOp           // read-modify-write at the LLC, returning the old values
	ReduceOp           // read-modify-write at the LLC, acknowledged like a write
	Walk               // page-table entry read of a walker
)

// Port is the requester: an SM, a CPU core, the MMU with the copy engine, an LLC slice that asks another. Package
// interconnect numbers them, SMs first (machine/interconnect/fabric.go).
type Port int16

// NoPort is the port of a request that came through no network, and whose answer goes through none.
const NoPort Port = -1

// Origin is the component that made the request, where several share a port; the answer goes there.
type Origin uint8

const (
	OfPort          Origin = iota // the component that the port is named after: an SM, a page walk, a CPU core, a slice
	OfCopyEngine                  // moves pages inside the device, at the MMU's port
	OfPageTransfer                // moves pages over the host link, at the MMU's port
	OfPartitionCopy               // brings pages to a partition, at a slice's port
	OfHostCopy                    // a program's copy over the host link, at no port
)

// Remote marks, in place of a physical address, the address of memory that stays on the host: its
// requests leave for the link.
const Remote = 1 << 62

// Req is a request in flight. It is addressed by an int32 handle into a Slab, so
// queues move four bytes and nothing is allocated per access.
type Req struct {
	Line    uint64 // physical address of the line
	Born    uint64 // core cycle at which the SM sent it
	Tag     int32  // the origin's own token (L1 line, load entry, walker, job)
	Port    Port   // of the requester, where the answer goes
	Slice   int16  // destination LLC slice
	Sectors uint8  // sectors of the line asked for
	Full    uint8  // of a write: sectors all of whose bytes are written
	Op      Op
	Tenant  TenantID   // row of counters: the application, or Moving of it
	Bytes   uint8      // written; 0: of whole sectors
	Change  isa.Change // of an atomic
	Flags   Flags
	Origin  Origin
}

// Flags say what a request is beyond its Op, and what has happened to it on its way.
type Flags uint8

const (
	// Crossed has come to its slice over the network between slices; so its answer returns.
	Crossed Flags = 1 << iota
	// Invalidation tells the slice of the other half to forget the line of a write that its
	// home has performed.
	Invalidation
	// ReadOnly marks a read of a line that no access writes while the kernel runs, so that there may be replicas of
	// it (NUBA, section 5.2: one of the spare bits of a read request).
	ReadOnly
)

// Owner is the receiver of a Fetch.
type Owner uint8

const (
	ForCache      Owner = iota // a line is read; Token is its index in the cache
	ForNobody                  // a write-back that no component waits for
	ForCopyEngine              // a write-back that a page's copy waits for; Token is its job
)

// Fetch is a request of a cache to the memory below it, its DRAM channel or a memory of two tiers: sectors of a line
// to read, or to write.
type Fetch struct {
	Line    uint64
	At      uint64 // the asker's clock from which on it may be taken
	Token   int32  // the owner's own
	Slice   int16  // that asks
	Sectors uint8
	Tenant  TenantID
	Owner   Owner
}

// Write says that the sectors are written.
func (f *Fetch) Write() bool { return f.Owner != ForCache }

// TenantID is the number of an application, or of the row that counts data moved for it (Moving).
type TenantID uint8

// Moving is the row that counts data moved for a tenant without its asking, with n tenants: contexts of its CTAs, its
// pages. Links, caches and memory handle such a request like any other.
func Moving(tenant TenantID, tenants int) TenantID { return tenant + TenantID(tenants) }

// Slab holds the requests in flight and hands out handles; which handle a request gets means nothing.
type Slab struct {
	R      []Req
	free   []int32
	stocks []*Stock
}

// NewSlab makes room for n requests; more are added when needed.
func NewSlab(n int) *Slab {
	s := &Slab{}
	s.grow(n)
	return s
}

func (s *Slab) grow(n int) {
	old := len(s.R)
	s.R = append(s.R, make([]Req, n)...)
	for i := len(s.R) - 1; i >= old; i-- {
		s.free = append(s.free, int32(i))
	}
}

// Get takes a free request; its fields are whatever its last user left. It may move R.
func (s *Slab) Get() int32 {
	if len(s.free) == 0 {
		s.grow(max(1, len(s.R)))
	}
	h := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return h
}

// Put frees h.
func (s *Slab) Put(h int32) { s.free = append(s.free, h) }

// Live is the number of requests in flight.
func (s *Slab) Live() int {
	n := len(s.R) - len(s.free)
	for _, x := range s.stocks {
		n -= len(x.free)
	}
	return n
}

// Stock is free requests of a slab that one component takes and frees, so that several components may do so at the
// same time.
type Stock struct {
	slab *Slab
	free []int32
}

// NewStock makes an empty stock.
func (s *Slab) NewStock() *Stock {
	x := &Stock{slab: s}
	s.stocks = append(s.stocks, x)
	return x
}

// Fill brings the stock to at least n requests. Without that, Get takes those it lacks from the slab.
func (x *Stock) Fill(n int) {
	for len(x.free) < n {
		x.free = append(x.free, x.slab.Get())
	}
}

// Get takes a free request, as Slab.Get does.
func (x *Stock) Get() int32 {
	n := len(x.free)
	if n == 0 {
		return x.slab.Get()
	}
	h := x.free[n-1]
	x.free = x.free[:n-1]
	return h
}

// Put frees h.
func (x *Stock) Put(h int32) { x.free = append(x.free, h) }
