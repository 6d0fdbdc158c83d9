package paper

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Claim is a sentence of the paper with the measure that can support it (claims.yaml). Values are in percent unless
// the measure says otherwise.
type Claim struct {
	ID      string `yaml:"id"`
	Figure  string `yaml:"figure"`
	Where   string `yaml:"where"` // section of the paper
	Text    string `yaml:"text"`
	Measure string `yaml:"measure"`
	// Paper is the paper's number; nil: it only gives a direction.
	Paper *float64 `yaml:"paper"`
	// Direction is one of: up (above 0 by at least half a percent), down (below), slowly (up, by at most the
	// tolerance), linear (within the tolerance of the paper's number, which a proportional value would have, there
	// and at the points of Also), flat (within the tolerance of 0), all (100 %), some (below 100 %), level (within
	// the tolerance of the paper's number; it has a size and no sign).
	Direction string `yaml:"direction"`
	// Also are further points of a line.
	Also []Point `yaml:"also"`
	// Tolerance is how far the value may be from the paper's; 0: a third of it. If the paper gives no number, the
	// value must be further than this from 0.
	Tolerance float64 `yaml:"tolerance"`
	// Unit is that of the value where it is not percent.
	Unit string `yaml:"unit"`
	// Ours says why the claim does not count as the paper's: it repeats another claim, or no paper makes it. Such a
	// claim is judged, but not counted.
	Ours string `yaml:"ours"`
}

// LeftOut is a sentence of the paper that is not judged as a claim.
type LeftOut struct {
	Where string `yaml:"where"` // section of the paper
	Text  string `yaml:"text"`
	Why   string `yaml:"why"`
}

// Point is a measure and the value that it has on a straight line.
type Point struct {
	Measure string  `yaml:"measure"`
	Paper   float64 `yaml:"paper"`
}

// Reason explains why claims do not hold here, at some scales (reasons.yaml).
type Reason struct {
	Claims []string `yaml:"claims"`
	Scales []string `yaml:"scales"`
	Why    string   `yaml:"why"`
	// Artefact says that the values agree with the paper for another reason than the paper's, such as the choice of
	// programs or their length. The claims then do not hold.
	Artefact bool `yaml:"artefact"`
}

func directions() []string {
	return []string{"up", "down", "slowly", "linear", "flat", "level", "all", "some"}
}

// tolerance in the unit of the value.
func (c *Claim) tolerance() float64 {
	if c.Tolerance > 0 || c.Paper == nil {
		return c.Tolerance
	}
	return math.Abs(*c.Paper) / 3
}

// still is the greatest change in percent that counts as none. It is a choice: if a policy decides and nothing can
// move, results differ by 0.1.
const still = 0.5

// least is how far from 0 a value must be to have a direction.
func (c *Claim) least() float64 {
	if c.Paper == nil && c.Direction != "slowly" {
		return max(still, c.Tolerance)
	}
	return still
}

// agrees says whether a value has the direction of the claim.
func (c *Claim) agrees(v float64) bool {
	switch c.Direction {
	case "up", "slowly":
		return v > c.least()
	case "down":
		return v < -c.least()
	case "linear":
		return math.Abs(v) > still && v > 0 == (*c.Paper > 0)
	case "flat":
		return math.Abs(v) <= c.tolerance()
	case "level":
		return math.Abs(v-*c.Paper) <= c.tolerance()
	case "all":
		return v == 100
	}
	return v < 100 // some
}

// near says whether a value has the size that the claim gives.
func (c *Claim) near(v float64, measures map[string]Measure) bool {
	if c.Direction == "slowly" {
		return v <= c.Tolerance
	}
	for _, p := range c.Also {
		if m, ok := measures[p.Measure]; !ok || math.Abs(m.Value-p.Paper) > c.tolerance() {
			return false
		}
	}
	return c.Paper == nil || math.Abs(v-*c.Paper) <= c.tolerance()
}

