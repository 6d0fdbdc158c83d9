package control

import (
	"fmt"
	"slices"
)

// Setting is a part of the machine that a policy may set.
type Setting struct {
	Name string // in entries and messages
	Unit string
	What string
	// Kernels marks a setting for applications that run kernels; it has no meaning for those on CPU cores.
	Kernels bool
}

// Settings lists them in the order in which the machine applies changes of one cycle, whatever the order of the
// policies in a run file: an SM can be powered down only once it is known that it has no owner.
func Settings() []Setting {
	return []Setting{
		{"sms", "SMs", "SMs of each application; some may stay without an owner", true},
		{"gating", "SMs", "SMs without an owner that are powered down", true},
		{"quota", "thread instructions", "instructions that an application may issue on each shared SM, per " +
			"period", true},
		{"ctas", "CTAs", "most CTAs of an application on each SM that it shares", true},
		{"replication", "flag", "whether LLC slices keep copies of other partitions' read-only lines", false},
		{"groups", "channel groups", "channel groups of each application; pages follow", true},
		{"ways", "ways", "ways of each set of a hybrid memory for data of the CPU", false},
		{"channels", "superchannels", "superchannels of a hybrid memory that are reserved for the CPU", false},
		{"tokens", "tokens", "migrations of the GPU's blocks that a hybrid memory may do per period", false},
	}
}

// Conflict is an error if two of the policies, given by name, set the same setting.
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

// OfKernels are the policy's settings for applications that run kernels.
func (e *Entry) OfKernels() (names []string) {
	for _, s := range Settings() {
		if s.Kernels && e.Sets(s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Sets says whether the policy changes a setting.
func (e *Entry) Sets(setting string) bool { return slices.Contains(e.Settings, setting) }
