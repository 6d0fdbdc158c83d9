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

// groupRule pushes the ready times of next in every bank group.
type groupRule struct {
	next Cmd
	wide bool // reaches other ranks
	gap  [numRel]uint64
}

// bankRule pushes the ready time of next in the same bank (ACT..WR only).
type bankRule struct {
	next Cmd
	gap  uint64
}

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

// push is a group rule seen from one bank group: how far it pushes every group
// from index from on.
type push struct {
	next Cmd
	from int
	gap  []uint64
}

// tables is a constraint list compiled for incremental updates: for each command,
// what it pushes and how far.
type tables struct {
	group   [NumCmds][]groupRule
	bank    [NumCmds][]bankRule
	rank    [NumCmds][]rankRule
	windows []window
	deepest int      // longest window
	push    [][]push // by command and group, command first: group with the distances looked up
	groups  int
	channel bool // some window counts over the channel
}

// pushes are the group rules of cmd issued in group g.
func (t *tables) pushes(cmd Cmd, g int) []push { return t.push[int(cmd)*t.groups+g] }

// compile turns the constraint list into tables.
func compile(c *Config) (*tables, error) {
	var gap [NumCmds][NumCmds][numRel]uint64
	var bank [NumCmds][NumCmds]uint64
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
			t.deepest = max(t.deepest, k.Window)
			continue
		}
		if err := fold(&gap, &bank, &k); err != nil {
			return nil, fmt.Errorf("dram %s: constraint %d: %w", c.Name, i, err)
		}
	}
	t.build(&gap, &bank)
	if c.Refi == 0 {
		t.rank = [NumCmds][]rankRule{} // rank-wide commands never issue
	}
	t.unroll(c)
	return t, nil
}

// unroll looks the relations of every pair of groups up once and for all.
func (t *tables) unroll(c *Config) {
	perRank := c.Sids * c.Groups
	t.groups = c.Ranks * perRank
	for i := range t.windows {
		t.channel = t.channel || t.windows[i].channel
	}
	for cmd := range NumCmds {
		for g := range t.groups {
			var list []push
			for _, r := range t.group[cmd] {
				p := push{next: r.next, from: g / perRank * perRank}
				to := p.from + perRank
				if r.wide {
					p.from, to = 0, t.groups
				}
				for h := p.from; h < to; h++ {
					p.gap = append(p.gap, r.gap[relation(c, g, h)])
				}
				list = append(list, p)
			}
			t.push = append(t.push, list)
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
func fold(gap *[NumCmds][NumCmds][numRel]uint64, bank *[NumCmds][NumCmds]uint64, k *Constraint) error {
	min := uint64(k.Min)
	g := &gap[k.Prev][k.Next]
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
	far := map[Level]int{LevelChannel: otherRank, LevelRank: sameRank, LevelSid: sameSid, LevelGroup: sameGroup}
	if level == LevelBank {
		bank[k.Prev][k.Next] = max(bank[k.Prev][k.Next], min)
		return nil
	}
	for r := 0; r <= far[level]; r++ {
		g[r] = max(g[r], min)
	}
	return nil
}

// build keeps what is not zero.
func (t *tables) build(gap *[NumCmds][NumCmds][numRel]uint64, bank *[NumCmds][NumCmds]uint64) {
	for p := range NumCmds {
		for n := range Cmd(bankCmds) {
			if g := gap[p][n]; g != [numRel]uint64{} {
				t.group[p] = append(t.group[p], groupRule{next: n, wide: g[otherRank] != 0, gap: g})
			}
			if b := bank[p][n]; b != 0 {
				t.bank[p] = append(t.bank[p], bankRule{next: n, gap: b})
			}
		}
		for n := Cmd(bankCmds); n < bankCmds+rankCmds; n++ {
			g := gap[p][n]
			same := max(g[sameGroup], g[sameSid], g[sameRank])
			if same != 0 || g[otherRank] != 0 {
				t.rank[p] = append(t.rank[p], rankRule{next: n, same: same, other: g[otherRank]})
			}
		}
	}
}
