package sim

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/sheets"
)

// Share is one application's part of the machine.
type Share struct {
	SMs    int
	Groups int // channel groups of its own; 0: it shares all of them
	Cores  int // CPU cores
}

// division is the input of a mode: a machine with a number of channel groups among a number of applications.
type division struct {
	s      *Sharing
	m      *sheets.Machine
	groups int
	apps   int
}

// Shares divides machine m, which has the given number of channel groups, among n applications as the mode (Modes)
// defines it.
func Shares(s *Sharing, m *sheets.Machine, groups, n int) ([]Share, error) {
	if n == 0 {
		return nil, fmt.Errorf("no application")
	}
	mode, err := s.mode(n)
	if err != nil {
		return nil, err
	}
	out, err := mode.divide(&division{s, m, groups, n})
	if err != nil {
		return nil, err
	}
	return out, mode.fits(out, m, groups)
}

// shares divides the machine among applications. Applications that run kernels get SMs and channel groups as the mode
// says; the others get CPU cores in order.
func (s *Sharing) shares(m *sheets.Machine, groups int, apps []App) ([]Share, error) {
	var among []Share
	if n := KernelApps(apps); n > 0 {
		var err error
		if among, err = Shares(s, m, groups, n); err != nil {
			return nil, err
		}
	}
	out := make([]Share, len(apps))
	for i := range apps {
		if c := apps[i].CPU; c != nil {
			out[i].Cores = c.cores()
			continue
		}
		out[i], among = among[0], among[1:]
	}
	return out, nil
}

func aloneShares(d *division) ([]Share, error) {
	if d.apps != 1 {
		return nil, fmt.Errorf("sharing mode alone takes one application, there are %d: use mps, bp or slices", d.apps)
	}
	return wholeShares(d)
}

// wholeShares gives the whole machine to every application.
func wholeShares(d *division) (out []Share, err error) {
	for range d.apps {
		out = append(out, Share{SMs: d.m.SM.Count})
	}
	return out, nil
}

func mpsShares(d *division) ([]Share, error) {
	list := d.s.SMs
	if len(list) == 0 {
		return even(d.m.SM.Count, 0, d.apps), nil
	}
	if len(list) != d.apps {
		return nil, fmt.Errorf("sharing.sms lists %d numbers for %d applications", len(list), d.apps)
	}
	out := make([]Share, d.apps)
	for i := range out {
		out[i].SMs = list[i]
	}
	return out, nil
}

func sliceShares(d *division) ([]Share, error) {
	s := d.s
	if len(s.SMs) == 0 && len(s.Groups) == 0 {
		return evenSlices(d)
	}
	if len(s.SMs) != d.apps || len(s.Groups) != d.apps {
		return nil, fmt.Errorf("sharing mode slices needs sms and groups with one number per application (%d), or "+
			"neither; it has %d and %d",
			d.apps, len(s.SMs), len(s.Groups))
	}
	out := make([]Share, d.apps)
	for i := range out {
		out[i] = Share{SMs: s.SMs[i], Groups: s.Groups[i]}
	}
	return out, nil
}

// evenSlices are as equal as can be: nothing stays unused.
func evenSlices(d *division) ([]Share, error) { return even(d.m.SM.Count, d.groups, d.apps), nil }

// equalShares are equal: a remainder stays unused.
func equalShares(d *division) ([]Share, error) {
	n := d.apps
	return even(d.m.SM.Count/n*n, d.groups/n*n, n), nil
}

// targetShares begins with a large slice for one of two (UGPU, section 6.7): targetFirst
// says which.
func targetShares(d *division) ([]Share, error) {
	if d.apps == 2 {
		return bigSmall(d)
	}
	return evenSlices(d)
}

func even(sms, groups, n int) []Share {
	out := make([]Share, n)
	for i := range out {
		out[i] = Share{SMs: (i+1)*sms/n - i*sms/n, Groups: (i+1)*groups/n - i*groups/n}
	}
	return out
}

