package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/residency"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Lacks is the error of a machine that lacks something a way of sharing needs. Path is the number of its sheet that
// shows the lack. Set are settings of the sheet, such as vm.enabled=true, that would add it; none: another machine is
// needed.
type Lacks struct {
	Path, Msg string
	Set       []string
}

func (l *Lacks) Error() string { return l.Msg }

// About is an error in one key of a sharing's memory section, such as pages.
type About struct {
	Key string
	Err error
}

func (a *About) Error() string { return a.Err.Error() }

// Unwrap implements errors.Unwrap.
func (a *About) Unwrap() error { return a.Err }

// about names the key of memory that an error concerns.
func about(key string, err error) error {
	if err == nil {
		return nil
	}
	return &About{key, err}
}

// PolicyError is an error in a policy's parameters or period.
type PolicyError struct {
	Policy string
	Err    error
}

func (p *PolicyError) Error() string { return p.Err.Error() }

// Unwrap implements errors.Unwrap.
func (p *PolicyError) Unwrap() error { return p.Err }

// CheckApps is an error if a way of sharing is impossible for these applications on machine m with the given number
// of channel groups.
func (s *Sharing) CheckApps(m *sheets.Machine, groups int, apps []App) error {
	if err := CheckCPU(m, apps); err != nil {
		return err
	}
	n := KernelApps(apps)
	switch {
	case n > 0:
	case s.Mode != "" && s.Mode != "alone":
		return fmt.Errorf("sharing mode %s divides SMs, and no application runs kernels: leave it out", s.Mode)
	case len(s.SMs)+len(s.Groups)+len(s.Profiles) > 0 || s.Quantum > 0:
		return fmt.Errorf("sms, groups, profiles and quantum divide a GPU, and no application runs kernels: leave " +
			"them out")
	}
	if err := s.Check(m, groups, n); err != nil {
		return err
	}
	if n == len(apps) {
		return nil
	}
	if s.Turn(m) > 0 {
		return fmt.Errorf("sharing mode %s gives applications the whole machine in turn, but those on CPU cores run "+
			"all the time: use mps or smk", s.Mode)
	}
	for _, g := range s.Governed() {
		e, err := control.Find(g.Policy)
		if err != nil {
			return err
		}
		if sets := e.OfKernels(); len(sets) > 0 {
			return fmt.Errorf("policy %s sets %s of applications that run kernels: it cannot be combined with "+
				"applications on "+
				"CPU cores", e.Name, strings.Join(sets, ", "))
		}
	}
	return nil
}

// Check is an error if a way of sharing is impossible for n applications that run kernels on machine m with the given
// number of channel groups.
func (s *Sharing) Check(m *sheets.Machine, groups, n int) error {
	mode, err := s.mode(n)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"sms", len(s.SMs) > 0}, {"groups", len(s.Groups) > 0}, {"profiles", len(s.Profiles) > 0}, {
			"quantum",
			s.Quantum > 0,
		},
	} {
		if f.given && !slices.Contains(mode.Fields, f.name) {
			return fmt.Errorf("%s has no meaning with mode %s, only with %s", f.name, mode.Name,
				strings.Join(ModesWith(f.name), " and "))
		}
	}
	if mode.Policy == "" && (len(s.Params) > 0 || s.Epoch > 0) {
		return fmt.Errorf("sharing mode %s is static: params and period belong to the modes with a policy, %s; "+
			"other policies are listed under policies, each with period and params", mode.Name, governedModes())
	}
	if err := s.checkMemory(mode, m); err != nil {
		return err
	}
	if err := s.checkPolicies(mode, m, groups); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	shares, err := Shares(s, m, groups, n)
	if own := func(x Share) bool { return x.Groups > 0 }; err == nil && m.Memory.Given() &&
		slices.ContainsFunc(shares, own) {
		return fmt.Errorf("sharing mode %s gives each application its own channels, but machine %s has a memory of "+
			"two tiers, which all applications share: use mps, smk or alone", mode.Name, m.Name)
	}
	return err
}

