package hybrid

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// hbm2e and ddr4 are devices with the timing of the sheets, and few rows.
func hbm2e(channels int) *sheets.DRAM {
	return &sheets.DRAM{
		Channels: channels, Stacks: 1, Ranks: 1, BankGroups: 4, Banks: 4, Rows: 1 << 14, RowBytes: 1024, Access: Unit,
		Queue: 32, WriteQueue: 32, HighWater: 0.8, LowWater: 0.2, DualBus: true, Refresh: true, Sched: "frfcfs",
		Page: "open",
		T: sheets.Timing{
			BL: 2, CL: 14, CWL: 4, RCDRD: 14, RCDWR: 14, RP: 14, RAS: 34, RC: 48, WR: 16, RTP: 7, CCDS: 2, CCDL: 4,
			RRDS: 4, RRDL: 6, WTRS: 4, WTRL: 8, FAW: 30, RFC: 260, REFI: 3900,
		},
	}
}

func ddr4(channels int) *sheets.DRAM {
	return &sheets.DRAM{
		Channels: channels, Stacks: 1, Ranks: 1, BankGroups: 4, Banks: 4, Rows: 1 << 14, RowBytes: 8192, Access: Unit,
		Queue: 32, WriteQueue: 32, HighWater: 0.8, LowWater: 0.2, Refresh: true, Sched: "frfcfs", Page: "open",
		T: sheets.Timing{
			BL: 4, CL: 22, CWL: 16, RCDRD: 22, RCDWR: 22, RP: 22, RAS: 52, RC: 74, WR: 24, RTP: 12, CCDS: 4, CCDL: 8,
			RRDS: 4, RRDL: 8, WTRS: 4, WTRL: 12, FAW: 34, CS: 2, RFC: 560, REFI: 12480,
		},
	}
}

