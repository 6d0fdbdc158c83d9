package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
)

// thinker computes something of its own, of which nobody can stop it, and then goes on.
type thinker struct {
	begun, goOn chan struct{}
	asked       chan error
}

// Name implements host.Program.
func (p *thinker) Name() string { return "thinker" }

func (p *thinker) Run(c *host.Context) error {
	if _, err := c.Malloc(host.F32, 16, "a"); err != nil {
		return err
	}
	close(p.begun)
	<-p.goOn
	defer close(p.asked)
	a, err := c.Malloc(host.F32, 16, "b")
	if err != nil {
		p.asked <- err
		return err
	}
	return c.Free(a)
}

// A run that is stopped returns soon, also from a program that does not listen.
func TestStoppedWhileThinking(t *testing.T) {
	for _, functional := range []bool{false, true} {
		p := &thinker{make(chan struct{}), make(chan struct{}), make(chan error, 1)}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-p.begun
			cancel()
		}()
		begun := time.Now()
		res, err := sim.Run(ctx, sim.Spec{
			Machine: "qv100", Functional: functional, Apps: []sim.App{{Name: "thinker", Program: p}},
			Sharing: sim.Sharing{Mode: "alone"},
		}, nil)
		if !errors.Is(err, sim.ErrStopped) || res == nil || res.Complete {
			t.Errorf("functional %v: result %v, error %v", functional, res, err)
		}
		if d := time.Since(begun); d > 20*time.Second { // it would wait for ever
			t.Errorf("functional %v: after %v", functional, d)
		}
		close(p.goOn)
		if err := <-p.asked; err != nil {
			t.Errorf("functional %v: the program's next call: %v", functional, err)
		}
	}
}
