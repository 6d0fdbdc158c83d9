package accelsim

import "fmt"

const (
	pageShift  = 12 // granularity of the footprint
	slotShift  = 32 // addresses are moved in windows of 4 GiB
	slots      = 64
	pagesInOne = 1 << (slotShift - pageShift)
)

// mapper moves a recording's addresses below 256 GiB: the machine has its own
// windows above that (local memory at 2^39) and keeps tenants apart from bit 40 on,
// while NVBit records addresses like 0x7f4a80000000. The low 32 bits stay; window w
// of 4 GiB goes to slot w mod 64, or, if another window is there, to the next free
// one. So equal addresses stay equal in all kernels of an application, distances
// within a window stay, and channel, bank and set hashes of low bits see the
// recorded bits.
type mapper struct {
	window [slots]uint64 // window + 1; 0: free
	last   uint64        // the window moved last, + 1
	slot   uint64        // and where it is
	pages  [slots][]uint64
}

// move is the simulated address of a recorded one; false when the recording uses
// more than 64 windows.
func (m *mapper) move(addr uint64) (uint64, bool) {
	w := addr>>slotShift + 1
	if w != m.last {
		i, ok := m.find(w)
		if !ok {
			return 0, false
		}
		m.last, m.slot = w, i
	}
	return m.slot<<slotShift | addr&(1<<slotShift-1), true
}

func (m *mapper) find(w uint64) (slot uint64, ok bool) {
	for k := range uint64(slots) {
		i := (w - 1 + k) % slots
		if m.window[i] == 0 {
			m.window[i] = w
			m.pages[i] = make([]uint64, pagesInOne/64)
		}
		if m.window[i] == w {
			return i, true
		}
	}
	return 0, false
}

// tooWide is what to say when move fails.
func tooWide(addr uint64) string {
	return fmt.Sprintf("address 0x%x: the trace uses more than %d windows of 4 GiB, which no application does: "+
		"the file is damaged", addr, slots)
}

// touch marks the pages of n bytes at a simulated address; it does not leave the
// window.
func (m *mapper) touch(addr uint64, n uint64) {
	p := m.pages[addr>>slotShift]
	first := addr & (1<<slotShift - 1) >> pageShift
	last := min(addr&(1<<slotShift-1)+n-1, 1<<slotShift-1) >> pageShift
	for k := first; k <= last; k++ {
		p[k>>6] |= 1 << (k & 63)
	}
}

// span is a range of simulated addresses.
type span struct{ base, bytes uint64 }

// fresh lists the touched ranges that are not in mapped, ascending, and adds them
// to it.
func (m *mapper) fresh(mapped *[slots][]uint64) (out []span) {
	for i, p := range m.pages {
		if p == nil {
			continue
		}
		if mapped[i] == nil {
			mapped[i] = make([]uint64, len(p))
		}
		for k, word := range p {
			if word &^= mapped[i][k]; word == 0 {
				continue
			}
			mapped[i][k] |= word
			for b := range 64 {
				if word>>b&1 == 0 {
					continue
				}
				at := uint64(i)<<slotShift | uint64(k*64+b)<<pageShift
				if n := len(out); n > 0 && out[n-1].base+out[n-1].bytes == at && at&(1<<slotShift-1) != 0 {
					out[n-1].bytes += 1 << pageShift
					continue
				}
				out = append(out, span{at, 1 << pageShift})
			}
		}
	}
	return out
}

// recorded is the address a simulated one was recorded as.
func (m *mapper) recorded(addr uint64) uint64 {
	return (m.window[addr>>slotShift]-1)<<slotShift | addr&(1<<slotShift-1)
}

// footprint is the number of bytes in touched pages.
func (m *mapper) footprint() int64 {
	var none [slots][]uint64
	n := int64(0)
	for _, s := range m.fresh(&none) {
		n += int64(s.bytes)
	}
	return n
}