// bigSmall gives the first of two applications three quarters of the SMs and channels:
// UGPU's 60/20 SMs and 24/8 memory controllers.
func bigSmall(d *division) ([]Share, error) {
	if d.apps != 2 {
		return nil, fmt.Errorf("sharing mode %s takes two applications, there are %d", d.s.Mode, d.apps)
	}
	sms, groups := d.m.SM.Count*3/4, d.groups*3/4
	return []Share{{SMs: sms, Groups: groups}, {SMs: d.m.SM.Count - sms, Groups: d.groups - groups}}, nil
}

// smallBig gives the first one quarter.
func smallBig(d *division) ([]Share, error) {
	out, err := bigSmall(d)
	slices.Reverse(out)
	return out, err
}

// targetFirst gives the larger of two slices to the application with a target; to
// the first when both have one or none.
func targetFirst(apps []App, shares []Share) {
	if len(apps) == 2 && apps[0].QoS == 0 && apps[1].QoS > 0 {
		shares[0], shares[1] = shares[1], shares[0]
	}
}

func migShares(d *division) ([]Share, error) {
	s, m := d.s, d.m
	if len(m.MIG.Profiles) == 0 {
		return nil, fmt.Errorf("machine %s has no MIG profiles; a100 and h100 have", m.Name)
	}
	if len(s.Profiles) != d.apps {
		return nil, fmt.Errorf("sharing mode mig needs one profile per application (%d); it lists %d", d.apps,
			len(s.Profiles))
	}
	out := make([]Share, d.apps)
	slicesUsed, smsUsed := 0, 0
	for i, name := range s.Profiles {
		p := profile(m, name)
		if p == nil {
			return nil, fmt.Errorf("MIG profile %q: %s has %s", name, m.Name, profileNames(m))
		}
		slicesUsed += p.Slices
		smsUsed += p.SMs
		out[i] = Share{SMs: p.SMs, Groups: d.groups * p.Slices / m.MIG.Slices}
	}
	if slicesUsed > m.MIG.Slices || smsUsed > m.MIG.SMs {
		return nil, fmt.Errorf("MIG profiles %v need %d memory slices and %d SMs; %s has %d and %d",
			s.Profiles, slicesUsed, smsUsed, m.Name, m.MIG.Slices, m.MIG.SMs)
	}
	return out, nil
}

func profile(m *sheets.Machine, name string) *sheets.Profile {
	for i := range m.MIG.Profiles {
		if m.MIG.Profiles[i].Name == name {
			return &m.MIG.Profiles[i]
		}
	}
	return nil
}

func profileNames(m *sheets.Machine) (names []string) {
	for _, p := range m.MIG.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// fits says whether a machine has the SMs and groups that a mode hands out.
func (m *Mode) fits(out []Share, sheet *sheets.Machine, groups int) error {
	if m.whole {
		return nil
	}
	sms, grp := 0, 0
	for i, s := range out {
		if s.SMs < 1 || m.slices() && s.Groups < 1 {
			return fmt.Errorf("sharing mode %s gives application %d too little (SMs: %d of sm.count = %d, groups of "+
				"channels: %d of map.groups = %d): each needs at least one of both", m.Name, i+1, s.SMs, sheet.SM.Count,
				s.Groups, groups)
		}
		sms += s.SMs
		grp += s.Groups
	}
	if sms > sheet.SM.Count || grp > groups {
		return fmt.Errorf("sharing mode %s hands out %d SMs and %d channel groups; %s has %d and %d", m.Name, sms, grp,
			sheet.Name, sheet.SM.Count, groups)
	}
	return nil
}

// tenants lays the shares out: SMs and channel groups in order; the same SMs for all
// that share them.
func tenants(apps []App, shares []Share, together bool) []*sharing.Tenant {
	var out []*sharing.Tenant
	sm, grp, core := 0, 0, 0
	for i, s := range shares {
		t := &sharing.Tenant{Name: apps[i].Name}
		if together {
			sm = 0
		}
		for range s.SMs {
			t.SMs = append(t.SMs, sm)
			sm++
		}
		for range s.Cores {
			t.Cores = append(t.Cores, core)
			core++
		}
		for range s.Groups {
			t.Groups = append(t.Groups, grp)
			grp++
		}
		out = append(out, t)
	}
	return out
}
