package page

import (
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// TestMemory: bytes of an epoch over its time.
func TestMemory(t *testing.T) {
	r := &sim.Result{Cycles: 4000, Seconds: 4e-6, Epochs: []sim.Epoch{
		{Cycle: 1000, ChannelBytes: []uint64{8000, 0}},
		{Cycle: 4000, ChannelBytes: []uint64{3000, 6000}},
	}}
	got := memory(r)
	want := [][]float64{{8, 1}, {0, 2}} // GB/s: a cycle is a nanosecond
	for k := range want {
		for i := range want[k] {
			if math.Abs(got[k][i]-want[k][i]) > 1e-9 {
				t.Errorf("channel %d, epoch %d: %g GB/s, want %g", k, i, got[k][i], want[k][i])
			}
		}
	}
}

// TestRoofline: launches of a kernel are one point; those beside others of their application,
// whose bytes nobody knows, are none.
func TestRoofline(t *testing.T) {
	m, prov, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	r := &sim.Result{
		Machine: sim.MachineSheet{Name: "qv100", Numbers: prov.List(m)},
		Tenants: []sim.Tenant{{Name: "a", Kernels: []sim.Kernel{
			{Name: "k<1>", Start: 0, End: 1000, ThreadInsts: 3_000_000, DRAMBytes: 500_000},
			{Name: "k<1>", Start: 2000, End: 3000, ThreadInsts: 1_000_000, DRAMBytes: 500_000},
			{Name: "beside", End: 10, ThreadInsts: 10, DRAMBytes: 10, Overlapped: true},
			{Name: "in the L1", End: 10, ThreadInsts: 10},
		}}},
	}
	v := rooflineOf(r)
	if v == nil || len(v.Table.Rows) != 1 {
		t.Fatalf("%+v", v)
	}
	// 4 M instructions, 1 MB, 2000 cycles; 80 SMs issue 4 warps of 32.
	if row := v.Table.Rows[0]; row[2] != "4" || row[3] != "2000" {
		t.Errorf("%v", row)
	}
	if !strings.Contains(v.Note, "10240 thread instructions") {
		t.Error(v.Note)
	}
	if s := string(v.Drawing); strings.Count(s, "<circle") != 1 || strings.Contains(s, "k<1>") {
		t.Error(s)
	}
	if rooflineOf(&sim.Result{}) != nil {
		t.Error("a roofline of nothing")
	}
}
