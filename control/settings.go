package control

import (
	"fmt"
	"slices"
)

// Setting is something of the machine that a policy may set.
type Setting struct {
	Name string // in entries and messages
	Unit string
	What string
	// Kernels: it is of applications that run kernels, and says nothing to those on CPU cores.
	Kernels bool
}

// Settings lists them in the order in which the machine applies what changes in one
// cycle, whatever the order of the policies in a run file: SMs can be without power once
// it is known that nobody owns them.
func Settings() []Setting {
	return []Setting{
		{"sms", "SMs", "who owns how many SMs; they may be nobody's", true},
		{"gating", "SMs", "how many of the SMs that nobody owns are without power", true},
		{"quota", "thread instructions", "what applications may issue on each SM they share, per epoch", true},
		{"ctas", "CTAs", "the most an application may have on each SM it shares with others", true},
		{"replication", "flag", "whether LLC slices keep copies of other partitions' read-only lines", false},
		{"groups", "channel groups", "who owns how many channel groups; pages follow", true},
		{"ways", "ways", "how many ways of each set of a hybrid memory are for data of the CPU", false},
		{"channels", "superchannels", "how many superchannels of a hybrid memory are the CPU's alone", false},
		{"tokens", "tokens", "how many migrations of the GPU a hybrid memory may do per period", false},
	}
}

// Conflict is the error of policies, by name, of which two set the same; nil when none do.
func Conflict(policies []string) error {
	owner := map[string]string{}
	for _, name := range policies {
		e, err := Find(name)
		if err != nil {
			return err
		}
		for _, s := range e.Settings {
			if first, taken := owner[s]; taken {
				return fmt.Errorf("policies %s and %s both set %s: keep one of them", first, name, s)
			}
			owner[s] = name
		}
	}
	return nil
}

// OfKernels are the settings of the policy that are of applications that run kernels.
func (e *Entry) OfKernels() (names []string) {
	for _, s := range Settings() {
		if s.Kernels && e.Sets(s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Sets says whether the policy sets something.
func (e *Entry) Sets(setting string) bool { return slices.Contains(e.Settings, setting) }
