// Package facts writes down what a simulation did, as sorted lines of integers, so that two versions of the simulator
// can be compared: counters by table, instance and tenant, kernels, epochs, samples, plans, moves, checks. Rates, the
// spec, hashes and wall time are left out: they are computed from facts, and may be computed differently.
//
// A reader must know two types. Case is a run to compare. Facts is its list of
// lines; Of makes it from a result, OfCalibration from a kernel of the timing
// reference set. How to compare with an earlier version: make facts BASE=REVISION.
package facts

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/lab/calib"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// Facts are lines of "name value", sorted.
type Facts []string

// Of lists the facts of a result.
func Of(r *sim.Result) Facts {
	var f Facts
	f.walk("result", reflect.ValueOf(r).Elem())
	for _, t := range r.Tables {
		for i, v := range t.Instances {
			for c, n := range v {
				f.counter(t.Owner, i, t.Tenant, t.Values[c].Name, n)
			}
		}
	}
	for _, s := range r.Stalls {
		f.add(fmt.Sprintf("stall.%s.%s.%d.%s", s.File, s.Kernel, s.Line, s.Cause), s.Cycles+s.Issues)
	}
	for i := range r.Tenants {
		f.add(fmt.Sprintf("log.%d", i), hash([]byte(strings.Join(r.Tenants[i].Log, "\n"))))
	}
	slices.Sort(f)
	return f
}

// OfCalibration lists the facts of a kernel of the timing reference set.
func OfCalibration(o *calib.Outcome) Facts {
	var f Facts
	f.add("cycles", o.Cycles)
	for i, d := range o.Data {
		f.add(fmt.Sprintf("data.%d", i), hash(d))
	}
	for _, t := range o.GPU.Tables {
		f.table(t)
	}
	slices.Sort(f)
	return f
}

func (f *Facts) table(t *stat.Table) {
	for i := range t.Instances {
		for tenant := range t.Tenants {
			for c, n := range t.Row(i, tenant) {
				f.counter(t.Owner, i, strconv.Itoa(tenant), t.Desc[c].Name, n)
			}
		}
	}
}

// counter notes one of an instance for a tenant.
func (f *Facts) counter(owner string, instance int, tenant, name string, n uint64) {
	if name, ok := called("counter."+owner, name); ok {
		f.add(fmt.Sprintf("counter.%s.%03d.%s.%s", owner, instance, tenant, name), n)
	}
}

// epoch notes the columns of an epoch under the names they once had as fields.
func (f *Facts) epoch(name string, e *sim.EpochTenant) {
	f.add(name+".SMs", uint64(e.SMs))
	f.add(name+".Channels", uint64(e.Channels))
	for i, c := range sim.Columns() {
		if old, ok := called("Column", c.Name); ok {
			f.add(name+"."+old, e.Counts[i])
		}
	}
}

// add notes a number; zeros say nothing.
func (f *Facts) add(name string, n uint64) {
	if n != 0 {
		*f = append(*f, fmt.Sprintf("%s %d", name, n))
	}
}

// walk lists the whole numbers, truths and names in a value.
func (f *Facts) walk(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			f.walk(name, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[sim.EpochTenant]() {
			e := v.Interface().(sim.EpochTenant)
			f.epoch(name, &e)
			return
		}
		for i := range v.NumField() {
			if n, ok := called(v.Type().Name(), v.Type().Field(i).Name); ok {
				f.walk(name+"."+n, v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			f.walk(fmt.Sprintf("%s.%05d", name, i), v.Index(i))
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.add(name, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.add(name, v.Uint())
	case reflect.Bool:
		if v.Bool() {
			f.add(name, 1)
		}
	case reflect.String:
		if s := v.String(); s != "" {
			*f = append(*f, name+" "+s)
		}
	}
}

// Differences lists at most n lines that are in only one of two lists.
func (f Facts) Differences(g Facts, n int) (out []string) {
	i, j := 0, 0
	for (i < len(f) || j < len(g)) && len(out) < n {
		switch {
		case j == len(g) || i < len(f) && f[i] < g[j]:
			out = append(out, "- "+f[i])
			i++
		case i == len(f) || g[j] < f[i]:
			out = append(out, "+ "+g[j])
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return out
}

func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}
