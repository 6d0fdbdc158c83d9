package energy

import "testing"

// A second of the hydrogen machine's eight cores, of which one runs a program, and its events.
func TestCPUByHand(t *testing.T) {
	m := machine(t, "hydrogen")
	p := &m.CPU.Power
	cycles := uint64(m.Clock.Core * 1e6)
	j, err := Of(m, cycles*uint64(m.SM.Count), counts{
		"cpu.insts": 1000, "cpu.loads": 200, "cpu.stores": 100, "cpu.l2_accesses": 40,
		"cpu.l1_writebacks": 10, "cpu.requests": 30,
		"cpu.writebacks": 20, "cpu.cycles": uint64(m.CPU.Clock * 1e6),
	})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "CPU", j.Of("cpu"), (1000*p.Inst+300*p.L1+100*p.L2)*1e-12+7*p.Idle+p.Active)
	if q, err := Of(machine(t, "qv100"), 1000, counts{}); err != nil || q.Of("cpu") != 0 {
		t.Errorf("a machine without CPU: %v, %v", q, err)
	}
}
