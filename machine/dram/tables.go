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

// The scheduler tracks ready times for the first four commands only; those of PREA and
// REFab, which are rare, follow from the last commands of the ranks when they are due.
const (
	bankCmds = 4 // ACT, PRE, RD, WR
	rankCmds = 2 // PREA, REFab
)

// rankRule is how long PREA or REFab waits after a command.
type rankRule struct {
	prev        Cmd
	same, other uint64 // in the same rank, in other ranks
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
	bank  [bankCmds]uint64 // in the same bank
	above []push           // in the channel, and in the bank groups that wait longer
}

// push is a time above the banks and how far it is pushed.
type push struct {
	at    *uint64 // the time, one of Channel.wide or Channel.groups
	gap   uint32
	next  Cmd   // the command that it belongs to
	group int16 // and where; none: anywhere
}

// tables is a constraint list compiled for incremental updates.
type tables struct {
	bank    [NumCmds][NumCmds]uint64         // distance in the same bank
	group   [NumCmds][NumCmds][numRel]uint64 // distance by the relation of two bank groups
	rank    [rankCmds][]rankRule             // by next command
	effects [][NumCmds]*effect               // by group
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
				return nil, fmt.Errorf("dram %s: constraint %d: a window is supported for ACT to ACT at channel or "+
					"rank level, up to 16 commands", c.Name, i)
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
	t.effects = make([][NumCmds]*effect, t.groups)
	for g := range t.effects {
		for cmd := range NumCmds {
			e := &effect{bank: [bankCmds]uint64(t.bank[cmd][:bankCmds])}
			for n := range Cmd(bankCmds) {
				t.spread(c, e, &t.group[cmd][n], n, g)
			}
			t.effects[g][cmd] = e
		}
	}
}

// spread adds to e the distances from group g to command n of every group.
func (t *tables) spread(c *Config, e *effect, gap *[numRel]uint64, n Cmd, g int) {
	least := Never
	for h := range t.groups {
		least = min(least, gap[relation(c, g, h)])
	}
	if least > 0 {
		e.above = append(e.above, push{gap: uint32(least), next: n, group: none})
	}
	for h := range t.groups {
		if far := gap[relation(c, g, h)]; far > least {
			e.above = append(e.above, push{gap: uint32(far), next: n, group: int16(h)})
		}
	}
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
	for n := range t.rank {
		for p := range NumCmds {
			g := t.group[p][PREA+Cmd(n)]
			same := max(g[sameGroup], g[sameSid], g[sameRank])
			if same != 0 || g[otherRank] != 0 {
				t.rank[n] = append(t.rank[n], rankRule{prev: p, same: same, other: g[otherRank]})
			}
		}
	}
}
