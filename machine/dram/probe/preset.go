package probe

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/machine/dram"
)

// preset is a timing preset of a DRAM standard: clocks of CK and organisation.
type preset struct {
	Std      string             `json:"std"`
	Org      string             `json:"org"`
	Timing   string             `json:"timing"`
	OrgVals  map[string]int     `json:"org_vals"`
	CK       map[string]float64 `json:"ck"`
	Channels int                `json:"channels"`
	Queues   *queues            `json:"queues"`
	Cycles   map[string]float64 `json:"command_cycles"` // CK on the command bus, overriding the standard's
}

func pickPreset(file string, data []byte, name string) (*Device, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, jsonError(file, data, err)
	}
	var names []string
	for _, raw := range list {
		var p preset
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		names = append(names, p.Timing)
		if p.Timing == name || name == "" && len(list) == 1 {
			return parsePreset(file, raw)
		}
	}
	if name == "" {
		return nil, fmt.Errorf("%s: holds several presets; pick one with --name: %s", file, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("%s: no preset %q; it has %s", file, name, strings.Join(names, ", "))
}

// standard is what a DRAM standard fixes beyond its presets. Sources: JESD235
// (HBM1/2), JESD238 and JESD270-4 (HBM3/4), JESD79-4 and -5 (DDR4/5). Where they
// leave freedom the choices are Ramulator 2.1's:
//
//   - Pseudo-channels are ranks with data buses of their own; they share the two
//     command buses. HBM1 has one.
//   - HBM3 and HBM4 run two clocks of Tick per CK: an ACT takes 1.5 CK on the row
//     bus, PRE and REF half a CK, columns one CK (see dram.Config.HalfCycle). RD to
//     WR is nRTW; columns of other stack identifiers are nCCDR apart.
//   - HBM1 and HBM2 ACTs take two clocks; DDR5 ACT, RD and WR take two.
//   - A command is recorded at its first clock and a distance counts between last
//     clocks, so n_XY becomes n_XY + (clocks of X - 1) - (clocks of Y - 1). The read
//     latency stays nCL + nBL from the first clock of the RD.
//   - RD to WR is otherwise nCL + nBL + 2 - nCWL, on DDR5 2 more for the preamble.
//   - DDR5 is a 32-bit sub-channel with bursts of 16: 64 bytes.
//   - Refresh is all-bank, per rank, every nREFI; per-bank refresh and refresh
//     management (REFpb, RFMab, RFMpb) are not used.
type standard struct {
	prefetch int // beats per access
	mult     int // clocks of Tick per CK: 2 where row commands use both edges
	dual     bool
	act, pre int // clocks of Tick on the command bus: ACT; PRE and REF
	col      int // RD and WR
	rtp      string
}

var standards = map[string]standard{
	"HBM1": {prefetch: 2, mult: 1, dual: true, act: 2, pre: 1, col: 1, rtp: "nRTPL"},
	"HBM2": {prefetch: 4, mult: 1, dual: true, act: 2, pre: 1, col: 1, rtp: "nRTPL"},
	"HBM3": {prefetch: 8, mult: 2, dual: true, act: 3, pre: 1, col: 2, rtp: "nRTP"},
	"HBM4": {prefetch: 8, mult: 2, dual: true, act: 3, pre: 1, col: 2, rtp: "nRTP"},
	"DDR4": {prefetch: 8, mult: 1, act: 1, pre: 1, col: 1, rtp: "nRTP"},
	"DDR5": {prefetch: 16, mult: 1, act: 2, pre: 1, col: 2, rtp: "nRTP"},
}

// stdAliases are other spellings of the table's keys.
var stdAliases = map[string]string{"HBM": "HBM1", "HBM2E": "HBM2", "HBM3E": "HBM3"}

func parsePreset(file string, data []byte) (*Device, error) {
	var p preset
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, jsonError(file, data, err)
	}
	name := p.Std
	if a := stdAliases[name]; a != "" {
		name = a
	}
	std, ok := standards[name]
	if !ok {
		return nil, fmt.Errorf("%s: preset %s: unknown standard %q; HBM1, HBM2, HBM3, HBM4, DDR4 and DDR5 are known",
			file, p.Timing, p.Std)
	}
	b := &presetBuilder{std: std, name: name, p: &p}
	if err := b.override(); err != nil {
		return nil, fmt.Errorf("%s: preset %s: %w", file, p.Timing, err)
	}
	d, err := b.device()
	if err != nil {
		return nil, fmt.Errorf("%s: preset %s: %w", file, p.Timing, err)
	}
	return d, nil
}

