package characterise

import (
	_ "embed"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

//go:embed seeds.yaml
var seedsText []byte

// Claim is what one paper says about one application. A field without a value is not claimed.
type Claim struct {
	App       string   `yaml:"app"`       // <suite>/<app> here
	Seed      string   `yaml:"seed"`      // key of a source in the file
	Name      string   `yaml:"name"`      // the paper's abbreviation
	Bound     string   `yaml:"bound"`     // memory, compute
	Sharing   string   `yaml:"sharing"`   // low, high
	Pattern   string   `yaml:"pattern"`   // streaming, regular, random, irregular
	MPKI      *float64 `yaml:"mpki"`      // LLC misses per 1000 thread instructions
	Footprint float64  `yaml:"footprint"` // MB
	ReadOnly  *float64 `yaml:"read_only"` // MB, shared
	Preset    string   `yaml:"preset"`    // at which it is judged; "": its source's
	// Why is the reason for which the application is not, or not entirely, in the class at the preset; only where it
	// is not.
	Why string `yaml:"why"`
}

// Seeds is the file of claims.
type Seeds struct {
	Sources []Source `yaml:"sources"`
	Claims  []Claim  `yaml:"claims"`
}

// presets of every application, by size.
func presets() []string { return []string{"tiny", "standard", "paper"} }

// Source says where the claims of one seed stand.
type Source struct {
	Seed   string `yaml:"seed"`
	Text   string `yaml:"text"`
	Preset string `yaml:"preset"` // at which its claims are judged
	// Machine is the sheet on which they are judged; "": ugpu.
	Machine string `yaml:"machine"`
}

// usual is the machine of profiles, and on which claims are judged, where nothing else is said.
const usual = "ugpu"

// PresetOf is the preset at which a claim is judged.
func (s *Seeds) PresetOf(c *Claim) string {
	if c.Preset != "" {
		return c.Preset
	}
	for i := range s.Sources {
		if s.Sources[i].Seed == c.Seed {
			return s.Sources[i].Preset
		}
	}
	return ""
}

// MachineOf is the machine on which a claim is judged.
func (s *Seeds) MachineOf(c *Claim) string {
	for i := range s.Sources {
		if x := &s.Sources[i]; x.Seed == c.Seed && x.Machine != "" {
			return x.Machine
		}
	}
	return usual
}

// LoadSeeds reads the claims this package ships.
func LoadSeeds() (*Seeds, error) { return ParseSeeds("characterise/seeds.yaml", seedsText) }

// ParseSeeds reads claims from text; file is its name in messages.
func ParseSeeds(file string, text []byte) (*Seeds, error) {
	root, err := yamldoc.Parse(file, text)
	if err != nil {
		return nil, err
	}
	var s Seeds
	if err := yamldoc.Decode(root, "the claims", &s); err != nil {
		return nil, err
	}
	known := map[string]bool{"": true}
	for i, x := range s.Sources {
		known[x.Seed] = true
		if err := oneOf(root.Get("sources").Items[i], "preset", x.Preset, presets()); err != nil {
			return nil, err
		}
	}
	for i := range s.Claims {
		c, at := &s.Claims[i], root.Get("claims").Items[i]
		if c.App == "" || c.Seed == "" || !known[c.Seed] {
			return nil, at.Errorf("a claim needs an app and a seed that stands among the sources")
		}
		for _, x := range []struct {
			key, got string
			words    []string
		}{
			{"preset", c.Preset, presets()},
			{"bound", c.Bound, []string{MemoryBound, ComputeBound}},
			{"sharing", c.Sharing, []string{LowSharing, HighSharing}},
			{"pattern", c.Pattern, []string{Streaming, Regular, Random, Irregular}},
		} {
			if err := oneOf(at, x.key, x.got, x.words); err != nil {
				return nil, err
			}
		}
	}
	return &s, nil
}

func oneOf(at *yamldoc.Node, key, got string, words []string) error {
	if got == "" {
		return nil
	}
	for _, w := range words {
		if got == w {
			return nil
		}
	}
	return at.Get(key).Errorf("%s is %q: it must be one of %v", key, got, words)
}
