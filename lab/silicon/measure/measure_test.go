package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/cuda"
	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/lab/silicon"
	"github.com/heddle-sim/heddle/sim"
)

// compiled is the folder of CUDA's driver library on Heddle, and this command. The test is skipped without a C
// compiler.
func compiled(t *testing.T) (library, bin string) {
	t.Helper()
	headers, err := cuda.Headers()
	if err != nil {
		t.Fatal(err)
	}
	library, err = shim.Build(t.Context(), headers, "")
	if none := (*shim.ErrNoCompiler)(nil); errors.As(err, &none) {
		t.Skip("skipped, nothing is measured: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	bin = filepath.Join(t.TempDir(), "measure")
	if said, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return library, bin
}

// spec is a run of an application on Heddle's H100.
func spec(app sim.App) sim.Spec {
	return sim.Spec{
		Machine: "h100", Sharing: sim.Sharing{Mode: "alone", Name: "alone"}, Seed: 1, Apps: []sim.App{app},
	}
}

// onHeddle runs this command with Heddle's machine for a GPU.
func onHeddle(t *testing.T, args ...string) string {
	t.Helper()
	_, bin := compiled(t)
	r, err := sim.Run(t.Context(), spec(sim.App{Name: "measure", Exec: append([]string{bin}, args...)}), nil)
	if r == nil || len(r.Tenants) == 0 {
		t.Fatal(err)
	}
	return strings.Join(r.Tenants[0].Log, "\n")
}

// TestMeasuresHeddle: the kit, with Heddle's H100 for a board, writes rows that validate finds to be exact.
func TestMeasuresHeddle(t *testing.T) {
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	const cycle = 1 / 128. // of 128 loads: the launches before decide on which SM of which half a block begins
	for _, row := range []string{"chain ffma", "barrier 1 block x 256", "shared load"} {
		said := onHeddle(t, "--dir", dir, "--board", "h100-sxm5", "--row", row, "--times", "1", "--spin", "2000",
			"--arena", "256", "-o", file)
		rows, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		set, err := silicon.OpenRows(dir, file, bytes.NewReader(rows))
		if err != nil {
			t.Fatal(err)
		}
		got, err := set.Measure(context.Background(), set.Rows, silicon.Options{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Err != "" || math.Abs(got[0].Heddle-got[0].Silicon) > cycle {
			t.Errorf("%s: measured %g, simulated %g %s", row, got[0].Silicon, got[0].Heddle, got[0].Err)
		}
	}
}

// TestAppOnHeddle: an application runs on a board as it does in a simulation, its checks included.
func TestAppOnHeddle(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", "apps", "micro", "reduction"))
	if err != nil {
		t.Fatal(err)
	}
	if said := onHeddle(t, "--app", dir, "--arena", "256"); !strings.Contains(said, "checks hold, 2 launches") {
		t.Error(said)
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	kit := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "kit.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	head := "group,name,unit,program,args,on_board,value,launches,when,soft\n"
	good := head + "alu,a,c,micro,what=dep,,dep_x,,,\n"
	for _, c := range []struct{ kit, args, want string }{
		{good, "--board none", "board none: "},
		{good, "", "--board is missing"},
		{good, "--group sync", "no probe of kit.csv is in group \"sync\""},
		{good, "--mps", "--mps is for pairs"},
		{good, "--times 0", "--times 0 --arena 8192 --spin 20000000: at least 1"},
		{good + "alu,a,c,micro,,,x,,,\n", "--list", "kit.csv:3: \"a\" is there already"},
		{head + "alw,a,c,micro,what=dep,,dep_x,,,\n", "--list", "kit.csv:2: group \"alw\""},
		{head + "alu,a,c,micro,what=dep,,1 /,,,\n", "--list", "kit.csv:2: value \"1 /\""},
		{head + "alu,a,c,micro,what=dep,,x,0,,\n", "--list", "kit.csv:2: launches \"0\""},
		{"group\n", "--list", "kit.csv"},
	} {
		kit(c.kit)
		args := append([]string{"--dir", dir}, strings.Fields(c.args)...)
		err := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %s: error %v, want %q in it", c.kit, c.args, err, c.want)
		}
	}
}
