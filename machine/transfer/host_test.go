package transfer

import "testing"

// A request asks for the sectors that a copy touches, and knows which of them it writes whole.
func TestSectorsOfACopy(t *testing.T) {
	x := HostLink{line: 128, sector: 32}
	for _, c := range []struct{ off, n, some, full uint64 }{
		{0, 128, 0b1111, 0b1111}, {0, 4, 0b0001, 0}, {30, 40, 0b0111, 0b0010}, {96, 32, 0b1000, 0b1000},
	} {
		if some, full := x.sectors(c.off, c.n); uint64(some) != c.some || uint64(full) != c.full {
			t.Errorf("%d bytes from %d: sectors %04b, full %04b", c.n, c.off, some, full)
		}
	}
}
