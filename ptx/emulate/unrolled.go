package emulate

import (
	"sync"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
	"github.com/heddle-sim/heddle/ptx/ptxas"
)

// unrolled is a kernel with unrolled loops, made when the first launch asks for it. The functions that it calls stay
// as they are.
type unrolled struct {
	once   sync.Once
	kernel *Kernel
}

// of gives the kernel with unrolled loops, or k itself if it has none that can be unrolled.
func (u *unrolled) of(k *Kernel) *Kernel {
	u.once.Do(func() {
		u.kernel = k
		if k.Code.Loops != isa.LoopsKept {
			return
		}
		m := *k.module // other launches read its maps meanwhile
		m.graphs, m.lives = map[*parse.Func]*analyze.Graph{}, map[*parse.Func]*analyze.Liveness{}
		u.kernel = m.decodeKernel(ptxas.Unroll(analyze.Build(k.prog.source[0])))
		u.kernel.module, u.kernel.Code.Loops = k.module, isa.LoopsUnrolled
	})
	return u.kernel
}
