package machine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// pair is a machine of 16 SMs that two applications share in halves.
func pair(t *testing.T, o Options, change func(*sheets.Machine)) *rig {
	t.Helper()
	return newRig(t, "ugpu", o, func(m *sheets.Machine) {
		m.SM.Count = 16
		m.VM.FaultUs = 1
		if change != nil {
			change(m)
		}
	}, &sharing.Tenant{Name: "a", SMs: upTo(8), Groups: upTo(4)}, &sharing.Tenant{
		Name: "b", SMs: between(8, 16),
		Groups: between(4, 8),
	})
}

// standStill runs until nothing changes hands any more.
func (r *rig) standStill() {
	r.t.Helper()
	for start := r.g.Now(); !r.g.Sharing.NothingMoves(); {
		if r.g.Now() > start+2_000_000 {
			r.t.Fatalf("something still changes hands after %d cycles", r.g.Now()-start)
		}
		if _, err := r.g.Run(r.g.Now() + 500); err != nil {
			r.t.Fatal(err)
		}
	}
}

// holds checks what must be true between repartitions: everything has one owner,
// tenants and dispatcher agree with it, frames are accounted for.
func (r *rig) holds(want []sharing.Share) {
	r.t.Helper()
	g := r.g
	for i, w := range want {
		if n, k := len(g.Tenants[i].SMs), len(g.Tenants[i].Groups); n != w.SMs || k != w.Groups {
			r.t.Fatalf("tenant %d has %d SMs and %d groups, want %d and %d", i, n, k, w.SMs, w.Groups)
		}
		for _, s := range g.Tenants[i].SMs {
			if o := g.Sharing.Owners(s); len(o) != 1 || o[0] != i {
				r.t.Fatalf("SM %d of tenant %d takes CTAs of %v", s, i, o)
			}
		}
	}
	for p := range g.translation.Tables.Frames().Pools() {
		used := 0
		for i := range want {
			used += g.translation.Tables.Pages(mem.TenantID(i), p)
		}
		if free := g.translation.Tables.Frames().Free(p); free+used != g.translation.Tables.Frames().PerPool() {
			r.t.Fatalf("group %d: %d frames used, %d free, of %d", p, used, free,
				g.translation.Tables.Frames().PerPool())
		}
	}
}

// TestRepartitionLosesNothing: applications that are repartitioned again and again
// compute what they compute undisturbed; every request is answered; in builds with
// the invariants tag no access meets a frame that is moving or another's.
func TestRepartitionLosesNothing(t *testing.T) {
	for _, how := range []transfer.Copying{transfer.PageMove, transfer.ReadWrite, transfer.Rewrite} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%d/%d", how, seed), func(t *testing.T) { churn(t, how, seed, false, 4096) })
		}
	}
	t.Run("2 MB pages", func(t *testing.T) { churn(t, transfer.PageMove, 9, false, 2<<20) })
}

// churn repartitions at random every few thousand cycles while both applications
// run one kernel after another, and returns the cycles at which the kernels ended.
func churn(t *testing.T, how transfer.Copying, seed uint64, every bool, page int) (ends []uint64) {
	r := pair(t, Options{Copying: how, Every: every}, func(m *sheets.Machine) {
		m.VM.Page = page
		if how == transfer.Rewrite {
			m.Map = m.Conventional.Map(m.Map.Groups)
		}
	})
	rng := rand.New(rand.NewPCG(seed, 7))
	var checks []func()
	var kernels []*sharing.Kernel
	rounds, left := 4, 1<<30
	if page > 4096 { // a page of 2 MB takes long to move
		rounds, left = 2, 3
	}
	for round := range rounds {
		for tenant := range 2 {
			kind := []mem.Kind{mem.Device, mem.Managed}[(round+tenant)%2]
			k, check := r.scale(tenant, 20_000+rng.IntN(20_000), kind)
			kernels, checks = append(kernels, k), append(checks, check)
		}
	}
	want := shares([]int{8, 8}, []int{4, 4})
	for n := 0; r.g.Running() > 0; n++ {
		if _, err := r.g.Run(r.g.Now() + 500 + uint64(rng.IntN(3000))); err != nil {
			t.Fatal(err)
		}
		if !r.g.Sharing.NothingMoves() || left == 0 {
			continue
		}
		left--
		r.holds(want)
		s, k := 1+rng.IntN(15), 1+rng.IntN(7)
		want = shares([]int{s, 16 - s}, []int{k, 8 - k})
		if _, err := r.g.Sharing.Repartition(plain(want, []uint64{0, 1000, 100_000}[rng.IntN(3)])); err != nil {
			t.Fatal(err)
		}
	}
	r.standStill()
	r.holds(want)
	for _, check := range checks {
		check()
	}
	if _, err := r.g.Run(r.g.Now() + 300_000); err != nil { // let pages and acknowledgements arrive
		t.Fatal(err)
	}
	if n := r.g.fabric.Slab.Live(); n != 0 {
		t.Errorf("%d requests are still in flight", n)
	}
	if len(r.g.Sharing.Repartitions) < 2 {
		t.Fatalf("only %d repartitions happened: the test tests little", len(r.g.Sharing.Repartitions))
	}
	bytes, commands := r.g.Copied()
	if bytes == 0 || how == transfer.PageMove && commands != bytes/128 {
		t.Errorf("%d bytes copied by %d MIGRATION commands of 128 bytes", bytes, commands)
	}
	for _, k := range kernels {
		ends = append(ends, k.End)
	}
	return append(ends, bytes, r.g.Now())
}

// TestRepartitionIdleSkip: visiting every component in every cycle changes nothing.
func TestRepartitionIdleSkip(t *testing.T) {
	for _, how := range []transfer.Copying{transfer.PageMove, transfer.ReadWrite, transfer.Rewrite} {
		a, b := churn(t, how, 5, false, 4096), churn(t, how, 5, true, 4096)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("copying %d: skipping %v, every cycle %v", how, a, b)
		}
	}
}
