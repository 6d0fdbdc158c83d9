package sim

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/host"
)

// functional runs the programs one after the other without timing.
func (r *run) functional() (*Result, error) {
	for _, a := range r.apps {
		if a.spec.CPU != nil {
			return nil, fmt.Errorf("application %s runs on CPU cores: a trace or model computes no data, so "+
				"that there is no functional run of it", a.spec.Name)
		}
	}
	res := &Result{Version: ResultVersion, Spec: *r.spec, Complete: true, Machine: r.given}
	var failed error
	for _, a := range r.apps {
		dev := host.NewFunctional(r.ctx, r.spec.Length.MaxCycles)
		dev.Idle = r.spec.Watchdog
		if failed == nil {
			a.begin(r.options(), r.recorded(dev), r.space())
			a.step()
			a.collect()
		}
		t := Tenant{Name: a.spec.Name, Log: a.log.lines()}
		for _, k := range dev.Kernels {
			n := k.WarpInsts
			if r.sheet.SM.Ptxas && k.Machine > 0 {
				n = k.Machine
			}
			t.ThreadInsts += k.ThreadInsts
			t.WarpInsts += n
			t.Kernels = append(t.Kernels, Kernel{
				Name: k.Name, Stream: k.Stream, CTAs: k.CTAs,
				ThreadInsts: k.ThreadInsts, WarpInsts: n,
			})
		}
		var check *host.CheckError
		if a.err != nil {
			t.Err = a.err.Error()
			if !errors.As(a.err, &check) && failed == nil {
				failed = r.blamed(a)
			}
		} else {
			t.Runs = 1
		}
		res.Tenants = append(res.Tenants, t)
		res.Checks = append(res.Checks, a.checks...)
	}
	if errors.Is(failed, ErrStopped) {
		failed = stopped(r.ctx)
	}
	if failed != nil {
		res.Complete, res.Why = false, why(failed)
	}
	r.wall(res)
	return res, failed
}

// wall fills in what depends on the computer Heddle runs on.
func (r *run) wall(res *Result) {
	s := time.Since(r.begun).Seconds()
	name, _ := os.Hostname() // a label only; an empty one does no harm
	res.Wall = Wall{
		Version: Version(), Host: fmt.Sprintf("%s %s/%s", name, runtime.GOOS, runtime.GOARCH), Seconds: s,
		CyclesPerS: ratio(float64(res.Cycles), s),
	}
	var n uint64
	for i := range res.Tenants {
		n += res.Tenants[i].WarpInsts
	}
	res.Wall.WarpInstsPerS = ratio(float64(n), s)
	if r.gpu != nil {
		res.Wall.StrideCycles = r.gpu.StrideCycles()
	}
}

func smTrack(i int) string { return fmt.Sprintf("SM %02d", i) }

// Version is the version of this program: its module's version, or the revision of its sources if there is one,
// "(devel)" otherwise.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	v, modified := info.Main.Version, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && v == "(devel)":
			v = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.Contains(v, "+dirty"):
			modified = " (modified)"
		}
	}
	return v + modified
}