// presetBuilder turns a preset into a device, remembering the first missing value.
type presetBuilder struct {
	std  standard
	name string
	p    *preset
	err  error
}

// override applies command_cycles. Commands of a sort take equally long.
func (b *presetBuilder) override() error {
	sorts := map[string]*int{
		"ACT": &b.std.act, "RD": &b.std.col, "WR": &b.std.col, "RDA": &b.std.col, "WRA": &b.std.col,
		"PREpb": &b.std.pre, "PREab": &b.std.pre, "REFab": &b.std.pre, "REFpb": &b.std.pre, "RFMab": &b.std.pre,
		"RFMpb": &b.std.pre,
	}
	set := map[*int]int{}
	for cmd, ck := range b.p.Cycles {
		at, clocks := sorts[cmd], int(ck*float64(b.std.mult))
		if at == nil || clocks < 1 {
			return fmt.Errorf("command_cycles: %s takes %g CK", cmd, ck)
		}
		if old, ok := set[at]; ok && old != clocks {
			return fmt.Errorf("command_cycles: %s takes %g CK, another command of its sort does not", cmd, ck)
		}
		set[at] = clocks
	}
	for at, clocks := range set {
		*at = clocks
	}
	return nil
}

// ck is a timing in clocks of Tick.
func (b *presetBuilder) ck(name string) int {
	v, ok := b.p.CK[name]
	if !ok && b.err == nil {
		b.err = fmt.Errorf("ck lacks %s", name)
	}
	return int(v * float64(b.std.mult))
}

// org is an organisation value, with a default for levels a standard may lack.
func (b *presetBuilder) org(name string, missing int) int {
	v, ok := b.p.OrgVals[name]
	if !ok {
		if missing == 0 && b.err == nil {
			b.err = fmt.Errorf("org_vals lacks %s", name)
		}
		return missing
	}
	return v
}

func (b *presetBuilder) device() (*Device, error) {
	q := queues{Read: 32, Write: 32, Low: 0.2, High: 0.8}
	if b.p.Queues != nil {
		q = *b.p.Queues
	}
	d := &Device{Channels: max(b.p.Channels, 1)}
	ranks := b.org("pseudochannel", 1)
	if !b.std.dual {
		ranks = b.org("rank", 1)
	}
	d.Config = dram.Config{
		Name: b.p.Timing, Ranks: ranks, Sids: b.org("sid", 1), Groups: b.org("bankgroup", 1), Banks: b.org("bank", 0),
		Rows: b.org("row", 0), Columns: b.org("column", 0) / b.std.prefetch,
		Access:      b.std.prefetch * b.org("channel_width", 0) / 8,
		ReadLatency: b.ck("nCL") + b.ck("nBL"), BurstClocks: b.ck("nBL"), Refi: b.ck("nREFI"),
		DualBus: b.std.dual, HalfCycle: b.std.mult == 2,
		Queue: q.Read, WriteQueue: q.Write, LowWater: q.Low, HighWater: q.High, Tenants: 1,
	}
	// A tick is a whole number of ps, rounded down, as in the reference.
	d.TCK = float64(int(b.p.CK["tCK_ps"])/b.std.mult) / 1000
	d.Config.Constraints = b.rules()
	return d, b.err
}

var (
	reads   = []dram.Cmd{dram.RD, dram.RDA}
	writes  = []dram.Cmd{dram.WR, dram.WRA}
	columns = []dram.Cmd{dram.RD, dram.WR, dram.RDA, dram.WRA}
	closes  = []dram.Cmd{dram.PRE, dram.PREA}
	act     = []dram.Cmd{dram.ACT}
	refresh = []dram.Cmd{dram.REFab}
	rowBus  = []dram.Cmd{dram.ACT, dram.PRE, dram.PREA, dram.REFab}
)

// rules derives every constraint of the preset.
func (b *presetBuilder) rules() []dram.Constraint {
	r := &dram.Rules{}
	b.commandBus(r)
	for _, c := range rowBus {
		r.Extra[c] = b.std.pre - 1
	}
	r.Extra[dram.ACT] = b.std.act - 1
	for _, c := range columns {
		r.Extra[c] = b.std.col - 1
	}
	b.columnRules(r)
	b.rowRules(r)
	return r.List
}

// commandBus keeps a command that takes several clocks alone on its bus.
func (b *presetBuilder) commandBus(r *dram.Rules) {
	row, col := rowBus, columns
	if !b.std.dual {
		row = append(append([]dram.Cmd{}, rowBus...), columns...)
		col = row
	}
	for _, x := range []struct {
		cmds, bus []dram.Cmd
		clocks    int
	}{{act, row, b.std.act}, {columns, col, b.std.col}} {
		if x.clocks > 1 {
			r.Add(dram.LevelChannel, x.cmds, x.bus, x.clocks)
		}
	}
}

