package sim_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/champsim"
)

// onCPU is a model on CPU cores.
func onCPU(model string, copies int, insts uint64) sim.App {
	return sim.App{Name: model, CPU: &sim.CPU{Model: model, Copies: copies, Instructions: insts}}
}

// traceFile is a trace of a loop over an array: loads, an addition each, and a branch.
func traceFile(t *testing.T, insts int) string {
	t.Helper()
	var b []byte
	for i := range insts {
		a := uint64(i)
		r := champsim.Record{IP: 0x401000 + a%3*4}
		switch i % 3 {
		case 0:
			r.Loads, r.Reads, r.Writes = [4]uint64{0x7f1234560000 + a*8}, [4]uint8{3}, [2]uint8{1}
		case 1:
			r.Reads, r.Writes = [4]uint8{1, 2}, [2]uint8{2, 25}
		case 2:
			r.Branch, r.Taken, r.Reads, r.Writes = true, true, [4]uint8{26, 25}, [2]uint8{26}
		}
		b = r.Append(b)
	}
	file := filepath.Join(t.TempDir(), "loop.champsimtrace")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// CPU programs, traces and models, run beside a GPU application, each execution as long as it is
// to be; the result is the same visiting everything in every cycle.
func TestCPU(t *testing.T) {
	s := sim.Spec{
		Machine: "hydrogen", Seed: 1, Epoch: 5000, Timeline: true,
		Apps: []sim.App{
			onCPU("lbm", 2, 20_000),
			app("micro/triad", map[string]string{"n": "16384", "passes": "1"}),
			{Name: "loop", CPU: &sim.CPU{Trace: traceFile(t, 9999)}},
		},
	}
	r := run(t, s)
	for i, want := range []struct{ cores, insts, sms int }{{2, 40_000, 0}, {0, 0, 6}, {1, 9999, 0}} {
		n := &r.Tenants[i]
		if n.Runs != 1 || n.SMs != want.sms {
			t.Errorf("%s: %d executions, %d SMs", n.Name, n.Runs, n.SMs)
		}
		if want.cores == 0 {
			if n.CPU != nil || n.ThreadInsts == 0 {
				t.Errorf("%s: %+v", n.Name, n)
			}
			continue
		}
		if c := n.CPU; c == nil || c.Cores != want.cores || c.Insts != uint64(want.insts) || n.IPC != c.IPC ||
			c.IPC <= 0 || c.IPC > 4*float64(c.Cores) || n.Insts() != c.Insts || n.BusyCycles+1 < n.Cycles {
			t.Errorf("%s: %+v, %d busy cycles of %d", n.Name, n.CPU, n.BusyCycles, n.Cycles)
		}
	}
	var inEpochs uint64
	for _, e := range r.Epochs {
		for i, c := range sim.Columns() {
			if c.Name == "cpu_insts" {
				inEpochs += e.Tenants[0].Counts[i]
			}
		}
	}
	if inEpochs != 40_000 {
		t.Errorf("%d instructions in the epochs of lbm, want 40000", inEpochs)
	}
	want := text(t, r)
	for _, change := range []func(*sim.Spec){
		func(s *sim.Spec) { s.NoSkip = true },
		func(s *sim.Spec) { s.Lockstep = true },
	} {
		other := s
		change(&other)
		if got := text(t, run(t, other)); got != want {
			t.Errorf("with NoSkip %v, lockstep %v the result differs", other.NoSkip, other.Lockstep)
		}
	}
}

// CPU programs alone; and over a budget they begin again, each copy on its own.
func TestCPUAlone(t *testing.T) {
	s := sim.Spec{Machine: "hydrogen", Seed: 1, Apps: []sim.App{onCPU("omnetpp", 2, 10_000)}}
	once := run(t, s).Tenants[0]
	if once.Runs != 1 || once.CPU.Insts != 20_000 || once.PerExecution.Least != 20_000 {
		t.Errorf("%+v, %+v", once, once.CPU)
	}
	s.Length = sim.Length{MaxCycles: 5 * once.Cycles, Budget: true}
	again := run(t, s).Tenants[0]
	if again.Runs < 4 || again.Cycles != s.Length.MaxCycles || again.CPU.Insts < 80_000 {
		t.Errorf("over five times the cycles %d executions of %d cycles, %d instructions", again.Runs, again.Cycles,
			again.CPU.Insts)
	}
	s.Length = sim.Length{Instructions: 50_000}
	if n := run(t, s).Tenants[0]; n.CPU.Insts < 50_000 || n.CPU.Insts > 60_000 || n.Window.Of != sim.OfInstructions {
		t.Errorf("%+v, %+v", n.Window, n.CPU)
	}
}

// Of two programs of one kind the first is not faster than the second: whose core comes first in a cycle
// makes no difference. The streams of a model differ by name, so some are run in both orders.
func TestCPUEqual(t *testing.T) {
	for _, model := range []string{"roms", "omnetpp"} {
		var first, second float64
		for _, names := range [][2]string{{"p", "q"}, {"q", "p"}, {"x", "y"}, {"y", "x"}} {
			a, b := onCPU(model, 1, 100_000), onCPU(model, 1, 100_000)
			a.Name, b.Name = names[0], names[1]
			r := run(t, sim.Spec{Machine: "hydrogen", Seed: 1, Apps: []sim.App{a, b}})
			first, second = first+r.Tenants[0].IPC, second+r.Tenants[1].IPC
		}
		if d := first / second; d < 0.94 || d > 1.06 {
			t.Errorf("%s: mean IPC %g and %g", model, first/4, second/4)
		}
	}
}

// A trace that is damaged behind its begin ends the run, and it is the trace's fault.
func TestCPUDamaged(t *testing.T) {
	file := traceFile(t, 9000)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[3000*champsim.Bytes+8] = 9
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sim.Spec{Machine: "hydrogen", Seed: 1, Apps: []sim.App{{Name: "p", CPU: &sim.CPU{Trace: file}}}}
	r, err := sim.Run(context.Background(), s, nil)
	var program *host.Error
	var trace *champsim.Error
	if !errors.As(err, &program) || !errors.As(err, &trace) || trace.Offset != 3000*champsim.Bytes || r.Complete {
		t.Errorf("%v", err)
	}
}

// What cannot run says so.
func TestCPURefused(t *testing.T) {
	file := traceFile(t, 300)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.champsimtrace")
	if err := os.WriteFile(cut, b[:len(b)-30], 0o600); err != nil {
		t.Fatal(err)
	}
	one := func(c sim.CPU) sim.Spec {
		return sim.Spec{Machine: "hydrogen", Seed: 1, Apps: []sim.App{{Name: "p", CPU: &c}}}
	}
	noCPU := one(sim.CPU{Model: "mcf"})
	noCPU.Machine = "qv100"
	functional := one(sim.CPU{Model: "mcf"})
	functional.Functional = true
	shared := one(sim.CPU{Model: "mcf"})
	shared.Sharing.Mode = "bp"
	divided := one(sim.CPU{Model: "mcf"})
	divided.Sharing = sim.Sharing{Mode: "alone", SMs: []int{1}}
	hydrogen := sim.Governor{Policy: "hydrogen"}
	twice := one(sim.CPU{Model: "mcf"})
	twice.Sharing.Policies = []sim.Governor{hydrogen, hydrogen}
	uncounted := one(sim.CPU{Model: "mcf"})
	uncounted.Sharing.Policies = twice.Sharing.Policies[:1]
	uncounted.Set = map[string]string{"memory.hybrid.tokens": "none"}
	governed := one(sim.CPU{Model: "mcf"})
	governed.Apps = append(governed.Apps, app("micro/triad", nil), app("micro/spmv", nil))
	governed.Sharing = sim.Sharing{Mode: "spart"}
	for _, c := range []struct {
		spec sim.Spec
		want string
	}{
		{noCPU, "application p runs on CPU cores, but machine qv100 has none (cpu.cores): use machine hydrogen"},
		{one(sim.CPU{Model: "mcf", Copies: 9}), "need 9 CPU cores; machine hydrogen has 8"},
		{one(sim.CPU{}), "cpu needs either trace"},
		{one(sim.CPU{Model: "mcf", Trace: file}), "cpu needs either trace"},
		{one(sim.CPU{Model: "mfc"}), `no CPU model "mfc"; did you mean mcf?`},
		{one(sim.CPU{Trace: cut}), "cut.champsimtrace: at byte 19136: the last record has 34 bytes of 64"},
		{one(sim.CPU{Trace: file + ".xz"}), "no such file"},
		{functional, "there is no functional run of it"},
		{shared, "sharing mode bp divides SMs, and no application runs kernels"},
		{divided, "sms, groups, profiles and quantum divide a GPU, and no application runs kernels"},
		{twice, "policy hydrogen is listed twice"},
		{uncounted, "policy hydrogen sets tokens, but machine hydrogen has memory.hybrid.tokens none"},
		{governed, "policy spart sets sms, gating of applications that run kernels"},
	} {
		_, err := sim.Run(context.Background(), c.spec, nil)
		if err == nil || errors.Is(err, sim.ErrStopped) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// What is told while it runs of a program on CPU cores is instructions per CPU cycle, as in the result:
// of a core that takes four at a time never more.
func TestCPUProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain.champsimtrace")
	one := (&champsim.Record{IP: 0x401000}).Append(nil)
	if err := os.WriteFile(file, bytes.Repeat(one, 60_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sim.Spec{Machine: "hydrogen", Seed: 1, Apps: []sim.App{{Name: "plain", CPU: &sim.CPU{Trace: file}}}}
	most, n := 0.0, 0
	r, err := sim.Run(t.Context(), s, func(p sim.Progress) { most, n = max(most, p.IPC[0]), n+1 })
	if err != nil || n == 0 || most > r.Tenants[0].IPC*1.001 || r.Tenants[0].IPC < 3.9 {
		t.Errorf("%v: IPC %g in %d messages, %g in the result", err, most, n, r.Tenants[0].IPC)
	}
}

// A CPU program that touches more than there is, is told what would fit.
func TestCPUMemory(t *testing.T) {
	s := sim.Spec{Machine: "hydrogen", Seed: 1, Apps: []sim.App{onCPU("mcf", 1, 5_000_000)}, Set: map[string]string{
		"memory.hybrid.capacity": "8388608", "dram.capacity": "67108864", "dram.rows": "128",
		"map.row": "19, 20, 21, 22, 23, 24, 25", "vm.page": "4096",
	}}
	_, err := sim.Run(t.Context(), s, nil)
	if err == nil || !strings.Contains(err.Error(), "CPU programs of application mcf have touched") ||
		!strings.Contains(err.Error(), "fewer copies or a model with divide fits") {
		t.Error(err)
	}
}

// The shortest queue before a bank that is allowed still lets the two blocks of a line in.
func TestShortQueue(t *testing.T) {
	s := sim.Spec{
		Machine: "hydrogen", Seed: 1, Watchdog: 200_000, Apps: []sim.App{onCPU("mcf", 1, 20_000)},
		Set: map[string]string{"memory.hybrid.queue": "2", "memory.hybrid.block": "64"},
	}
	if r := run(t, s); r.Tenants[0].CPU.Insts < 20_000 {
		t.Errorf("%+v", r.Tenants[0].CPU)
	}
}
