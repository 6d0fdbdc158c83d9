package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// ptxKernel is a kernel as `check --json` prints it.
type ptxKernel struct {
	File         string          `json:"file"`
	Kernel       string          `json:"kernel"`
	Params       []emulate.Param `json:"params"`
	Registers    int             `json:"registers"`
	SharedBytes  int             `json:"shared_bytes"`
	LocalBytes   int             `json:"local_bytes"`
	MaxThreads   int             `json:"max_threads"`
	Instructions int             `json:"instructions"`
	Dynamic      bool            `json:"dynamic_shared"`
}

func ptxCheckCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Load modules and list their kernels: parameters, registers, memory, instructions",
		Long: `Load modules and list their kernels: parameters, registers, memory, instructions.

Every problem of a file is reported, not only the first. For each feature that is not supported
yet the number of uses is printed (heddle ptx features lists these features).`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			var bad []string
			lacking := map[string]int{}
			list := []ptxKernel{}
			for _, file := range files {
				src, err := os.ReadFile(file)
				if err != nil {
					bad = append(bad, inWords(err))
					continue
				}
				m, problems := emulate.Check(file, src)
				for _, e := range problems {
					bad = append(bad, e.Error())
					if e.Feature != "" {
						lacking[e.Feature]++
					}
				}
				if m == nil {
					continue
				}
				for _, k := range m.Kernels() {
					list = append(list, ptxKernel{
						file, k.Name, k.Params, k.Regs, k.SharedBytes, k.LocalBytes,
						k.MaxThreads, len(k.Code.Instr), k.DynamicShared,
					})
				}
			}
			err := ptxPrintKernels(cmd.OutOrStdout(), list, asJSON)
			if len(bad) > 0 {
				if len(lacking) > 0 {
					bad = append(bad, ptxMissing(lacking))
				}
				return &status{exitInput, fmt.Errorf("%s", strings.Join(bad, "\n"))}
			}
			if len(list) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "no kernel (.entry) in %s\n", strings.Join(files, ", "))
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// ptxMissing says how often features are used that are not supported yet, the most used first.
func ptxMissing(count map[string]int) string {
	names := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s (%d)", n, count[n])
	}
	return "not supported yet: " + strings.Join(names, ", ")
}

func ptxPrintKernels(w io.Writer, list []ptxKernel, asJSON bool) error {
	if asJSON {
		return printJSON(w, list)
	}
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"FILE", "KERNEL", "REGS", "SHARED", "LOCAL", "THREADS", "INSTS", "PARAMETERS"}}
	for _, k := range list {
		var ps []string
		for _, p := range k.Params {
			s := p.Type
			if p.Type == "b8" {
				s = fmt.Sprintf("b8[%d]", p.Size)
			}
			ps = append(ps, s)
		}
		shared := fmt.Sprint(k.SharedBytes)
		if k.Dynamic {
			shared += "+"
		}
		rows = append(rows, []string{
			k.File, k.Kernel, fmt.Sprint(k.Registers), shared, fmt.Sprint(k.LocalBytes), fmt.Sprint(k.MaxThreads),
			fmt.Sprint(k.Instructions), strings.Join(ps, " "),
		})
	}
	return text.Columns(w, rows)
}

// ptxFeaturesCmd is `heddle ptx features`.
func ptxFeaturesCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "features",
		Short: "List the parts of the PTX ISA that are supported, and those that are not yet",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := parse.Features()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), list)
			}
			rows := [][]string{{"FEATURE", "STATE", "ISA", "FORMS", "NOTE"}}
			for _, f := range list {
				state := "not supported yet"
				if f.Supported {
					state = "supported"
				}
				forms := strings.Join(f.Forms[:min(len(f.Forms), 4)], " ")
				if len(f.Forms) > 4 {
					forms += " ..."
				}
				rows = append(rows, []string{f.Name, state, f.ISA, forms, f.Note})
			}
			return text.Columns(cmd.OutOrStdout(), rows)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
