package control

// TaskSample is what the policies for latency-sensitive tasks see of a period.
type TaskSample[A any] struct {
	Clock
	Apps []A `json:"apps"`
}

// taskNeeds are the keys that a sample of such a policy cannot lack.
func taskNeeds() []string { return []string{"apps.sms", "apps.insts", "apps.cycles"} }

// Task is an application of such a sample. One with a target is latency-sensitive, the
// others are batch tasks.
type Task struct {
	Held
	Insts   uint64       `json:"insts" counter:"sm.thread_insts"`
	Cycles  uint64       `json:"cycles" counter:"app.busy_cycles"` // with a kernel on the GPU
	Kernels []TaskKernel `json:"kernels,omitempty"`                // those it has launched so far
}

// TaskKernel is a kernel of a task: all its launches together.
type TaskKernel struct {
	HeldKernel
	Insts  uint64 `json:"insts" counter:"kernel.thread_insts"`
	Cycles uint64 `json:"cycles" counter:"kernel.busy_cycles"`
}

// service is the work of a task and its target: thread instructions in a number of cycles, and the target that they
// are compared with, in thread instructions per core cycle.
type service struct {
	insts, cycles uint64
	goal          float64 // the target, the same in all these cycles, or
	due           float64 // where it was not, the instructions it asks for
	mixed         bool
}

// service of a period. If kernels have targets (cudaSetQoS), only their instructions and cycles count, each compared
// with its own target; otherwise those of the whole task. For kernels that run at the same time, the task's cycles
// count as far as they are known.
func (t *Task) service() (s service) {
	if !t.hasKernelTarget() {
		return serve(t.Insts, t.Cycles, t.QoS)
	}
	for i := range t.Kernels {
		if k := &t.Kernels[i]; k.QoS > 0 {
			s.add(serve(k.Insts, k.Cycles, k.QoS))
		}
	}
	if s.cycles > t.Cycles { // they ran at once, and their targets add up
		s.cycles, s.mixed = t.Cycles, true
	}
	return s
}

func serve(insts, cycles uint64, goal float64) service {
	return service{insts, cycles, goal, goal * float64(cycles), false}
}

func (s *service) add(x service) {
	if x.cycles == 0 {
		return
	}
	if s.cycles == 0 {
		*s = x
		return
	}
	s.mixed = s.mixed || x.mixed || x.goal != s.goal
	s.insts, s.cycles, s.due = s.insts+x.insts, s.cycles+x.cycles, s.due+x.due
}

// follow adds a period of a task to its work so far. The present target of the whole task holds for all of it, as in
// papers. The target of a kernel holds for the time of the kernel.
func (s *service) follow(t *Task, epoch service) {
	s.add(epoch)
	if epoch.cycles > 0 && !t.hasKernelTarget() {
		s.goal, s.mixed = epoch.goal, false
	}
}

// ipc and target are both thread instructions per core cycle; 0 without cycles.
func (s *service) ipc() float64 { return float64(s.insts) / float64(max(s.cycles, 1)) }

func (s *service) target() float64 {
	if s.mixed {
		return s.due / float64(s.cycles)
	}
	return s.goal
}

func (t *Task) hasKernelTarget() bool {
	for i := range t.Kernels {
		if t.Kernels[i].QoS > 0 {
			return true
		}
	}
	return false
}

// latencySensitive says that the task or one of its kernels has a target.
func (t *Task) latencySensitive() bool { return t.QoS > 0 || t.hasKernelTarget() }
