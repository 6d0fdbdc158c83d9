package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab/systems"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// docsCmd writes what documentation is made of tables: reference pages and man pages.
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

// built is when the revision this binary was built from was committed; nil, which stands for
// now, where nobody knows.
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

// systemsPage tells which machine can host which system.
func systemsPage(table [][]systems.Cell) []byte {
	m := newPage("Which machine can host which system",
		"`heddle inspect systems` says the same, and a test runs every cell.")
	m.WriteString("\nyes: works. set: works; a run sets what the machine lacks. -: refused.\n")
	m.table(systems.Head(table), systems.Rows(table))
	var what [][]string
	for _, s := range systems.All() {
		what = append(what, []string{s.Name, s.What})
	}
	m.table([]string{"system", "what it is, and how a run file asks for it"}, what)
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
	flush := func() {
		if len(rows) > 0 {
			m.table([]string{"name", "chosen by", "meaning", "source"}, rows)
		}
		rows = nil
	}
	for _, p := range policies() {
		if p.Kind != kind {
			flush()
			kind = p.Kind
			fmt.Fprintf(m, "\n## %s\n", strings.ToUpper(kind[:1])+kind[1:])
		}
		rows = append(rows, []string{code(p.Name), code(p.Where), p.What, p.Source})
	}
	flush()
	return m.Bytes()
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

// schemaNode is the part of a JSON schema that the page tells.
type schemaNode struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Default     any             `json:"default"`
	Enum        []any           `json:"enum"`
	Properties  json.RawMessage `json:"properties"`
	Items       *schemaNode     `json:"items"`
	OneOf       []schemaNode    `json:"oneOf"`
}

func runFilePage() ([]byte, error) {
	m := newPage("Run files",
		"The keys of a run file (YAML). Editors read the same from `sim/runfile/runfile.schema.json`.")
	var top schemaNode
	if err := json.Unmarshal(runfile.Schema(), &top); err != nil {
		return nil, err
	}
	var rows [][]string
	if err := schemaRows(&rows, "", &top); err != nil {
		return nil, err
	}
	m.table([]string{"key", "type", "meaning", "left out"}, rows)
	return m.Bytes(), nil
}

// schemaRows adds a row for every key below a node; lists add [] to the key.
func schemaRows(rows *[][]string, prefix string, n *schemaNode) error {
	for _, alt := range append([]schemaNode{*n}, n.OneOf...) {
		if alt.Items != nil {
			if err := schemaRows(rows, strings.TrimSuffix(prefix, ".")+"[].", alt.Items); err != nil {
				return err
			}
		}
		if alt.Properties == nil {
			continue
		}
		keys := json.NewDecoder(bytes.NewReader(alt.Properties)) // in the order of the schema
		if _, err := keys.Token(); err != nil {
			return err
		}
		for keys.More() {
			name, err := keys.Token()
			if err != nil {
				return err
			}
			var sub schemaNode
			if err := keys.Decode(&sub); err != nil {
				return err
			}
			what, left := sub.Description, ""
			for i, v := range sub.Enum {
				if i == 0 {
					what += ":"
				}
				what += fmt.Sprintf(" `%v`", v)
			}
			if sub.Default != nil {
				left = fmt.Sprint(sub.Default)
			}
			*rows = append(*rows, []string{code(prefix + fmt.Sprint(name)), sub.Type, what, left})
			if err := schemaRows(rows, prefix+fmt.Sprint(name)+".", &sub); err != nil {
				return err
			}
		}
	}
	return nil
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
