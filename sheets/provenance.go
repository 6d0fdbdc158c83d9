package sheets

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Entry is one number with its unit, meaning and source.
type Entry struct {
	Path      string `json:"path"`
	Value     string `json:"value"`
	Unit      string `json:"unit"`
	Doc       string `json:"doc"`
	Source    string `json:"source"`         // key in the sheet's sources
	Reference string `json:"reference"`      // that source in full
	Sheet     string `json:"sheet"`          // the sheet that states it
	Line      int    `json:"line,omitempty"` // of that sheet; 0: the sheet does not state it
	Set       bool   `json:"set,omitempty"`
}

// Provenance gives the unit, source and meaning of every number of a machine.
type Provenance struct {
	Sheet string // name of the sheet
	File  string // path from which it was read

	at      map[string]Entry
	order   []string // profile rows, which the struct does not list
	sources map[string]string
}

func newProvenance() *Provenance { return &Provenance{at: map[string]Entry{}} }

func (p *Provenance) put(f field, source, reference, sheet string, line int) {
	if _, ok := p.at[f.path]; !ok && strings.HasPrefix(f.path, profilesPath+"[") {
		p.order = append(p.order, f.path)
	}
	p.at[f.path] = Entry{
		Path: f.path, Unit: f.unit, Doc: f.doc, Source: source, Reference: reference, Sheet: sheet,
		Line: line,
	}
}

// drop forgets a path and all below it.
func (p *Provenance) drop(path string) {
	for k := range p.at {
		if strings.HasPrefix(k, path) {
			delete(p.at, k)
		}
	}
	p.order = nil
}

// inherit marks everything so far as taken over for the reason given.
func (p *Provenance) inherit(key, reason string) {
	for k, e := range p.at {
		e.Reference = fmt.Sprintf("%s [%s of %s: %s]", reason, e.Source, e.Sheet, e.Reference)
		e.Source = key
		p.at[k] = e
	}
}

// has says whether any number of a section that can be left out is stated. Numbers in no
// such section are always there.
func (p *Provenance) has(section string) bool {
	if section == "" {
		return true
	}
	for k := range p.at {
		if strings.HasPrefix(k, section+".") {
			return true
		}
	}
	return false
}

func (p *Provenance) overridden(path string) {
	f, ok := lookup(path)
	if !ok {
		return
	}
	e := p.at[path]
	e.Path, e.Unit, e.Doc = path, f.unit, f.doc
	e.Source, e.Reference, e.Set = "override", "set on the command line or in the run file", true
	p.at[path] = e
}

// Lookup is the entry of one path, without its value.
func (p *Provenance) Lookup(path string) (Entry, bool) {
	e, ok := p.at[path]
	return e, ok
}

// located is a list of complaints with the place, in parentheses, that states the number each
// begins with.
func (p *Provenance) located(err error) error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var out []error
	for _, e := range list.Unwrap() {
		path, _, _ := strings.Cut(e.Error(), " ")
		switch at, ok := p.at[path]; {
		case ok && at.Set && at.Line > 0:
			e = fmt.Errorf("%w (set over sheet %s, line %d)", e, at.Sheet, at.Line)
		case ok && at.Line > 0:
			e = fmt.Errorf("%w (sheet %s, line %d)", e, at.Sheet, at.Line)
		}
		out = append(out, e)
	}
	return errors.Join(out...)
}

// List is every number of m in the order of the sheet. Numbers a sheet left out
// because they are optional are listed with the source "default".
func (p *Provenance) List(m *Machine) []Entry {
	var out []Entry
	for _, f := range schema() {
		if f.path == profilesPath {
			out = append(out, p.profiles(m)...)
			continue
		}
		e, ok := p.at[f.path]
		if !ok && f.whole != "" && !p.has(f.whole) {
			continue // the machine has no such part
		}
		if !ok {
			e = Entry{
				Path: f.path, Unit: f.unit, Doc: f.doc, Source: "default", Reference: "not stated: " + f.opt,
				Sheet: p.Sheet,
			}
		}
		e.Value = text(f.value(m))
		out = append(out, e)
	}
	return out
}

func (p *Provenance) profiles(m *Machine) []Entry {
	var out []Entry
	for i := range m.MIG.Profiles {
		prof := &m.MIG.Profiles[i]
		for _, f := range profileSchema() {
			e := p.at[profilesPath+"["+prof.Name+"]."+f.path]
			e.Value = text(f.profileValue(prof))
			out = append(out, e)
		}
	}
	return out
}

// text writes a value the way Apply reads it.
func text(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Array, reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = text(v.Index(i))
		}
		return strings.Join(parts, ",")
	case reflect.Float64:
		return fmt.Sprintf("%g", v.Float())
	}
	return fmt.Sprint(v.Interface())
}
