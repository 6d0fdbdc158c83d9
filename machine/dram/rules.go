package dram

import "github.com/heddle-sim/heddle/sheets"

// Rules collects constraints in the shape data sheets give them: one distance
// between groups of commands. Data sheets measure between the clocks at which the
// device has the whole command; Extra holds the clocks each command takes beyond
// its first, and is folded into every distance.
type Rules struct {
	Extra [NumCmds]int
	List  []Constraint
}

// Add says that next waits at least min clocks after prev in the same node.
func (r *Rules) Add(l Level, prev, next []Cmd, min int) { r.put(l, prev, next, min, 1, false) }

// AddSibling is Add for another node under the same parent.
func (r *Rules) AddSibling(l Level, prev, next []Cmd, min int) { r.put(l, prev, next, min, 1, true) }

// AddWindow allows at most n of cmd in any min clocks.
func (r *Rules) AddWindow(l Level, cmd Cmd, n, min int) {
	r.put(l, []Cmd{cmd}, []Cmd{cmd}, min, n, false)
}

// put drops distances that can never bind.
func (r *Rules) put(l Level, prev, next []Cmd, min, window int, sibling bool) {
	for _, p := range prev {
		for _, n := range next {
			if d := min + r.Extra[p] - r.Extra[n]; d > 0 {
				r.List = append(r.List, Constraint{
					Level: l, Prev: p, Next: n, Min: d, Window: window,
					Sibling: sibling,
				})
			}
		}
	}
}

var (
	anyRD  = []Cmd{RD, RDA}
	anyWR  = []Cmd{WR, WRA}
	anyCol = []Cmd{RD, WR, RDA, WRA}
	anyPRE = []Cmd{PRE, PREA}
)

// SheetRules derives the constraints of a sheet's timing table. Ranks that share the
// data bus of their channel (of DDR, and levels of an HBM stack) pay CS to take it
// over; the others are pseudo-channels with data buses of their own.
func SheetRules(t *sheets.Timing, shared bool) []Constraint {
	var r Rules
	wrToRd, wrToPre := t.CWL+t.BL, t.CWL+t.BL+t.WR
	rdToWr := t.RTW
	if rdToWr == 0 {
		rdToWr = t.CL + t.BL + 2 - t.CWL // two clocks to turn the bus round
	}
	if shared {
		r.Add(LevelChannel, anyRD, anyRD, t.BL)
		r.Add(LevelChannel, anyWR, anyWR, t.BL)
		r.AddSibling(LevelRank, anyRD, anyCol, t.BL+t.CS)
		r.AddSibling(LevelRank, anyWR, anyRD, t.CWL+t.BL+t.CS-t.CL)
	}
	ccdS, ccdL := max(t.CCDS, t.BL), max(t.CCDL, t.CCDS)
	r.Add(LevelRank, anyRD, anyRD, ccdS)
	r.Add(LevelRank, anyWR, anyWR, ccdS)
	r.Add(LevelRank, anyRD, anyWR, rdToWr)
	r.Add(LevelRank, anyWR, anyRD, wrToRd+t.WTRS)
	r.Add(LevelRank, []Cmd{RD}, []Cmd{PREA}, t.RTP)
	r.Add(LevelRank, []Cmd{WR}, []Cmd{PREA}, wrToPre)
	r.Add(LevelRank, []Cmd{ACT}, []Cmd{ACT}, t.RRDS)
	r.AddWindow(LevelRank, ACT, 4, t.FAW)
	r.Add(LevelRank, []Cmd{ACT}, []Cmd{PREA}, t.RAS)
	r.Add(LevelRank, []Cmd{PREA}, []Cmd{ACT}, t.RP)
	r.Add(LevelRank, []Cmd{ACT}, []Cmd{REFab}, t.RC)
	r.Add(LevelRank, anyPRE, []Cmd{REFab}, t.RP)
	r.Add(LevelRank, []Cmd{RDA}, []Cmd{REFab}, t.RTP+t.RP)
	r.Add(LevelRank, []Cmd{WRA}, []Cmd{REFab}, wrToPre+t.RP)
	r.Add(LevelRank, []Cmd{REFab}, []Cmd{ACT, PREA}, t.RFC)

	r.Add(LevelGroup, anyRD, anyRD, ccdL)
	r.Add(LevelGroup, anyWR, anyWR, ccdL)
	r.Add(LevelGroup, anyWR, anyRD, wrToRd+t.WTRL)
	r.Add(LevelGroup, []Cmd{ACT}, []Cmd{ACT}, t.RRDL)

	r.Add(LevelBank, []Cmd{ACT}, []Cmd{ACT}, t.RC)
	r.Add(LevelBank, []Cmd{ACT}, anyRD, t.RCDRD)
	r.Add(LevelBank, []Cmd{ACT}, anyWR, t.RCDWR)
	r.Add(LevelBank, []Cmd{ACT}, []Cmd{PRE}, t.RAS)
	r.Add(LevelBank, []Cmd{PRE}, []Cmd{ACT}, t.RP)
	r.Add(LevelBank, []Cmd{RD}, []Cmd{PRE}, t.RTP)
	r.Add(LevelBank, []Cmd{WR}, []Cmd{PRE}, wrToPre)
	r.Add(LevelBank, []Cmd{RDA}, []Cmd{ACT}, t.RTP+t.RP)
	r.Add(LevelBank, []Cmd{WRA}, []Cmd{ACT}, wrToPre+t.RP)
	return r.List
}
