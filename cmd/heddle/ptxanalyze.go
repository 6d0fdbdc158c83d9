package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
	"github.com/heddle-sim/heddle/ptx/readonly"
)

// ptxAnalysis is what `analyze --json` prints.
type ptxAnalysis struct {
	Kernels   []*readonly.Report `json:"kernels"`
	Functions []analyze.Summary  `json:"functions"`
}

// ptxAnalyzeFlags are the flags of `heddle ptx analyze`.
type ptxAnalyzeFlags struct {
	kernel, out string
	asJSON      bool
}

func ptxAnalyzeCmd() *cobra.Command {
	var f ptxAnalyzeFlags
	c := &cobra.Command{
		Use:   "analyze FILE",
		Short: "Show which parameters kernels only read; control flow, registers and opcode forms",
		Long: `Show which memory each kernel only reads, by parameter: what may be read and written through
it, and the line that decides. Then basic blocks, reconvergence points, registers by liveness
and opcode forms of each function.

A parameter is read-only if no store or atomic of the kernel can reach its memory. If a launch
binds two parameters to overlapping memory, treat them as one parameter.

-o writes the module with .nc at each ld.global that only reads what its kernel does not write.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.analyze(cmd.OutOrStdout(), args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.kernel, "kernel", "", "show this kernel alone (default: all)")
	fl.StringVarP(&f.out, "out", "o", "", "write the module with ld.global.nc for read-only loads to this file")
	fl.BoolVar(&f.asJSON, "json", false, "print JSON")
	return c
}

func (f *ptxAnalyzeFlags) analyze(w io.Writer, file string) error {
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	m, err := parse.File(file, src)
	if err != nil {
		return err
	}
	a := ptxAnalysis{Kernels: []*readonly.Report{}, Functions: []analyze.Summary{}}
	var only *parse.Func
	if f.kernel != "" {
		if only, err = m.Entry(f.kernel); err != nil {
			return err
		}
	}
	for _, g := range m.Funcs {
		if g.Extern || only != nil && g != only {
			continue
		}
		if g.Entry {
			a.Kernels = append(a.Kernels, readonly.Kernel(m, g))
		}
		a.Functions = append(a.Functions, analyze.Summarize(g))
	}
	if f.out != "" {
		text, err := readonly.Rewrite(m, src)
		if err != nil {
			return err
		}
		if err := scratch.WriteWhole(f.out, text); err != nil {
			return err
		}
	}
	if f.asJSON {
		return printJSON(w, a)
	}
	for _, k := range a.Kernels {
		if err := ptxPrintReport(w, k); err != nil {
			return err
		}
	}
	for _, s := range a.Functions {
		ptxPrintSummary(w, s)
	}
	return nil
}

// ptxPrintReport prints what a kernel does with its parameters.
func ptxPrintReport(w io.Writer, k *readonly.Report) error {
	text.Line(w, "kernel %s: %d of %d global loads are read-only", k.Name, k.LoadsReadOnly, k.Loads)
	var rows [][]string
	for _, p := range k.Params {
		what := "scalar"
		switch {
		case p.ReadOnly:
			what = "read-only"
		case p.Read && p.Written:
			what = "read, written"
		case p.Written:
			what = "written"
		}
		rows = append(rows, []string{fmt.Sprint(p.Index), p.Name, what, p.Why})
	}
	return text.Table(w, "  ", rows)
}

func ptxPrintSummary(w io.Writer, s analyze.Summary) {
	kind := "function"
	if s.Kernel {
		kind = "kernel"
	}
	text.Line(w, "%s %s (line %d): %d instructions, %d registers live at most, %d virtual registers",
		kind, s.Name, s.Line, s.Instructions, s.Registers, s.Virtual)
	text.Line(w, "  basic blocks:")
	for i, b := range s.Blocks {
		dom := "the end"
		if b.PostDom >= 0 {
			dom = fmt.Sprintf("block %d", b.PostDom)
		}
		text.Line(w, "    %d: lines %d-%d, to %v, post-dominated by %s", i, b.FirstLine, b.LastLine, b.Succ, dom)
	}
	if len(s.Branches) > 0 {
		text.Line(w, "  branches:")
	}
	for _, b := range s.Branches {
		where := "at the end"
		if b.Reconverge > 0 {
			where = fmt.Sprintf("at line %d", b.Reconverge)
		}
		wait := ""
		if b.Waits {
			wait = " (loop may wait for another thread)"
		}
		text.Line(w, "    line %d: %s reconverges %s%s", b.Line, b.Text, where, wait)
	}
	text.Line(w, "  opcode forms:")
	for _, f := range s.Forms {
		text.Line(w, "    %6d  %s", f.Count, f.Form)
	}
}
