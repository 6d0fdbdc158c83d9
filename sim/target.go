package sim

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/internal/kernelname"
)

// Target is the speed that a latency-sensitive application should reach, and the speed it reached. All IPCs are
// thread instructions per core cycle in which it, or the kernel, was on the GPU.
type Target struct {
	Tenant  string  `json:"tenant"`
	IPC     float64 `json:"ipc"`
	Kernel  string  `json:"kernel,omitempty"`         // "": the application as a whole
	OfAlone float64 `json:"of_alone_share,omitempty"` // the share from which IPC was computed; 0: IPC was given
	Reached float64 `json:"reached_ipc"`              // in the window; for a kernel, after the warm-up
	Met     bool    `json:"met"`
}

// kernelTarget is the target of one kernel of an application.
type kernelTarget struct {
	kernel string
	ipc    float64
}

// target is the target of a kernel; 0: it has none.
func (a *app) target(kernel string) float64 {
	for _, t := range a.targets {
		if t.kernel == kernel {
			return t.ipc
		}
	}
	return 0
}

// qos is the target of the application as samples have it: its own, or that of the kernel
// whose target was set last.
func (a *app) qos() float64 {
	if len(a.targets) > 0 && (a.spec.QoS == 0 || a.spec.QoSKernel != "") {
		return a.targets[len(a.targets)-1].ipc
	}
	return a.spec.QoS
}

// setTarget sets the target of a kernel, or replaces it.
func (a *app) setTarget(kernel string, ipc float64) {
	for i := range a.targets {
		if kernelname.Same(a.targets[i].kernel, kernel) {
			a.targets = append(a.targets[:i], a.targets[i+1:]...)
			break
		}
	}
	a.targets = append(a.targets, kernelTarget{kernel, ipc})
}

// launches notes that a kernel is launched for the first time. A target with another form of the kernel's name
// belongs to the kernel from now on.
func (a *app) launches(kernel string) {
	for i := range a.targets {
		t := &a.targets[i]
		if name := a.ctx.KernelName(t.kernel); name != "" {
			t.kernel = name
		} else if at, _ := kernelname.Find(t.kernel, []string{kernel}); at == 0 { // traces have no modules
			t.kernel = kernel
		}
	}
}

// SetQoS implements host.Device: the kernel has a target from now on.
func (d *device) SetQoS(kernel string, ipc float64) error {
	if ipc > control.MostIPC {
		return fmt.Errorf("set_qos: the IPC target of %s is %g thread instructions per core cycle: at most %g",
			kernel, ipc, control.MostIPC)
	}
	before := d.a.targets
	d.a.targets = append([]kernelTarget(nil), before...)
	d.a.setTarget(kernel, ipc)
	if err := d.r.checkTargets(); err != nil {
		d.a.targets = before
		return fmt.Errorf("set_qos: %w", err)
	}
	return nil
}

// checkTargets refuses more applications with targets than a policy serves.
func (r *run) checkTargets() error {
	n := 0
	for _, a := range r.apps {
		if a.qos() > 0 {
			n++
		}
	}
	return r.spec.Sharing.CheckTargets(n)
}

// CheckTargets refuses more applications with targets than the policies serve.
func (s *Sharing) CheckTargets(n int) error {
	for _, g := range s.Governed() {
		e, err := g.entry()
		if err == nil {
			err = e.CheckTargets(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownKernel is the error of a target for a kernel that a program has not launched from its beginning to its end,
// or that no module it has loaded contains.
func (r *run) unknownKernel() error {
	for i, a := range r.apps {
		for _, t := range a.targets {
			var names []string
			found := false
			for _, k := range r.col.names[i] {
				names = append(names, k.name)
				found = found || k.name == t.kernel
			}
			if !found && len(names) > 0 && (a.runs > 0 || a.ctx == nil || a.ctx.KernelName(t.kernel) == "") {
				return &host.Error{Err: &Unfit{fmt.Errorf("application %s: its target is for kernel %s, which it did "+
					"not launch; it launched %s", a.spec.Name, t.kernel, strings.Join(names, ", "))}}
			}
		}
	}
	return nil
}

// targets warns of targets of kernels that were not launched, and of policies that aim at targets and had none.
func (n notes) targets() (warnings []string) {
	r, res := n.r, n.res
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	for i, a := range r.apps {
		for _, t := range a.targets {
			if r.col.tallyOf(i, t.kernel) < 0 {
				warn("kernel %s of %s has a target, but it was not launched before the run "+
					"ended", t.kernel, a.spec.Name)
			}
		}
	}
	var aims []string
	for _, g := range r.spec.Sharing.Governed() {
		if e, err := g.entry(); err == nil && e.Aims {
			aims = append(aims, e.Name)
		}
	}
	if len(aims) == 0 {
		return warnings
	}
	policies := strings.Join(aims, " and ")
	if len(res.Targets) == 0 {
		warn("no application has a target (qos, or set_qos in its program): policy %s had nothing to do", policies)
	}
	for _, a := range r.apps {
		for _, t := range a.targets {
			switch s := &a.spec; {
			case s.QoS > 0 && s.QoSKernel == "":
				warn("%s has a target, and set_qos gave one to its kernel %s: policy %s used the kernel's "+
					"target", s.Name,
					t.kernel, policies)
			case kernelname.Same(s.QoSKernel, t.kernel) && t.ipc != s.QoS:
				warn("kernel %s of %s: set_qos changed its target to %.4g; the run file has %.4g", t.kernel, s.Name,
					t.ipc, s.QoS)
			}
		}
	}
	return warnings
}

// reached says how far the targets of application i were met over its window, between two marks.
func (r *run) reached(i int, t *Tenant, from, to *mark) (out []Target) {
	a := r.apps[i]
	if a.spec.QoS > 0 && a.spec.QoSKernel == "" {
		out = append(out, Target{Tenant: a.spec.Name, IPC: a.spec.QoS, OfAlone: a.spec.QoSShare, Reached: t.BusyIPC})
	}
	for _, k := range a.targets {
		x := Target{Tenant: a.spec.Name, IPC: k.ipc, Kernel: k.kernel}
		if kernelname.Same(a.spec.QoSKernel, k.kernel) && k.ipc == a.spec.QoS { // set_qos has not changed it
			x.OfAlone = a.spec.QoSShare
		}
		if n := r.col.tallyOf(i, k.kernel); n >= 0 {
			end, begin := to.kernel(n), from.kernel(n)
			x.Reached = ratio(float64(end[kernelThreadInsts]-begin[kernelThreadInsts]),
				float64(end[kernelBusy]-begin[kernelBusy]))
		}
		out = append(out, x)
	}
	for k := range out {
		out[k].Met = out[k].Reached >= out[k].IPC
	}
	return out
}
