// Command heddle simulates shared GPUs. Its verbs are cobra commands, one file each; main.go holds
// what they share: signals, exit statuses, the root command.
//
// A reader must know three types: runfile.File, the simulations that a file asks for; lab.Runner,
// which simulates it; report.Dir, where results go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// Exit statuses, a contract with scripts that call heddle.
const (
	exitOK          = 0
	exitCheck       = 1 // a check of a program failed
	exitInput       = 2 // bad input or usage
	exitInternal    = 3 // an internal error, a deadlock or a limit reached before the end
	exitInterrupted = 130
)

// status is an error with the exit status it asks for.
type status struct {
	code int
	err  error
}

func (s *status) Error() string { return s.err.Error() }
func (s *status) Unwrap() error { return s.err }

func main() { os.Exit(heddle(os.Args[1:], os.Stdout, os.Stderr)) }

// heddle runs one command line and returns its exit status.
func heddle(args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(stderr, "heddle: internal error: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	ctx, stop := interruptible(stderr)
	defer stop()
	root := rootCmd()
	root.SetArgs(args)
	root.SetOut(report.PlainWriter(stdout))
	root.SetErr(stderr)
	err := checkPolicies(args, control.All())
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		return exitOK
	}
	var own *status
	if !errors.As(err, &own) { // everything that is not marked comes from flags, arguments and files
		own = &status{exitInput, err}
	}
	if msg := inWords(own.err); msg != "" {
		fmt.Fprintf(stderr, "heddle: %s\n", report.Plain(msg))
	}
	return own.code
}

// checkPolicies is the error of a policy that is wrong. The list of counters is printed all the same: it is where the
// error sends the policy's author for the right name.
func checkPolicies(args []string, all []control.Entry) error {
	if len(args) > 1 && args[0] == "inspect" && args[1] == "counters" {
		return nil
	}
	return control.Check(all, counterKind)
}

// again is how soon a second signal still counts as the first: timeout(1) and some
// shells signal a process and then its whole group.
const again = 500 * time.Millisecond

// heeded is a context that notes whether the command looks at it. A command that does not ends at the first signal.
type heeded struct {
	context.Context
	looks atomic.Bool
}

func (h *heeded) Done() <-chan struct{} {
	h.looks.Store(true)
	return h.Context.Done()
}

func (h *heeded) Err() error {
	h.looks.Store(true)
	return h.Context.Err()
}

// interruptible gives a context that the first SIGINT or SIGTERM cancels, so that the run can leave a partial result.
// The second signal kills, and so does the first one if the command has not looked at the context yet.
func interruptible(stderr io.Writer) (context.Context, func()) {
	inner, cancel := context.WithCancel(context.Background())
	ctx := &heeded{Context: inner}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	over := make(chan struct{})
	go func() {
		select {
		case <-signals:
			if !ctx.looks.Load() {
				fmt.Fprintln(stderr, "heddle: interrupted")
				os.Exit(exitInterrupted)
			}
			fmt.Fprintln(stderr, "heddle: interrupted: writing the results so far; interrupt again to quit at once")
			cancel()
		case <-over:
			return
		}
		first := time.Now()
		for {
			select {
			case <-signals:
				if time.Since(first) > again {
					os.Exit(exitInterrupted)
				}
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
		close(over)
	}
}

func rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "heddle",
		Short: "Simulate shared GPUs: real kernels on a cycle-level machine, alone or side by side",
		Long: `Heddle simulates real GPU kernels (PTX) on a cycle-level machine, alone or sharing
it, and reports the speed of each application, fairness and energy.

Exit status: 0 done and all checks passed; 1 a check failed; 2 bad input or usage,
a kernel's fault included; 3 internal error, deadlock, or a limit of cycles or memory
reached before the end; 130 interrupted.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCmd(), inspectCmd(), importCmd(), ptxCmd(), traceCmd(), probeCmd(), calibrateCmd(),
		characteriseCmd(), validateCmd(), reportCmd(), versionCmd())
	root.AddCommand(reproduceCmd(), sweepCmd(), policyCmd(), docsCmd(), serveCmd(), slurmTaskCmd(), ccCmd(), execCmd())
	helpful(root)
	telling(root)
	root.Version = version()
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

// simStatus turns the error of a simulation into one with the right exit status.
// begun tells whether the simulation had begun: what fails before is bad input.
func simStatus(err error, begun bool) *status {
	if errors.Is(err, lab.ErrPanic) || errors.Is(err, errMemory) {
		return &status{exitInternal, err}
	}
	var limit *sim.Unfinished
	if errors.As(err, &limit) {
		return &status{exitInternal, err}
	}
	switch host.Classify(err) {
	case host.OK:
		return nil
	case host.CheckFailed:
		return &status{exitCheck, err}
	case host.Stopped:
		return &status{exitInterrupted, err}
	case host.Stuck:
		return &status{exitInternal, fmt.Errorf("deadlock: %w", err)}
	case host.BadInput:
		return &status{exitInput, err}
	}
	if !begun {
		return &status{exitInput, err}
	}
	return &status{exitInternal, fmt.Errorf("internal error: %w", err)}
}

func versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, as --version does",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		},
	}
}

// version says what this binary was built from.
func version() string {
	return fmt.Sprintf("heddle %s (results of version %d, %s)", sim.Version(), sim.ResultVersion, runtime.Version())
}
