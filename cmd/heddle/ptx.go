package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// ptxCmd is `heddle ptx`: the contents of a PTX module, and a run of one kernel without timing.
func ptxCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "ptx",
		Short: "Check, analyse or run PTX modules without a machine",
	}
	c.AddCommand(ptxCheckCmd(), ptxAnalyzeCmd(), ptxRunCmd(), ptxFeaturesCmd())
	return c
}

// ptxLoad reads and decodes a module.
func ptxLoad(file string) (*emulate.Module, []byte, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	m, err := emulate.Load(file, src)
	return m, src, err
}

// ptxRunFlags are the flags of `heddle ptx run`.
type ptxRunFlags struct {
	kernel, grid, block string
	args, dumps         []string
	shared, show        int
	limit, seed         uint64
	asJSON              bool
}

func ptxRunCmd() *cobra.Command {
	var f ptxRunFlags
	c := &cobra.Command{
		Use:   "run FILE --grid X[,Y,Z] --block X[,Y,Z] --arg ...",
		Short: "Run one kernel functionally and print its buffers",
		Long: `Run one kernel functionally (no timing) and print the first elements of its buffers.

Each --arg is one parameter, in order:
  u32:5  s32:-1  u64:7  f32:1.5  f64:2  u8:1 ...   a scalar
  buf:TYPE:COUNT[:INIT]                            a buffer in device memory; INIT is
                                                   zero (default), arange, random, a number
                                                   for every element, or @FILE (raw bytes)
  raw:HEX                                          the bytes of a struct

--dump I=FILE writes the buffer of argument I (from 0) to a file after the run.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.kernel, "kernel", "", "kernel to run (needed when the module has several)")
	fl.StringVar(&f.grid, "grid", "1", "blocks: X, X,Y or X,Y,Z")
	fl.StringVar(&f.block, "block", "32", "threads per block: X, X,Y or X,Y,Z")
	fl.StringArrayVar(&f.args, "arg", nil, "kernel parameter, see above; repeat")
	fl.StringArrayVar(&f.dumps, "dump", nil, "I=FILE: write the buffer of argument I; repeat")
	fl.IntVar(&f.shared, "shared", 0, "bytes of dynamic shared memory")
	fl.IntVar(&f.show, "show", 8, "elements of each buffer to print")
	fl.Uint64Var(&f.limit, "limit", 0, "stop with an error after this many warp instructions (0: none)")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of random buffers")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	return c
}

// ptxOutcome is what `run` prints.
type ptxOutcome struct {
	Kernel      string      `json:"kernel"`
	WarpInsts   uint64      `json:"warp_instructions"`
	ThreadInsts uint64      `json:"thread_instructions"`
	Blocks      int         `json:"blocks"`
	Buffers     []ptxBuffer `json:"buffers"`
}

// run prints the outcome to w, and what the kernel prints to log.
func (f *ptxRunFlags) run(w, log io.Writer, file string) error {
	m, _, err := ptxLoad(file)
	if err != nil {
		return err
	}
	k, err := f.pick(m)
	if err != nil {
		return err
	}
	sp := mem.NewSpace(0)
	in, err := ptxBind(m, sp)
	if err != nil {
		return err
	}
	l := emulate.Launch{SharedDynamic: f.shared}
	if l.Grid, err = dims(f.grid, "grid"); err != nil {
		return err
	}
	if l.Block, err = dims(f.block, "block"); err != nil {
		return err
	}
	args, err := ptxArgs(sp, k, f.args, f.seed)
	if err != nil {
		return err
	}
	l.Params = args.params
	dumps, err := args.dumps(f.dumps)
	if err != nil {
		return err
	}
	g, err := in.Grid(k, l)
	if err != nil {
		return err
	}
	n, err := emulate.Run(g, f.limit)
	if out := in.Output(); out != nil {
		out.Flush(func(text string) { io.WriteString(log, text) }) // a log that cannot be written changes nothing
	}
	var fault *isa.Fault
	if errors.As(err, &fault) {
		return &status{exitInput, err}
	}
	if err != nil { // a barrier that is never met, or the limit of instructions
		return &status{exitInternal, err}
	}
	for _, d := range dumps {
		if err := scratch.WriteWhole(d.file, d.data); err != nil {
			return err
		}
	}
	return f.print(w, ptxOutcome{
		Kernel: k.Name, WarpInsts: n.WarpInsts, ThreadInsts: n.ThreadInsts, Blocks: n.CTAs,
		Buffers: args.buffers(f.show),
	})
}

// ptxBind gives a module its variables, and, if it needs one, a heap of CUDA's default size.
func ptxBind(m *emulate.Module, sp *mem.Space) (*emulate.Instance, error) {
	in, err := m.Bind(sp)
	if err != nil || !m.Allocates() {
		return in, err
	}
	heap, err := emulate.NewHeap(sp, 8<<20)
	in.SetHeap(heap)
	return in, err
}

func (f *ptxRunFlags) print(w io.Writer, out ptxOutcome) error {
	if f.asJSON {
		return printJSON(w, out)
	}
	fmt.Fprintf(w, "%s: %d blocks, %d warp instructions, %d thread instructions\n", out.Kernel, out.Blocks,
		out.WarpInsts, out.ThreadInsts)
	for _, b := range out.Buffers {
		values, err := json.Marshal(b.First)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  arg %d %s[%d]: %s\n", b.Arg, b.Type, b.Count, values)
	}
	return nil
}

func (f *ptxRunFlags) pick(m *emulate.Module) (*emulate.Kernel, error) {
	if f.kernel == "" && len(m.Kernels()) == 1 {
		return m.Kernels()[0], nil
	}
	return m.Kernel(f.kernel)
}