// Expected is the paper's value with the tolerance, as text.
func (c *Claim) Expected() string {
	switch {
	case c.Direction == "slowly":
		return fmt.Sprintf("(up, by %.4g %s at most)", c.Tolerance, c.unit())
	case c.Direction == "some":
		return "(below 100 %)"
	case c.Paper == nil && c.Unit != "" && c.Direction == "up":
		return fmt.Sprintf("(more than %.4g %s)", c.least(), c.Unit)
	case c.Paper == nil && c.Unit != "":
		return fmt.Sprintf("(less than %.4g %s)", -c.least(), c.Unit)
	case c.Paper == nil:
		return fmt.Sprintf("(%s by more than %.4g %%)", c.Direction, c.least())
	case c.Direction == "all":
		return "100 %"
	}
	return fmt.Sprintf("%.4g ± %.3g %s", *c.Paper, c.tolerance(), c.unit())
}

func (c *Claim) unit() string { return cmp.Or(c.Unit, "%") }

// shown is a value of the claim's measure as text.
func (c *Claim) shown(x float64) string {
	if c.Unit != "" {
		return fmt.Sprintf("%.4g %s", x, c.Unit)
	}
	return fmt.Sprintf("%.1f %%", x)
}

// Claims lists the claims that belong to a figure.
func (s *Study) Claims(figure string) []Claim {
	var out []Claim
	for _, c := range s.claims {
		if c.Figure == figure {
			out = append(out, c)
		}
	}
	return out
}

// Why is the reason given for a claim at a scale; "" without one.
func (s *Study) Why(claim, scale string) string {
	for _, r := range s.reasons {
		if slices.Contains(r.Claims, claim) && (len(r.Scales) == 0 || slices.Contains(r.Scales, scale)) {
			return r.Why
		}
	}
	return ""
}

// decodeClaims reads claims.yaml; nil: the study has none.
func (s *Study) decodeClaims(read reader) (*yamldoc.Node, error) {
	var claims struct {
		Claims  []Claim   `yaml:"claims"`
		LeftOut []LeftOut `yaml:"left_out"`
	}
	root, err := read("claims.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = yamldoc.Decode(root, "claims", &claims)
	}
	s.claims, s.leftOut = claims.Claims, claims.LeftOut
	return root, err
}

// readReasons reads reasons.yaml, where the study has it.
func (s *Study) readReasons(read reader) error {
	var reasons struct {
		Reasons []Reason `yaml:"reasons"`
	}
	root, err := read("reasons.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = yamldoc.Decode(root, "reasons", &reasons)
	}
	if err != nil {
		return err
	}
	s.reasons = reasons.Reasons
	return s.validateReasons(root)
}

func (s *Study) validateClaims(root *yamldoc.Node) error {
	for i, l := range s.leftOut {
		if l.Where == "" || l.Text == "" || l.Why == "" {
			return item(root, "left_out", i).Errorf("a sentence under left_out needs where, text and why")
		}
	}
	seen := map[string]bool{}
	for i := range s.claims {
		c := &s.claims[i]
		at := item(root, "claims", i)
		if c.ID == "" || seen[c.ID] || c.Text == "" || c.Where == "" {
			return at.Errorf("a claim needs an id of its own, where and text")
		}
		seen[c.ID] = true
		figures, err := s.Select(c.Figure)
		if err != nil || c.Figure == "" || figures[0].Name != c.Figure {
			return at.At("figure").Errorf("claim %s: no figure %q in the study", c.ID, c.Figure)
		}
		if !slices.Contains(directions(), c.Direction) {
			return at.At("direction").Errorf("claim %s: no direction %q%s", c.ID, c.Direction,
				yamldoc.DidYouMean(c.Direction, directions()))
		}
		if slices.Contains([]string{"flat", "slowly", "linear"}, c.Direction) && c.Tolerance <= 0 {
			return at.Errorf("claim %s: %s needs a tolerance", c.ID, c.Direction)
		}
		if c.Direction == "level" && (c.Paper == nil || c.tolerance() <= 0) {
			return at.Errorf("claim %s: a level needs the paper's number, and a tolerance where that is 0", c.ID)
		}
		if linear := c.Direction == "linear"; linear && (c.Paper == nil || *c.Paper == 0) || len(c.Also) > 0 &&
			!linear {
			return at.Errorf("claim %s: linear needs the proportional value as paper; also belongs to linear", c.ID)
		}
		names := s.measureNames(figures[0])
		if !slices.Contains(names, c.Measure) {
			return at.At("measure").Errorf("claim %s: figure %s has no measure %q%s", c.ID, c.Figure, c.Measure,
				yamldoc.DidYouMean(c.Measure, names))
		}
		for _, p := range c.Also {
			if !slices.Contains(names, p.Measure) {
				return at.At("also").Errorf("claim %s: figure %s has no measure %q%s", c.ID, c.Figure, p.Measure,
					yamldoc.DidYouMean(p.Measure, names))
			}
		}
	}
	return nil
}

