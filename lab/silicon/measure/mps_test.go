package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/host/exec"
	"github.com/heddle-sim/heddle/sim"
)

// halfOnHeddle is a process with one kernel of a pair, on a machine of its own. The channel gets the run's error.
func halfOnHeddle(t *testing.T, library, bin, args string) (*half, <-chan error) {
	t.Helper()
	kernels, err := filepath.Abs(filepath.Join("..", "kernels"))
	if err != nil {
		t.Fatal(err)
	}
	orders, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, out := io.Pipe()
	program := &exec.Program{
		Args: []string{bin, "--arena", "64", "--half", kernels + "|pairs|" + args}, Shim: library, Stdin: orders,
		Stdout: out,
	}
	ended := make(chan error, 1)
	go func() {
		_, err := sim.Run(t.Context(), spec(sim.App{Name: "half", Program: program}), nil)
		ended <- err
		out.Close()
		orders.Close()
	}()
	return newHalf(in, answers, func() string { return "" }), ended
}

// TestTwoProcesses: each of two processes is measured while the other's kernel runs. On Heddle each has a machine of
// its own here, so nothing slows them down: the first takes 4000 turns alone and beside the other, the second 12000.
func TestTwoProcesses(t *testing.T) {
	library, bin := compiled(t)
	a, first := halfOnHeddle(t, library, bin, "kernel=mul64 ilp=4 grid=2 block=128 turns=4000")
	b, second := halfOnHeddle(t, library, bin, "kernel=mul64 ilp=4 grid=2 block=128 turns=12000")
	beside, alone, err := inTurns(a, b)
	a.end()
	b.end()
	if err != nil {
		t.Fatal(err)
	}
	if r := beside / alone; r < 1.7 || r > 2 { // 8000 turns on average, over 4000, and a launch each
		t.Errorf("%g ns beside each other, %g ns alone: the ratio is %g, want little less than 2", beside, alone, r)
	}
	for _, c := range []<-chan error{first, second} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}

// TestStartHalf: a half is started with its share of the SMs and its kernel, and hears its orders. Its last words are
// in the error if it ends too early.
func TestStartHalf(t *testing.T) {
	self := filepath.Join(t.TempDir(), "measure")
	text := `#!/bin/sh
read order
echo "$order $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $*"
echo "no memory" >&2
`
	if err := os.WriteFile(self, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	m := &meter{ctx: t.Context(), o: &options{dir: "d", kernels: "d/kernels", arena: 64}}
	h, end, err := m.startHalf(self, "pairs", "kernel=sleep turns=3", 0.4)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if err := h.tell(runOnce); err != nil {
		t.Fatal(err)
	}
	said, err := h.line()
	if want := "run 40 --dir d --arena 64 --half d/kernels|pairs|kernel=sleep turns=3"; err != nil || said != want {
		t.Errorf("it got %q, want %q (%v)", said, want, err)
	}
	if _, err := h.took(); err == nil || !strings.Contains(err.Error(), "ended: no memory") {
		t.Errorf("error %v, want its last words", err)
	}
}

// deaf is the input of a process that has said all it will say.
type deaf struct{ io.Writer }

func (deaf) Close() error { return nil }

// TestEndsTooEarly: a kernel that ends before the one that is measured beside it is an error that says so, and so is a
// process that ends.
func TestEndsTooEarly(t *testing.T) {
	saying := func(lines ...string) *half {
		said := make(chan string, len(lines))
		for _, l := range lines {
			said <- l
		}
		close(said)
		return &half{in: deaf{io.Discard}, said: said, why: func() string { return "out of memory" }}
	}
	for _, c := range []struct {
		a, b *half
		want string
	}{
		{saying("100"), saying(isRunning, "5"), "the kernel beside ended first, after 5 ns: give both more turns"},
		{saying(), saying(isRunning, "5"), "ended: out of memory"},
		{saying("100"), saying("5"), `said "5" before it ran`},
		{saying("100"), saying(), "ended: out of memory"},
	} {
		if _, err := c.a.beside(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}

// kitPairs is a folder with the project's boards and one pair.
func kitPairs(t *testing.T, row string) string {
	t.Helper()
	dir := t.TempDir()
	text := "benchmark,program,args,on_board,sharing,ratio\n" + row + "\n"
	if err := os.WriteFile(filepath.Join(dir, "kit_pairs.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPairRefusals: what is wrong with a pair is said with its line. Without the daemon of MPS nothing is measured.
func TestPairRefusals(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, c := range []struct{ row, want string }{
		{"a,pairs,turns=1,,streams,each/alone", `kit_pairs.csv:2: ratio "each/alone" of sharing "streams"`},
		{"a,pairs,turns=1,,mps 50%,pair/alone", `kit_pairs.csv:2: ratio "pair/alone" of sharing "mps 50%"`},
		{"a,pairs,turns=1,,mps 60%,each/alone", `kit_pairs.csv:2: sharing "mps 60%": the shares are 120 %`},
		{"a,pairs,turns=1,,mps 50,each/alone", `kit_pairs.csv:2: sharing "mps 50"`},
		{",pairs,turns=1,,streams,pair/alone", "kit_pairs.csv:2: a line needs benchmark"},
		{"a,pairs,,,streams,pair/alone\na,pairs,,,streams,pair/alone", `kit_pairs.csv:3: "a" is there already`},
		{"a,pairs,turns=1,,mps 50%,each/alone", "start its daemon with nvidia-cuda-mps-control -d"},
	} {
		args := []string{"--dir", kitPairs(t, c.row), "--board", "b", "--pairs", "--mps"}
		err := run(t.Context(), args, &strings.Builder{}, &strings.Builder{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.row, err, c.want)
		}
	}
}
