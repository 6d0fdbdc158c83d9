package runfile

import (
	"math"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Target is the speed that a latency-sensitive application shall reach: a number of thread instructions per core
// cycle, or a share of the speed it reaches alone ("80%"), of the application or of one kernel.
type Target struct {
	Kernel string  // "": the application as a whole
	IPC    float64 // 0: none, or OfAlone
	Share  float64 // of its IPC alone, a fraction; 0: IPC is given
}

// FromNode implements yamldoc.FromNode.
func (t *Target) FromNode(n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return t.number(n)
	}
	var d struct {
		Kernel string  `yaml:"kernel"`
		IPC    *Target `yaml:"ipc"`
	}
	d.IPC = &Target{}
	if err := yamldoc.Decode(n, "qos", &d); err != nil {
		return err
	}
	if d.Kernel == "" || *d.IPC == (Target{}) || d.IPC.Kernel != "" {
		return n.Errorf("the target of a kernel needs kernel (its name) and ipc (a number, or a share such as 80%%)")
	}
	*t = Target{d.Kernel, d.IPC.IPC, d.IPC.Share}
	return nil
}

// leastTarget is below the speed of any program, in thread instructions per core cycle or percent: a lower target is
// a mistake.
const leastTarget = 1e-6

// number reads 812.5 or 80%.
func (t *Target) number(n *yamldoc.Node) error {
	text, percent := strings.CutSuffix(strings.TrimSpace(n.Raw), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return n.Errorf("qos is a number of thread instructions per core cycle, or a share of what the application "+
			"reaches alone such as 80%%, not %q", n.Raw)
	case x < 0:
		return n.Errorf("qos cannot be negative")
	case x > 0 && x < leastTarget:
		return n.Errorf("qos is %s: it must be at least 0.000001", n.Raw)
	case !percent && x > control.MostIPC:
		return n.Errorf("qos is %s thread instructions per core cycle: it can be at most %g", n.Raw, control.MostIPC)
	case percent && (x == 0 || x > 100):
		return n.Errorf("qos is %s of what the application reaches alone: it must be above 0 %% and at most "+
			"100 %%", n.Raw)
	case percent:
		t.Share = x / 100
	default:
		t.IPC = x
	}
	return nil
}
