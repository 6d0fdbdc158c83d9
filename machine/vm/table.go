package vm

import "fmt"

// State says where a page is.
type State uint8

const (
	Absent   State = iota // no allocation covers it
	Resident              // in a device frame
	Host                  // legal, but not on the device: an access faults
	Moving                // its bytes are being copied to another frame: an access waits
)

func (s State) String() string { return [...]string{"absent", "resident", "host", "moving"}[s] }

// Layout of an entry: state, number of regions that touch the page, frame (leaf)
// or node number (inner).
const (
	stateMask = 3
	refsAt    = 8
	refsMask  = 1<<16 - 1
	valueAt   = 24
)

const (
	nodeBytes   = 4096
	entryBytes  = 8
	nodeEntries = nodeBytes / entryBytes
	levelBits   = 9
)

// PageTable is one tenant's radix tree of 512-entry nodes. Each node has a
// physical address, so a walk reads real memory. Nodes live as long as the tenant.
type PageTable struct {
	levels int                    // reads of a complete walk
	ent    []uint64               // node i is ent[512*i : 512*(i+1)]
	addr   []uint64               // physical address of each node
	node   func() (uint64, error) // physical address for a new 4 KB node
}

// grow adds an empty node and returns its number; the first one is the root.
func (p *PageTable) grow() (int, error) {
	a, err := p.node()
	if err != nil {
		return 0, err
	}
	p.ent = append(p.ent, make([]uint64, nodeEntries)...)
	p.addr = append(p.addr, a)
	return len(p.addr) - 1, nil
}

// Levels is the number of dependent reads of a walk.
func (p *PageTable) Levels() int { return p.levels }

// Nodes is the number of 4 KB nodes.
func (p *PageTable) Nodes() int { return len(p.addr) }

// fits says that the tree reaches the page.
func (p *PageTable) fits(vpn uint64) bool { return vpn>>(levelBits*p.levels) == 0 }

// at is the position in ent of the entry for a page at a depth of a node.
func (p *PageTable) at(node, depth int, vpn uint64) int {
	return node*nodeEntries + int(vpn>>(levelBits*(p.levels-1-depth))&(nodeEntries-1))
}

// entryAddr is the physical address of that entry: what a walker reads.
func (p *PageTable) entryAddr(node, depth int, vpn uint64) uint64 {
	return p.addr[node] + uint64(p.at(node, depth, vpn)%nodeEntries)*entryBytes
}

// leaf is the position of the page's leaf entry, -1 when a node is missing.
func (p *PageTable) leaf(vpn uint64) int {
	if !p.fits(vpn) || len(p.addr) == 0 {
		return -1
	}
	node := 0
	for d := range p.levels - 1 {
		e := p.ent[p.at(node, d, vpn)]
		if e == 0 {
			return -1
		}
		node = int(e >> valueAt)
	}
	return p.at(node, p.levels-1, vpn)
}

// make builds the path to a page and returns the position of its leaf entry.
func (p *PageTable) make(vpn uint64) (int, error) {
	if !p.fits(vpn) {
		return 0, fmt.Errorf("virtual page 0x%x is beyond the reach of a %d-level page table", vpn, p.levels)
	}
	node := 0
	for d := range p.levels - 1 {
		i := p.at(node, d, vpn)
		if p.ent[i] == 0 {
			n, err := p.grow()
			if err != nil {
				return 0, err
			}
			p.ent[i] = uint64(n)<<valueAt | uint64(Resident)
		}
		node = int(p.ent[i] >> valueAt)
	}
	return p.at(node, p.levels-1, vpn), nil
}

// Lookup is the frame and state of a page; the frame counts only when Resident.
func (p *PageTable) Lookup(vpn uint64) (ppn uint64, s State) {
	i := p.leaf(vpn)
	if i < 0 {
		return 0, Absent
	}
	return p.ent[i] >> valueAt, State(p.ent[i] & stateMask)
}

// Walk lists the physical addresses a complete walk to the page reads, up to the
// first entry that is empty, and appends them to dst.
func (p *PageTable) Walk(vpn uint64, dst []uint64) []uint64 {
	node := 0
	for d := range p.levels {
		dst = append(dst, p.entryAddr(node, d, vpn))
		e := p.ent[p.at(node, d, vpn)]
		if e == 0 {
			break
		}
		node = int(e >> valueAt)
	}
	return dst
}