// columnRules are the distances between column commands.
func (b *presetBuilder) columnRules(r *dram.Rules) {
	bl, cl, cwl := b.ck("nBL"), b.ck("nCL"), b.ck("nCWL")
	ccdsW, ccdlW := "nCCDS", "nCCDL"
	rtw := cl + bl + 2 - cwl
	bus, near := dram.LevelRank, dram.LevelRank
	switch b.name {
	case "HBM3", "HBM4":
		rtw = b.ck("nRTW")
		near = dram.LevelSid
		r.AddSibling(dram.LevelSid, reads, reads, b.ck("nCCDR"))
		r.AddSibling(dram.LevelSid, writes, writes, b.ck("nCCDR"))
	case "DDR5":
		rtw += 2 // write preamble
		ccdsW, ccdlW = "nCCDS_WR", "nCCDL_WR"
	}
	if !b.std.dual { // ranks share the data bus
		bus = dram.LevelChannel
		r.AddSibling(dram.LevelRank, reads, columns, bl+b.ck("nCS"))
		r.AddSibling(dram.LevelRank, writes, reads, cwl+bl+b.ck("nCS")-cl)
	}
	r.Add(bus, reads, reads, bl)
	r.Add(bus, writes, writes, bl)
	r.Add(near, reads, reads, b.ck("nCCDS"))
	r.Add(near, writes, writes, b.ck(ccdsW))
	r.Add(dram.LevelRank, reads, writes, rtw)
	r.Add(dram.LevelRank, writes, reads, cwl+bl+b.ck("nWTRS"))
	r.Add(dram.LevelGroup, reads, reads, b.ck("nCCDL"))
	r.Add(dram.LevelGroup, writes, writes, b.ck(ccdlW))
	r.Add(dram.LevelGroup, writes, reads, cwl+bl+b.ck("nWTRL"))
}

// rowRules are the distances that involve ACT, PRE and REF.
func (b *presetBuilder) rowRules(r *dram.Rules) {
	rp, rc, ras, rtp := b.ck("nRP"), b.ck("nRC"), b.ck("nRAS"), b.ck(b.std.rtp)
	wr := b.ck("nCWL") + b.ck("nBL") + b.ck("nWR")
	rcdRD, rcdWR := "nRCD", "nRCD"
	if b.std.dual {
		rcdRD, rcdWR = "nRCDRD", "nRCDWR"
	}
	rd, wrc := []dram.Cmd{dram.RD}, []dram.Cmd{dram.WR}
	pre, prea := []dram.Cmd{dram.PRE}, []dram.Cmd{dram.PREA}

	r.Add(dram.LevelRank, act, act, b.ck("nRRDS"))
	r.Add(dram.LevelGroup, act, act, b.ck("nRRDL"))
	r.AddWindow(dram.LevelRank, dram.ACT, 4, b.ck("nFAW"))
	if b.name == "HBM3" || b.name == "HBM4" || b.name == "DDR5" {
		r.Add(dram.LevelRank, closes, closes, b.ck("nPPD"))
	}
	r.Add(dram.LevelRank, rd, prea, rtp)
	r.Add(dram.LevelRank, wrc, prea, wr)
	r.Add(dram.LevelRank, act, prea, ras)
	r.Add(dram.LevelRank, prea, act, rp)
	r.Add(dram.LevelRank, act, refresh, rc)
	r.Add(dram.LevelRank, closes, refresh, rp)
	r.Add(dram.LevelRank, []dram.Cmd{dram.RDA}, refresh, rtp+rp)
	r.Add(dram.LevelRank, []dram.Cmd{dram.WRA}, refresh, wr+rp)
	r.Add(dram.LevelRank, refresh, []dram.Cmd{dram.ACT, dram.PREA}, b.ck("nRFC"))

	r.Add(dram.LevelBank, act, act, rc)
	r.Add(dram.LevelBank, act, reads, b.ck(rcdRD))
	r.Add(dram.LevelBank, act, writes, b.ck(rcdWR))
	r.Add(dram.LevelBank, act, pre, ras)
	r.Add(dram.LevelBank, pre, act, rp)
	r.Add(dram.LevelBank, rd, pre, rtp)
	r.Add(dram.LevelBank, wrc, pre, wr)
	r.Add(dram.LevelBank, []dram.Cmd{dram.RDA}, act, rtp+rp)
	r.Add(dram.LevelBank, []dram.Cmd{dram.WRA}, act, wr+rp)
}
