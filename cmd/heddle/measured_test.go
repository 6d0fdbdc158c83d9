package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
)

// figureDocs are the documents in which figures need a source. PERFORMANCE.md, docs/reference and the reports are
// generated as a whole.
var figureDocs = []string{
	"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "DEVIATIONS.md", "METRICS.md", "RATIONALE.md",
	"docs/commands.md", "docs/tutorial.md", "paper/README.md", "lab/silicon/README.md", "apps/README.md",
	"host/script/README.md",
}

// documents are figureDocs and the pages of the applications.
func documents(t *testing.T, root string) []string {
	apps, err := filepath.Glob(filepath.Join(root, "apps", "*", "*", "README.md"))
	if err != nil || len(apps) < 40 {
		t.Fatal(apps, err)
	}
	all := slices.Clone(figureDocs)
	for _, a := range apps {
		name, err := filepath.Rel(root, a)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, filepath.ToSlash(name))
	}
	return all
}

// measurement is a row of docs/measured.csv: a figure that was measured once, because it takes too long to measure with
// every `make docs`, or needs a build that is gone.
type measurement struct{ id, figure, what, date, revision, how string }

func readMeasured(root string) ([]measurement, error) {
	f, err := os.Open(filepath.Join(root, "docs", "measured.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 6
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	var all []measurement
	for _, l := range lines[1:] {
		all = append(all, measurement{l[0], l[1], l[2], l[3], l[4], l[5]})
	}
	return all, nil
}

// measuredPage is docs/measured.md.
func measuredPage(rows []measurement) string {
	var b strings.Builder
	b.WriteString("# Measured once\n\nWritten by `make docs` from measured.csv; do not edit. Documents link to these " +
		"figures, and `make docs` writes the figure into the link.\nThese figures take long to measure, or need a " +
		"build that no longer exists. They are not measured again with every change.\n")
	for _, m := range rows {
		fmt.Fprintf(&b, "\n## %s\n\n**%s**: %s. Measured on %s, revision %s: %s.\n",
			m.id, m.figure, m.what, m.date, m.revision, m.how)
	}
	return b.String()
}

var measuredLink = regexp.MustCompile(`\[([^\]]+)\](\([\w./]*measured\.md#([\w-]+)\))`)

// withMeasured is a document whose links to measured figures have the figures of docs/measured.csv; used counts them.
func withMeasured(text string, rows []measurement, used map[string]int) (string, error) {
	var err error
	text = measuredLink.ReplaceAllStringFunc(text, func(link string) string {
		m := measuredLink.FindStringSubmatch(link)
		i := slices.IndexFunc(rows, func(r measurement) bool { return r.id == m[3] })
		if i < 0 {
			err = fmt.Errorf("docs/measured.csv has no figure %s", m[3])
			return link
		}
		used[m[3]]++
		if slices.Equal(strings.Fields(m[1]), strings.Fields(rows[i].figure)) {
			return link // perhaps over two lines
		}
		return "[" + rows[i].figure + "]" + m[2]
	})
	return text, err
}

// TestMeasuredFigures: docs/measured.md has the rows of docs/measured.csv, links to it have their figures, each row is
// used, and has a date and a revision.
func TestMeasuredFigures(t *testing.T) {
	root := filepath.Join("..", "..")
	rows, err := readMeasured(root)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(file, got, want string) {
		path := filepath.Join(root, file)
		switch {
		case got == want:
		case *updateDocs:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not what docs/measured.csv says: make docs", file)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "measured.md"))
	if err != nil && !*updateDocs {
		t.Fatal(err)
	}
	compare("docs/measured.md", string(page), measuredPage(rows))
	used := map[string]int{}
	for _, file := range figureDocs {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		want, err := withMeasured(string(text), rows, used)
		if err != nil {
			t.Fatal(file, err)
		}
		compare(file, string(text), want)
	}
	revision := regexp.MustCompile(`^[0-9a-f]{8}$`)
	seen := map[string]bool{}
	for _, m := range rows {
		_, err := time.Parse(time.DateOnly, m.date)
		if err != nil || !revision.MatchString(m.revision) || m.how == "" || seen[m.id] {
			t.Errorf("docs/measured.csv: %+v lacks a date, a revision or a command, or its name stands twice", m)
		}
		if seen[m.id] = true; used[m.id] == 0 {
			t.Errorf("docs/measured.csv: no document uses %s", m.id)
		}
	}
}

var (
	generatedPart = regexp.MustCompile(`(?s)<!-- begin (\w+) -->.*?<!-- end (\w+) -->`)
	fencedCode    = regexp.MustCompile("(?ms)^```.*?^```$")
	indentedCode  = regexp.MustCompile(`(?m)^    .*$`)
	codeSpan      = regexp.MustCompile("`[^`]*`")
	anyLink       = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	newItem       = regexp.MustCompile(`^(- |\* |\d+\. |\| |#)`)
	// measure is a number that somebody measured or set: a share, a ratio, a time or a rate.
	measure = regexp.MustCompile(`\d ?%|\d times\b|\d( thousand| million| K| M)? ([A-Za-z]+ )?cycles\b|` +
		`\d (ns|us|ms|s|seconds|minutes)\b|\d ?[GM]B/s|\d ?(K|M|k|million) [a-z]+s/s|\b0\.\d+ of\b`)
	// outside names what a figure comes from if it is not Heddle's: a paper, a standard, another program, a data sheet.
	outside = regexp.MustCompile(`\b([Ss]ections?|[Cc]hapters?|Figures?|Tables?|[Ee]quations?) \d|` +
		`\bpaper('s)?\b|\bdissertation\b|\bsimulator's\b|\bpublic (simulator|logs)\b|\bCUDA\b|\bNVIDIA|` +
		`\bPLOS\b|\bJia et al|\bGPGPU-Sim\b|\bSlurm\b|\bWanted\b`)
)

// result is a sentence on speed. A figure in it was measured: settings and files are no source of it.
var (
	result   = regexp.MustCompile(`\b(faster|slower|as fast|as long|less time|more time|speed|loses|gains?)\b`)
	sentence = regexp.MustCompile(`[.!?:|] `)
)

// typedResult is a sentence with a measured figure that neither docs/measured.csv nor an outside source has; "" if all
// have one.
func (x item) typedResult() string {
	for _, s := range sentence.Split(measuredLink.ReplaceAllString(codeSpan.ReplaceAllString(x.text, ""), ""), -1) {
		if result.MatchString(s) && measure.MatchString(s) && !outside.MatchString(s) {
			return s
		}
	}
	return ""
}

// item is a paragraph, a point of a list or a row of a table, with the paragraph before its list or table.
type item struct{ lead, text string }

// items are the items of a document, without generated parts and code.
func items(text string) (all []item) {
	for _, drop := range []*regexp.Regexp{generatedPart, fencedCode, indentedCode} {
		text = drop.ReplaceAllString(text, "")
	}
	lead, at := "", ""
	end := func() {
		if at = strings.Join(strings.Fields(at), " "); at == "" {
			return
		}
		if !newItem.MatchString(at + " ") {
			lead = ""
		}
		all = append(all, item{lead, at})
		if !newItem.MatchString(at + " ") {
			lead = at
		}
		at = ""
	}
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "":
			end()
		case newItem.MatchString(trimmed):
			end()
			at = line
		default:
			at += line
		}
	}
	end()
	return all
}

// settingNames are the names that a figure can have: fields of sheets, keys of run files, policies' parameters.
func settingNames(t *testing.T) map[string]bool {
	names := map[string]bool{}
	for _, f := range sheets.Fields() {
		names[f.Path] = true
	}
	for _, e := range control.All() {
		for _, p := range e.Params {
			names[p.Name] = true
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "runfile.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		names[m[1]] = true
	}
	return names
}

// hasSource says whether an item names where its figures come from.
func (x item) hasSource(root, dir string, settings map[string]bool) bool {
	text := x.lead + " " + x.text
	if outside.MatchString(text) {
		return true
	}
	there := func(name string) bool {
		for _, from := range []string{root, dir} {
			for _, ext := range []string{".go", ".csv", ".txt", ".md", ".yaml"} {
				if strings.HasSuffix(name, ext) {
					if _, err := os.Stat(filepath.Join(from, filepath.FromSlash(name))); err == nil {
						return true
					}
				}
			}
		}
		return false
	}
	for _, m := range anyLink.FindAllStringSubmatch(text, -1) {
		to, _, _ := strings.Cut(m[1], "#")
		if there(to) {
			return true
		}
	}
	for _, span := range codeSpan.FindAllString(text, -1) {
		span = strings.Trim(span, "`")
		name, _, _ := strings.Cut(strings.TrimPrefix(span, "--set "), ":")
		name, _, _ = strings.Cut(name, "=")
		if settings[name] || there(span) {
			return true
		}
	}
	return false
}

// TestFiguresHaveSources: a share, a ratio, a time or a rate in a document stands in a generated part, or links to
// docs/measured.md, or its paragraph, point or row names its source: a setting, a file of the repository, a paper,
// another program. A sentence on speed needs the link, or an outside source in the sentence itself. A figure without a
// source goes stale, and no reader can tell.
func TestFiguresHaveSources(t *testing.T) {
	root := filepath.Join("..", "..")
	settings := settingNames(t)
	for text, want := range map[string]bool{
		"A run is 1.4 times as fast.":                             false,
		"The driver takes `uvm.fault`, 45 us.":                    true,
		"The driver takes `uvm.nothing`, 45 us.":                  false,
		"The paper has 40 GPU cycles.":                            true,
		"It gains 3 % ([here](METRICS.md)).":                      true,
		"It gains 3 % ([here](NOTHING.md)).":                      false,
		"Limits (`lab/equalwork.go`):\n\n- above 10 %, a warning": true,
		"Limits:\n\n- above 10 %, a warning":                      false,
	} {
		all := items(text)
		if x := all[len(all)-1]; !measure.MatchString(x.text) || x.hasSource(root, root, settings) != want {
			t.Errorf("%q: has a source is not %v", text, want)
		}
	}
	for text, typed := range map[string]bool{
		"A run is 3 % faster (`lab/equalwork.go`).":            true,
		"A run is [3 %](docs/measured.md#x) faster.":           false,
		"It is 3 % slower. The paper says nothing of 5 %.":     true,
		"The paper's machine is 3 % slower.":                   false,
		"If the bias exceeds 10 % (`lab/equalwork.go`), stop.": false,
	} {
		if got := items(text)[0].typedResult(); (got != "") != typed {
			t.Errorf("%q: typed result %q", text, got)
		}
	}
	for _, file := range documents(t, root) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range items(string(text)) {
			if s := x.typedResult(); s != "" {
				t.Errorf("%s: a measured figure belongs into docs/measured.csv, and a link to it here: %s", file, s)
			}
			plain := codeSpan.ReplaceAllString(x.text, "")
			plain = measuredLink.ReplaceAllString(plain, "")
			if !slices.Contains(figureDocs, file) {
				continue // of an application: it describes an algorithm and its inputs
			}
			dir := filepath.Join(root, filepath.Dir(file))
			if m := measure.FindString(plain); m != "" && !x.hasSource(root, dir, settings) {
				t.Errorf("%s: where does %q come from? %s", file, m, x.text)
			}
		}
	}
	if len(settings) < 200 {
		t.Errorf("only %v", slices.Sorted(maps.Keys(settings)))
	}
}
