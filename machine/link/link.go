// Package link is the interconnect between host and device: two directions, each a queue of
// transfers and a bandwidth that depends on the size of a transfer. Read Config and Direction.
package link

import (
	"math"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Config is the cost of a transfer.
//
// Setting up a DMA takes long, so that a large transfer is faster per byte than a small one
// (Ganguly, section 3.1.3, Figure 6). The curve that was fitted to a PCIe 3.0 x16 link is
//
//	bandwidth = 2/pi * Peak * atan(Rate * KB)
//
// in GB/s of 2^30 bytes, with the transfer's size in KB of 2^10 bytes.
type Config struct {
	Core      float64 // clock of the device, MHz
	Bandwidth float64 // GB/s of 10^9 bytes whatever the size, where there is no curve
	Peak      float64 // GB/s of 2^30 bytes; 0: no curve
	Rate      float64 // 1/KB
	Latency   uint64  // cycles, beside the time on the link
	Half      int64   // size in bytes from which a program's copy has half the bandwidth; 0: none
}

// FromSheet reads a machine sheet.
func FromSheet(s *sheets.Machine) Config {
	return Config{
		Core: s.Clock.Core, Bandwidth: s.Host.Bandwidth, Peak: s.Host.CurvePeak, Rate: s.Host.CurveRate,
		Latency: uint64(math.Round(s.Host.Latency * s.Clock.Core)),
	}
}

// Cycles is how long a transfer of n bytes takes a direction.
func (c *Config) Cycles(n int64) uint64 {
	perSecond := c.Bandwidth * 1e9
	if c.Peak > 0 {
		perSecond = 2 / math.Pi * c.Peak * math.Atan(c.Rate*float64(n)/1024) * (1 << 30)
	}
	if n <= 0 || perSecond <= 0 {
		return 0
	}
	return uint64(math.Round(float64(n) * c.Core * 1e6 / perSecond))
}

// Transfer is one DMA of an application that waits for its direction.
type Transfer struct {
	ID     int32 // the owner's number for it
	Bytes  int64
	Queued uint64 // core cycle
	Setup  uint64 // cycles that it takes its direction before its bytes
	Tenant mem.TenantID
	Copy   bool // a program's copy; else pages of unified memory
}

// Direction is one way of the link.
type Direction struct {
	cfg     *Config
	order   Arbiter
	way     int        // 0 to the device, 1 to the host
	waiting []Transfer // oldest first; bounded by the part that plans them
	free    uint64     // cycle from which the link is idle
	small   uint64     // cycle from which it takes the next small access
	row     [][]uint64 // [tenant] counters
}

// NewDirection makes an idle one, 0 to the device or 1 to the host, that counts in its instance of a
// table with Desc.
func NewDirection(cfg *Config, order Arbiter, t *stat.Table, i int) Direction {
	d := Direction{cfg: cfg, order: order, way: i}
	for k := range t.Tenants {
		d.row = append(d.row, t.Row(i, k))
	}
	return d
}

// Push queues a transfer.
func (d *Direction) Push(t Transfer) { d.waiting = append(d.waiting, t) }

// Waiting is the number of queued transfers.
func (d *Direction) Waiting() int { return len(d.waiting) }

// Head is the oldest transfer in the queue; nil if that is empty.
func (d *Direction) Head() *Transfer {
	if len(d.waiting) == 0 {
		return nil
	}
	return &d.waiting[0]
}

// Free is the cycle from which on the direction is idle.
func (d *Direction) Free() uint64 { return d.free }

// Take removes the next transfer that may begin from the queue, if the direction is idle. The caller prepares it, and
// then calls Start.
func (d *Direction) Take(now uint64, may func(t *Transfer) bool) (t Transfer, ok bool) {
	if len(d.waiting) == 0 || d.free > now {
		return t, false
	}
	i := d.order.Next(d.way, d.waiting, may)
	if i < 0 {
		return t, false
	}
	t = d.waiting[i]
	d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
	return t, true
}

// Start begins a transfer that Take gave, and returns the cycles it takes the direction.
func (d *Direction) Start(now uint64, t *Transfer) (cycles uint64) {
	cycles = t.Setup + d.cfg.Cycles(t.Bytes)
	if half := d.cfg.Half; t.Copy && half > 0 && t.Bytes >= half {
		cycles *= 2
	}
	d.free = now + cycles
	d.count(t, now, cycles)
	d.order.Begun(d.way, t, now, cycles)
	return cycles
}

func (d *Direction) count(t *Transfer, now, cycles uint64) {
	row := d.row[t.Tenant]
	row[BusyCycles] += cycles
	row[WaitCycles] += now - t.Queued
	if t.Copy {
		row[Copies]++
		row[CopyBytes] += uint64(t.Bytes)
		return
	}
	row[Transfers]++
	row[Bytes] += uint64(t.Bytes)
	row[sizeClass(t.Bytes)]++
}

// Share takes the direction for one small access of n bytes, at its full speed: a transfer under way
// takes so much longer. It returns the cycle in which the bytes are through, and those cycles.
func (d *Direction) Share(now uint64, tenant mem.TenantID, n int) (end, cycles uint64) {
	cycles = max(1, uint64(math.Round(float64(n)*d.cfg.Core*1e6/(d.cfg.Bandwidth*1e9))))
	d.small = max(d.small, now) + cycles
	if d.free > now {
		d.free += cycles
	}
	row := d.row[tenant]
	row[Remotes]++
	row[RemoteBytes] += uint64(n)
	row[BusyCycles] += cycles
	row[WaitCycles] += d.small - cycles - now
	return d.small, cycles
}

// Hold takes the direction for one access of n bytes for a number of cycles, behind the transfer under way and the
// accesses that hold it already, and before all transfers that wait. It returns the cycle in which it ends.
func (d *Direction) Hold(now uint64, tenant mem.TenantID, n int, cycles uint64) (end uint64) {
	begin := max(d.free, now)
	d.free = begin + cycles
	row := d.row[tenant]
	row[Remotes]++
	row[RemoteBytes] += uint64(n)
	row[BusyCycles] += cycles
	row[WaitCycles] += begin - now
	return d.free
}

// Cancel removes a transfer that has not begun from the queue.
func (d *Direction) Cancel(id int32) {
	for i := range d.waiting {
		if d.waiting[i].ID == id {
			d.row[d.waiting[i].Tenant][Cancelled]++
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			return
		}
	}
}

// Counters of a direction, per tenant.
const (
	Transfers = iota
	Bytes
	BusyCycles
	WaitCycles
	Cancelled
	Size4K
	Size16K
	Size64K
	Size256K
	Size1M
	SizeMore
	Remotes
	RemoteBytes
	Copies
	CopyBytes
	CopyLines
)

// Desc describes them.
func Desc() []stat.Desc {
	return []stat.Desc{
		{Name: "transfers", Unit: "transfers", Doc: "DMA transfers of pages begun (0 to the device, 1 to the host)"},
		{Name: "bytes", Unit: "bytes", Doc: "bytes of these transfers, without remote accesses and copies"},
		{Name: "busy_cycles", Unit: "cycles", Doc: "cycles in which transfers, copies and remote accesses occupy " +
			"the direction"},
		{Name: "wait_cycles", Unit: "cycles", Doc: "cycles from the plan of a transfer to its start, summed over " +
			"transfers"},
		{Name: "cancelled", Unit: "transfers", Doc: "transfers taken off the queue before they began"},
		{Name: "transfers_4k", Unit: "transfers", Doc: "transfers of up to 4 KB"},
		{Name: "transfers_16k", Unit: "transfers", Doc: "transfers above 4 KB, up to 16 KB"},
		{Name: "transfers_64k", Unit: "transfers", Doc: "transfers above 16 KB, up to 64 KB"},
		{Name: "transfers_256k", Unit: "transfers", Doc: "transfers above 64 KB, up to 256 KB"},
		{Name: "transfers_1m", Unit: "transfers", Doc: "transfers above 256 KB, up to 1 MB"},
		{Name: "transfers_more", Unit: "transfers", Doc: "transfers above 1 MB"},
		{Name: "remotes", Unit: "accesses", Doc: "accesses of kernels to pages on the host (0 reads, 1 writes)"},
		{Name: "remote_bytes", Unit: "bytes", Doc: "bytes of these accesses"},
		{Name: "copies", Unit: "transfers", Doc: "transfers begun for programs (memcpy)"},
		{Name: "copy_bytes", Unit: "bytes", Doc: "bytes of them"},
		{Name: "copy_lines", Unit: "lines", Doc: "lines that these transfers read or wrote on the device while " +
			"something ran"},
	}
}

// sizeClass is the counter of a transfer's size.
func sizeClass(n int64) int {
	class := Size4K
	for most := int64(4 << 10); class < SizeMore && n > most; most *= 4 {
		class++
	}
	return class
}
