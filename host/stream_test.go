package host

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// launchNamed enqueues a kernel without code: the test devices only look at its name.
func launchNamed(t *testing.T, c *Context, name string, s *Stream) *Op {
	t.Helper()
	op := &Op{Kind: OpLaunch, Name: name}
	c.launches = append(c.launches, launched{op, c.where()})
	noError(t, c.enqueue(s, op))
	return op
}

func wantTrace(t *testing.T, d *slow, want string) {
	t.Helper()
	if got := strings.Join(d.trace, " "); got != want {
		t.Errorf("trace %s\n want %s", got, want)
	}
	d.trace = nil
}

// Operations run in stream order; the lowest ready stream goes first in this device,
// so only the default stream's rule can put stream 2 before stream 0.
func TestLegacyDefaultStream(t *testing.T) {
	c, d := newSlow()
	s1, s2 := c.NewStream(), c.NewStream()
	launchNamed(t, c, "a", s2)
	launchNamed(t, c, "b", s1)
	launchNamed(t, c, "c", nil) // after a and b
	launchNamed(t, c, "d", s1)  // after c
	launchNamed(t, c, "e", s1)  // no second wait for c
	launchNamed(t, c, "f", s2)
	waits := 0
	for _, q := range d.queues {
		for _, op := range q {
			if op.Kind == OpWait {
				waits++
			}
		}
	}
	if waits != 4 { // c waits for a and b, d for c, f for c
		t.Errorf("%d wait operations, want 4", waits)
	}
	noError(t, c.DeviceSynchronize())
	wantTrace(t, d, "1:b 2:a 0:c 1:d 1:e 2:f")
}

func TestAsyncCopyMovesBytesAtCompletion(t *testing.T) {
	c, d := newSlow()
	s := c.NewStream()
	h := must[*Array](t)(c.HostArray(I32, 4, "h"))
	a := must[*Array](t)(c.Malloc(I32, 4, "a"))
	noError(t, h.Arange(1, 1))
	noError(t, a.CopyFrom(h, s))
	if a.data()[0] != 0 {
		t.Error("the bytes moved at the call")
	}
	// Writing the source waits for the copy that still reads it.
	noError(t, h.Fill(9))
	if got := values(t, a); !reflect.DeepEqual(got, []int32{1, 2, 3, 4}) {
		t.Errorf("copied %v", got)
	}
	// Other host memory does not wait.
	other := must[*Array](t)(c.HostArray(I32, 4, "other"))
	noError(t, h.CopyFrom(a, s))
	noError(t, other.Fill(1))
	if v := h.data()[0]; v != 9 {
		t.Errorf("an unrelated host access waited for the copy: %d", v)
	}
	if v := must[Scalar](t)(h.At(3)); v.Value() != int64(4) {
		t.Errorf("h[3] = %v", v)
	}
	noError(t, other.CopyFrom(h, nil)) // host to host: no operation
	wantTrace(t, d, "1:copy h to a 1:copy a to h")
	short := must[*Array](t)(a.Slice(0, 3))
	wantError(t, a.CopyFrom(short, nil),
		"copy_from: the source has 12 bytes, the destination 16; copy a slice(from, to) of the larger one")
}

func TestElementAccess(t *testing.T) {
	c, d := newSlow()
	dev := must[*Array](t)(c.Malloc(I32, 4, "dev"))
	man := must[*Array](t)(c.MallocManaged(I32, 4, "man"))
	launchNamed(t, c, "k", c.NewStream())
	noError(t, dev.SetAt(1, 5))
	if v := must[Scalar](t)(dev.At(1)); v.Value() != int64(5) {
		t.Errorf("dev[1] = %v", v)
	}
	launchNamed(t, c, "l", nil)
	noError(t, man.SetAt(2, 6))
	if v := must[Scalar](t)(man.At(2)); v.Value() != int64(6) {
		t.Errorf("man[2] = %v", v)
	}
	noError(t, man.Fill(1))
	noError(t, dev.Fill(1))
	must[string](t)(man.SHA256()) // observes
	wantTrace(t, d, "1:k 0:write dev 0:read dev 0:l touch man 8+4 true touch man 8+4 false touch man 0+16 true "+
		"0:initial fill dev")
	reg := must[*Array](t)(c.HostArray(I32, 1, "reg"))
	noError(t, c.HostRegister(reg))
	launchNamed(t, c, "m", nil)
	must[Scalar](t)(reg.At(0))
	wantTrace(t, d, "0:m")
}

