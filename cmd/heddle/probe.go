package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/machine/dram"
	dramprobe "github.com/heddle-sim/heddle/machine/dram/probe"
	nocprobe "github.com/heddle-sim/heddle/machine/noc/probe"
)

// probeCmd is `heddle probe`: parts of the machine by themselves.
func probeCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "probe",
		Short: "Run one part of the machine by itself: dram, noc, pages, unified or hybrid memory",
	}
	c.AddCommand(probeDRAMCmd(), probeNoCCmd(), probePlaceCmd(), probeRemapCmd(), probeTokensCmd(),
		probeUVMCmd())
	for _, sub := range c.Commands() {
		sub.Flags().VisitAll(func(f *pflag.Flag) { f.Value = &once{Value: f.Value} })
	}
	return c
}

// once is the value of a flag that may be given one time only: of two policies for one thing neither is taken
// silently.
type once struct {
	pflag.Value
	given bool
}

// Set implements pflag.Value.
func (o *once) Set(s string) error {
	if o.given {
		return fmt.Errorf("it has been given already, as %q", o.String())
	}
	o.given = true
	return o.Value.Set(s)
}

// dramFlags are the flags of `heddle probe dram`.
type dramFlags struct {
	device, name, trace, commands, mapper string
	sched, page, beyond                   string
	inject, window, channels              int
	refresh                               bool
}

