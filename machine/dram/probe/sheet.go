package probe

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// parseSheet reads a machine sheet, a file with just a dram section (and perhaps a
// clock), or a file of the fields of one. In the last two a value is a plain
// scalar or a [value, unit, source] triple whose unit is checked, and fields left
// out are the reference's: one rank, FR-FCFS, open page, refresh, queues of 32
// reads and 32 writes, watermarks 0.2 and 0.8.
func parseSheet(file string, data []byte) (*Device, error) {
	root, err := yamldoc.Parse(file, data)
	if err != nil {
		return nil, err
	}
	if root.Kind != yamldoc.Map {
		return nil, root.Errorf("a device is `field: value` lines, this is %s", root.Kind)
	}
	if root.Get("base") != nil || root.Get("sm") != nil {
		m, _, err := sheets.Parse(file, data)
		if err != nil {
			return nil, err
		}
		return sheetDevice(file, &m.DRAM, m.Clock.DRAM)
	}
	d := sheets.DRAM{
		Channels: 1, Stacks: 1, Ranks: 1, Queue: 32, WriteQueue: 32, HighWater: 0.8, LowWater: 0.2,
		Refresh: true, Sched: "frfcfs", Page: "open",
	}
	clock := sheets.Clock{}
	fields := root
	if n := root.Get("dram"); n != nil {
		fields = n
	}
	if n := root.Get("clock"); n != nil && n.Kind == yamldoc.Map {
		err = fill(n, "clock", reflect.ValueOf(&clock).Elem())
	} else if n != nil {
		err = scalar(n, "clock", "MHz", reflect.ValueOf(&clock.DRAM).Elem())
	}
	if err != nil {
		return nil, err
	}
	if err := fill(fields, "dram", reflect.ValueOf(&d).Elem()); err != nil {
		return nil, err
	}
	return sheetDevice(file, &d, clock.DRAM)
}

// sheetDevice makes the device of a sheet; mhz is 0 when unknown.
func sheetDevice(file string, s *sheets.DRAM, mhz float64) (*Device, error) {
	d := &Device{Channels: s.Channels}
	var err error
	if d.Config, err = dram.FromSheet(s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d.Config.ReturnLatency = s.Back(mhz)
	if s.Channels < 1 || mhz < 0 {
		return nil, fmt.Errorf("%s: %d channels at %g MHz; both must be positive", file, s.Channels, mhz)
	}
	if mhz > 0 {
		d.TCK = 1000 / mhz
	}
	d.Config.Name, _, _ = strings.Cut(filepath.Base(file), ".")
	d.Config.Return = 0 // the front end takes replies at once
	return d, nil
}

// fill sets the fields of a sheet section by their yaml names. A clock beside the
// fields of a bare file is not one of them.
func fill(n *yamldoc.Node, what string, to reflect.Value) error {
	if n.Kind != yamldoc.Map {
		return n.Errorf("%s must be a mapping (key: value), not %s", what, n.Kind)
	}
	at := map[string]int{}
	names := []string{"clock"}
	for i := range to.NumField() {
		tag := to.Type().Field(i).Tag.Get("yaml")
		at[tag] = i
		names = append(names, tag)
	}
	if what != "dram" {
		names = names[1:]
	}
	if err := n.Only(what, names...); err != nil {
		return err
	}
	for _, k := range n.Keys {
		i, ok := at[k.Name]
		if !ok {
			continue
		}
		var err error
		if f := to.Type().Field(i); f.Type.Kind() == reflect.Struct {
			err = fill(k.Value, k.Name, to.Field(i))
		} else {
			err = scalar(k.Value, k.Name, f.Tag.Get("unit"), to.Field(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scalar sets v from a plain value or a triple in the given unit.
func scalar(n *yamldoc.Node, what, unit string, v reflect.Value) error {
	if n.Kind == yamldoc.List {
		if len(n.Items) != 3 {
			return n.Errorf("%s is [value, unit, source], not %d items", what, len(n.Items))
		}
		if u := n.Items[1]; u.Raw != unit {
			return u.Errorf("%s is in %s, not %s", what, unit, u.Raw)
		}
		n = n.Items[0]
	}
	if v.Kind() == reflect.Int64 { // a capacity
		if n.Kind != yamldoc.Int {
			return n.Errorf("%s must be a whole number, not %s", what, n.Found())
		}
		v.SetInt(n.Int)
		return nil
	}
	return yamldoc.Decode(n, what, v.Addr().Interface())
}
