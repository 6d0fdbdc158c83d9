package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Mode is a way of sharing as run files name it. Help, schema, validation, inspect and completion use this table.
type Mode struct {
	Name, What, Source string
	Fields             []string // fields of a sharing entry that it accepts: sms, groups, profiles, quantum
	// Policy and Pages make a mode a short form: it stands for a division, a policy and a way in which pages follow
	// their channels.
	Policy string
	Pages  string
	Of     string // the mode whose division it has, if that is another one

	divide func(d *division) ([]Share, error)
	// whole says that all applications have all SMs, in turns or at once.
	whole bool
	// inside says that applications share SMs from inside: CTAs of several are on one at once.
	inside bool
	// fixed says that no application's part changes while programs run.
	fixed bool
	// targetLarge: an application with a target begins with the larger slice (UGPU, section 6.7).
	targetLarge bool
}

// Modes lists the ways of sharing.
//
//heddle:table
func Modes() []Mode {
	const ugpu = "UGPU paper, section 6"
	return []Mode{
		{
			Name: "alone", What: "one application on the whole machine; programs on CPU cores may run beside it",
			divide: aloneShares,
		},
		{
			Name: "mps", What: "SMs divided (sms, or evenly), caches and memory shared", Source: "NVIDIA MPS; " + ugpu,
			Fields: []string{"sms"}, divide: mpsShares,
		},
		{
			Name: "slices", What: "isolated slices: sms and channel groups per application, or as even as possible",
			Source: ugpu, Fields: []string{"sms", "groups"}, divide: sliceShares,
		},
		{
			Name: "bp", What: "balanced partition: equal isolated slices; a remainder stays unused",
			Source: ugpu, divide: equalShares,
		},
		{
			Name: "bp-bs", What: "a big slice (3/4) for the first application, a small one (1/4) for the second",
			Source: ugpu, divide: bigSmall,
		},
		{
			Name: "bp-sb", What: "a small slice for the first application, a big one for the second", Source: ugpu,
			divide: smallBig,
		},
		{
			Name: "ugpu", What: "slices that change: at the end of each period SMs go to compute-bound, channels to " +
				"memory-bound applications; pages follow inside the HBM stack (PageMove)", Source: ugpu, Of: "slices",
			Policy: "ugpu", Pages: pageMove, divide: evenSlices,
		},
		{
			Name: "ugpu-soft", What: "ugpu, pages moved by reads and writes through the memory system",
			Source: ugpu + ".2", Of: "slices", Policy: "ugpu", Pages: readWrite, divide: evenSlices,
		},
		{
			Name: "ugpu-ori", What: "ugpu-soft on a conventional address map: every page is laid out anew",
			Source: ugpu + ".2", Of: "slices", Policy: "ugpu", Pages: rewrite, divide: evenSlices,
		},
		{
			Name: "ugpu-qos",
			What: "ugpu that keeps applications at their qos target; of two, the one with a target begins with " +
				"the big slice", Source: ugpu + ".7", Policy: "ugpu-qos", Pages: pageMove, divide: targetShares,
			targetLarge: true,
		},
		{
			Name: "bp-cd", What: "equal slices between which CD-Search moves SMs; channels stay", Source: ugpu + ".4",
			Of: "bp", Policy: "cd-search", Pages: pageMove, divide: equalShares,
		},
		{
			Name: "smqos", Source: "SMQoS paper", Of: "mps", Policy: "smqos", Fields: []string{"sms"},
			divide: mpsShares,
			What: "SMs divided, memory shared; the application with a qos target takes or gives one SM per period, " +
				"and SMs that speed up no application are powered down",
		},
		{
			Name: "spart", Source: "Spart, ASP-DAC 2014", Of: "mps", Policy: "spart", Fields: []string{"sms"},
			divide: mpsShares,
			What:   "SMs divided, memory shared; applications with a qos target get the SMs a linear model asks for",
		},
		{
			Name: "timeslice", What: "turns on the whole machine (quantum): contexts are switched at a turn's end, " +
				"memory is shared", Source: "NVIDIA time slicing", Fields: []string{"quantum"}, divide: wholeShares,
			whole: true,
		},
		{
			Name: "smk", What: "CTAs of all applications on every SM, by dominant resource fairness; memory shared",
			Source: "simultaneous multikernel, HPCA 2016 (SMK-P)", divide: wholeShares, whole: true, inside: true,
		},
		{
			Name: "rollover", Source: "Rollover, ISCA 2017", Of: "smk", Policy: "rollover", divide: wholeShares,
			whole: true, inside: true,
			What: "CTAs of all applications on every SM, with quotas of instructions for those with a qos target",
		},
		{
			Name: "mig", What: "isolated slices by MIG profile, on machines that have them",
			Source: "NVIDIA MIG profiles of A100-40GB and H100-80GB", Fields: []string{"profiles"}, divide: migShares,
			fixed: true,
		},
	}
}

// How pages follow their channels (memory.pages); other values are policies of pages that follow the
// accesses to them (vm.HomesEntries).
const (
	pageMove  = "page-move"
	readWrite = "read-write"
	rewrite   = "rewrite"
)

// PageWays lists the values of memory.pages that say how pages follow their channels, with their meanings.
func PageWays() [][2]string {
	return [][2]string{
		{pageMove, "MIGRATION commands inside the HBM stack (UGPU, section 4.3)"},
		{readWrite, "reads and writes through the memory system"},
		{rewrite, "on a conventional address map: every page is laid out anew"},
	}
}