func probeDRAMCmd() *cobra.Command {
	var f dramFlags
	c := &cobra.Command{
		Use:   "dram --device FILE --trace FILE",
		Short: "Run a memory device on a trace of reads and writes",
		Long: `Run a memory device on a trace and print one JSON object: cycles, bandwidth,
latencies, row hits and the number of every command.

The device is a machine sheet or a file of its dram fields (YAML), a device with
an explicit constraint list (JSON), or a timing preset (JSON with std, org_vals
and ck); --name picks one of several in a file. Lines of the trace are
"R 0xADDR" or "W 0xADDR", or with LD and ST; "-" reads standard input. An address
beyond the device wraps (address mod size); with --beyond refuse it is an error.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.run(cmd.InOrStdin())
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), r)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.device, "device", "", "device file (YAML or JSON)")
	fl.StringVar(&f.name, "name", "", "which device of a file with several, or which timing of a preset")
	fl.StringVar(&f.trace, "trace", "", "trace file")
	fl.IntVar(&f.inject, "inject", 2, "requests sent per clock at most")
	fl.IntVar(&f.window, "window", 1_000_000_000, "requests outstanding at most")
	fl.BoolVar(&f.refresh, "refresh", true, "refresh the device")
	fl.StringVar(&f.commands, "commands", "", "write every command to this CSV file")
	fl.StringVar(&f.mapper, "mapper", "RoBaRaCoCh",
		"address mapping: RoBaRaCoCh, ChRaBaRoCo, MOP4CLXOR or fields from the top, as RoRaBgBaCoCh")
	fl.IntVar(&f.channels, "channels", 0, "channels (default: the device's)")
	fl.StringVar(&f.sched, "sched", "", "scheduler: "+dram.SchedNames+" (default: the device's)")
	fl.StringVar(&f.page, "page", "", "row policy: open or closed (default: the device's)")
	fl.StringVar(&f.beyond, "beyond", "wrap", "addresses beyond the device: wrap or refuse")
	_ = c.MarkFlagRequired("device")
	_ = c.MarkFlagRequired("trace")
	return c
}

// load reads the device and applies the flags that override it.
func (f *dramFlags) load() (*dramprobe.Device, error) {
	d, err := dramprobe.LoadDevice(f.device, f.name)
	if err != nil {
		return nil, err
	}
	if f.channels < 0 || f.inject < 1 || f.window < 1 {
		return nil, fmt.Errorf("--channels, --inject and --window must be positive")
	}
	if f.channels > 0 {
		d.Channels = f.channels
	}
	if !f.refresh {
		d.Config.Refi = 0
	}
	if f.sched != "" {
		var ok bool
		if d.Config.Sched, ok = dram.ParseSched(strings.ToLower(f.sched)); !ok {
			return nil, fmt.Errorf("--sched is %q, want %s", f.sched, dram.SchedNames)
		}
	}
	if f.beyond != "wrap" && f.beyond != "refuse" {
		return nil, fmt.Errorf("--beyond is %q, want wrap or refuse", f.beyond)
	}
	switch f.page {
	case "":
	case "open":
		d.Config.Page = dram.OpenPage
	case "closed":
		d.Config.Page = dram.ClosedPage
	default:
		return nil, fmt.Errorf("--page is %q, want open or closed", f.page)
	}
	return d, nil
}

func (f *dramFlags) run(stdin io.Reader) (*dramprobe.Result, error) {
	d, err := f.load()
	if err != nil {
		return nil, err
	}
	m, err := dramprobe.NewMapper(f.mapper, &d.Config, d.Channels)
	if err != nil {
		return nil, err
	}
	name, in, err := openInput(f.trace, stdin)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	opt := dramprobe.Options{Inject: f.inject, Window: f.window}
	finish := func() error { return nil }
	if f.commands != "" {
		if opt.Trace, finish, err = commandFile(f.commands); err != nil {
			return nil, err
		}
	}
	trace := dramprobe.NewTrace(name, in)
	if f.beyond == "refuse" {
		trace.Limit = m.Size()
	}
	r, err := dramprobe.Run(d, m, trace, opt)
	if ferr := finish(); err == nil {
		err = ferr
	}
	if err != nil {
		return nil, err
	}
	r.Pattern = filepath.Base(f.trace)
	r.ID = fmt.Sprintf("%s.ch%d.%s.%s.%s.%s.n%d.i%d.w%d", r.Dev, r.Ch, r.Refresh, r.Mapper, r.Sched, r.Pattern, r.N,
		r.Inject, r.Window)
	return r, nil
}

// commandFile writes commands as CSV, one line each; rank-wide commands leave the
// bank group, bank, row and column empty, PRE shows the row it closes.
func commandFile(path string) (trace func(int, uint64, dram.Cmd, dram.Loc), finish func() error, err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriterSize(file, 1<<16)
	_, _ = w.WriteString("clk,channel,command,rank,bankgroup,bank,row,column\n") // Flush reports errors
	var b []byte
	trace = func(channel int, now uint64, cmd dram.Cmd, at dram.Loc) {
		b = strconv.AppendUint(b[:0], now, 10)
		b = strconv.AppendInt(append(b, ','), int64(channel), 10)
		b = append(append(b, ','), cmd.String()...)
		b = strconv.AppendUint(append(b, ','), uint64(at.Rank), 10)
		if at.Bank == dram.AllBanks {
			b = append(b, ",,,,"...)
		} else {
			b = strconv.AppendUint(append(b, ','), uint64(at.BankGroup), 10)
			b = strconv.AppendUint(append(b, ','), uint64(at.Bank), 10)
			b = strconv.AppendUint(append(b, ','), uint64(at.Row), 10)
			b = append(b, ',')
			if cmd != dram.ACT && cmd != dram.PRE {
				b = strconv.AppendUint(b, uint64(at.Col), 10)
			}
		}
		_, _ = w.Write(append(b, '\n'))
	}
	finish = func() error {
		err := w.Flush()
		if cerr := file.Close(); err == nil {
			err = cerr
		}
		return err
	}
	return trace, finish, nil
}

func probeNoCCmd() *cobra.Command {
	o := nocprobe.Defaults()
	warmup, cycles := o.Warmup*o.Period, o.Periods*o.Period
	c := &cobra.Command{
		Use:   "noc --ports K --vcs V --load X",
		Short: "Load a crossbar with synthetic traffic and measure latency and throughput",
		Long: `Load one K x K crossbar with Bernoulli traffic and print one JSON object: packet,
network and flit latency in clocks, and accepted flits per node and clock. Beyond
saturation latencies grow without bound. The result then says unstable, its latencies
are those measured until then, and the accepted traffic is the saturation throughput.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.VOQ && !cmd.Flags().Changed("vcs") {
				o.VCs = o.Ports
			}
			if o.VOQ && !cmd.Flags().Changed("cycles") {
				cycles = 5 * o.Period // as the reference measured virtual output queues
			}
			if warmup < 0 || cycles < 1 {
				return fmt.Errorf("--warmup must not be negative and --cycles must be positive")
			}
			o.Warmup = (warmup + o.Period - 1) / o.Period
			o.Periods = (cycles + o.Period - 1) / o.Period
			if o.Periods <= o.Warmup {
				return fmt.Errorf("--cycles %d leaves nothing to measure after --warmup %d", cycles, warmup)
			}
			r, err := nocprobe.Run(o)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), r)
		},
	}
	fl := c.Flags()
	fl.IntVar(&o.Ports, "ports", o.Ports, "inputs and outputs")
	fl.IntVar(&o.VCs, "vcs", o.VCs, "virtual channels per port")
	fl.Float64Var(&o.Load, "load", o.Load, "offered flits per node and clock")
	fl.IntVar(&o.Packet, "packet", o.Packet, "flits per packet")
	fl.StringVar(&o.Pattern, "pattern", o.Pattern, "uniform, hotspot:NODE,... or hotspot:NODE,...;WEIGHT,...")
	fl.IntVar(&o.Iterations, "iterations", o.Iterations, "iSLIP iterations of the switch allocator")
	fl.Int64Var(&o.Seed, "seed", o.Seed, "seed of the traffic")
	fl.BoolVar(&o.VOQ, "voq", false, "one virtual channel per output")
	fl.IntVar(&o.Buf, "buf", o.Buf, "flits per virtual-channel buffer")
	fl.IntVar(&warmup, "warmup", warmup, "clocks before measuring, in whole periods; 0: until the means settle")
	fl.IntVar(&cycles, "cycles", cycles, "clocks at most, warm-up included; less when the means settle")
	fl.IntVar(&o.Period, "period", o.Period, "clocks between looks at the means")
	fl.BoolVar(&o.Throughput, "throughput", false, "measure accepted traffic only")
	_ = c.MarkFlagRequired("load")
	return c
}