// testMap has channels above the unit, then bank groups, columns, banks and rows.
func testMap(t rapid.TB, d *sheets.DRAM) *addrmap.Map {
	at := 6
	take := func(n int) (list []int) {
		for ; n > 1; n /= 2 {
			list = append(list, at)
			at++
		}
		return list
	}
	m := &sheets.Machine{Name: "rig", DRAM: *d}
	m.LLC.SlicesPerChannel, m.LLC.Line = 1, Unit
	m.Map = sheets.Map{Kind: "bits", Hash: "none", BankHash: "xor", Offset: []int{0, 1, 2, 3, 4, 5}}
	m.Map.Channel = take(d.Channels)
	m.Map.BankGroup = take(d.BankGroups)
	m.Map.Column = take(d.RowBytes / d.Access)
	m.Map.Bank = take(d.Banks)
	m.Map.Row = take(d.Rows)
	a, err := addrmap.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// channels are the channels of a tier between the controller and their devices.
type channels struct {
	list  []*dram.Channel
	clock engine.Clock
	left  int // accesses the devices have
}

// rig is a controller with two tiers, and the data: what each unit of either tier and each
// buffer of the controller holds, as versions. A write takes effect as it is sent, a read
// sees what is there when its data come: the worst that a channel may do that keeps to the
// order in which accesses of an address come if the first of them writes.
type rig struct {
	t     rapid.TB
	c     *Controller
	tiers [NumTiers]channels
	table *stat.Table
	now   uint64

	data    [NumTiers]map[uint64]uint64
	buffer  map[int32]uint64
	reading map[int32]read
	writes  map[uint64]uint64 // last version that was accepted, by address
	version uint64
	asked   map[int32]question // by number of the request
	done    int
	worst   uint64 // longest a read took
	latest  uint64 // cycle of the last answer
}

type read struct {
	tier  int
	addr  uint64
	value uint64 // when it was sent
}

// question is a request on its way: the version that was written last before it, or by it.
type question struct {
	born  uint64
	units map[uint64]uint64
}

// small is a memory of few sets, whose transfers meet all the time.
func small(t rapid.TB, mode Mode, s Shape, block, sets, slow int) *Config {
	fast, ddr := hbm2e(4*s.Channels), ddr4(4)
	c := &Config{
		Mode: mode, Shape: s, Block: block, Line: 128, Sector: 32,
		Banks: 4, Queue: 8, Lookup: 5, Remap: 512, RemapWays: 2, Entries: 4, Requests: 32, Registers: 12, Buffers: 16,
		Port: 8, Classes: []Class{CPU, GPU, CPU, GPU}, Apps: 2,
	}
	bytes := uint64(block * s.Ways * sets)
	c.Tiers[Fast] = Tier{Map: testMap(t, fast), Channels: fast.Channels, Bytes: bytes}
	c.Tiers[Slow] = Tier{Map: testMap(t, ddr), Channels: ddr.Channels, Bytes: bytes * uint64(slow)}
	return c
}

// clocks are those of the tiers against the controller's, in MHz.
type clocks struct{ fast, slow, controller uint64 }

func newRig(t rapid.TB, cfg *Config, p Policy) *rig {
	return newRigAt(t, cfg, p, clocks{1000, 1600, 1370}, true)
}

func newRigAt(t rapid.TB, cfg *Config, p Policy, at clocks, refresh bool) *rig {
	r := &rig{
		t: t, buffer: map[int32]uint64{}, reading: map[int32]read{}, writes: map[uint64]uint64{},
		asked: map[int32]question{}, table: stat.NewTraffic("hybrid", Desc, 1, 2),
	}
	var err error
	if r.c, err = New(cfg, p, r.table); err != nil {
		t.Fatal(err)
	}
	r.c.out.trace = r.see
	for tier, d := range [NumTiers]*sheets.DRAM{hbm2e(cfg.Tiers[Fast].Channels), ddr4(cfg.Tiers[Slow].Channels)} {
		r.data[tier] = map[uint64]uint64{}
		x := &r.tiers[tier]
		x.clock = engine.NewClock([NumTiers]uint64{at.fast, at.slow}[tier], at.controller)
		d.Refresh = refresh
		dc, err := dram.FromSheet(d)
		if err != nil {
			t.Fatal(err)
		}
		dc.Tenants = 4
		for range d.Channels {
			x.list = append(x.list, dram.New(&dc))
		}
	}
	return r
}

// address is the address of a unit of a part.
func (r *rig) address(h int32, unit int) uint64 {
	p := &r.c.parts[h]
	return uint64(r.c.table.number(p.set, p.index))<<r.c.table.shift + uint64(unit)*Unit
}

// see follows the controller.
func (r *rig) see(e event) {
	b := e.access.Buffer
	switch e.kind {
	case sent:
		if b&^bufferIndex == ofEntry || b&^bufferIndex == ofTag {
			if e.addr < r.c.table.table {
				r.t.Fatalf("a line of the table at %#x, among blocks", e.addr)
			}
			return
		}
		if e.tier == Fast && e.addr >= r.c.table.table {
			r.t.Fatalf("data at %#x, in the table", e.addr)
		}
		if !e.access.Write {
			r.reading[b] = read{e.tier, e.addr, r.data[e.tier][e.addr]}
			return
		}
		value := r.buffer[b]
		if b&^bufferIndex == ofPart {
			h, u := b>>unitBits, int(b&unitMask)
			value = r.asked[r.c.parts[h].request].units[r.address(h, u)]
		}
		r.data[e.tier][e.addr] = value
	case answered:
		addr := r.address(e.part, e.unit)
		q := r.asked[r.c.parts[e.part].request]
		low, in := q.units[addr]
		got := r.buffer[b]
		if r.c.table.flat() && r.writes[addr] == 0 {
			got = 0 // what nobody has written may be anything
		}
		if !in || got < low || got > r.writes[addr] {
			r.t.Fatalf("cycle %d: a read of %#x returned version %d; %d was written before it and %d last", r.now, addr,
				got, low, r.writes[addr])
		}
		delete(q.units, addr)
		if len(q.units) == 0 {
			r.worst = max(r.worst, r.now-q.born)
			r.latest = r.now
			r.done++
		}
	case exchanged:
		for u := range r.c.table.units {
			i, a := r.c.table.address(e.a, u)
			j, b := r.c.table.address(e.b, u)
			r.data[i][a], r.data[j][b] = r.data[j][b], r.data[i][a]
		}
	}
}

// ask hands the controller a request of units of a line; false when it has no room.
func (r *rig) ask(line uint64, sectors uint8, write bool, tenant mem.TenantID) bool {
	if !r.c.CanAccept(line) {
		return false
	}
	q := question{r.now, map[uint64]uint64{}}
	for u := range r.c.cfg.Line / Unit {
		if sectors>>(2*u)&3 == 0 {
			continue
		}
		at := line + uint64(u*Unit)
		if write {
			r.version++
			r.writes[at] = r.version
		}
		q.units[at] = r.writes[at]
	}
	owner := mem.ForCache
	if write {
		owner = mem.ForNobody
	}
	r.asked[r.c.freeRequest] = q
	r.c.Accept(mem.Fetch{Line: line, Owner: owner, Token: 7, Sectors: sectors, Tenant: tenant}, r.now)
	return true
}

// step is a cycle.
func (r *rig) step() {
	r.now++
	r.c.Tick(r.now)
	for tier := range r.tiers {
		x := &r.tiers[tier]
		for k := x.clock.Ticks(r.now-1) + 1; k <= x.clock.Ticks(r.now); k++ {
			for i, ch := range x.list {
				r.stepChannel(x, ch, &r.c.out.ring[tier][i], k)
			}
		}
	}
	for r.c.Done.Len() > 0 {
		r.c.Done.Pop()
	}
}

func (r *rig) stepChannel(x *channels, ch *dram.Channel, out *mem.Ring[Access], tick uint64) {
	if out.Len() > 0 && ch.CanPush(out.Head().Write) {
		a := out.Pop()
		l := a.At
		at := dram.Loc{Rank: l.Rank, BankGroup: l.BankGroup, Bank: l.Bank, Row: l.Row, Col: uint32(l.Col)}
		if !ch.Push(tick, at, a.Write, 1, a.Buffer, a.Tenant) {
			r.t.Fatal("a channel with room refused")
		}
		x.left++
	}
	ch.Tick(tick)
	for {
		id, write, ok := ch.Pop()
		if !ok {
			return
		}
		x.left--
		if write {
			continue
		}
		if q, data := r.reading[id]; data {
			delete(r.reading, id)
			got := r.data[q.tier][q.addr]
			if id&^bufferIndex == ofTransfer && got != q.value {
				r.t.Fatalf("cycle %d: version %d at %#x of tier %d became %d before a transfer had read it", r.now,
					q.value, q.addr, q.tier, got)
			}
			r.buffer[id] = got
		}
		r.c.Arrived(id, r.now)
	}
}

// idle says that nothing is on its way.
func (r *rig) idle() bool {
	return r.c.room.requests == len(r.c.requests) && r.c.moving.left == len(r.c.moving.list) &&
		r.tiers[Fast].left+r.tiers[Slow].left == 0 && r.queued() == 0
}

func (r *rig) queued() (n int) {
	for tier := range r.c.out.ring {
		for i := range r.c.out.ring[tier] {
			n += r.c.out.ring[tier][i].Len()
		}
	}
	return n
}

// drain runs until nothing is on its way.
func (r *rig) drain() {
	r.t.Helper()
	for from := r.now; !r.idle(); r.step() {
		if r.now-from > 200_000 {
			r.t.Fatalf("stuck: %s", r)
		}
	}
}

// String says what is on its way.
func (r *rig) String() string {
	return fmt.Sprintf("cycle %d: %d requests, %d transfers, %d accesses queued and %d + %d in the tiers", r.now,
		len(r.c.requests)-r.c.room.requests, len(r.c.moving.list)-r.c.moving.left, r.queued(), r.tiers[Fast].left,
		r.tiers[Slow].left)
}

// count is a counter of a tenant.
func (r *rig) count(tenant, counter int) uint64 { return r.table.Row(0, tenant)[counter] }
