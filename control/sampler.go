package control

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"heddle/stat"
)

// A sample is a struct that a policy defines, such as
//
//	type sample struct {
//		Clock
//		Apps []struct {
//			Held
//			Insts uint64 `json:"insts" counter:"sm.thread_insts"`
//		} `json:"apps"`
//		Busy []uint64 `json:"bus_busy_clocks" counter:"dram.bus_busy"`
//	}
//
// The frame fills Clock and Held; every other field names its counter, as heddle inspect
// counters lists them. A field of an element of Apps is that application's, another one
// everybody's together; a slice has an element per instance (SM, LLC slice, channel). A
// counter that sums is read as the difference to the sample before, a gauge or a maximum
// as it stands. A field of any type whose counter is "-" has no machine behind it yet: files
// fill it, and NewSampler refuses it.
//
// An element of Apps may have a slice Kernels, of structs that embed HeldKernel: the kernels
// the application has launched so far, in the order of their first launches, with counters of
// owner "kernel", all sums.

// Source is what samples are taken from: a run.
type Source interface {
	// Find finds a counter.
	Find(name string) (stat.Counter, error)
	// Held is what an application has.
	Held(app int) Held
	// FindKernel finds a counter of owner kernel; it is a place in KernelCounts.Counts.
	FindKernel(name string) (int, error)
	// Kernels are those an application has launched so far; more may follow behind them.
	Kernels(app int) []KernelCounts
}

// KernelCounts is a kernel and its counters since the run began.
type KernelCounts struct {
	HeldKernel
	Counts []uint64
}

// Sampler takes the samples of one policy.
type Sampler struct {
	policy Policy
	source Source
	apps   int
	all    []reading    // of the sample itself
	each   []reading    // of an application
	index  int          // of the field Apps; -1: none
	last   [][][]uint64 // by reading, application (all: after the applications) and instance

	kernels     []int            // index of the field Kernels in an application; nil: none
	ofKernel    []reading        // of a kernel; at is the place among its counts
	lastKernels [][]KernelCounts // by application
}

// reading is a field of a sample and its counter.
type reading struct {
	field   []int
	counter stat.Counter
	vector  bool // an element per instance
	at      int  // its place in last
}

// NewSampler finds the counters of a policy's samples for so many applications. A name
// that the source does not know is an error.
func NewSampler(p Policy, apps int, source Source) (*Sampler, error) {
	s := &Sampler{policy: p, source: source, apps: apps, index: -1, lastKernels: make([][]KernelCounts, apps)}
	err := eachField(p, func(f sampleField) error {
		if f.counter == onlyFiles {
			return fmt.Errorf("no machine has a counter for %s yet: samples with it come from files", f.name)
		}
		if f.kernels != nil {
			at, err := source.FindKernel(f.counter)
			s.kernels, s.ofKernel = f.kernels, append(s.ofKernel, reading{field: f.index, at: at})
			s.index = f.apps
			return err
		}
		c, err := source.Find(f.counter)
		if err != nil {
			return err
		}
		r := reading{field: f.index, counter: c, vector: f.vector, at: len(s.last)}
		s.last = append(s.last, make([][]uint64, apps+1))
		if f.app {
			s.index = f.apps
			s.each = append(s.each, r)
		} else {
			s.all = append(s.all, r)
		}
		return nil
	})
	if f, ok := reflect.TypeOf(p.NewSample()).Elem().FieldByName("Apps"); ok {
		s.index = f.Index[0]
	}
	return s, err
}

// Take is the sample of what has happened since the one before, at a time that clock
// says.
func (s *Sampler) Take(clock Clock) any {
	out := s.policy.NewSample()
	v := reflect.ValueOf(out).Elem()
	v.FieldByName("Clock").Set(reflect.ValueOf(clock))
	for _, r := range s.all {
		s.read(r, v, s.apps)
	}
	if s.index < 0 {
		return out
	}
	list := v.Field(s.index)
	list.Set(reflect.MakeSlice(list.Type(), s.apps, s.apps))
	for i := range s.apps {
		app := list.Index(i)
		if h := app.FieldByName("Held"); h.IsValid() {
			h.Set(reflect.ValueOf(s.source.Held(i)))
		}
		for _, r := range s.each {
			s.read(r, app, i)
		}
		if s.kernels != nil {
			s.readKernels(app.FieldByIndex(s.kernels), i)
		}
	}
	return out
}

