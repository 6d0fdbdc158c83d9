package sheets

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Imported is the result of importing a gpgpusim.config.
type Imported struct {
	Machine    *Machine
	Provenance *Provenance
	// Ignored options have no meaning in Heddle; each says why.
	Ignored []Option
	// Unmodelled options have an effect that Heddle does not model (yet).
	Unmodelled []Option
	// Apart are options of a part of the machine that Heddle describes in another way.
	Apart []Group
	// Warnings are approximations: an option was read, but not to the letter.
	Warnings []Option
}

// Group is options that belong together, with a remark on all of them.
type Group struct {
	Title   string
	Options []Option
}

// Option is one option of the file with a remark.
type Option struct {
	Name, Value string
	Line        int // 0: the option is not in the file
	Why         string
}

func (o Option) String() string {
	if o.Line == 0 {
		return fmt.Sprintf("%s: %s", o.Name, o.Why)
	}
	return fmt.Sprintf("line %d: %s %s: %s", o.Line, o.Name, o.Value, o.Why)
}

// importBase is the sheet that fills what a gpgpusim.config cannot say.
const importBase = "qv100"

// importer carries the state of one import.
type importer struct {
	file string
	m    *Machine
	out  *Imported
	opts map[string]Option // by name; the last one in the file wins, as in GPGPU-Sim
	used map[string]bool
	from map[string]Option // by the path of the number that it sets
	cur  Option            // the option being read
	err  error             // the first error
}

// ImportGPGPUSim reads a gpgpusim.config (GPGPU-Sim 3.x and 4.x, UVMSmart).
func ImportGPGPUSim(file string) (*Imported, error) {
	src, err := yamldoc.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return importGPGPUSim(file, string(src))
}

func importGPGPUSim(file, src string) (*Imported, error) {
	m, prov, err := Load(importBase)
	if err != nil {
		return nil, err
	}
	list, err := scanOptions(file, src)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	m.Name, m.Description = name, "imported from "+filepath.Base(file)
	prov.Sheet, prov.File = name, file
	prov.inherit("base", "not an option of gpgpusim.config: taken from the sheet "+importBase)
	im := &importer{
		file: file, m: m, out: &Imported{Machine: m, Provenance: prov, Apart: groupsApart()}, opts: map[string]Option{},
		used: map[string]bool{}, from: map[string]Option{},
	}
	for _, o := range list {
		im.opts[o.Name] = o
	}
	im.structure()
	im.pipelines()
	im.caches()
	im.interconnect()
	im.memory()
	im.unifiedMemory()
	if im.err != nil {
		return nil, im.err
	}
	im.leftovers(list)
	if err := Validate(m); err != nil {
		return nil, im.noMachine(err)
	}
	return im.out, nil
}

// scanOptions splits the text into options. A value runs to the next option; a
// quoted one may span lines; # starts a comment outside quotes.
func scanOptions(file, src string) ([]Option, error) {
	var out []Option
	line, i := 1, 0
	for i < len(src) {
		c := src[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '#':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		default:
			word, n, nl, err := scanWord(src[i:])
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, line, err)
			}
			if isOption(word) && src[i] == '-' {
				out = append(out, Option{Name: word, Line: line})
			} else if len(out) == 0 {
				return nil, fmt.Errorf("%s:%d: %q stands before any -option; this does not look like a gpgpusim.config",
					file, line, clip(word))
			} else {
				o := &out[len(out)-1]
				o.Value = strings.TrimSpace(o.Value + " " + word)
			}
			i += n
			line += nl
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no -option in the file; this does not look like a gpgpusim.config", file)
	}
	return out, nil
}

// scanWord takes one word, quotes removed; it returns its length and newlines.
func scanWord(s string) (word string, n, newlines int, err error) {
	if s[0] == '"' {
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return "", 0, 0, fmt.Errorf("the quote is not closed")
		}
		word = s[1 : 1+end]
		return strings.Join(strings.Fields(word), ""), end + 2, strings.Count(word, "\n"), nil
	}
	end := strings.IndexAny(s, " \t\r\n#")
	if end < 0 {
		end = len(s)
	}
	return s[:end], end, 0, nil
}

