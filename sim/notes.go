package sim

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/mem"
)

// notes looks at what is known of a run at its end: its settings, counters, decisions and what has moved. It says, in
// a sentence each, which of them did nothing, or say less than they seem to. The sentences are warnings of the result.
type notes struct {
	r   *run
	res *Result
}

// take puts all of them into the result.
func (n notes) take() {
	for _, of := range []func() []string{n.targets, n.missed, n.idleAdvices} {
		n.res.Warnings = append(n.res.Warnings, of()...)
	}
}

// idleAdvices says of advice to memory that it steered nothing, and why.
func (n notes) idleAdvices() (out []string) {
	r := n.r
	for _, a := range r.apps {
		var told []string // by program and reason, not by call
		for _, x := range a.idleAdvice {
			why := fmt.Sprintf("it is %s memory, and an advice is for malloc_managed memory", x.kind)
			if x.kind == mem.Managed {
				why = "the run has no memory.unified, so that its pages do not follow what is said of them: add " +
					"memory: {unified: {runtime: dissertation}} to the sharing entry"
				if err := unifiedHost(r.sheet); err != nil {
					why = err.Error()
				}
			}
			if s := fmt.Sprintf("mem_advise(%s, %s) of %s steered nothing: %s", x.region, x.advice, a.spec.Name,
				why); !slices.Contains(told, s) {
				told = append(told, s)
			}
		}
		if len(told) > mostAdvices {
			told = append(told[:mostAdvices], fmt.Sprintf("%d more advices of %s steered nothing",
				len(told)-mostAdvices, a.spec.Name))
		}
		out = append(out, told...)
	}
	return out
}

// mostAdvices is how many advices of an application a result names.
const mostAdvices = 3
