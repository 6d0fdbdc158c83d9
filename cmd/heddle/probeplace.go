package main

import (
	"github.com/spf13/cobra"

	vmprobe "github.com/heddle-sim/heddle/machine/vm/probe"
)

func probePlaceCmd() *cobra.Command {
	var o vmprobe.Options
	var trace string
	c := &cobra.Command{
		Use:   "place --policy P --channels N --trace FILE",
		Short: "Place pages by a policy, on a trace of page touches",
		Long: `Place the pages of a trace on memory channels, and print one JSON object: pages, each
with its channel, in the order of placement, and npb, the normalized page balance
(1/n) * sum(P_i / max P) after each.

Lines of the trace are "P 0xPAGE": partition P, whose own channel is number P, touches
the page, which is a name. A page is placed when it is touched first. "-" reads standard
input; blank lines and the rest of a line after # are ignored.

Policies: first-touch (the partition's own channel), round-robin, least-first (the channel
with fewest pages) and lab: first-touch while the balance is above --threshold before the
page is placed, else least-first. Ties go to the lowest channel.`,
		Example: `  heddle probe place --policy lab --channels 32 --trace touches.txt`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, in, err := openInput(trace, cmd.InOrStdin())
			if err != nil {
				return err
			}
			defer in.Close()
			r, err := vmprobe.Place(o, name, in)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), r)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Policy, "policy", "", "first-touch, round-robin, least-first or lab")
	fl.IntVar(&o.Channels, "channels", 0, "partitions, each with a channel of its own")
	fl.StringVar(&o.Threshold, "threshold", "0.9", "lab only: balance above which a page goes to the partition that "+
		"touches it, 0 to 1")
	fl.StringVar(&trace, "trace", "", "trace file")
	for _, f := range []string{"policy", "channels", "trace"} {
		_ = c.MarkFlagRequired(f)
	}
	return c
}