func (s *Study) validateReasons(root *yamldoc.Node) error {
	for i, r := range s.reasons {
		at := item(root, "reasons", i)
		if r.Why == "" || len(r.Claims) == 0 {
			return at.Errorf("a reason needs why and claims, a list of their ids")
		}
		for _, id := range r.Claims {
			if !slices.ContainsFunc(s.claims, func(c Claim) bool { return c.ID == id }) {
				return at.At("claims").Errorf("there is no claim %q", id)
			}
		}
		for _, n := range r.Scales {
			if _, err := s.Scale(n); err != nil {
				return at.At("scales").Errorf("%v", err)
			}
		}
	}
	return nil
}

// measureNames lists the measures of a figure if all its runs succeed; a test compares the list with the measures.
func (s *Study) measureNames(f *Figure) []string {
	var out []string
	stat := func(name string) { out = append(out, name+" max", name+" mean", name+" min") }
	pairs := func(metric string) {
		for _, a := range f.Schemes {
			stat(metric + " " + a)
			for _, base := range f.Schemes {
				if a != base {
					stat(metric + " " + a + "/" + base)
				}
			}
		}
	}
	if slices.Contains(singleKinds(), f.Kind) {
		return s.singleNames(f)
	}
	if slices.Contains(sideKinds(), f.Kind) {
		return s.sidedNames(f)
	}
	switch f.Kind {
	case "slices", "heat":
		return s.sliceNames(f)
	case "schemes":
		for _, set := range f.Sets {
			if suffix := " " + set; len(f.Sets) > 1 {
				pairs("stp" + suffix)
				pairs("antt" + suffix)
			} else {
				pairs("stp")
				pairs("antt")
			}
		}
	case "moved":
		for _, n := range f.Schemes {
			stat("share " + n)
			stat("worst epoch " + n)
		}
	case "energy":
		f.energyNames(stat)
	case "reach", "batch", "power":
		return taskNames(f)
	case "logs":
		for _, n := range append(logNumbers(), "all five") {
			stat("within " + n)
		}
	case "qos":
		pairs("stp")
		for _, n := range f.Schemes {
			stat("met " + n)
			stat("np " + n)
		}
	}
	return out
}

// energyNames are the measures of energy.
func (f *Figure) energyNames(stat func(name string)) {
	for _, part := range []string{"gpu", "hbm", "total"} {
		for i, n := range f.Schemes {
			stat(part + " share " + n)
			if i > 0 {
				stat(part + " " + n + "/" + f.Schemes[0])
			}
		}
	}
}

// sliceNames are the measures of curves and heat maps.
func (s *Study) sliceNames(f *Figure) []string {
	var out []string
	stat := func(name string) { out = append(out, name+" max", name+" mean", name+" min") }
	_, m, err := s.Sheet(&s.Scales[0], nil)
	if err != nil {
		return nil
	}
	per := m.DRAM.Channels / runfile.ChannelGroups(m)
	if f.Kind == "heat" {
		stat("best/even")
		for _, g := range f.Groups {
			for _, n := range f.SMs {
				stat(fmt.Sprintf("%d SMs %d channels/even", n, per*g))
			}
		}
		return out
	}
	for _, g := range f.Groups {
		stat(fmt.Sprintf("channels %d/%d", per*g, per*f.At[1]))
	}
	for _, n := range f.SMs {
		stat(fmt.Sprintf("sms %d/%d", n, f.At[0]))
	}
	return out
}

// paperMixes is the number of mixes in the paper's means of a figure; 0 if it had none.
func (s *Study) paperMixes(figure, measure string) (n int) {
	figures, err := s.Select(figure)
	if err != nil || len(figures) != 1 {
		return 0
	}
	for _, set := range figures[0].Sets {
		if len(figures[0].Sets) > 1 && !strings.Contains(measure, " "+set+" ") {
			continue // the measure belongs to one set
		}
		if known := s.list.Set(set); known != nil {
			n += len(known.Mixes)
		}
	}
	return n
}
