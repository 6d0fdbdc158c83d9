package apps_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/apps/reference"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// limit bounds the warp instructions of one launch.
const limit = 100_000_000

// references are those of the applications, held to what host.Reference asks of them: arguments are the
// memory of the simulated device itself, which they must not write.
func references() map[string]host.Reference {
	refs := map[string]host.Reference{}
	for name, f := range reference.All {
		refs[name] = func(args []any) (any, error) {
			before := make([]*host.Data, len(args))
			for i, a := range args {
				before[i], _ = host.NewData(a) // a copy, nil of what is no array
			}
			out, err := f(args)
			for i, a := range args {
				if d, _ := host.NewData(a); d != nil && !bytes.Equal(d.Bytes, before[i].Bytes) {
					err = fmt.Errorf("reference %s has changed argument %d", name, i+1)
				}
			}
			return out, err
		}
	}
	return refs
}

// run executes an application functionally and returns its checks.
func run(t *testing.T, dir string, args map[string]string) ([]host.Check, error) {
	t.Helper()
	var log bytes.Buffer
	p, err := script.Load(dir, script.Options{Args: args, References: references(), Log: &log})
	if err != nil {
		return nil, err
	}
	c := host.New(host.NewFunctional(context.Background(), limit), mem.NewSpace(1<<30), host.Options{})
	err = p.Run(c)
	t.Logf("%s%s", log.String(), dir)
	return c.Checks(), err
}

func TestModulesLoad(t *testing.T) {
	for _, dir := range folders(t) {
		src := read(t, filepath.Join(dir, "kernel.ptx"))
		m, err := emulate.Load(dir+"/kernel.ptx", []byte(src))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(m.Kernels()) != strings.Count(src, ".visible .entry") {
			t.Errorf("%s: %d kernels, the text has %d entries", dir, len(m.Kernels()),
				strings.Count(src, ".visible .entry"))
		}
	}
}

// passes runs an application and wants at least one check, all good.
func passes(t *testing.T, dir string, args map[string]string) {
	t.Helper()
	checks, err := run(t, dir, args)
	if err != nil {
		t.Errorf("%s %v: %v", dir, args, err)
	}
	if len(checks) == 0 {
		t.Errorf("%s %v: nothing was checked", dir, args)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s %v: %s: %s", dir, args, c.What, c.Msg)
		}
	}
}

func TestTiny(t *testing.T) {
	for _, dir := range folders(t) {
		t.Run(dir, func(t *testing.T) { passes(t, dir, nil) })
	}
}

// TestStandard runs the sizes users run, some seconds in all.
func TestStandard(t *testing.T) {
	if testing.Short() {
		t.Skip("standard sizes take some seconds")
	}
	for _, dir := range folders(t) {
		t.Run(dir, func(t *testing.T) { passes(t, dir, map[string]string{"size": "standard"}) })
	}
}

// TestOtherArguments: sizes that leave partial blocks and other ways through the kernels.
func TestOtherArguments(t *testing.T) {
	for dir, list := range map[string][]string{
		"micro/vecadd":          {"n=1", "n=257 block=32"},
		"micro/triad":           {"n=31", "n=300 passes=3"},
		"micro/reduction":       {"n=1", "n=70000 blocks=7 block=1024", "n=33 block=32"},
		"micro/histogram":       {"n=1", "n=999 block=96 blocks=2", "n=2000 skew=30"},
		"micro/pointer-chase":   {"touch=4096 bytes=8192", "touch=8,4 bytes=12 ahead=true"},
		"micro/spmv":            {"shape=scalar", "n=100 most=200", "n=1 most=0"},
		"sdk-like/matrixmul":    {"n=32", "m=32 n=64 k=96"},
		"sdk-like/blackscholes": {"n=1", "n=1000 grid=2"},
		"polybench/2dconv":      {"n=3", "n=33 nj=65"},
		"micro/randomaccess":    {"shape=gather", "shape=gather n=300 percent=50"},
		"polybench/atax":        {"n=1", "n=33 ny=300", "n=33 ny=300 stored=True"},
		"lonestar-like/sssp":    {"n=300 degree=3 rounds=30"},
		"rodinia-like/nw":       {"n=48 pad=True"},
		"rodinia-like/srad_v2":  {"n=32 wait=True"},
		"rodinia-like/hotspot": {
			"n=1", "n=30 steps=9 halo=1", "n=17 steps=8 halo=7", "n=30 steps=9 halo=1 doubles=True",
		},
		"rodinia-like/bfs":        {"n=1", "n=300 most=2", "n=300 pairs=True"},
		"rodinia-like/pathfinder": {"n=1 rows=3", "n=700 rows=50 halo=9", "n=300 rows=1"},
		"parboil-like/cp":         {"n=32 atoms=7 batch=3"},
	} {
		for _, text := range list {
			t.Run(fmt.Sprintf("%s/%s", dir, text), func(t *testing.T) { passes(t, dir, arguments(text)) })
		}
	}
}

// TestLarge: a size beyond what a grid is high, as in a study at its paper's scale.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	passes(t, "rodinia-like/backprop", arguments("n=1048592"))
}

// TestBadSize: a preset that does not exist is an error of the script that lists them.
func TestBadSize(t *testing.T) {
	for _, dir := range folders(t) {
		_, err := run(t, dir, map[string]string{"size": "huge"})
		if err == nil || !strings.Contains(err.Error(), "tiny, standard, paper") ||
			!strings.Contains(err.Error(), "app.star:") {
			t.Errorf("%s --arg size=huge: %v", dir, err)
		}
	}
}

// TestChecksCanFail: with a wrong kernel an application's check must not pass. One
// operation of each kernel is replaced by another.
func TestChecksCanFail(t *testing.T) {
	spoils := map[string][2]string{
		"micro/vecadd":            {"add.rn.f32", "sub.rn.f32"},
		"micro/reduction":         {"add.rn.f32", "sub.rn.f32"},
		"micro/histogram":         {"shr.u32", "shl.b32"},
		"rodinia-like/hotspot":    {"sub.rn.f32", "add.rn.f32"},
		"rodinia-like/pathfinder": {"min.s32", "max.s32"},
		"parboil-like/cp":         {"rsqrt.approx", "rcp.approx"},
		"sdk-like/blackscholes":   {"lg2.approx", "ex2.approx"},
	}
	for dir, s := range spoils {
		failsWith(t, dir, s[0], s[1])
	}
}

// failsWith replaces an operation of an application's kernels and wants a failed check.
func failsWith(t *testing.T, dir, from, to string) {
	t.Helper()
	tmp := t.TempDir()
	spoilt := strings.ReplaceAll(read(t, filepath.Join(dir, "kernel.ptx")), from, to)
	if spoilt == read(t, filepath.Join(dir, "kernel.ptx")) {
		t.Errorf("%s: no %s to spoil", dir, from)
		return
	}
	for name, text := range map[string]string{
		"kernel.ptx": spoilt,
		"app.star":   read(t, filepath.Join(dir, "app.star")),
	} {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	checks, err := run(t, tmp, nil)
	failed := err != nil
	for _, c := range checks {
		failed = failed || !c.OK
	}
	if !failed {
		t.Errorf("%s passes with %s for %s", dir, to, from)
	}
}

// arguments splits "n=3 block=32".
func arguments(text string) map[string]string {
	args := map[string]string{}
	for _, kv := range strings.Fields(text) {
		k, v, _ := strings.Cut(kv, "=")
		args[k] = v
	}
	return args
}
