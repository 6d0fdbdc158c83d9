package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/machine/hybrid"
	hybridprobe "github.com/heddle-sim/heddle/machine/hybrid/probe"
)

func probeRemapCmd() *cobra.Command {
	var shape hybrid.Shape
	var split hybrid.Split
	var sets int
	var to string
	c := &cobra.Command{
		Use:   "remap --sets N --ways A --channels C --cap X --bw Y [--to cap=X2,bw=Y2]",
		Short: "Print the owner of each way of a hybrid memory, and how many ways change hands",
		Long: `Print Hydrogen's mapping of the ways of a fast memory to owners and channels as one
JSON object: of each set every way, its owner (cpu or gpu) and its channel. With --to it
is the mapping after a change of cap or bw, and moved counts the ways that changed hands.`,
		Example: `  heddle probe remap --sets 8 --ways 4 --channels 4 --cap 3 --bw 1
  heddle probe remap --sets 8 --ways 4 --channels 4 --cap 3 --bw 1 --to cap=3,bw=2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			next := split
			if cmd.Flags().Changed("to") {
				var err error
				if next, err = hybridprobe.ParseSplit(to, split); err != nil {
					return err
				}
			}
			r, err := hybridprobe.RunRemap(sets, shape, split, next)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), r)
		},
	}
	fl := c.Flags()
	fl.IntVar(&sets, "sets", 0, "sets of the fast memory")
	fl.IntVar(&shape.Ways, "ways", 0, "ways of a set, at most 16")
	fl.IntVar(&shape.Channels, "channels", 0, "superchannels; a multiple of the ways, or a divisor")
	fl.IntVar(&split.Cap, "cap", 0, "ways of each set for data of the CPU")
	fl.IntVar(&split.BW, "bw", 0, "channels reserved for the CPU: bw*ways/channels <= cap")
	fl.StringVar(&to, "to", "", "cap=X,bw=Y after a change; a value that is not named stays")
	for _, f := range []string{"sets", "ways", "channels", "cap", "bw"} {
		_ = c.MarkFlagRequired(f)
	}
	return c
}

func probeTokensCmd() *cobra.Command {
	var tok, period uint64
	var mode, trace string
	c := &cobra.Command{
		Use:   "tokens --tok N --period CYCLES --trace FILE",
		Short: "Run the token counter of a hybrid memory on a trace of misses",
		Long: `Run Hydrogen's token counter on a trace of GPU misses and print one JSON object: for each
miss whether its block migrates, and the tokens that are left. The counter starts with N
tokens and gains N every period, before the misses of that cycle. Lines of the trace are
"CYCLE miss" or "CYCLE miss-dirty" (the victim is written back), in order of time; "-"
reads standard input.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := hybrid.NewTokens(tok, period, hybrid.Mode(mode))
			if err != nil {
				return err
			}
			misses, err := readMisses(trace, cmd.InOrStdin())
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), hybridprobe.RunTokens(t, misses))
		},
	}
	fl := c.Flags()
	fl.Uint64Var(&tok, "tok", 0, "tokens per period")
	fl.Uint64Var(&period, "period", 0, "cycles between two refills")
	fl.StringVar(&mode, "mode", string(hybrid.Cache), "cache or flat: a migration of flat memory takes two tokens")
	fl.StringVar(&trace, "trace", "", "trace file")
	for _, f := range []string{"tok", "period", "trace"} {
		_ = c.MarkFlagRequired(f)
	}
	return c
}

// readMisses reads a trace of misses; - is standard input.
func readMisses(file string, stdin io.Reader) ([]hybridprobe.Access, error) {
	name, in, err := openInput(file, stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return hybridprobe.ReadTrace(name, in)
}
