package sim

import (
	"fmt"

	"heddle/machine"
	"heddle/sheets"
)

// Share is what one application gets of the machine.
type Share struct {
	SMs    int
	Groups int // channel groups of its own; 0: it shares all of them
}

// Shares resolves a sharing mode for n applications on machine m, which has the
// given number of channel groups. The modes and their sources: bp, bp-bs and
// bp-sb are UGPU's balanced and unbalanced static slices (section 6); mps, mig, timeslice
// and smk share as NVIDIA's GPUs and simultaneous multikernel (HPCA 2016) do.
func Shares(s *Sharing, m *sheets.Machine, groups, n int) ([]Share, error) {
	if n == 0 {
		return nil, fmt.Errorf("no application")
	}
	mode := s.Mode
	if mode == "" {
		mode = "alone"
		if n > 1 {
			mode = "mps"
		}
	}
	var out []Share
	var err error
	switch mode {
	case "alone":
		if n != 1 {
			return nil, fmt.Errorf("sharing mode alone takes one application, there are %d: use mps, bp or slices", n)
		}
		return []Share{{SMs: m.SM.Count}}, nil
	case timeslice, smk: // everything is everybody's
		for range n {
			out = append(out, Share{SMs: m.SM.Count})
		}
		return out, nil
	case "mps":
		out, err = mps(s, m, n)
	case "slices":
		out, err = slices(s, n)
	case "ugpu", "ugpu-soft", "ugpu-ori": // as equal as can be, at first: nothing stays unused
		out = even(m.SM.Count, groups, n)
	case "bp", "bp-cd": // equal: what does not divide stays unused
		out = even(m.SM.Count/n*n, groups/n*n, n)
	case "bp-bs", "bp-sb":
		out, err = bigSmall(mode, m, groups, n)
	case "mig":
		out, err = mig(s, m, groups, n)
	case "ugpu-qos": // one begins with the large slice (UGPU, section 6.7): targetFirst says which
		if out = even(m.SM.Count, groups, n); n == 2 {
			out, err = bigSmall("bp-bs", m, groups, n)
		}
	default:
		return nil, fmt.Errorf("sharing mode %q: know alone, mps, slices, bp, bp-bs, bp-sb, mig, timeslice, smk, ugpu, ugpu-soft, ugpu-ori, ugpu-qos and bp-cd", mode)
	}
	if err != nil {
		return nil, err
	}
	return out, fits(out, m, groups, mode)
}

func mps(s *Sharing, m *sheets.Machine, n int) ([]Share, error) {
	if len(s.SMs) == 0 {
		out := even(m.SM.Count, 0, n)
		return out, nil
	}
	if len(s.SMs) != n {
		return nil, fmt.Errorf("sharing.sms lists %d numbers for %d applications", len(s.SMs), n)
	}
	out := make([]Share, n)
	for i := range out {
		out[i].SMs = s.SMs[i]
	}
	return out, nil
}

func slices(s *Sharing, n int) ([]Share, error) {
	if len(s.SMs) != n || len(s.Groups) != n {
		return nil, fmt.Errorf("sharing mode slices needs sms and groups with one number per application (%d); it has %d and %d", n, len(s.SMs), len(s.Groups))
	}
	out := make([]Share, n)
	for i := range out {
		out[i] = Share{s.SMs[i], s.Groups[i]}
	}
	return out, nil
}

func even(sms, groups, n int) []Share {
	out := make([]Share, n)
	for i := range out {
		out[i] = Share{SMs: (i+1)*sms/n - i*sms/n, Groups: (i+1)*groups/n - i*groups/n}
	}
	return out
}

// bigSmall gives the first application three quarters of the SMs and channels
// (bs) or one quarter (sb): UGPU's 60/20 SMs and 24/8 memory controllers.
func bigSmall(mode string, m *sheets.Machine, groups, n int) ([]Share, error) {
	if n != 2 {
		return nil, fmt.Errorf("sharing mode %s takes two applications, there are %d", mode, n)
	}
	bigS, bigG := m.SM.Count*3/4, groups*3/4
	big, small := Share{bigS, bigG}, Share{m.SM.Count - bigS, groups - bigG}
	if mode == "bp-bs" {
		return []Share{big, small}, nil
	}
	return []Share{small, big}, nil
}

// targetFirst gives the larger of two slices to the application with a target; to
// the first when both have one or none.
func targetFirst(apps []App, shares []Share) {
	if len(apps) == 2 && apps[0].QoS == 0 && apps[1].QoS > 0 {
		shares[0], shares[1] = shares[1], shares[0]
	}
}

func mig(s *Sharing, m *sheets.Machine, groups, n int) ([]Share, error) {
	if len(m.MIG.Profiles) == 0 {
		return nil, fmt.Errorf("machine %s has no MIG profiles; a100 and h100 have", m.Name)
	}
	if len(s.Profiles) != n {
		return nil, fmt.Errorf("sharing mode mig needs one profile per application (%d); it lists %d", n, len(s.Profiles))
	}
	out := make([]Share, n)
	slicesUsed, smsUsed := 0, 0
	for i, name := range s.Profiles {
		p := profile(m, name)
		if p == nil {
			return nil, fmt.Errorf("MIG profile %q: %s has %s", name, m.Name, profileNames(m))
		}
		slicesUsed += p.Slices
		smsUsed += p.SMs
		out[i] = Share{SMs: p.SMs, Groups: groups * p.Slices / m.MIG.Slices}
	}
	if slicesUsed > m.MIG.Slices || smsUsed > m.MIG.SMs {
		return nil, fmt.Errorf("MIG profiles %v need %d memory slices and %d SMs; %s has %d and %d", s.Profiles, slicesUsed, smsUsed, m.Name, m.MIG.Slices, m.MIG.SMs)
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

func fits(out []Share, m *sheets.Machine, groups int, mode string) error {
	sms, grp := 0, 0
	for i, s := range out {
		if s.SMs < 1 || mode != "mps" && s.Groups < 1 {
			return fmt.Errorf("sharing mode %s gives application %d %d SMs and %d channel groups: each needs at least one", mode, i+1, s.SMs, s.Groups)
		}
		sms += s.SMs
		grp += s.Groups
	}
	if sms > m.SM.Count || grp > groups {
		return fmt.Errorf("sharing mode %s hands out %d SMs and %d channel groups; %s has %d and %d", mode, sms, grp, m.Name, m.SM.Count, groups)
	}
	return nil
}

// tenants lays the shares out: SMs and channel groups in order; the same SMs for all
// that share them.
func tenants(apps []App, shares []Share, together bool) []*machine.Tenant {
	var out []*machine.Tenant
	sm, grp := 0, 0
	for i, s := range shares {
		t := &machine.Tenant{Name: apps[i].Name}
		if together {
			sm = 0
		}
		for range s.SMs {
			t.SMs = append(t.SMs, sm)
			sm++
		}
		for range s.Groups {
			t.Groups = append(t.Groups, grp)
			grp++
		}
		out = append(out, t)
	}
	return out
}