func TestEvents(t *testing.T) {
	c, d := newSlow()
	s, u := c.NewStream(), c.NewStream()
	e0, e1 := c.NewEvent(), c.NewEvent()
	_, err := e0.Elapsed(e1)
	wantError(t, err, "elapsed: the event was never recorded")
	noError(t, e0.Synchronize())
	noError(t, s.WaitFor(e0)) // never recorded: no wait
	noError(t, e0.Record(s))
	launchNamed(t, c, "k", s)
	noError(t, e1.Record(s))
	noError(t, u.WaitFor(e1))
	launchNamed(t, c, "after", u)
	us := must[float64](t)(e1.Elapsed(e0))
	if us != 2 { // the kernel and the event itself, 100 cycles each at 100 MHz
		t.Errorf("%g us", us)
	}
	noError(t, u.Synchronize())
	wantTrace(t, d, "1:event 1:k 1:event 2:after")
	m := must[*Array](t)(c.MallocManaged(U8, 8, "m"))
	noError(t, c.PrefetchAsync(m, true, s))
	noError(t, c.MemAdvise(m, PreferHost))
	wantError(t, c.SetQoS("k", 2.5), "set_qos: no loaded module has a kernel k")
	must[*Module](t)(c.LoadModule("kernels.ptx", kernelsPTX(t)))
	noError(t, c.SetQoS("scale", 2.5))
	noError(t, s.Synchronize())
	wantTrace(t, d, "advise m 2 qos scale 2.5 1:prefetch m")
	if o, _ := newSlow(); o.enqueue(s, &Op{}) == nil {
		t.Error("a stream of another application was accepted")
	}
}

// A kernel's fault surfaces at the next wait, names the launch, and nothing runs
// after it.
func TestFault(t *testing.T) {
	c, d := newSlow()
	line := ""
	c.SetWhere(func() string { return line })
	d.failAt, d.failErr = "bad", &isa.Fault{Kernel: "bad", File: "kernel.ptx", Line: 7, Msg: "address 0x10"}
	a := must[*Array](t)(c.Malloc(U8, 4, "a"))
	line = "app.star:3"
	launchNamed(t, c, "good", nil)
	line = "app.star:4"
	launchNamed(t, c, "bad", nil)
	line = "app.star:9"
	err := c.DeviceSynchronize()
	wantError(t, err, "launch at app.star:4: kernel.ptx:7: kernel bad, block (0,0,0), thread (0,0,0): address 0x10")
	if Classify(err) != BadInput {
		t.Errorf("class %d", Classify(err))
	}
	if again := a.Fill(1); !errors.Is(again, err) {
		t.Errorf("after the fault: %v", again)
	}
	if _, got := a.Bytes(); !errors.Is(got, err) {
		t.Errorf("after the fault: %v", got)
	}
}

func TestDeadlockAndStop(t *testing.T) {
	c, d := newSlow()
	noError(t, c.enqueue(nil, &Op{Kind: OpWait, Name: "never", After: &Op{}}))
	if err := c.DeviceSynchronize(); Classify(err) != Stuck {
		t.Errorf("%v is of class %d", err, Classify(err))
	}
	d.queues = nil
	ctx, cancel := context.WithCancel(context.Background())
	c = New(d, mem.NewSpace(0), Options{Ctx: ctx})
	noError(t, c.Err())
	cancel()
	if err := c.Err(); !errors.Is(err, ErrStopped) || Classify(err) != Stopped {
		t.Errorf("stopped: %v", err)
	}
	for err, want := range map[error]Class{
		nil: OK, &CheckError{}: CheckFailed, &Error{Err: &Deadlock{}}: Stuck,
		&Error{Err: errors.New("x")}: BadInput, errors.New("x"): Internal,
	} {
		if got := Classify(err); got != want {
			t.Errorf("%v is of class %d, want %d", err, got, want)
		}
	}
}
