package sheets

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Shelf keeps sheets that were read, for callers that resolve many machines of few sheets, as a sweep does: reading
// the text is nearly all of the work. Goroutines may share one; files must not change meanwhile.
type Shelf struct {
	mu   sync.Mutex
	read map[string]shelved
}

type shelved struct {
	file string
	m    *Machine
	prov *Provenance
}

// Resolve is the function of this name.
func (s *Shelf) Resolve(name string, set map[string]string) (*Machine, *Provenance, error) {
	had, err := s.take(name)
	if err != nil {
		return nil, nil, err
	}
	m, prov := reflect.New(reflect.TypeFor[Machine]()), had.prov.clone()
	duplicate(m.Elem(), reflect.ValueOf(had.m).Elem())
	return finish(had.file, m.Interface().(*Machine), prov, set)
}

// take is a sheet as it is written; it is never changed.
func (s *Shelf) take(name string) (had shelved, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had, ok := s.read[name]; ok {
		return had, nil
	}
	file, src, err := find(name, "")
	if err != nil {
		return had, err
	}
	had.file = file
	if had.m, had.prov, err = decode(file, src, 0); err != nil {
		return had, err
	}
	if s.read == nil {
		s.read = map[string]shelved{}
	}
	s.read[name] = had
	return had, nil
}

// finish applies overrides to a sheet that has been read, and validates the outcome.
func finish(file string, m *Machine, prov *Provenance, set map[string]string) (*Machine, *Provenance, error) {
	if err := override(m, prov, set); err != nil {
		return nil, nil, err
	}
	if _, asked := set["dram.capacity"]; !asked && len(set) > 0 {
		m.DRAM.followGeometry()
	}
	if _, asked := set["memory.fast.device.capacity"]; !asked && len(set) > 0 && m.Memory.Given() {
		m.Memory.Fast.Device.followGeometry()
	}
	if err := Validate(m); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, prov.located(err))
	}
	return m, prov, nil
}

// clone is a provenance of its own that says the same.
func (p *Provenance) clone() *Provenance {
	c := *p
	c.at, c.order, c.sources = maps.Clone(p.at), slices.Clone(p.order), maps.Clone(p.sources)
	return &c
}

// duplicate copies a value to another of its type, with lists of its own. A machine has neither pointers nor maps.
func duplicate(to, from reflect.Value) {
	to.Set(from)
	switch from.Kind() {
	case reflect.Struct:
		for i := range from.NumField() {
			duplicate(to.Field(i), from.Field(i))
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		fallthrough
	case reflect.Array:
		for i := range from.Len() {
			duplicate(to.Index(i), from.Index(i))
		}
	}
}
