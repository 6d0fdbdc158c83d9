package sim_test

import (
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
)

// A program runs ahead of the device by 1,024 operations of a stream, and then waits for the oldest.
func TestFullQueue(t *testing.T) {
	const src = ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
	const launches = 1500
	var at [launches]uint64
	fill := program(func(c *host.Context) error {
		m, err := c.LoadModule("k.ptx", []byte(src))
		if err != nil {
			return err
		}
		k, err := m.Kernel("k")
		if err != nil {
			return err
		}
		for i := range at {
			if err := c.Launch(k, host.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}}); err != nil {
				return err
			}
			at[i] = c.Cycle()
		}
		return c.DeviceSynchronize()
	})
	r := run(t, sim.Spec{Machine: "qv100", Apps: []sim.App{{Name: "fill", Program: fill}}})
	if at[1023] != at[0] || at[1024] == at[0] {
		t.Errorf("the host is at cycle %d after one launch, %d after 1024, %d after 1025", at[0], at[1023], at[1024])
	}
	// The last launch found room when 476 kernels had ended.
	if k := r.Tenants[0].Kernels; len(k) != launches || at[launches-1] < k[launches-1025].End ||
		at[launches-1] > k[launches-1024].End {
		t.Errorf("%d launches; the last was queued at cycle %d", len(k), at[launches-1])
	}
}
