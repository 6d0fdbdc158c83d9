package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim/runfile"
)

func policyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "A machine-wide policy by itself, without a machine",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(replayCmd())
	return cmd
}

func replayCmd() *cobra.Command {
	var samples, machine string
	var params []string
	cmd := &cobra.Command{
		Use:   "replay NAME --samples FILE",
		Short: "Have a policy decide on samples from a file",
		Long: `Have policy NAME decide on the samples of FILE, a JSON array in time order, and print a
JSON array with a plan for each. A plan does not change later samples: each sample says
what the applications had when it was taken.

A run with --out writes the samples of each of its policies to samples-NAME.json. Replayed
on the run's machine with the same parameters, they give the recorded plans. heddle inspect
policies lists what each policy reads and its parameters. Without --machine the policy knows
the machine of its paper, and hydrogen starts in the middle of its range of tokens instead
of at the machine's value. If a run file set memory.hybrid.ways, superchannels, cap, bw or
tok, repeat the value with --param.`,
		Example: `  heddle policy replay ugpu --samples results/ugpu/UGPU/samples-ugpu.json
  heddle policy replay cd-search --samples s.json --param delta_sms=4 --machine ugpu`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replay(cmd.OutOrStdout(), args[0], samples, machine, params)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return policyNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&samples, "samples", "", "the samples: a JSON array; - for standard input")
	fl.StringVar(&machine, "machine", "", "machine sheet whose numbers the policy gets: a name or a YAML file")
	fl.StringArrayVar(&params, "param", nil, "parameter of the policy, as in --param delta_sms=4 (repeatable)")
	if err := cmd.MarkFlagRequired("samples"); err != nil {
		panic(err) // the flag is there
	}
	completeFlag(cmd, "machine", func([]string) []string { return sheets.Names() })
	return cmd
}

func policyNames() (names []string) {
	for _, e := range control.All() {
		names = append(names, e.Name)
	}
	return names
}

func replay(w io.Writer, policy, file, machine string, params []string) error {
	e, err := control.Find(policy)
	if err != nil {
		return err
	}
	values, err := parameters(params)
	if err != nil {
		return err
	}
	name, given := cmp.Or(machine, e.Machine, "qv100"), machine != ""
	m, _, err := sheets.Load(name)
	if err != nil {
		return err
	}
	if given {
		values = e.ParamsOn(m, values)
	}
	groups := runfile.ChannelGroups(m)
	p, err := e.New(control.FromSheet(m, groups, m.DRAM.Channels/groups), values)
	if err != nil {
		return err
	}
	text, err := readSamples(file)
	if err != nil {
		return err
	}
	plans, err := control.Replay(e, p, filepath.ToSlash(file), text)
	if err != nil {
		return err
	}
	return printJSON(w, plans)
}

// parameters reads --param flags.
func parameters(list []string) (control.Params, error) {
	text, err := pairs("param", list)
	if err != nil {
		return nil, err
	}
	values := control.Params{}
	for k, v := range text {
		if values[k], err = control.ReadParam(k, v); err != nil {
			return nil, fmt.Errorf("--param %s=%s: %w", k, v, err)
		}
	}
	return values, nil
}

// maxSamples bounds a file of samples: a million of them with eight applications.
const maxSamples = 1 << 31

func readSamples(file string) ([]byte, error) {
	in := io.Reader(os.Stdin)
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSamples+1))
	if err == nil && len(text) > maxSamples {
		err = fmt.Errorf("%s has more than %d bytes", file, maxSamples)
	}
	return text, err
}
