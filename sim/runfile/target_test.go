package runfile

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

const twoTasks = `machine: fermi
apps:
- {name: x, path: a, qos: QOS}
- {path: b}
sharing: [smqos, {mode: mps, policies: [spart]}]
`

// A target is a number, a share of what runs alone, or one of these for a kernel.
func TestTargets(t *testing.T) {
	for text, want := range map[string]sim.App{
		"812.5":                      {QoS: 812.5},
		"80%":                        {QoSShare: 0.8},
		"'80 %'":                     {QoSShare: 0.8},
		"{kernel: gemm, ipc: 90 }":   {QoS: 90, QoSKernel: "gemm"},
		"{kernel: gemm, ipc: 12.5%}": {QoSShare: 0.125, QoSKernel: "gemm"},
		"0":                          {},
	} {
		f, err := parse(t, strings.Replace(twoTasks, "QOS", text, 1), Overrides{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, s := range f.Specs {
			if a := s.Apps[0]; a.QoS != want.QoS || a.QoSShare != want.QoSShare || a.QoSKernel != want.QoSKernel {
				t.Errorf("%s: %+v", text, a)
			}
		}
	}
	for text, want := range map[string]string{
		"-1": "run.yaml:3:27: qos cannot be negative",
		"1e308": "run.yaml:3:27: qos is 1e308 thread instructions per core cycle: it can " +
			"be at most",
		"fast":                            "qos is a number of thread instructions per core cycle, or a share",
		"120%":                            "above 0 % and at most 100 %",
		"0%":                              "above 0 % and at most 100 %",
		"1e-320%":                         "qos is 1e-320%: it must be at least 0.000001",
		"{kernel: gemm}":                  "the target of a kernel needs kernel (its name) and ipc",
		"{ipc: 80%}":                      "the target of a kernel needs kernel (its name) and ipc",
		"{kernel: gemm, target: 80%}":     "target",
		"[80%]":                           "qos is a number",
		"5}\n- {path: b, name: c, qos: 3": "policy smqos serves 1 application with a target (qos) and there are 2",
	} {
		if _, err := parse(t, strings.Replace(twoTasks, "QOS", text, 1), Overrides{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
