package vm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
)

// banked is a rig with an L2 TLB of so many banks of one port, whose TLB holds pages 0 to 15.
func banked(t testing.TB, banks int) *rig {
	t.Helper()
	s := sheet(4096) // 4 sets
	s.VM.L2Ports, s.VM.L2Banks = 1, banks
	r := newRig(t, s, 1, 1, nil)
	mustMap(t, r.tab, 0, base, 16*4096)
	for p := range uint64(16) {
		r.ask(p*100, 0, page4k(p), int(p)%8, 0)
	}
	r.run(0)
	r.log = nil
	return r
}

// at is when the replies came, by token.
func (r *rig) at() (out []string) {
	for _, l := range r.log {
		cycle, rest, _ := strings.Cut(l, ":")
		_, rest, _ = strings.Cut(rest, "/")
		token, _, _ := strings.Cut(rest, " ")
		out = append(out, token+"@"+cycle)
	}
	slices.Sort(out)
	return out
}

// Two lookups of one bank in one cycle come one after the other; those of two banks do
// not wait for each other, be they of one SM or of two.
func TestBanksLookUpAtOnce(t *testing.T) {
	for _, c := range []struct {
		banks int
		pages [2]uint64
		sms   [2]int
		want  string
	}{
		{4, [2]uint64{1, 5}, [2]int{0, 1}, "[0@20010 1@20011]"}, // of one bank
		{4, [2]uint64{1, 5}, [2]int{3, 3}, "[0@20010 1@20011]"},
		{4, [2]uint64{1, 2}, [2]int{0, 1}, "[0@20010 1@20010]"}, // of two
		{4, [2]uint64{1, 2}, [2]int{3, 3}, "[0@20010 1@20010]"},
		{2, [2]uint64{1, 3}, [2]int{0, 1}, "[0@20010 1@20011]"},
		{2, [2]uint64{1, 2}, [2]int{0, 1}, "[0@20010 1@20010]"},
		{1, [2]uint64{1, 2}, [2]int{0, 1}, "[0@20010 1@20011]"},
	} {
		r := banked(t, c.banks)
		for i, p := range c.pages {
			r.ask(20000, 0, page4k(p), c.sms[i], int32(i))
		}
		r.run(20000)
		if got := fmt.Sprint(r.at()); got != c.want {
			t.Errorf("%d banks, pages %v of SMs %v: replies %s, want %s", c.banks, c.pages, c.sms, got, c.want)
		}
	}
}

// A bank with many requests does not hold up another's, and has room of its own: its queue
// takes four of an SM.
func TestBankQueuesAreTheirOwn(t *testing.T) {
	r := banked(t, 4)
	for i := range int32(4) {
		r.ask(20000, 0, page4k(uint64(4*i)), 2, i)
	}
	if r.mmu.Request(20000, 0, page4k(8), 2, 9) {
		t.Error("a fifth request was taken")
	}
	r.ask(20000, 0, page4k(3), 2, 4)
	r.run(20000)
	if got, want := fmt.Sprint(r.at()), "[0@20010 1@20011 2@20012 3@20013 4@20010]"; got != want {
		t.Errorf("replies %s, want %s", got, want)
	}
}

// What an L2 TLB holds does not depend on its banks: requests that come one at a time hit
// and walk alike and are answered in the same cycles.
func TestBanksHoldTheSame(t *testing.T) {
	var logs [][]string
	for _, banks := range []int{1, 2, 4} {
		s := sheet(4096)
		s.VM.L2Banks = banks
		r := newRig(t, s, 2, 1, nil)
		mustMap(t, r.tab, 0, base, 120*4096)
		mustMap(t, r.tab, 1, base, 120*4096)
		for i, a := range trace(7, 800, 120, 2) {
			r.ask(uint64(i)*1000, a.tenant, a.vpn, a.sm, int32(i))
			r.run(uint64(i) * 1000)
		}
		if hits := r.count.Sum(0, L2Hits); hits == 0 || hits == r.count.Sum(0, L2Accesses) {
			t.Fatalf("%d hits of %d lookups test nothing", hits, r.count.Sum(0, L2Accesses))
		}
		logs = append(logs, append(r.log, r.reads...))
	}
	if !slices.Equal(logs[0], logs[1]) || !slices.Equal(logs[0], logs[2]) {
		t.Error("the number of banks changes what a TLB holds")
	}
}

// Where misses have little room, banks take turns: pages of one do not keep those of another out.
func TestBanksShareRoom(t *testing.T) {
	s := sheet(4096)
	s.VM.L2Banks = 4
	r := newRig(t, s, 1, 1, func(c *Config) { c.Pending, c.Waiters, c.InQueue = 1, 1, 1 })
	mustMap(t, r.tab, 0, base, 4096*4096)
	served := make([]int, 4)
	page := [4]uint64{0, 1, 2, 3}
	for now := uint64(0); now < 200_000; now++ {
		for b := range page {
			for sm := range 8 {
				if r.mmu.Request(now, 0, page4k(page[b]%4096), sm, int32(b)) {
					page[b] += 4
					served[b]++
				}
			}
		}
		r.step(now)
	}
	for b, n := range served {
		if n < served[0]*8/10 || n > served[0]*12/10 {
			t.Errorf("bank %d took %d requests, bank 0 %d", b, n, served[0])
		}
	}
}

// An L2 TLB whose sets do not divide into its banks is refused.
func TestBanksDivideTheSets(t *testing.T) {
	for _, banks := range []int{3, 8, -1} {
		s := sheet(4096)
		cfg := NewConfig(s, 1)
		cfg.Banks = banks
		_, err := NewMMU(cfg, tables(t, s, 1), nil, nil)
		if err == nil || !strings.Contains(err.Error(), "banks must") {
			t.Errorf("%d banks of 4 sets: %v", banks, err)
		}
	}
	for set, want := range map[string]string{"3": "a power of two", "64": "do not divide the 32 sets"} {
		_, _, err := sheets.Resolve("ugpu", map[string]string{"vm.l2_banks": set})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("vm.l2_banks=%s: %v", set, err)
		}
	}
}
