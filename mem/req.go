package mem

// Op is what a request asks of the memory system.
type Op uint8

const (
	Read     Op = iota // sectors of a line
	Write              // write-through data
	AtomicOp           // read-modify-write at the LLC, returning the old values
	ReduceOp           // read-modify-write at the LLC, acknowledged like a write
	Walk               // page-table entry read of a walker
)

// Req is a request in flight. It is addressed by an int32 handle into a Slab, so
// queues move four bytes and nothing is allocated per access.
type Req struct {
	Line    uint64 // physical address of the line
	Born    uint64 // core cycle at which the SM sent it
	Tag     int32  // the requester's own token (L1 line, load entry, walker)
	Next    int32  // chain of requests waiting for the same line; -1 ends it
	SM      int16  // requester: SM number, or -1 for the MMU
	Slice   int16  // destination LLC slice
	Sectors uint8  // sectors of the line asked for
	Full    uint8  // of a write: sectors all of whose bytes are written
	Op      Op
	Tenant  uint8
}

// Slab holds the requests in flight and hands out handles.
type Slab struct {
	R    []Req
	_    [64]byte // what follows changes all the time, and another core may be reading R
	free []int32
	live int
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

// Reserve makes room, so that the next n calls of Get do not move R.
func (s *Slab) Reserve(n int) {
	if len(s.free) < n {
		s.grow(max(n, len(s.R)))
	}
}

// Get takes a free request; its fields are whatever its last user left.
func (s *Slab) Get() int32 {
	if len(s.free) == 0 {
		s.grow(len(s.R))
	}
	h := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	s.live++
	return h
}

// Put frees h.
func (s *Slab) Put(h int32) {
	s.free = append(s.free, h)
	s.live--
}

// Live is the number of requests in flight.
func (s *Slab) Live() int { return s.live }