// isOption tells -name from a negative number.
func isOption(w string) bool {
	return len(w) > 1 && w[0] == '-' && (w[1] >= 'a' && w[1] <= 'z' || w[1] >= 'A' && w[1] <= 'Z')
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// take makes an option current and tells whether the file has it. Of several
// spellings the first present one counts.
func (im *importer) take(names ...string) bool {
	if im.err != nil {
		return false
	}
	for _, n := range names {
		im.used[n] = true
	}
	for _, n := range names {
		if o, ok := im.opts[n]; ok {
			im.cur = o
			return true
		}
	}
	return false
}

// fail records the first error, at the current option.
func (im *importer) fail(format string, args ...any) {
	if im.err == nil {
		im.err = fmt.Errorf("%s:%d: %s %s: %s", im.file, im.cur.Line, im.cur.Name, clip(im.cur.Value),
			fmt.Sprintf(format, args...))
	}
}

// warn notes an approximation at the current option.
func (im *importer) warn(format string, args ...any) {
	o := im.cur
	o.Why = fmt.Sprintf(format, args...)
	im.out.Warnings = append(im.out.Warnings, o)
}

// absent notes that a number of the structure is not in the file.
func (im *importer) absent(option, path string) {
	f, _ := lookup(path)
	im.out.Warnings = append(im.out.Warnings,
		Option{Name: option, Why: fmt.Sprintf("not in the file: machine %s keeps %s's %s %s", path, importBase,
			text(f.value(im.m)), f.unit)})
}

// put stores a value and where it comes from.
func (im *importer) put(path, source string, value any) {
	if im.err != nil {
		return
	}
	if err := Apply(im.m, path, fmt.Sprint(value)); err != nil {
		im.fail("%v", err)
		return
	}
	if source == "config" {
		im.from[path] = im.cur
	}
	f, _ := lookup(path)
	ref := map[string]string{
		"config":  im.cur.Name + " of " + filepath.Base(im.file),
		"derived": "derived from options of " + filepath.Base(im.file) + " as GPGPU-Sim derives it",
	}[source]
	im.out.Provenance.put(f, source, ref, im.m.Name, 0)
}

// noMachine says which options the numbers of an error are from, and in which lines.
func (im *importer) noMachine(err error) error {
	at, said, from := im.file, map[string]bool{}, ""
	for _, path := range numberPath.FindAllString(err.Error(), -1) {
		o, ok := im.from[path]
		if !ok || said[o.Name] {
			continue
		}
		if said[o.Name] = true; from == "" {
			at = fmt.Sprintf("%s:%d", im.file, o.Line)
			from = "; these numbers are from "
		} else {
			from += " and "
		}
		from += fmt.Sprintf("line %d, %s %s", o.Line, o.Name, clip(o.Value))
	}
	return fmt.Errorf("%s: the options do not make a machine: %w%s", at, err, from)
}

// numberPath is the name of a machine's number in a text.
var numberPath = regexp.MustCompile(`[a-z0-9_]+(\.[a-z0-9_]+)+`)

// leftovers sorts what nothing asked for into ignored and unmodelled.
func (im *importer) leftovers(list []Option) {
	asked := slices.Sorted(maps.Keys(im.used))
	for _, o := range list {
		if im.used[o.Name] {
			continue
		}
		im.used[o.Name] = true
		if im.apart(im.opts[o.Name]) {
			continue
		}
		why, unmodelled := whyNot(o.Name)
		if why == "" {
			why = "not an option Heddle knows"
			if near := yamldoc.Nearest(o.Name, asked); near != "" {
				why += "; did you mean " + near + "?"
			}
		}
		o = im.opts[o.Name]
		o.Why = why
		if unmodelled {
			im.out.Unmodelled = append(im.out.Unmodelled, o)
		} else {
			im.out.Ignored = append(im.out.Ignored, o)
		}
	}
	im.out.Apart = slices.DeleteFunc(im.out.Apart, func(g Group) bool { return len(g.Options) == 0 })
	for _, l := range [][]Option{im.out.Ignored, im.out.Unmodelled, im.out.Warnings} {
		sort.SliceStable(l, func(i, j int) bool { return l[i].Line < l[j].Line })
	}
}
