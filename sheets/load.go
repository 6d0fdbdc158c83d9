package sheets

import (
	"embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

//go:embed *.yaml
var shipped embed.FS

// maxBases bounds a chain of `base:` sheets, so a circle is an error.
const maxBases = 8

// Names lists the shipped sheets in alphabetical order.
func Names() []string {
	entries, err := shipped.ReadDir(".")
	if err != nil {
		return nil // an embedded directory always reads
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads a sheet: a shipped one by name, or a file when name has a slash or
// ends in .yaml or .yml. The result is validated.
func Load(name string) (*Machine, *Provenance, error) {
	return Resolve(name, nil)
}

// Resolve loads a sheet, applies overrides (path -> value, in order of path) and validates the result. It gives
// Machine and Set of a Spec their meaning.
func Resolve(name string, set map[string]string) (*Machine, *Provenance, error) {
	return new(Shelf).Resolve(name, set)
}

// Parse reads the text of a sheet; file names it in messages and is where a
// relative base is looked up. The result is validated.
func Parse(file string, src []byte) (*Machine, *Provenance, error) {
	m, prov, err := decode(file, src, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := Validate(m); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, prov.located(err))
	}
	return m, prov, nil
}

// find returns the text of a sheet and the name to use for it in messages.
func find(name, dir string) (string, []byte, error) {
	if strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		path := name
		if dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		src, err := yamldoc.ReadFile(path)
		return path, src, err
	}
	src, err := shipped.ReadFile(name + ".yaml")
	if err != nil {
		return "", nil, fmt.Errorf("no machine sheet named %q%s (a file of your own needs a / or ends in .yaml)", name,
			yamldoc.DidYouMean(name, Names()))
	}
	return name + ".yaml", src, nil
}

// decoder carries one sheet's state while its tree is walked.
type decoder struct {
	m       *Machine
	prov    *Provenance
	sheet   string
	sources map[string]string
}

// decode reads a sheet and, first, the sheet it is based on.
func decode(file string, src []byte, depth int) (*Machine, *Provenance, error) {
	root, err := yamldoc.Parse(file, src)
	if err != nil {
		return nil, nil, err
	}
	if root.Kind != yamldoc.Map {
		return nil, nil, root.Errorf("a machine sheet is a mapping, this is %s", root.Kind)
	}
	if err := root.Instead("a machine sheet"); err != nil {
		return nil, nil, err
	}
	d := &decoder{m: &Machine{}, prov: newProvenance(), sources: map[string]string{}}
	if err := d.header(root, file, depth); err != nil {
		return nil, nil, err
	}
	if err := d.sections(root); err != nil {
		return nil, nil, err
	}
	for _, f := range schema() {
		if _, ok := d.prov.at[f.path]; !ok && f.opt == "" && f.unit != "" && d.prov.has(f.whole) {
			section, key, _ := strings.Cut(f.path, ".")
			return nil, nil, root.Errorf("no value for %s (%s); add `%s: [value, %s, source]` under %s", f.path, f.doc,
				key, f.unit, section)
		}
	}
	return d.m, d.prov, nil
}

// header reads name, description, sources and base.
func (d *decoder) header(root *yamldoc.Node, file string, depth int) error {
	own := map[string]string{}
	if s := root.Get("sources"); s != nil {
		if s.Kind != yamldoc.Map {
			return s.Errorf("sources maps a short key to a full reference")
		}
		for _, k := range s.Keys {
			if k.Value.Kind != yamldoc.Text || strings.TrimSpace(k.Value.Raw) == "" {
				return k.At.Errorf("source %q needs a reference as text", k.Name)
			}
			own[k.Name] = strings.Join(strings.Fields(k.Value.Raw), " ")
		}
	}
	if b := root.Get("base"); b != nil {
		if err := d.base(root, b, own, file, depth); err != nil {
			return err
		}
	} else if s := root.Get("base_source"); s != nil {
		return s.Errorf("base_source without base")
	}
	for k, v := range own {
		d.sources[k] = v
	}
	for _, t := range []struct {
		key string
		dst *string
	}{{"name", &d.m.Name}, {"description", &d.m.Description}} {
		n := root.Get(t.key)
		if n == nil || n.Kind != yamldoc.Text {
			return root.Errorf("a sheet needs %q as text", t.key)
		}
		*t.dst = strings.Join(strings.Fields(n.Raw), " ")
	}
	d.sheet = d.m.Name
	d.prov.Sheet, d.prov.File = d.m.Name, file
	return nil
}

// base loads the sheet this one differs from.
func (d *decoder) base(root, b *yamldoc.Node, own map[string]string, file string, depth int) error {
	if b.Kind != yamldoc.Text {
		return b.Errorf("base is the name or the path of a sheet")
	}
	if depth >= maxBases {
		return b.Errorf("more than %d sheets based on each other; is %s based on itself?", maxBases, b.Raw)
	}
	bf, src, err := find(b.Raw, filepath.Dir(file))
	if err != nil {
		return b.Errorf("%v", err)
	}
	if d.m, d.prov, err = decode(bf, src, depth+1); err != nil {
		return fmt.Errorf("%w\n(read as the base of %s)", err, file)
	}
	d.sources = d.prov.sources
	if s := root.Get("base_source"); s != nil {
		ref, ok := own[s.Raw]
		if !ok {
			return s.Errorf("base_source %q is not among this sheet's sources", s.Raw)
		}
		d.prov.inherit(s.Raw, ref)
	}
	return nil
}

// sections reads everything that holds numbers.
func (d *decoder) sections(root *yamldoc.Node) error {
	known := []string{"name", "description", "base", "base_source", "sources"}
	known = append(known, children(schema(), "")...)
	if err := root.Only("a machine sheet", known...); err != nil {
		return err
	}
	d.prov.sources = d.sources
	for _, k := range root.Keys {
		switch k.Name {
		case "name", "description", "base", "base_source", "sources":
			continue
		}
		if err := d.section(k.Name, k.Value); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) section(path string, n *yamldoc.Node) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("%s is a section: key: [value, unit, source] lines, not %s", path, n.Kind)
	}
	if err := n.Only("section "+path, children(schema(), path)...); err != nil {
		return err
	}
	for _, k := range n.Keys {
		p := path + "." + k.Name
		f, leaf := lookup(p)
		var err error
		switch {
		case !leaf:
			err = d.section(p, k.Value)
		case p == profilesPath:
			err = d.profiles(k.Value)
		default:
			err = d.number(f, k.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// number reads one [value, unit, source] triple.
func (d *decoder) number(f field, n *yamldoc.Node) error {
	value, source, err := d.triple(f, n)
	if err != nil {
		return err
	}
	if err := setNode(f.value(d.m), value, f.path); err != nil {
		return err
	}
	d.prov.put(f, source, d.sources[source], d.sheet, n.Line)
	return nil
}

// triple checks the unit and the source and returns the value.
func (d *decoder) triple(f field, n *yamldoc.Node) (value *yamldoc.Node, source string, err error) {
	if n.Kind != yamldoc.List || len(n.Items) != 3 {
		return nil, "", n.Errorf("%s must be [value, unit, source], as in [..., %s, a-source]", f.path, f.unit)
	}
	value, unit, src := n.Items[0], n.Items[1], n.Items[2]
	if unit.Raw != f.unit {
		return nil, "", unit.Errorf("%s is given in %q, but its unit is %q", f.path, unit.Raw, f.unit)
	}
	if _, ok := d.sources[src.Raw]; !ok || src.Kind != yamldoc.Text {
		names := make([]string, 0, len(d.sources))
		for k := range d.sources {
			names = append(names, k)
		}
		return nil, "", src.Errorf("source %q of %s is not among the sheet's sources%s", src.Raw, f.path,
			yamldoc.DidYouMean(src.Raw, names))
	}
	return value, src.Raw, nil
}

// profiles reads the MIG table; it replaces an inherited one.
func (d *decoder) profiles(n *yamldoc.Node) error {
	if n.Kind != yamldoc.List {
		return n.Errorf("%s is a list of profiles", profilesPath)
	}
	d.m.MIG.Profiles = nil
	d.prov.drop(profilesPath)
	for _, it := range n.Items {
		var p Profile
		if it.Kind != yamldoc.Map {
			return it.Errorf("a profile is {name: ..., sms: [...], slices: [...], most: [...]}")
		}
		fields := profileSchema()
		if err := it.Only("a profile", append(children(fields, ""), "name")...); err != nil {
			return err
		}
		name := it.Get("name")
		if name == nil || name.Kind != yamldoc.Text {
			return it.Errorf("a profile needs a name as text")
		}
		p.Name = name.Raw
		for _, f := range fields {
			v := it.Get(f.path)
			if v == nil {
				return it.Errorf("profile %s has no %s (%s)", p.Name, f.path, f.doc)
			}
			value, source, err := d.triple(f, v)
			if err != nil {
				return err
			}
			if err := setNode(f.profileValue(&p), value, f.path); err != nil {
				return err
			}
			p.Source = source
			f.path = profilesPath + "[" + p.Name + "]." + f.path
			d.prov.put(f, source, d.sources[source], d.sheet, v.Line)
		}
		d.m.MIG.Profiles = append(d.m.MIG.Profiles, p)
	}
	d.prov.put(field{path: profilesPath}, "", "", d.sheet, 0)
	return nil
}
