package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/machine/uvm"
	uvmprobe "github.com/heddle-sim/heddle/machine/uvm/probe"
)

func probeUVMCmd() *cobra.Command {
	var o uvm.Options
	var writeBack, trace string
	c := &cobra.Command{
		Use:   "uvm --capacity BYTES --prefetch P --evict E --trace FILE",
		Short: "Run the runtime of unified memory on a trace of accesses",
		Long: `Run the runtime of unified memory access by access, each complete before the next, and print
one JSON object: events, the accesses with an effect, and totals. An event is a fault
with what came (migrate, in the order of the transfers) and what left (evict, in the order in
which it was chosen), or a remote access, served on the host.

Lines of the trace are "alloc NAME 0xBASE BYTES [ro]", "R 0xADDR", "W 0xADDR" and
"kernel NAME"; "-" reads standard input, blank lines and the rest of a line after # are
ignored. A base is a multiple of 2 MB, the capacity one of 4096.

Prefetchers: ` + strings.Join(uvm.PrefetcherNames(), ", ") + `.
Evictions: ` + strings.Join(uvm.EvictionNames(), ", ") + `.
Migration: ` + strings.Join(uvm.MigrationNames(), ", ") + `.`,
		Example: `  heddle probe uvm --capacity 4194304 --prefetch tbn --evict tbn --trace accesses.txt`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch writeBack {
			case "always", "dirty":
				o.CleanDropped = writeBack == "dirty"
			default:
				return fmt.Errorf("--write-back %q: use always or dirty", writeBack)
			}
			name, in, err := openInput(trace, cmd.InOrStdin())
			if err != nil {
				return err
			}
			defer in.Close()
			r, err := uvmprobe.Run(o, name, in)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), r)
		},
	}
	fl := c.Flags()
	fl.Int64Var(&o.Capacity, "capacity", 0, "bytes of device memory")
	fl.StringVar(&o.Prefetch, "prefetch", "", "prefetcher")
	fl.StringVar(&o.PrefetchOver, "prefetch-over", "", "prefetcher once oversubscribed (default: the same)")
	fl.StringVar(&o.Evict, "evict", "", "eviction")
	fl.StringVar(&o.Migrate, "migrate", "first-touch", "rule of migration")
	fl.IntVar(&o.Ts, "ts", 8, "static migration threshold: accesses to a 64 KB block")
	fl.IntVar(&o.P, "p", 8, "multiplicative penalty of adaptive migration")
	fl.StringVar(&o.Counters, "counters", "all", "accesses that --ts counts: all, or remote, of pages on the host")
	fl.IntVar(&o.Reserve, "reserve", 0, "percent of the valid pages that are protected from eviction, the least "+
		"recently used ones")
	fl.StringVar(&writeBack, "write-back", "always", "always, or dirty: clean chunks are dropped without a write-back")
	fl.Uint64Var(&o.Seed, "seed", 0, "seed of random policies")
	fl.StringVar(&trace, "trace", "", "trace file")
	for _, f := range []string{"capacity", "prefetch", "evict", "trace"} {
		_ = c.MarkFlagRequired(f)
	}
	return c
}
