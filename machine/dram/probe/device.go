package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Device is what a probe simulates.
type Device struct {
	Config   dram.Config // of every channel
	Channels int
	TCK      float64 // ns per clock
}

// LoadDevice reads a device file, or a shipped machine sheet when file has neither
// a slash nor a dot. A file may be
//
//   - a machine sheet, a file with a dram section, or just the fields of one (YAML),
//   - one fully described device, or a file of several by name (JSON with counts,
//     timing_ticks and constraints),
//   - one timing preset, or a list of several (JSON with std, org_vals and ck).
//
// name picks one of several: the key of a device, the timing of a preset.
func LoadDevice(file, name string) (*Device, error) {
	if !strings.ContainsAny(file, "/.") {
		m, _, err := sheets.Load(file)
		if err != nil {
			return nil, err
		}
		return sheetDevice(file, &m.DRAM, m.Clock.DRAM)
	}
	data, err := yamldoc.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d, err := ParseDevice(file, data, name)
	if err != nil {
		return nil, err
	}
	if err := d.Config.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// ParseDevice is LoadDevice on bytes; file stands in error messages.
func ParseDevice(file string, data []byte, name string) (*Device, error) {
	text := bytes.TrimSpace(data)
	if len(text) == 0 {
		return nil, fmt.Errorf("%s: empty device file", file)
	}
	if text[0] == '[' {
		return pickPreset(file, data, name)
	}
	if text[0] != '{' {
		return parseSheet(file, data)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, jsonError(file, data, err)
	}
	if top["constraints"] != nil {
		return parseFull(file, name, data)
	}
	if top["ck"] != nil {
		return parsePreset(file, data)
	}
	several := map[string]json.RawMessage{}
	for k, v := range top {
		var sub map[string]json.RawMessage
		if json.Unmarshal(v, &sub) == nil && (sub["constraints"] != nil || sub["ck"] != nil) {
			several[k] = v
		}
	}
	if len(several) == 0 {
		return parseSheet(file, data) // JSON is YAML
	}
	one, err := choose(file, name, several)
	if err != nil {
		return nil, err
	}
	d, err := ParseDevice(file, several[one], one)
	if err == nil && d.Config.Name == "" {
		d.Config.Name = one
	}
	return d, err
}

// choose picks the named entry, or the only one.
func choose(file, name string, from map[string]json.RawMessage) (string, error) {
	names := make([]string, 0, len(from))
	for k := range from {
		names = append(names, k)
	}
	sort.Strings(names)
	if name == "" && len(names) == 1 {
		return names[0], nil
	}
	if from[name] == nil {
		if name == "" {
			return "", fmt.Errorf("%s: holds several devices; pick one with --name: %s", file,
				strings.Join(names, ", "))
		}
		return "", fmt.Errorf("%s: no device %q; it has %s", file, name, strings.Join(names, ", "))
	}
	return name, nil
}

// jsonError adds the line to a syntax or type error.
func jsonError(file string, data []byte, err error) error {
	off := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		off = syntax.Offset
	case errors.As(err, &kind):
		off = kind.Offset
	}
	if off < 0 || off > int64(len(data)) {
		return fmt.Errorf("%s: %w", file, err)
	}
	return fmt.Errorf("%s:%d: %w", file, 1+bytes.Count(data[:off], []byte("\n")), err)
}

// fullDevice is the JSON form with an explicit constraint list, all in ticks.
type fullDevice struct {
	Levels       []string           `json:"levels"`
	Counts       []int              `json:"counts"`
	Channels     int                `json:"channels"`
	Prefetch     int                `json:"prefetch"`
	Width        int                `json:"channel_width_bits"`
	Multiplier   int                `json:"tick_multiplier"`
	Timing       map[string]float64 `json:"timing_ticks"`
	RowCommands  []string           `json:"row_commands"`
	ColCommands  []string           `json:"column_commands"`
	ReadLatency  int                `json:"read_latency_ticks"`
	Queues       *queues            `json:"queues"`
	Constraints  []fullConstraint   `json:"constraints"`
	TimingPreset string             `json:"timing_preset"`
}

type queues struct {
	Read  int     `json:"read_buffer_size"`
	Write int     `json:"write_buffer_size"`
	Low   float64 `json:"wr_low_watermark"`
	High  float64 `json:"wr_high_watermark"`
}

