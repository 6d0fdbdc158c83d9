// Package mixes reads the papers' lists of multi-program workloads, which are data files beside it
// (*.yaml) and name their sources.
//
// A reader must know three types. A List is one paper's file. A Program is one of its benchmarks:
// the paper's abbreviation, its class and the application here. A Set is a named group of mixes, a
// Mix the programs that run together.
//
// A list may name applications that are not written yet; Missing reports it to the runner of a mix.
package mixes

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

//go:embed *.yaml
var files embed.FS

// List is one file.
type List struct {
	Name     string    `yaml:"name"`
	Source   string    `yaml:"source"` // paper and table, and which parts are our reading of it
	Programs []Program `yaml:"programs"`
	CPU      []string  `yaml:"cpu"` // CPU programs, where the paper has some
	Sets     []Set     `yaml:"sets"`
}

// Program is one benchmark of the paper.
type Program struct {
	Key   string `yaml:"key"`   // the paper's abbreviation
	Class string `yaml:"class"` // in the paper's words
	App   string `yaml:"app"`   // folder under apps/
}

// Set is a group of mixes the paper reports together.
type Set struct {
	Name   string `yaml:"name"`
	Source string `yaml:"source"` // how the paper forms the set
	Mixes  []Mix  `yaml:"mixes"`
}

// Mix is the programs that run together. The order counts if the set's source says so.
type Mix struct {
	Name string   `yaml:"name"`
	Apps []string `yaml:"apps"` // keys of Programs
	CPU  []string `yaml:"cpu"`  // CPU programs, two copies each
}

// Names lists the shipped lists.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded directory always reads
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Load reads a shipped list by name, or a file when name has a slash or ends in
// .yaml. Errors name file and line.
func Load(name string) (*List, error) {
	if strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".yaml") {
		src, err := yamldoc.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return Parse(name, src)
	}
	src, err := fs.ReadFile(files, name+".yaml")
	if err != nil {
		return nil, fmt.Errorf("no mix list %q%s", name, yamldoc.DidYouMean(name, Names()))
	}
	return Parse("mixes/"+name+".yaml", src)
}

// Parse reads a list from text; file is its name in messages.
func Parse(file string, src []byte) (*List, error) {
	root, err := yamldoc.Parse(file, src)
	if err != nil {
		return nil, err
	}
	var l List
	if err := yamldoc.Decode(root, "a mix list", &l); err != nil {
		return nil, err
	}
	if l.Name == "" || l.Source == "" {
		return nil, root.Errorf("a mix list needs a name and a source")
	}
	return &l, l.validate(root)
}

// validate looks for names that nothing stands behind and for repetitions.
func (l *List) validate(root *yamldoc.Node) error {
	keys := map[string]bool{}
	var names []string
	for i, p := range l.Programs {
		at := root.Get("programs").Items[i]
		if p.Key == "" || p.App == "" {
			return at.Errorf("a program needs key and app")
		}
		if keys[p.Key] {
			return at.Errorf("program %q stands twice in the list", p.Key)
		}
		keys[p.Key] = true
		names = append(names, p.Key)
	}
	cpu := map[string]bool{}
	for _, c := range l.CPU {
		cpu[c] = true
	}
	for i, s := range l.Sets {
		at := root.Get("sets").Items[i]
		if s.Name == "" || len(s.Mixes) == 0 {
			return at.Errorf("a set needs a name and mixes")
		}
		seen := map[string]bool{}
		for j, m := range s.Mixes {
			at := at.Get("mixes").Items[j]
			if len(m.Apps) == 0 {
				return at.Errorf("mix %q has no apps", m.Name)
			}
			if m.Name == "" || seen[m.Name] {
				return at.Errorf("mix %q: a mix needs a name of its own", m.Name)
			}
			seen[m.Name] = true
			for _, a := range m.Apps {
				if !keys[a] {
					return at.Errorf("program %q is not in the list's programs%s", a, yamldoc.DidYouMean(a, names))
				}
			}
			for _, c := range m.CPU {
				if !cpu[c] {
					return at.Errorf("CPU program %q is not in the list's cpu%s", c, yamldoc.DidYouMean(c, l.CPU))
				}
			}
		}
	}
	return nil
}

// Set is the set with that name; nil when there is none.
func (l *List) Set(name string) *Set {
	for i := range l.Sets {
		if l.Sets[i].Name == name {
			return &l.Sets[i]
		}
	}
	return nil
}

// Program is the program with that key; nil when there is none.
func (l *List) Program(key string) *Program {
	for i := range l.Programs {
		if l.Programs[i].Key == key {
			return &l.Programs[i]
		}
	}
	return nil
}

// Class lists the keys of the programs of a class, in the list's order.
func (l *List) Class(class string) (keys []string) {
	for _, p := range l.Programs {
		if p.Class == class {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

// Missing lists the applications of the list that have no app.star under dir, in
// the list's order.
func (l *List) Missing(dir string) (apps []string) {
	for _, p := range l.Programs {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p.App), "app.star")); err != nil {
			apps = append(apps, p.App)
		}
	}
	return apps
}