// pagesNames lists all values of memory.pages.
func pagesNames() (names []string) {
	for _, w := range PageWays() {
		names = append(names, w[0])
	}
	for _, e := range vm.HomesEntries() {
		names = append(names, e.Name)
	}
	return names
}

// ModeNames lists the names of the ways of sharing.
func ModeNames() (names []string) {
	for _, m := range Modes() {
		names = append(names, m.Name)
	}
	return names
}

// FindMode is the mode with a name; the error suggests one.
func FindMode(name string) (*Mode, error) {
	for _, m := range Modes() {
		if m.Name == name {
			return &m, nil
		}
	}
	return nil, fmt.Errorf("no sharing mode %q%s", name, yamldoc.DidYouMean(name, ModeNames()))
}

// ModesWith names the modes that accept a field of a sharing entry.
func ModesWith(field string) (names []string) {
	for _, m := range Modes() {
		if slices.Contains(m.Fields, field) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Long is the mode written out as sharing, policies and memory; empty if it is not a short form.
func (m *Mode) Long() string {
	if m.Policy == "" {
		return ""
	}
	var of []string
	if m.Of != "" {
		of = append(of, "mode: "+m.Of)
	}
	of = append(of, "policies: ["+m.Policy+"]")
	if m.Pages != "" && m.Pages != pageMove {
		of = append(of, "memory: {pages: "+m.Pages+"}")
	}
	return strings.Join(of, ", ")
}

// slices says that every application owns channel groups.
func (m *Mode) slices() bool {
	return !m.whole && m.Name != "alone" && m.Name != "mps" && m.Of != "mps"
}

// mode is the mode of a sharing; without one applications share as MPS does, one has
// all of the machine.
func (s *Sharing) mode(apps int) (*Mode, error) {
	switch {
	case s.Mode != "":
		return FindMode(s.Mode)
	case apps > 1:
		return FindMode("mps")
	}
	return FindMode("alone")
}

// together says that all applications have all SMs.
func (s *Sharing) together() bool {
	m, err := s.mode(0)
	return err == nil && m.whole
}

// Governed lists the policies of a way of sharing: its mode's, then those it names.
func (s *Sharing) Governed() []Governor {
	var out []Governor
	if m, err := s.mode(0); err == nil && m.Policy != "" {
		out = append(out, Governor{Policy: m.Policy, Period: s.Epoch, Params: s.Params})
	}
	return append(out, s.Policies...)
}

// Governor is a policy with the period and parameters of a run.
type Governor struct {
	Policy string         `json:"policy"`
	Period uint64         `json:"period_cycles,omitempty"` // between two samples; 0: the policy's own
	Params control.Params `json:"params,omitempty"`
}

// Memory says how pages are placed and moved.
type Memory struct {
	Pages     string `json:"pages,omitempty"`     // how they follow their channels (PageWays) or accesses (vm.HomesEntries)
	Placement string `json:"placement,omitempty"` // of new pages; "": as the sheet's vm.placement
	// Replication says whether LLC slices keep copies of other partitions' read-only lines: none or full; "": as a
	// policy that sets replication decides, or none.
	Replication string  `json:"replication,omitempty"`
	Unified     Unified `json:"unified,omitzero"`
}

// Ways to replicate, as Memory names them.
const (
	replicateNone = "none"
	replicateFull = "full"
)

// replication is the machine's word for what the sharing says of read-only lines.
func (s *Sharing) replication() sharing.Replication {
	for _, g := range s.Governed() {
		if e, err := g.entry(); err == nil && e.Sets("replication") {
			return sharing.DynamicReplication
		}
	}
	if s.Memory.Replication == replicateFull {
		return sharing.FullReplication
	}
	return sharing.NoReplication
}

// copying is how the pages of a run move.
func (s *Sharing) copying() transfer.Copying {
	way := s.Memory.Pages
	if m, err := s.mode(0); way == "" && err == nil {
		way = m.Pages
	}
	switch {
	case way == readWrite || s.homes() != "":
		return transfer.ReadWrite
	case way == rewrite:
		return transfer.Rewrite
	}
	return transfer.PageMove
}

// homes is the policy by which pages follow the accesses to them; "": they do not.
func (s *Sharing) homes() string {
	if vm.HomesByName(s.Memory.Pages) == nil {
		return ""
	}
	return s.Memory.Pages
}

// movesGroups says that a policy gives channel groups from one application to another.
func (s *Sharing) movesGroups() bool {
	return slices.ContainsFunc(s.Governed(), func(g Governor) bool {
		e, err := g.entry()
		return err == nil && e.Sets("groups")
	})
}

// groupMap says that the machine needs another address map than its own: pages shall move between channel groups, and
// the machine spreads each page over all of them.
func (s *Sharing) groupMap(m *sheets.Machine) bool {
	if !s.movesGroups() || s.copying() == transfer.Rewrite {
		return false
	}
	amap, err := addrmap.New(m)
	return err == nil && !amap.PageInGroup(m.VM.Page)
}

// placed is the machine with the placement that the memory section asks for, and with the address map that pages need
// to move. Where the sheet's map spreads pages over its groups of channels, that is the hypothetical one of kind group.
func (s *Sharing) placed(m *sheets.Machine) *sheets.Machine {
	out := *m
	if s.Memory.Placement != "" {
		out.VM.Placement = s.Memory.Placement
	}
	if s.groupMap(m) && m.Map.Groups > 0 {
		out.Map = sheets.Map{Kind: "group", Hash: "xor", BankHash: "xor", Groups: m.Map.Groups}
	}
	if s.copying() == transfer.Rewrite && m.Conventional.Given() {
		out.Map = m.Conventional.Map(m.Map.Groups)
	}
	return &out
}
