package dram

import "fmt"

// Relations between two bank groups, from closest to farthest.
const (
	sameGroup = iota
	sameSid
	sameRank
	otherRank
	numRel
)

// The scheduler tracks ready times for these next commands only: per bank and
// group for the first four, per rank for PREA and REFab.
const (
	bankCmds = 4 // ACT, PRE, RD, WR
	rankCmds = 2 // PREA, REFab
)

// rankRule pushes the ready times of PREA or REFab.
type rankRule struct {
	next        Cmd
	same, other uint64 // same rank, other ranks
}

// window is a sliding limit on ACTs: at most n in any min clocks.
type window struct {
	channel bool // counted over the channel instead of the rank
	n       int
	min     uint64
}

// effect is what a command pushes and how far, given the bank group it goes to.
// Distances that no rule names are 0, which pushes nothing beyond the present.
type effect struct {
	bank [bankCmds]uint64 // in the same bank
	from int              // index of the first of the times of groups it pushes
	at   []uint64         // those times, a piece of Channel.groups
	gap  []uint64         // and how far
	rank []rankRule
}

// tables is a constraint list compiled for incremental updates.
type tables struct {
	bank    [NumCmds][NumCmds]uint64         // distance in the same bank
	group   [NumCmds][NumCmds][numRel]uint64 // distance by the relation of two bank groups
	rank    [NumCmds][]rankRule
	effects [NumCmds][]*effect // by group
	groups  int
	windows []window
}

// compile turns the constraint list into tables.
func compile(c *Config) (*tables, error) {
	t := &tables{}
	for i := range c.Constraints {
		k := c.Constraints[i]
		if k.Min <= 0 {
			continue
		}
		if k.Next == RDA || k.Next == WRA {
			if c.Page != ClosedPage {
				continue
			}
			k.Next = k.Next - RDA + RD // auto-precharge variants are held to the tighter of the two
		}
		if k.Window > 1 {
			if k.Prev != ACT || k.Next != ACT || k.Sibling || k.Level > LevelRank || k.Window > 16 {
				return nil, fmt.Errorf("dram %s: constraint %d: a window is supported for ACT to ACT at channel or rank level, up to 16 commands", c.Name, i)
			}
			t.windows = append(t.windows, window{channel: k.Level == LevelChannel, n: k.Window, min: uint64(k.Min)})
			continue
		}
		if err := t.fold(&k); err != nil {
			return nil, fmt.Errorf("dram %s: constraint %d: %w", c.Name, i, err)
		}
	}
	if c.Refi > 0 { // else rank-wide commands never issue
		t.rankRules()
	}
	t.unroll(c)
	return t, nil
}

// unroll looks the relations of every pair of groups up once and for all.
func (t *tables) unroll(c *Config) {
	t.groups = c.Ranks * c.Sids * c.Groups
	for cmd := range NumCmds {
		for g := range t.groups {
			from, gap := t.run(c, cmd, g)
			t.effects[cmd] = append(t.effects[cmd], &effect{bank: [bankCmds]uint64(t.bank[cmd][:bankCmds]), from: from, gap: gap, rank: t.rank[cmd]})
		}
	}
}

// run is how far cmd issued in group g pushes the times of the groups, by command and
// group, and where the first that it does push is.
func (t *tables) run(c *Config, cmd Cmd, g int) (from int, gap []uint64) {
	last := 0
	for n := range Cmd(bankCmds) {
		for h := range t.groups {
			gap = append(gap, t.group[cmd][n][relation(c, g, h)])
			if gap[len(gap)-1] > 0 {
				last = len(gap)
			}
		}
	}
	for from < last && gap[from] == 0 {
		from++
	}
	return from, gap[from:last]
}

// relation is how two bank groups relate.
func relation(c *Config, g, h int) int {
	perRank := c.Sids * c.Groups
	switch {
	case g == h:
		return sameGroup
	case g/c.Groups == h/c.Groups:
		return sameSid
	case g/perRank == h/perRank:
		return sameRank
	}
	return otherRank
}

// fold merges one constraint into the pairwise distances.
func (t *tables) fold(k *Constraint) error {
	min := uint64(k.Min)
	g := &t.group[k.Prev][k.Next]
	level := k.Level
	if k.Sibling {
		switch level {
		case LevelRank:
			g[otherRank] = max(g[otherRank], min)
		case LevelSid:
			g[sameRank] = max(g[sameRank], min)
		case LevelGroup:
			g[sameSid] = max(g[sameSid], min)
		default:
			return fmt.Errorf("sibling constraints between banks of a group are not supported")
		}
		return nil
	}
	// A rank-wide command before or after makes every finer level as wide as the rank.
	if level > LevelRank && (k.Prev == PREA || k.Prev == REFab || k.Next == PREA || k.Next == REFab) {
		level = LevelRank
	}
	if level == LevelBank {
		b := &t.bank[k.Prev][k.Next]
		*b = max(*b, min)
		return nil
	}
	far := map[Level]int{LevelChannel: otherRank, LevelRank: sameRank, LevelSid: sameSid, LevelGroup: sameGroup}
	for r := 0; r <= far[level]; r++ {
		g[r] = max(g[r], min)
	}
	return nil
}

// rankRules keeps the distances to rank-wide commands that are not zero.
func (t *tables) rankRules() {
	for p := range NumCmds {
		for n := Cmd(bankCmds); n < bankCmds+rankCmds; n++ {
			g := t.group[p][n]
			same := max(g[sameGroup], g[sameSid], g[sameRank])
			if same != 0 || g[otherRank] != 0 {
				t.rank[p] = append(t.rank[p], rankRule{next: n, same: same, other: g[otherRank]})
			}
		}
	}
}