// readKernels fills the list of the kernels of an application.
func (s *Sampler) readKernels(list reflect.Value, app int) {
	now := s.source.Kernels(app)
	if len(now) == 0 {
		return
	}
	list.Set(reflect.MakeSlice(list.Type(), len(now), len(now)))
	for k := range now {
		v := list.Index(k)
		v.FieldByName("HeldKernel").Set(reflect.ValueOf(now[k].HeldKernel))
		for _, r := range s.ofKernel {
			n := now[k].Counts[r.at]
			if k < len(s.lastKernels[app]) {
				n -= s.lastKernels[app][k].Counts[r.at]
			}
			v.FieldByIndex(r.field).SetUint(n)
		}
	}
	s.lastKernels[app] = now
}

// read fills one field of v, for application who or, past the last, for all.
func (s *Sampler) read(r reading, v reflect.Value, who int) {
	now := r.counter.Instances()
	clear(now)
	for t := range s.apps {
		if who == t || who == s.apps {
			r.counter.AddTo(now, t)
		}
	}
	if !r.vector {
		now = []uint64{r.counter.Fold(now)}
	}
	value := now
	if r.counter.Kind() == stat.Sum {
		value = append([]uint64(nil), now...)
		for i, n := range s.last[r.at][who] {
			value[i] -= n
		}
		s.last[r.at][who] = now
	}
	if f := v.FieldByIndex(r.field); r.vector {
		f.Set(reflect.ValueOf(value))
	} else {
		f.SetUint(value[0])
	}
}

// onlyFiles stands for the counter of a field that no machine fills yet.
const onlyFiles = "-"

// sampleField is a field of a sample with a counter.
type sampleField struct {
	name, counter string
	index         []int
	app           bool // of an element of Apps, which is field number apps
	apps          int
	kernels       []int // of an element of Kernels, which is this field of an application
	vector        bool
}

// eachField visits the fields of a policy's samples that a counter fills.
func eachField(p Policy, visit func(sampleField) error) error {
	t := reflect.TypeOf(p.NewSample()).Elem()
	if t.Kind() != reflect.Struct {
		return fmt.Errorf("a sample is a struct, not %s", t)
	}
	if c, ok := t.FieldByName("Clock"); !ok || c.Type != reflect.TypeFor[Clock]() {
		return fmt.Errorf("sample %s does not embed Clock", t)
	}
	return fields(t, nil, func(f reflect.StructField, index []int) error {
		if f.Name == "Apps" && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			return fields(f.Type.Elem(), nil, func(g reflect.StructField, at []int) error {
				if g.Name == "Kernels" && g.Type.Kind() == reflect.Slice && g.Type.Elem().Kind() == reflect.Struct {
					return fields(g.Type.Elem(), nil, func(h reflect.StructField, of []int) error {
						return visitField(t, h, sampleField{index: of, app: true, apps: index[0], kernels: at}, visit)
					})
				}
				return visitField(t, g, sampleField{index: at, app: true, apps: index[0]}, visit)
			})
		}
		return visitField(t, f, sampleField{index: index}, visit)
	})
}

// filled are the types of what the frame fills.
var filled = []reflect.Type{reflect.TypeFor[Clock](), reflect.TypeFor[Held](), reflect.TypeFor[HeldKernel]()}

// fields visits the fields of a struct, those of embedded ones in their place, without
// what the frame fills.
func fields(t reflect.Type, before []int, visit func(f reflect.StructField, index []int) error) error {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), before...), i)
		switch {
		case slices.Contains(filled, f.Type):
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			if err := fields(f.Type, index, visit); err != nil {
				return err
			}
		default:
			if err := visit(f, index); err != nil {
				return err
			}
		}
	}
	return nil
}

func visitField(t reflect.Type, f reflect.StructField, s sampleField, visit func(sampleField) error) error {
	s.counter = f.Tag.Get("counter")
	s.name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	s.vector = f.Type == reflect.TypeFor[[]uint64]()
	switch {
	case !f.IsExported() || s.name == "":
		return fmt.Errorf("sample %s: field %s needs a name in JSON", t, f.Name)
	case s.counter == "":
		return fmt.Errorf("sample %s: nobody fills field %s: name its counter, as in `counter:\"sm.thread_insts\"`", t,
			f.Name)
	case s.counter == onlyFiles:
		return visit(s)
	case s.kernels != nil && f.Type.Kind() != reflect.Uint64, !s.vector && f.Type.Kind() != reflect.Uint64:
		return fmt.Errorf("sample %s: field %s is %s; counters are uint64, or []uint64 per instance", t, f.Name, f.Type)
	}
	return visit(s)
}
