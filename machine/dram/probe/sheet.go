package probe

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"heddle/machine/dram"
	"heddle/sheets"
)

// parseSheet reads the dram section of a machine sheet, or a file of its fields.
// A value is a plain scalar or a [value, unit, source] triple whose unit is
// checked. Fields left out of a bare file take the reference's defaults: one rank,
// FR-FCFS, open page, refresh, 32 reads and 32 writes, watermarks 0.2 and 0.8.
func parseSheet(file string, data []byte) (*Device, error) {
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", file, yaml.FormatError(err, false, false))
	}
	if len(f.Docs) != 1 {
		return nil, fmt.Errorf("%s: want one YAML document, found %d", file, len(f.Docs))
	}
	s := sheetReader{file: file}
	top, err := s.entries(f.Docs[0].Body)
	if err != nil {
		return nil, err
	}
	sheet := sheets.DRAM{Channels: 1, Stacks: 1, Ranks: 1, Queue: 32, WriteQueue: 32, HighWater: 0.8, LowWater: 0.2,
		Refresh: true, Sched: "frfcfs", Page: "open"}
	d := &Device{}
	fields, whole := top, false
	for _, e := range top {
		if e.Key.String() == "dram" {
			whole = true
			if fields, err = s.entries(e.Value); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range top {
		if e.Key.String() != "clock" {
			continue
		}
		if d.TCK, err = s.clock(e.Value); err != nil {
			return nil, err
		}
		if !whole {
			fields = without(fields, "clock")
		}
	}
	if err := s.fill(fields, reflect.ValueOf(&sheet).Elem()); err != nil {
		return nil, err
	}
	if d.Config, err = dram.FromSheet(&sheet); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if sheet.Channels < 1 {
		return nil, fmt.Errorf("%s: channels must be at least 1, is %d", file, sheet.Channels)
	}
	d.Channels = sheet.Channels
	base := file[strings.LastIndexByte(file, '/')+1:]
	d.Config.Name, _, _ = strings.Cut(base, ".")
	d.Config.Return = 0 // the front end takes replies at once
	return d, nil
}

func without(in []*ast.MappingValueNode, key string) []*ast.MappingValueNode {
	var out []*ast.MappingValueNode
	for _, e := range in {
		if e.Key.String() != key {
			out = append(out, e)
		}
	}
	return out
}

// sheetReader names the file in errors.
type sheetReader struct{ file string }

func (s sheetReader) errorf(n ast.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.file, n.GetToken().Position.Line, fmt.Sprintf(format, args...))
}

// entries are the key-value pairs of a mapping.
func (s sheetReader) entries(n ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	case nil:
		return nil, fmt.Errorf("%s: empty device file", s.file)
	}
	return nil, s.errorf(n, "want `field: value` lines")
}

// clock reads the DRAM clock in MHz, from a clock section or directly.
func (s sheetReader) clock(n ast.Node) (tck float64, err error) {
	var v sheets.Clock
	if es, err := s.entries(n); err == nil {
		err = s.fill(es, reflect.ValueOf(&v).Elem())
		if err != nil {
			return 0, err
		}
	} else if err := s.scalar(n, reflect.ValueOf(&v.DRAM).Elem(), "MHz"); err != nil {
		return 0, err
	}
	if v.DRAM <= 0 {
		return 0, s.errorf(n, "clock.dram must be positive, is %g MHz", v.DRAM)
	}
	return 1000 / v.DRAM, nil
}

// fill sets the fields of a sheet section by their yaml names.
func (s sheetReader) fill(es []*ast.MappingValueNode, to reflect.Value) error {
	for _, e := range es {
		key := strings.Trim(e.Key.String(), `"'`)
		f, ok := fieldByTag(to.Type(), key)
		if !ok {
			return s.errorf(e.Key, "unknown field %q; known are %s", key, tags(to.Type()))
		}
		v := to.FieldByIndex(f.Index)
		if v.Kind() == reflect.Struct {
			sub, err := s.entries(e.Value)
			if err != nil {
				return err
			}
			if err := s.fill(sub, v); err != nil {
				return err
			}
			continue
		}
		if err := s.scalar(e.Value, v, f.Tag.Get("unit")); err != nil {
			return fmt.Errorf("%w (field %s)", err, key)
		}
	}
	return nil
}

func fieldByTag(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func tags(t reflect.Type) string {
	var all []string
	for i := range t.NumField() {
		all = append(all, t.Field(i).Tag.Get("yaml"))
	}
	return strings.Join(all, ", ")
}

// scalar sets v from a plain value or a triple in the given unit.
func (s sheetReader) scalar(n ast.Node, v reflect.Value, unit string) error {
	if seq, ok := n.(*ast.SequenceNode); ok {
		if len(seq.Values) != 3 {
			return s.errorf(n, "want [value, unit, source], got %d items", len(seq.Values))
		}
		if u := text(seq.Values[1]); u != unit {
			return s.errorf(n, "unit is %q, want %q", u, unit)
		}
		n = seq.Values[0]
	}
	word := text(n)
	switch v.Kind() {
	case reflect.String:
		v.SetString(word)
	case reflect.Bool:
		b, err := strconv.ParseBool(word)
		if err != nil {
			return s.errorf(n, "%q is not true or false", word)
		}
		v.SetBool(b)
	case reflect.Float64:
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return s.errorf(n, "%q is not a number", word)
		}
		v.SetFloat(x)
	default:
		x, err := strconv.ParseInt(word, 0, 64)
		if err != nil || v.OverflowInt(x) {
			return s.errorf(n, "%q is not a whole number", word)
		}
		v.SetInt(x)
	}
	return nil
}

// text is the content of a scalar node, without quotes.
func text(n ast.Node) string {
	if q, ok := n.(*ast.StringNode); ok {
		return q.Value
	}
	return n.GetToken().Value
}
