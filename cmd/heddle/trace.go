package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/kernelname"
	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/trace/accelsim"
)

// traceCmd is `heddle trace`: what an Accel-Sim trace holds. Running one is `heddle
// run` on its folder.
func traceCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Look into Accel-Sim traces (heddle run runs them)",
	}
	c.AddCommand(traceInfoCmd())
	return c
}

// traceKernel is a kernel as `info --json` prints it.
type traceKernel struct {
	File        string           `json:"file"`
	Kernel      string           `json:"kernel"`
	Version     int              `json:"tracer_version"`
	Binary      int              `json:"binary_version"`
	Stream      uint64           `json:"stream"`
	Grid        [3]uint32        `json:"grid"`
	Block       [3]uint32        `json:"block"`
	CTAs        int              `json:"ctas"`
	Registers   int              `json:"registers"`
	SharedBytes int              `json:"shared_bytes"`
	LocalBytes  int              `json:"local_bytes"`
	Static      int              `json:"static_instructions"`
	WarpInsts   uint64           `json:"warp_instructions"`
	ThreadInsts uint64           `json:"thread_instructions"`
	Footprint   int64            `json:"footprint_bytes"`
	TextBytes   int64            `json:"text_bytes"`
	EmptyWarps  int              `json:"empty_warps,omitempty"`
	UnknownOps  []accelsim.Count `json:"unknown_opcodes,omitempty"`
	UnknownKeys []string         `json:"unknown_header_keys,omitempty"`
}

// traceSummary is what `info --json` prints.
type traceSummary struct {
	Kernels   []traceKernel `json:"kernels"`
	Copies    int           `json:"copies"`
	CopyBytes int64         `json:"copy_bytes"`
	// Allocations and their bytes, as the list names them.
	Allocations     int   `json:"allocations"`
	AllocationBytes int64 `json:"allocation_bytes"`
	Ignored         int   `json:"ignored_lines"`
}

func traceInfoCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info PATH",
		Short: "Read a trace and list its kernels: blocks, instructions, footprint, unknown opcodes",
		Long: `Read a trace from its first to its last line and list its kernels. PATH is a
kernelslist.g, a folder that holds one, or a single .traceg file (plain, .gz, .xz
or .zst). Opcodes not in the table are listed; running such a trace needs
--arg unknown=other, which takes them as register-only instructions.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := traceRead(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), s)
			}
			return tracePrint(cmd.OutOrStdout(), s)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func traceRead(path string) (*traceSummary, error) {
	s := &traceSummary{Kernels: []traceKernel{}}
	files := []string{path}
	if list, ok := accelsim.Find(path); ok {
		p, err := accelsim.Load(list, nil, accelsim.Options{})
		if err != nil {
			return nil, err
		}
		files, s.Ignored = p.Kernels(), p.Ignored
		s.Copies, s.CopyBytes = p.Copies()
		s.Allocations, s.AllocationBytes = p.Allocations()
	} else if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s has no %s: give the folder of a trace, or a .traceg file", path, accelsim.ListName)
	}
	for _, f := range files {
		t, err := accelsim.Read(f, accelsim.Options{Other: true})
		if err != nil {
			return nil, err
		}
		s.Kernels = append(s.Kernels, traceKernel{
			File: f, Kernel: kernelname.Plain(t.Name),
			Version: t.Version, Binary: t.Binary, Stream: t.Stream, Grid: t.Grid,
			Block: t.Block, CTAs: t.CTAs(),
			Registers: t.Regs, SharedBytes: t.Shared, LocalBytes: t.LocalBytes, Static: t.Static,
			WarpInsts: t.WarpInsts, ThreadInsts: t.ThreadInsts,
			Footprint: t.Footprint(), TextBytes: t.Bytes, EmptyWarps: t.Empty, UnknownOps: t.Unknown,
			UnknownKeys: t.Other,
		})
		if err := t.Close(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func tracePrint(w io.Writer, s *traceSummary) error {
	rows := [][]string{{
		"FILE", "KERNEL", "SM", "CTAS", "THREADS", "REGS", "SHARED", "LOCAL", "CODE", "WARP INSTS",
		"THREAD INSTS", "FOOTPRINT",
	}}
	for _, k := range s.Kernels {
		rows = append(rows, append([]string{filepath.Base(k.File), k.Kernel}, strings.Fields(fmt.Sprint(
			k.Binary, k.CTAs, k.Block[0]*k.Block[1]*k.Block[2], k.Registers, k.SharedBytes, k.LocalBytes, k.Static,
			k.WarpInsts, k.ThreadInsts, k.Footprint))...))
	}
	if err := text.Columns(w, rows); err != nil {
		return err
	}
	var notes []string
	note := func(format string, args ...any) {
		notes = append(notes, text.Folded(fmt.Sprintf(format, args...), 2, wide))
	}
	if s.Allocations > 0 {
		note("%d allocations, %d bytes", s.Allocations, s.AllocationBytes)
	}
	if s.Copies > 0 {
		note("%d copies to the device, %d bytes", s.Copies, s.CopyBytes)
	}
	if s.Ignored > 0 {
		note("ignored %d lines of the list, which are neither kernels nor copies", s.Ignored)
	}
	for _, k := range s.Kernels {
		name := filepath.Base(k.File)
		for _, o := range k.UnknownOps {
			note("%s: opcode %s is not known, executed %d times", name, o.Op, o.N)
		}
		for _, o := range k.UnknownKeys {
			note("%s: header key %q is not known and has no effect", name, o)
		}
		if k.EmptyWarps > 0 {
			note("%s: %d warps without instructions exit at once", name, k.EmptyWarps)
		}
	}
	for _, n := range notes {
		fmt.Fprintln(w, n)
	}
	return nil
}
