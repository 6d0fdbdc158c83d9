package vm

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// sheet is a small machine with UGPU's address map: 8 groups of 4 channels.
func sheet(page int) *sheets.Machine {
	m := &sheets.Machine{Name: "small"}
	m.Clock.Core = 1400
	m.SM.Count = 8
	m.DRAM.Channels, m.DRAM.Stacks, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks = 32, 4, 4, 4, 1
	m.DRAM.Capacity = 64 << 20
	m.LLC.SlicesPerChannel, m.LLC.Line = 2, 128
	m.Map = sheets.Map{
		Kind: "bits", Groups: 8, Offset: []int{0, 1, 2, 3, 4, 5, 6}, Stack: []int{7, 8}, BankGroup: []int{
			9,
			10,
		}, Column: []int{11, 17, 18, 19, 20},
		Channel: []int{12, 13, 14}, Bank: []int{15, 16}, Row: []int{21, 22, 23, 24, 25},
	}
	m.VM = sheets.VM{
		Enabled: true, Page: page, L1Misses: 16, L2Entries: 64, L2Ways: 16, L2Latency: 10, L2Ports: 2, Walkers: 4,
		Levels: 4, FaultUs: 20, Placement: "round-robin",
	}
	return m
}

func tables(t testing.TB, s *sheets.Machine, tenants int) *Tables {
	t.Helper()
	am, err := addrmap.New(s)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := NewTables(s, am, tenants)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// rig is an MMU with a memory that answers every read after a fixed time.
type rig struct {
	t       testing.TB
	tab     *Tables
	mmu     *MMU
	count   *stat.Table
	lat     uint64
	flight  []flight // page-table reads, in order of completion
	log     []string // replies: cycle, SM, token, frame
	reads   []string // reads: cycle, address
	replies int
	next    uint64
	visits  int
}

type flight struct {
	at uint64
	w  int32
}

func newRig(t testing.TB, s *sheets.Machine, tenants, slots int, edit func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, tab: tables(t, s, tenants), lat: 100, count: stat.NewTable("mmu", Desc(), 1, tenants)}
	cfg := NewConfig(s, tenants)
	if edit != nil {
		edit(&cfg)
	}
	var err error
	if r.mmu, err = NewMMU(cfg, r.tab, nil, r.count); err != nil {
		t.Fatal(err)
	}
	NewDriver(s, slots, r.mmu)
	r.tab.Shootdown = r.mmu.InvalidatePage
	return r
}

// step is one cycle of the machine around the MMU; requests of the cycle came before.
func (r *rig) step(now uint64) {
	r.visits++
	for len(r.flight) > 0 && r.flight[0].at <= now {
		r.mmu.ReadDone(now, r.flight[0].w)
		r.flight = r.flight[1:]
	}
	r.next = r.mmu.Tick(now)
	for r.mmu.Reads() > 0 {
		a, _, w := r.mmu.PeekRead()
		r.mmu.TakeRead(true)
		r.reads = append(r.reads, fmt.Sprintf("%d:%x", now, a))
		r.flight = append(r.flight, flight{now + r.lat, w})
	}
	for {
		p, ok := r.mmu.PopReply()
		if !ok {
			break
		}
		r.replies++
		r.log = append(r.log, fmt.Sprintf("%d:SM%d/%d tenant %d page %x frame %x", now, p.SM, p.Token, p.Tenant, p.VPN,
			p.PPN))
		if ppn, s := r.tab.Lookup(p.Tenant, p.VPN); s != Resident || ppn != p.PPN {
			r.t.Fatalf("cycle %d: reply says frame %#x of page %#x, the table says %#x (%v)", now, p.PPN, p.VPN, ppn, s)
		}
	}
	if len(r.flight) > 0 {
		r.next = min(r.next, r.flight[0].at)
	}
}

// run steps from cycle now until nothing is left to do and returns the last cycle.
func (r *rig) run(now uint64) uint64 {
	for {
		r.step(now)
		if err := r.mmu.Err(); err != nil {
			r.t.Fatal(err)
		}
		if r.next == never {
			break
		}
		if r.next <= now {
			r.t.Fatalf("cycle %d: the next tick is at %d", now, r.next)
		}
		now = r.next
	}
	if r.mmu.Busy() != 0 {
		r.t.Fatalf("cycle %d: the MMU sleeps with %d requests in flight", now, r.mmu.Busy())
	}
	return now
}

func (r *rig) ask(now uint64, tenant mem.TenantID, vpn uint64, sm int, token int32) {
	if !r.mmu.Request(now, tenant, vpn, sm, token) {
		r.t.Fatalf("cycle %d: the MMU refused a request", now)
	}
}

func (r *rig) want(log ...string) {
	r.t.Helper()
	if fmt.Sprint(r.log) != fmt.Sprint(log) {
		r.t.Errorf("replies\n got %q\nwant %q", r.log, log)
	}
	r.log = nil
}

func (r *rig) counter(tenant, c int, want uint64) {
	r.t.Helper()
	if got := r.count.Sum(tenant, c); got != want {
		r.t.Errorf("%s of tenant %d is %d, want %d", Desc()[c].Name, tenant, got, want)
	}
}

func mustMap(t testing.TB, tab *Tables, tenant mem.TenantID, base, bytes uint64) {
	t.Helper()
	if err := tab.MapRegion(tenant, base, bytes); err != nil {
		t.Fatal(err)
	}
}

func frameOf(t testing.TB, tab *Tables, tenant mem.TenantID, vpn uint64) uint64 {
	t.Helper()
	ppn, s := tab.Lookup(tenant, vpn)
	if s != Resident {
		t.Fatalf("page %#x is %v", vpn, s)
	}
	return ppn
}
