package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab/systems"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// docsCmd writes the documentation that is made from tables: reference pages and man pages.
func docsCmd() *cobra.Command {
	var man bool
	cmd := &cobra.Command{
		Use:   "docs DIR",
		Short: "Write the reference pages, or with --man the man pages, into a folder",
		Long: `Write the pages of docs/reference into DIR: policies, counters, the fields of a machine
sheet and of a run file, and the commands. They come from the tables heddle itself reads.
With --man they are man pages, one for each command.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			if man {
				head := &doc.GenManHeader{Section: "1", Source: "Heddle", Manual: "Heddle", Date: built()}
				cmd.Root().DisableAutoGenTag = true
				return doc.GenManTree(cmd.Root(), head, args[0])
			}
			pages, err := referencePages(cmd.Root())
			if err != nil {
				return err
			}
			for _, p := range pages {
				if err := scratch.WriteWhole(filepath.Join(args[0], p.file), p.text); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&man, "man", false, "write man pages")
	return cmd
}

// built is when the revision this binary was built from was committed; nil, which stands for now, if that is not
// known.
func built() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				return &t
			}
		}
	}
	return nil
}

// docPage is one page of the reference.
type docPage struct {
	file string
	text []byte
}

// referencePages are the pages of docs/reference.
func referencePages(root *cobra.Command) ([]docPage, error) {
	run, err := runFilePage()
	if err != nil {
		return nil, err
	}
	table, err := systems.Table(sheets.Names())
	if err != nil {
		return nil, err
	}
	return []docPage{
		{"policies.md", policiesPage()},
		{"counters.md", countersPage()},
		{"machine.md", machinePage()},
		{"runfile.md", run},
		{"commands.md", commandsPage(root)},
		{"systems.md", systemsPage(table)},
	}, nil
}

// systemsPage says which machine can host which system.
func systemsPage(table [][]systems.Cell) []byte {
	m := newPage("Which machine can host which system",
		"`heddle inspect systems` says the same, and a test runs every cell.")
	m.WriteString("\n" + systems.Legend + "\n")
	m.table(systems.Head(table), systems.Rows(table))
	var what [][]string
	for _, s := range systems.All() {
		what = append(what, []string{s.Name, s.What, code(s.Ask)})
	}
	m.table([]string{"system", "what it does", "run file"}, what)
	m.table([]string{"system", "machines", "what is needed, or why it is refused"}, systems.Reasons(table))
	return m.Bytes()
}

// markdown is a page that grows.
type markdown struct{ bytes.Buffer }

func newPage(title, what string) *markdown {
	m := &markdown{}
	fmt.Fprintf(m, "# %s\n\nWritten by `make docs`; do not edit. %s\n", title, what)
	return m
}

// table writes rows under a head. What would end a cell or a line is escaped.
func (m *markdown) table(head []string, rows [][]string) {
	clean := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;")
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(m, "| %s ", clean.Replace(c))
		}
		m.WriteString("|\n")
	}
	m.WriteString("\n")
	line(head)
	m.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
}

func code(s string) string { return "`" + s + "`" }

func policiesPage() []byte {
	m := newPage("Policies", "What can be chosen by name; `heddle inspect policies` says the same.")
	kind := ""
	var rows [][]string
	var entries []*control.Entry
	flush := func() {
		if len(rows) > 0 {
			m.table([]string{"name", "chosen by", "meaning", "source"}, rows)
		}
		for _, e := range entries {
			m.entry(e)
		}
		rows, entries = nil, nil
	}
	for _, p := range policies() {
		if p.Kind != kind {
			flush()
			kind = p.Kind
			fmt.Fprintf(m, "\n## %s\n", strings.ToUpper(kind[:1])+kind[1:])
		}
		what := p.What
		if p.entry != nil {
			what, entries = p.entry.What, append(entries, p.entry)
		}
		rows = append(rows, []string{code(p.Name), code(p.Where), what, p.Source})
	}
	flush()
	return m.Bytes()
}

// entry describes a machine-wide policy: what it sets, when it decides, what it reads, and its parameters.
func (m *markdown) entry(e *control.Entry) {
	fmt.Fprintf(m, "\n### %s\n\n", e.Name)
	if len(e.Settings) > 0 {
		fmt.Fprintf(m, "- sets: %s\n", strings.Join(e.Settings, ", "))
	}
	fmt.Fprintf(m, "- decides: %s\n", decides(e))
	if reads := sources(e); len(reads) > 0 {
		m.table([]string{"field of its sample", "counter"}, reads)
	}
	if rows := paramRows(e); len(rows) > 0 {
		m.table([]string{"parameter", "default", "unit", "meaning"}, rows)
	}
}

func countersPage() []byte {
	m := newPage("Counters", "What a run counts, per component and application, and what a policy's sample can name "+
		"(`sm.thread_insts`); `heddle inspect counters` says the same.")
	for _, t := range counterTables() {
		fmt.Fprintf(m, "\n## %s\n", t.owner)
		var rows [][]string
		for _, d := range t.desc {
			rows = append(rows, []string{code(d.Name), d.Unit, d.Doc})
		}
		m.table([]string{"counter", "unit", "meaning"}, rows)
	}
	return m.Bytes()
}

func machinePage() []byte {
	m := newPage("Machine sheets", "Every number of a machine, `[value, unit, source]` in the sheet. "+
		"`heddle inspect machine NAME` shows a machine's, `--set PATH=VALUE` overrides one.")
	section := ""
	var rows [][]string
	flush := func() {
		if len(rows) > 0 {
			m.table([]string{"path", "unit", "meaning", "left out"}, rows)
		}
		rows = nil
	}
	for _, f := range sheets.Fields() {
		if top, _, _ := strings.Cut(f.Path, "."); top != section {
			flush()
			section = top
			fmt.Fprintf(m, "\n## %s\n", section)
		}
		left := f.Optional
		if f.Section != "" {
			left = strings.Trim(left+"; with all of "+f.Section, "; ")
		}
		rows = append(rows, []string{code(f.Path), f.Unit, f.Doc, left})
	}
	flush()
	return m.Bytes()
}

// schemaNode is the part of a JSON schema that the page shows.
type schemaNode struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Default     any             `json:"default"`
	Enum        []any           `json:"enum"`
	Properties  json.RawMessage `json:"properties"`
	Items       *schemaNode     `json:"items"`
	OneOf       []schemaNode    `json:"oneOf"`
}

// schemaKey is a key of a map with its value's schema.
type schemaKey struct {
	name string
	node schemaNode
}

// keys are the keys of a map, or of the maps in a list, in the order of the schema. list says that it is a list.
func (n *schemaNode) keys() (all []schemaKey, list bool, err error) {
	raw := json.RawMessage(nil)
	// A map, or a list of such maps: described once, as the list.
	for _, alt := range append([]schemaNode{*n}, n.OneOf...) {
		switch {
		case alt.Items != nil && alt.Items.Properties != nil:
			raw, list = alt.Items.Properties, true
		case alt.Properties != nil && !list:
			raw = alt.Properties
		}
	}
	if raw == nil {
		return nil, false, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, false, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false, err
		}
		k := schemaKey{name: fmt.Sprint(name)}
		if err := d.Decode(&k.node); err != nil {
			return nil, false, err
		}
		all = append(all, k)
	}
	return all, list, nil
}

// kinds are the types a value may have, in YAML's words.
func (n *schemaNode) kinds() string {
	words := map[string]string{"array": "list", "object": "map"}
	var out []string
	for _, alt := range append([]schemaNode{*n}, n.OneOf...) {
		kind := alt.Type
		if w := words[kind]; w != "" {
			kind = w
		}
		if kind != "" && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return strings.Join(out, " or ")
}

// row describes a key: its name, type, meaning and the value where it is left out.
func (k *schemaKey) row(prefix, more string) []string {
	what, left := k.node.Description+more, ""
	for i, v := range k.node.Enum {
		if i == 0 {
			what += ":"
		}
		what += fmt.Sprintf(" `%v`", v)
	}
	if k.node.Default != nil {
		left = fmt.Sprint(k.node.Default)
	}
	return []string{code(prefix + k.name), k.node.kinds(), what, left}
}

// runFilePage has a table of the keys at the top, and one for each of these that has keys of its own.
func runFilePage() ([]byte, error) {
	m := newPage("Run files",
		"The keys of a run file (YAML). Editors read the same from `sim/runfile/runfile.schema.json`. "+
			"A key with `[]` belongs to each element of a list.")
	var top schemaNode
	if err := json.Unmarshal(runfile.Schema(), &top); err != nil {
		return nil, err
	}
	all, _, err := top.keys()
	if err != nil {
		return nil, err
	}
	head := []string{"key", "type", "meaning", "left out"}
	var rows [][]string
	for i := range all {
		rows = append(rows, all[i].row("", ""))
	}
	m.table(head, rows)
	for i := range all {
		rows, err := schemaRows(all[i].name, &all[i].node, all)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			fmt.Fprintf(m, "\n## %s\n", all[i].name)
			m.table(head, rows)
		}
	}
	return m.Bytes(), nil
}

// schemaRows has a row for every key below a node; lists add [] to the prefix. A key that is also a key at the top,
// with the same keys below it, such as memory, is described there.
func schemaRows(prefix string, n *schemaNode, top []schemaKey) (rows [][]string, err error) {
	all, list, err := n.keys()
	if list {
		prefix += "[]"
	}
	for i := range all {
		k := &all[i]
		kinds := k.node.kinds()
		same := func(t schemaKey) bool { return t.name == k.name && t.node.kinds() == kinds }
		if kinds != "string" && slices.ContainsFunc(top, same) {
			rows = append(rows, k.row(prefix+".", fmt.Sprintf("; see [%s](#%[1]s)", k.name)))
			continue
		}
		rows = append(rows, k.row(prefix+".", ""))
		below, err := schemaRows(prefix+"."+k.name, &k.node, top)
		if err != nil {
			return nil, err
		}
		rows = append(rows, below...)
	}
	return rows, err
}

func commandsPage(root *cobra.Command) []byte {
	m := newPage("Commands", "What `heddle help COMMAND` says.")
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.Runnable() {
			long := c.Long
			if long == "" {
				long = c.Short + "."
			}
			fmt.Fprintf(m, "\n## %s\n\n```\n%s\n```\n\n%s\n", c.CommandPath(), c.UseLine(), fenced(long))
			var rows [][]string
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name == "help" || f.Hidden {
					return
				}
				kind, _ := pflag.UnquoteUsage(f)
				name := "--" + f.Name
				if f.Shorthand != "" {
					name = "-" + f.Shorthand + ", " + name
				}
				rows = append(rows, []string{code(strings.TrimSpace(name + " " + kind)), flagText(f)})
			})
			if len(rows) > 0 {
				m.table([]string{"flag", "meaning"}, rows)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	return m.Bytes()
}

// fenced keeps the lines of a help text as they are.
func fenced(s string) string { return "```\n" + strings.TrimSpace(s) + "\n```" }