type fullConstraint struct {
	Level   string   `json:"level"`
	Prev    []string `json:"prev"`
	Next    []string `json:"next"`
	Min     int      `json:"min_ticks"`
	Window  int      `json:"window"`
	Sibling bool     `json:"sibling"`
}

var levelNames = map[string]dram.Level{
	"Channel": dram.LevelChannel, "Rank": dram.LevelRank, "PseudoChannel": dram.LevelRank,
	"Sid": dram.LevelSid, "BankGroup": dram.LevelGroup, "Bank": dram.LevelBank,
}

// unusedCmds never issue here: per-bank refresh and refresh management.
var unusedCmds = map[string]bool{"REFpb": true, "RFMab": true, "RFMpb": true}

func parseFull(file, name string, data []byte) (*Device, error) {
	var f fullDevice
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, jsonError(file, data, err)
	}
	d := &Device{Channels: max(f.Channels, 1)}
	if name == "" {
		name = f.TimingPreset
	}
	fail := func(format string, args ...any) (*Device, error) {
		return nil, fmt.Errorf("%s: device %s: %s", file, name, fmt.Sprintf(format, args...))
	}
	q := queues{Read: 32, Write: 32, Low: 0.2, High: 0.8}
	if f.Queues != nil {
		q = *f.Queues
	}
	if f.Prefetch < 1 || f.Width < 8 {
		return fail("prefetch %d and channel_width_bits %d are needed to size an access", f.Prefetch, f.Width)
	}
	if f.Multiplier > 2 {
		return fail("tick_multiplier %d; 1 and 2 are supported", f.Multiplier)
	}
	d.TCK = f.Timing["tCK_ps"] / 1000
	d.Config = dram.Config{
		Name: name, Ranks: 1, Sids: 1, Groups: 1, Banks: 1, Access: f.Prefetch * f.Width / 8,
		ReadLatency: f.ReadLatency,
		BurstClocks: int(f.Timing["nBL"]), Refi: int(f.Timing["nREFI"]),
		DualBus: len(f.RowCommands) > 0 && len(f.ColCommands) > 0, HalfCycle: f.Multiplier == 2,
		Queue: q.Read, WriteQueue: q.Write, LowWater: q.Low, HighWater: q.High, Tenants: 1,
	}
	if err := f.geometry(d); err != nil {
		return fail("%v", err)
	}
	for i := range f.Constraints {
		if err := addFull(&d.Config, &f.Constraints[i]); err != nil {
			return fail("constraint %d: %v", i, err)
		}
	}
	return d, nil
}

// geometry reads the number of nodes at every level.
func (f *fullDevice) geometry(d *Device) error {
	if len(f.Counts) != len(f.Levels) {
		return fmt.Errorf("%d counts for %d levels", len(f.Counts), len(f.Levels))
	}
	c := &d.Config
	for i, l := range f.Levels {
		n := f.Counts[i]
		switch l {
		case "Channel":
			d.Channels = max(d.Channels, n)
		case "Rank", "PseudoChannel":
			c.Ranks = n
		case "Sid":
			c.Sids = n
		case "BankGroup":
			c.Groups = n
		case "Bank":
			c.Banks = n
		case "Row":
			c.Rows = n
		case "Column":
			c.Columns = n / f.Prefetch
		default:
			return fmt.Errorf("unknown level %q", l)
		}
	}
	return nil
}

// addFull appends one constraint of the JSON form.
func addFull(c *dram.Config, k *fullConstraint) error {
	level, ok := levelNames[k.Level]
	if !ok {
		return fmt.Errorf("unknown level %q", k.Level)
	}
	for _, p := range k.Prev {
		for _, n := range k.Next {
			if unusedCmds[p] || unusedCmds[n] {
				continue
			}
			prev, ok1 := dram.ParseCmd(p)
			next, ok2 := dram.ParseCmd(n)
			if !ok1 || !ok2 {
				return fmt.Errorf("unknown command in %s -> %s", p, n)
			}
			if k.Min > 0 {
				c.Constraints = append(c.Constraints, dram.Constraint{
					Level: level, Prev: prev, Next: next,
					Min: k.Min, Window: max(k.Window, 1), Sibling: k.Sibling,
				})
			}
		}
	}
	return nil
}
