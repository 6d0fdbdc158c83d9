package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/host/gpu"
	"github.com/heddle-sim/heddle/lab/silicon"
)

// Two processes under MPS, each with a share of the SMs. One is measured while the other keeps the GPU busy with the
// same kernel of many more turns, then the other way round. This process starts both and says in lines what they shall
// do: run, or keep. They answer with the time in ns. After keep they say first that the kernel runs.

// longer is how many times as long as the measured kernel the one beside it runs.
const longer = 20

// What is said to a half, and what it says.
const (
	runOnce   = "run"
	keepBusy  = "keep"
	isRunning = "running"
)

// daemonRuns says why there is no MPS: without its daemon, two processes would take turns.
func daemonRuns(ctx context.Context) error {
	c := exec.CommandContext(ctx, "nvidia-cuda-mps-control")
	c.Stdin = strings.NewReader("get_server_list\n")
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("no MPS: start its daemon with nvidia-cuda-mps-control -d: %w %s", err, bytes.TrimSpace(said))
	}
	return nil
}

// half is the process that has one kernel of a pair.
type half struct {
	in   io.WriteCloser
	said chan string // its lines; closed at its end
	why  func() string
}

// newHalf speaks with a process through its input and output; why is asked for the reason if it ends too early.
func newHalf(in io.WriteCloser, out io.Reader, why func() string) *half {
	h := &half{in: in, said: make(chan string), why: why}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h.said <- lines.Text()
		}
		close(h.said)
	}()
	return h
}

// startHalf starts the process of a kernel by this command's executable, self. It may use a part of the SMs. How it
// ends is not of interest, as its answers before have told.
func (m *meter) startHalf(self, program, args string, share float64) (h *half, end func(), err error) {
	cmd := exec.CommandContext(m.ctx, self, "--dir", m.o.dir, "--arena", strconv.FormatInt(m.o.arena, 10),
		"--half", m.o.kernels+"|"+program+"|"+args)
	cmd.Env = append(os.Environ(), fmt.Sprintf("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%g", 100*share))
	var log bytes.Buffer
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	wait := sync.OnceFunc(func() { cmd.Wait() }) //nolint:errcheck // see above
	h = newHalf(in, out, func() string { wait(); return log.String() })
	return h, func() { h.end(); wait() }, nil
}

// end tells the process that nothing more comes, and hears what it still says.
func (h *half) end() {
	h.in.Close()
	for range h.said {
	}
}

// tell gives the process an order.
func (h *half) tell(what string) error {
	_, err := fmt.Fprintln(h.in, what)
	return err
}

// line is the next thing that the process says.
func (h *half) line() (string, error) {
	s, ok := <-h.said
	if !ok {
		return "", h.gone()
	}
	return s, nil
}

// gone is the error of a process that has ended too early.
func (h *half) gone() error {
	return fmt.Errorf("the process of a kernel ended: %s", strings.TrimSpace(h.why()))
}

// took is the time that the process says next, in ns.
func (h *half) took() (float64, error) {
	s, err := h.line()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(s, 64)
}

// run is the time of the process's kernel, in ns.
func (h *half) run() (float64, error) {
	if err := h.tell(runOnce); err != nil {
		return 0, err
	}
	return h.took()
}

// beside is the time of the process's kernel while that of another runs, in ns.
func (h *half) beside(other *half) (float64, error) {
	if err := other.tell(keepBusy); err != nil {
		return 0, err
	}
	if s, err := other.line(); err != nil || s != isRunning {
		return 0, errors.Join(err, fmt.Errorf("the kernel beside said %q before it ran", s))
	}
	t, err := h.run()
	if err != nil {
		return 0, err
	}
	select {
	case s, ok := <-other.said:
		if !ok {
			return 0, other.gone()
		}
		return 0, fmt.Errorf("the kernel beside ended first, after %s ns: give both more turns", s)
	default:
	}
	_, err = other.took()
	return t, err
}

// processes measures a pair of two processes: the mean time of each beside the other, and the first one's alone.
func (m *meter) processes(p *silicon.KitPair, args []string) (beside, alone float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	var both [2]*half
	for i := range both {
		h, end, err := m.startHalf(self, p.Program, args[min(i, len(args)-1)], p.Shares[i])
		if err != nil {
			return 0, 0, err
		}
		defer end()
		both[i] = h
	}
	return inTurns(both[0], both[1])
}

// inTurns measures one kernel alone, then it beside the other and the other beside it.
func inTurns(a, b *half) (beside, alone float64, err error) {
	if alone, err = a.run(); err != nil {
		return 0, 0, err
	}
	first, err := a.beside(b)
	if err != nil {
		return 0, 0, err
	}
	second, err := b.beside(a)
	return (first + second) / 2, alone, err
}

// announcer says on w that a program's kernel runs, when the program says so.
type announcer struct{ w io.Writer }

func (a announcer) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte("RESULT running")) {
		fmt.Fprintln(a.w, isRunning)
	}
	return len(text), nil
}

// serveHalf is what such a process does: it runs its kernel as the lines of in say.
func serveHalf(ctx context.Context, o *options, in io.Reader, out io.Writer) error {
	cells := strings.SplitN(o.half, "|", 3)
	if len(cells) != 3 {
		return fmt.Errorf("--half %q: FOLDER|PROGRAM|ARGUMENTS", o.half)
	}
	o.kernels = cells[0]
	runs, err := silicon.Runs(cells[2])
	if err != nil {
		return err
	}
	b, err := gpu.Open()
	if err != nil {
		return err
	}
	for orders := bufio.NewScanner(in); orders.Scan(); {
		args, m := maps.Clone(runs[0]), &meter{ctx: ctx, o: o, b: b}
		if orders.Text() == keepBusy {
			turns, err := strconv.Atoi(args["turns"])
			if err != nil {
				return fmt.Errorf("turns=%s: a kernel beside another needs a number of turns", args["turns"])
			}
			args["turns"], m.said = strconv.Itoa(longer*turns), announcer{out}
		}
		ns, err := m.span(cells[1], args, "alone")
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%.1f\n", ns)
	}
	return nil
}