// governedModes names the modes that are short forms with a policy.
func governedModes() string {
	var names []string
	for _, m := range Modes() {
		if m.Policy != "" {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// CheckTouches is an error if the machine cannot count touches of pages.
func CheckTouches(m *sheets.Machine) error {
	if m.VM.Enabled {
		return nil
	}
	return translates(m, "outputs.touches counts the SMs that touch a page")
}

// translates is the error of a machine without pages for what needs them.
func translates(m *sheets.Machine, what string) error {
	return &Lacks{"vm.enabled", fmt.Sprintf("%s, but machine %s does not translate addresses (vm.enabled): "+
		"write set: {vm.enabled: true}", what, m.Name), []string{"vm.enabled=true"}}
}

// checkReplication refuses replication if slices cannot hold copies, or if both the run file and a policy set it.
func (s *Sharing) checkReplication(m *sheets.Machine) error {
	way := s.Memory.Replication
	if way != "" && way != replicateNone && way != replicateFull {
		return fmt.Errorf("memory.replication is none or full, not %q", way)
	}
	dynamic := s.replication() == sharing.DynamicReplication
	if way != "" && dynamic {
		return fmt.Errorf("memory.replication is %s, but a policy sets replication, too: keep one of them", way)
	}
	if way != replicateFull && !dynamic {
		return nil
	}
	if err := sharing.CanReplicate(m); err != nil {
		path := "noc.topology"
		if m.NoC.Topology == "" {
			path = "noc.kind" // the sheet leaves the topology out
		}
		return &Lacks{Path: path, Msg: "replication: " + err.Error()}
	}
	return nil
}

// checkHomes refuses pages that follow the accesses to them if pages have no home, or another part moves them.
func (s *Sharing) checkHomes(m *sheets.Machine) error {
	way := s.homes()
	if way == "" {
		return nil
	}
	if path, err := residency.CanRehome(m); err != nil {
		return &Lacks{Path: path, Msg: "memory.pages: " + way + ": " + err.Error()}
	}
	if s.Memory.Unified.On() {
		return fmt.Errorf("memory.pages is %s, but memory.unified moves pages, too: keep one of them", way)
	}
	for _, g := range s.Governed() {
		if e, err := g.entry(); err == nil && e.Sets("groups") {
			return fmt.Errorf("memory.pages is %s, but policy %s moves channels between applications, and pages must "+
				"follow them: keep one of the two", way, e.Name)
		}
	}
	return nil
}

func (s *Sharing) checkMemory(mode *Mode, m *sheets.Machine) error {
	if err := s.checkReplication(m); err != nil {
		return about("replication", err)
	}
	if (s.Memory.Pages != "" || s.Memory.Placement != "") && !m.VM.Enabled {
		return translates(m, "memory.pages and memory.placement say where pages lie")
	}
	if err := s.Memory.Unified.check(m); err != nil {
		return about("unified", err)
	}
	if err := s.checkPages(mode, m); err != nil {
		return about("pages", err)
	}
	if p := s.Memory.Placement; p != "" {
		if err := sheets.Apply(&sheets.Machine{}, "vm.placement", p); err != nil {
			return about("placement", err)
		}
		placed := *m
		placed.VM.Placement = p
		if err := sheets.Validate(&placed); err != nil {
			return about("placement", fmt.Errorf("memory.placement: %w", err))
		}
	}
	return nil
}

// checkPages is the error of the way in which pages follow their channels, or accesses.
func (s *Sharing) checkPages(mode *Mode, m *sheets.Machine) error {
	if way := s.Memory.Pages; way != "" {
		names := pagesNames()
		if !slices.Contains(names, way) {
			return fmt.Errorf("memory.pages is %s, not %q%s", strings.Join(names, ", "), way,
				yamldoc.Guess(way, names))
		}
		if mode.Pages != "" && mode.Pages != way {
			return fmt.Errorf("sharing mode %s moves pages by %s, but memory.pages says %s: write the mode in its "+
				"long form (%s)",
				mode.Name, mode.Pages, way, mode.Long())
		}
	}
	return s.checkHomes(m)
}

// splits says why a policy cannot divide the memory of a machine; nil if it can, or does not set the division.
func splits(e *control.Entry, m *sheets.Machine) error {
	h := &m.Memory.Hybrid
	switch {
	case !e.Sets("ways") && !e.Sets("channels") && !e.Sets("tokens"):
		return nil
	case !m.Memory.Given():
		return &Lacks{"dram.channels", fmt.Sprintf("policy %s sets %s of a hybrid memory, but machine %s has none: "+
			"use machine hydrogen; heddle policy replay %[1]s runs the policy by itself", e.Name,
			strings.Join(e.Settings, ", "), m.Name), nil}
	case h.Policy != "hydrogen":
		return &Lacks{"memory.hybrid.policy", fmt.Sprintf("policy %s sets %s, but memory.hybrid.policy %s of "+
			"machine %s keeps them fixed: add --set memory.hybrid.policy=hydrogen", e.Name,
			strings.Join(e.Settings, ", "), h.Policy, m.Name), []string{"memory.hybrid.policy=hydrogen"}}
	case h.Partition == "sets":
		return &Lacks{"memory.hybrid.partition", fmt.Sprintf("policy %s sets %s, but machine %s divides its "+
			"fast memory by sets: add --set memory.hybrid.partition=ways", e.Name,
			strings.Join(e.Settings, ", "), m.Name), []string{"memory.hybrid.partition=ways"}}
	case e.Sets("tokens") && h.Tokens != "fixed":
		return &Lacks{"memory.hybrid.tokens", fmt.Sprintf("policy %s sets tokens, but machine %s has "+
			"memory.hybrid.tokens %s: add --set memory.hybrid.tokens=fixed", e.Name,
			m.Name, h.Tokens), []string{"memory.hybrid.tokens=fixed"}}
	}
	return nil
}

// checkMap refuses pages that move between groups of channels where no map can keep a page in one group.
func (s *Sharing) checkMap(e *control.Entry, m *sheets.Machine) error {
	if !s.groupMap(m) {
		return nil
	}
	if m.Map.Groups == 0 {
		n := m.DRAM.Channels
		if m.DRAM.Stacks > 0 && n%m.DRAM.Stacks == 0 {
			n /= m.DRAM.Stacks // one channel of each stack, as in UGPU's Figure 8
		}
		return &Lacks{"map.groups", fmt.Sprintf("policy %s moves pages between groups of channels, and the sheet of "+
			"machine %s divides its %d channels into none: write set: {map.groups: %d}, or another number that "+
			"divides them", e.Name, m.Name, m.DRAM.Channels, n), []string{fmt.Sprintf("map.groups=%d", n)}}
	}
	if _, err := addrmap.New(s.placed(m)); err != nil {
		return &Lacks{Path: "map.groups", Msg: fmt.Sprintf("policy %s moves pages between groups of channels, but no "+
			"address map keeps a page of machine %s in one group: %v", e.Name, m.Name, err)}
	}
	return nil
}

// checkPolicies makes every policy, and looks for settings that two of them set, or that the sharing does not have.
func (s *Sharing) checkPolicies(mode *Mode, m *sheets.Machine, groups int) error {
	var names []string
	for _, g := range s.Governed() {
		e, _, err := g.make(m, groups)
		if err != nil {
			return &PolicyError{g.Policy, err}
		}
		names = append(names, e.Name)
		if g.period(e, m) == 0 && len(e.On) == 0 {
			return fmt.Errorf("policy %s needs a period, in core cycles", e.Name)
		}
		if err := splits(e, m); err != nil {
			return err
		}
		if (e.Sets("quota") || e.Sets("ctas")) && !mode.inside {
			return fmt.Errorf("policy %s limits applications on SMs that they share, but under sharing mode %s "+
				"an SM belongs to one application: use smk", e.Name, mode.Name)
		}
		if mode.fixed && (e.Sets("sms") || e.Sets("gating") || e.Sets("groups")) {
			return fmt.Errorf("policy %s sets %s, but an instance of sharing mode %s keeps the SMs and the memory "+
				"of its profile while programs run: use slices or mps, or leave the policy out", e.Name,
				strings.Join(e.Settings, ", "), mode.Name)
		}
		if (e.Sets("sms") || e.Sets("gating")) && (mode.whole || mode.Name == "alone") {
			return fmt.Errorf("policy %s sets sms, but under sharing mode %s all applications share all SMs: use mps, "+
				"slices or bp", e.Name, mode.Name)
		}
		if !e.Sets("groups") {
			continue
		}
		if err := s.checkMap(e, m); err != nil {
			return err
		}
		if !m.VM.Enabled {
			return translates(m, fmt.Sprintf("policy %s moves pages between groups of channels", e.Name))
		}
		if !mode.slices() {
			return fmt.Errorf("policy %s sets groups, but under sharing mode %s all applications share all channels: "+
				"use slices or bp", e.Name, mode.Name)
		}
	}
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			if n == mode.Policy {
				return fmt.Errorf("sharing mode %s brings policy %s: leave it out of policies", mode.Name, n)
			}
			return fmt.Errorf("policy %s is listed twice: keep one of them", n)
		}
	}
	return control.Conflict(names)
}
