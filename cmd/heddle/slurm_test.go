package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slurmRun is the run file of the sweeps.
const slurmRun = `machine: ugpu
apps: [{name: t, path: apps/triad, args: {n: 500, verify: false}}]
`

// bench is a folder with a sweep, and heddle as a program of its own.
type bench struct {
	t      *testing.T
	dir    string
	heddle string
}

func newBench(t *testing.T) *bench {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: t.TempDir()}
	b.heddle = b.path("heddle") // TestMain acts by the name it is called by
	apps, err := filepath.Abs("../../apps/micro")
	if err == nil {
		err = errors.Join(os.Symlink(self, b.heddle), os.Symlink(apps, b.path("apps")))
	}
	for name, text := range map[string]string{
		"run.yaml": slurmRun,
		"s.yaml": "run: run.yaml\nvary:\n  - {machine.llc.latency: [100, 110, 120, 130, 140, 150]}\n" +
			"  - {apps.t.args.n: [300000, 310000, 320000, 330000]}\n",
		"large.yaml": "run: run.yaml\nvary:\n" +
			"  - {machine.llc.latency: [100, 105, 110, 115, 120, 125, 130, 135, 140, 145]}\n" +
			"  - {apps.t.args.n: [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000]}\n" +
			"  - {machine.sm.count: [4, 8]}\n",
		"main.yaml":  "partition: main\ntime: 10:00\nmemory: 200M\n",
		"small.yaml": "run: run.yaml\nvary:\n  - {apps.t.args.n: [1000, 2000]}\n",
		"bad.yaml":   "run: run.yaml\nvary:\n  - {apps.t.args.n: [1000, -7, 2000]}\n",
	} {
		err = errors.Join(err, os.WriteFile(b.path(name), []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// command is heddle with arguments in the bench's folder; its output goes into text.
func (b *bench) command(args ...string) (c *exec.Cmd, text *bytes.Buffer) {
	c, text = exec.Command(b.heddle, args...), &bytes.Buffer{}
	c.Dir, c.Stdout, c.Stderr = b.dir, text, text
	return c, text
}

// do runs heddle to its end and wants an exit status.
func (b *bench) do(want int, args ...string) string {
	b.t.Helper()
	c, text := b.command(args...)
	err := c.Run()
	if code := c.ProcessState.ExitCode(); code != want {
		b.t.Fatalf("heddle %s: %v, want status %d\n%s", strings.Join(args, " "), err, want, text)
	}
	return text.String()
}

// same wants two files of the folder to be equal.
func (b *bench) same(x, y string) {
	b.t.Helper()
	p, err := os.ReadFile(b.path(x))
	q, err2 := os.ReadFile(b.path(y))
	if err != nil || err2 != nil || !bytes.Equal(p, q) {
		b.t.Errorf("%s and %s differ (%v, %v)", x, y, err, err2)
	}
}

// entries are the results of a store: what they say but for the wall clock, and which files they are.
func (b *bench) entries(store string) (text map[string]string, files map[string]os.FileInfo) {
	b.t.Helper()
	text, files = map[string]string{}, map[string]os.FileInfo{}
	names, err := filepath.Glob(filepath.Join(b.path(store), "??", "*.json"))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			b.t.Fatal(err)
		}
		src, err := os.ReadFile(name)
		if err != nil {
			b.t.Fatal(err)
		}
		var e struct {
			Result map[string]json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(src, &e); err != nil {
			b.t.Fatalf("%s: %v", name, err)
		}
		delete(e.Result, "wall")
		plain, err := json.Marshal(e.Result)
		if err != nil {
			b.t.Fatal(err)
		}
		key := filepath.Base(name)
		text[key], files[key] = string(plain), info
	}
	return text, files
}

func (b *bench) count(store string) int {
	names, _ := filepath.Glob(filepath.Join(b.path(store), "??", "*.json"))
	return len(names)
}

// TestSlurm tries --on slurm on a cluster of its own.
func TestSlurm(t *testing.T) {
	c := startCluster(t)
	b := newBench(t)
	b.do(exitOK, "sweep", "s.yaml", "--cache", "local", "--jobs", "2", "--out", "local.csv")
	want, _ := b.entries("local")
	t.Run("killed", func(t *testing.T) { c.testKilled(t, b, want) })
	t.Run("large", func(t *testing.T) { c.testLarge(t, b) })
	t.Run("preempted", func(t *testing.T) { c.testPreempted(t, b) })
	t.Run("receipt", func(t *testing.T) {
		args := []string{"sweep", "s.yaml", "--cache", "later", "--on", "slurm", "--out", "later.csv", "--points", "8"}
		text := b.do(exitOK, args...)
		if !strings.Contains(text, "submitted 24 in 3 tasks (Slurm job ") {
			t.Errorf("%s", text)
		}
		if _, err := os.Stat(b.path("later.csv")); err == nil {
			t.Error("there is a table before there are results")
		}
		again := b.do(exitOK, args...)
		if !strings.Contains(again, "submitted none, 24 were queued before") {
			t.Errorf("%s", again)
		}
		b.do(exitOK, append(args, "--wait")...)
		b.same("local.csv", "later.csv")
	})
	t.Run("failures", func(t *testing.T) {
		local, text := b.command("sweep", "bad.yaml", "--cache", "bad-local", "--out", "bad-local.csv")
		if err := local.Run(); err == nil {
			t.Fatal("a bad point passes")
		}
		status := local.ProcessState.ExitCode()
		first := b.do(status, "sweep", "bad.yaml", "--cache", "bad", "--on", "slurm", "--wait", "--out", "bad.csv")
		b.same("bad-local.csv", "bad.csv")
		tail := text.String()[strings.LastIndex(text.String(), "heddle: "):]
		if !strings.HasSuffix(first, tail) {
			t.Errorf("local:\n%s\nslurm:\n%s", text, first)
		}
		second := b.do(status, "sweep", "bad.yaml", "--cache", "bad", "--on", "slurm")
		if !strings.Contains(second, "-7") {
			t.Errorf("%s", second)
		}
		third := b.do(exitOK, "sweep", "bad.yaml", "--cache", "bad", "--on", "slurm", "--retry")
		if !strings.Contains(third, "submitted 1 in 1 tasks") {
			t.Errorf("%s", third)
		}
		refused := b.do(exitInput, "sweep", "bad.yaml", "--cache", "new", "--on", "slurm", "--partition", "nowhere")
		if !strings.Contains(refused, "sbatch") || !strings.Contains(refused, "partition") {
			t.Errorf("%s", refused)
		}
	})
	t.Run("reproduce", func(t *testing.T) {
		tiny, err := filepath.Abs("../../paper/testdata/tiny")
		apps, err2 := filepath.Abs("../../apps")
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		args := []string{"reproduce", filepath.Join(tiny, "pairs"), "--apps", apps}
		b.do(exitOK, append(args, "--cache", "local", "--out", "pairs")...)
		b.do(exitOK, append(args, "--cache", "far", "--out", "pairs-far", "--on", "slurm", "--wait")...)
		for _, f := range []string{"pairs.csv", "pairs.measures.csv", "pairs.svg"} {
			b.same(filepath.Join("pairs", f), filepath.Join("pairs-far", f))
		}
	})
}

// testKilled kills, in the middle of a sweep, the client, a task and a whole node. Nothing that was
// done is done again, nothing is lost, and the table is that of a local run.
func (c *testCluster) testKilled(t *testing.T, b *bench, want map[string]string) {
	args := []string{"sweep", "s.yaml", "--cache", "far", "--out", "far.csv"}
	args = append(args, "--on", "slurm", "--wait", "--points", "3")
	client, _ := b.command(args...)
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	c.until("three results", time.Minute, func() bool { return b.count("far") >= 3 })
	if err := client.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(); err == nil {
		t.Fatal("it ended before it was killed: this shows nothing")
	}
	c.until("a task on n2", time.Minute, func() bool { return len(c.tasks("n2")) > 0 })
	for _, pid := range c.tasks("n2") {
		if err := sysKill(pid); err != nil {
			t.Logf("task %d: %v", pid, err)
		}
	}
	c.until("a task on n1", time.Minute, func() bool { return len(c.tasks("n1")) > 0 })
	c.kill("n1")
	_, done := b.entries("far")
	if len(done) >= len(want) {
		t.Fatal("all was done before anything was killed: this shows nothing")
	}
	client, text := b.command(args...)
	begun := time.Now()
	if err := client.Run(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Logf("%d of %d points were done when client, task, node were killed; the rest took %v:\n%s", len(done),
		len(want), time.Since(begun).Round(time.Second), text)
	b.same("local.csv", "far.csv")
	b.kept("far", want, done)
	c.node("n1")
	c.until("two idle nodes", time.Minute, c.idle)
}

// testLarge kills one of two nodes for good in the middle of a sweep of 200 points, whose client
// stays: the other node does the rest.
func (c *testCluster) testLarge(t *testing.T, b *bench) {
	b.do(exitOK, "sweep", "large.yaml", "--cache", "large-local", "--jobs", "2", "--out", "large-local.csv")
	want, _ := b.entries("large-local")
	client, text := b.command("sweep", "large.yaml", "--cache", "large", "--out", "large.csv", "--on", "slurm",
		"--wait", "--points", "8")
	begun := time.Now()
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	c.until("60 results", 2*time.Minute, func() bool { return b.count("large") >= 60 })
	c.until("a task on n2", time.Minute, func() bool { return len(c.tasks("n2")) > 0 })
	c.kill("n2")
	_, done := b.entries("large")
	if len(want) != 200 || len(done) >= 200 {
		t.Fatalf("%d of %d results before the node died: this shows nothing", len(done), len(want))
	}
	if err := client.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Logf("%d of 200 points were done when the node died; all after %v", len(done),
		time.Since(begun).Round(time.Second))
	b.same("large-local.csv", "large.csv")
	b.kept("large", want, done)
	c.node("n2")
	c.until("two idle nodes", time.Minute, c.idle)
}

// kept wants a store to hold what another does, and what was done to be there as it was.
func (b *bench) kept(store string, want map[string]string, done map[string]os.FileInfo) {
	b.t.Helper()
	got, files := b.entries(store)
	if len(got) != len(want) {
		b.t.Errorf("%d results in the store, %d of a local run", len(got), len(want))
	}
	for key, text := range want {
		if got[key] != text {
			b.t.Errorf("%s differs from a local run's", key)
		}
	}
	for key, was := range done {
		if now := files[key]; now == nil || !os.SameFile(was, now) || !was.ModTime().Equal(now.ModTime()) {
			b.t.Errorf("%s was done and has been done again", key)
		}
	}
}

// testPreempted has a job of more weight take both nodes in the middle of a sweep.
func (c *testCluster) testPreempted(t *testing.T, b *bench) {
	client, text := b.command("sweep", "s.yaml", "--cache", "taken", "--out", "taken.csv", "--on", "slurm", "--wait",
		"--points", "12", "--profile", "main.yaml")
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	c.until("two results", time.Minute, func() bool { return b.count("taken") >= 2 })
	out := c.output("sbatch", "-p", "first", "-N", "2", "-o", "/dev/null", "--wrap", "sleep 1")
	if !strings.Contains(out, "Submitted") {
		t.Fatal(out)
	}
	c.until("a task that was preempted", time.Minute, func() bool {
		return strings.Contains(c.output("squeue", "-h", "-r", "-n", "wrap", "-o", "%T"), "RUNNING") ||
			strings.Contains(c.output("squeue", "-h", "-r", "-o", "%r"), "BeginTime")
	})
	if n := b.count("taken"); n == 24 {
		t.Fatal("all was done before anything was preempted: this shows nothing")
	}
	if err := client.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b.same("local.csv", "taken.csv")
}
