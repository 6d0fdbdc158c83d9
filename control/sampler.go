package control

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/stat"
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
// all instances together; a slice has an element per instance (SM, LLC slice, channel). A
// counter that sums is read as the difference to the sample before, a gauge or a maximum
// as it stands. A *float64 names two counters that sum, as in `counter:"mdr.hits/mdr.lookups"`,
// and is the first over the second since the sample before; nil where the second stood still.
// A field of any type whose counter is "-" has no machine behind it yet: files fill it, and
// NewSampler refuses it. Fields may be put together in a struct of their own.
//
// An element of Apps may have a slice Kernels, of structs that embed HeldKernel: the kernels
// the application has launched so far, in the order of their first launches, with counters of
// owner "kernel", all sums.

// Source is the source of samples: a run.
type Source interface {
	// Find finds a counter.
	Find(name string) (stat.Counter, error)
	// Held is what an application owns.
	Held(app int) Held
	// FindKernel finds a counter of owner kernel; the result is its place in KernelCounts.Counts.
	FindKernel(name string) (int, error)
	// Kernels are those that an application has launched so far; new ones are appended.
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
	// over is the divisor of a field that is a ratio.
	over *reading
}

// NewSampler finds the counters of a policy's samples for a number of applications. A name that the source does not
// know is an error.
func NewSampler(p Policy, apps int, source Source) (*Sampler, error) {
	s := &Sampler{policy: p, source: source, apps: apps, index: -1, lastKernels: make([][]KernelCounts, apps)}
	err := eachField(p, func(f sampleField) error {
		if f.counter == onlyFiles {
			return fmt.Errorf("no machine counts %s yet: it can only be read from a file of samples", f.name)
		}
		if f.kernels != nil {
			at, err := source.FindKernel(f.counter)
			s.kernels, s.ofKernel = f.kernels, append(s.ofKernel, reading{field: f.index, at: at})
			s.index = f.apps
			return err
		}
		r, err := s.reading(f.counter)
		if err != nil {
			return err
		}
		r.field, r.vector = f.index, f.vector
		if f.over != "" {
			over, err := s.reading(f.over)
			if err != nil {
				return err
			}
			r.over = &over
		}
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

// reading finds a counter and makes room for its last value.
func (s *Sampler) reading(name string) (reading, error) {
	c, err := s.source.Find(name)
	r := reading{counter: c, at: len(s.last)}
	s.last = append(s.last, make([][]uint64, s.apps+1))
	return r, err
}

// Take makes the sample of the time since the previous one. clock gives its time.
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

// read fills one field of v for an application, whose number is who. After the last number it is for all of them.
func (s *Sampler) read(r reading, v reflect.Value, who int) {
	value := s.value(&r, who)
	switch f := v.FieldByIndex(r.field); {
	case r.over != nil:
		if n := s.value(r.over, who)[0]; n > 0 {
			ratio := float64(value[0]) / float64(n)
			f.Set(reflect.ValueOf(&ratio))
		}
	case r.vector:
		f.Set(reflect.ValueOf(value))
	default:
		f.SetUint(value[0])
	}
}

// value is what a counter says now for application number who, or after the last number for all of them: one number,
// or one per instance.
func (s *Sampler) value(r *reading, who int) []uint64 {
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
	return value
}

// onlyFiles stands for the counter of a field that no machine fills yet.
const onlyFiles = "-"

// sampleField is a field of a sample with a counter.
type sampleField struct {
	in            reflect.Type // the struct: sample, application or kernel
	field         reflect.StructField
	name, counter string
	over          string // of a ratio: the counter below the line
	index         []int
	app           bool // of an element of Apps, which is field number apps
	apps          int
	kernels       []int // of an element of Kernels, which is this field of an application
	vector        bool
}

// eachField visits the fields of a policy's samples that a counter fills.
func eachField(p Policy, visit func(sampleField) error) error {
	t := reflect.TypeOf(p.NewSample())
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("a sample is a pointer to a struct, not %v", t)
	}
	t = t.Elem()
	if c, ok := t.FieldByName("Clock"); !ok || c.Type != reflect.TypeFor[Clock]() || !c.Anonymous {
		return fmt.Errorf("sample %s does not embed Clock: write Clock as its first line", t)
	}
	return fields(t, nil, func(f reflect.StructField, index []int) error {
		if f.Name != "Apps" {
			return visitField(t, f, sampleField{index: index}, visit)
		}
		if !structs(f.Type) || len(index) > 1 {
			return &fieldError{t, f, fmt.Sprintf("is %s: Apps is a slice of structs, in the sample itself", f.Type)}
		}
		return fields(f.Type.Elem(), nil, func(g reflect.StructField, at []int) error {
			if g.Name != "Kernels" || !structs(g.Type) {
				return visitField(f.Type.Elem(), g, sampleField{index: at, app: true, apps: index[0]}, visit)
			}
			return fields(g.Type.Elem(), nil, func(h reflect.StructField, of []int) error {
				s := sampleField{index: of, app: true, apps: index[0], kernels: at}
				return visitField(g.Type.Elem(), h, s, visit)
			})
		})
	})
}

func structs(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

// filled are the types that the frame fills.
var filled = []reflect.Type{reflect.TypeFor[Clock](), reflect.TypeFor[Held](), reflect.TypeFor[HeldKernel]()}

// fields visits the fields of a struct, those of structs in it in their place, without those that the frame fills.
// Two fields with the same name in JSON are an error, because neither would be read from files.
func fields(t reflect.Type, before []int, visit func(f reflect.StructField, index []int) error) error {
	if len(before) == 0 {
		if err := ownNames(t, t, map[string]bool{}); err != nil {
			return err
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(append([]int(nil), before...), i)
		switch {
		case slices.Contains(filled, f.Type):
		case f.Type.Kind() == reflect.Struct && (f.Anonymous || f.IsExported()):
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

// ownNames refuses a name in JSON that a struct has twice, embedded structs included.
func ownNames(in, t reflect.Type, seen map[string]bool) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			if err := ownNames(in, f.Type, seen); err != nil {
				return err
			}
			continue
		}
		if name != "" && seen[name] {
			return &fieldError{
				in, f, fmt.Sprintf("has the name %q in JSON, as another field has: give it its own", name),
			}
		}
		seen[name] = true
	}
	return nil
}

// visitField visits field f of struct in, which is, or is part of, a sample.
func visitField(in reflect.Type, f reflect.StructField, s sampleField, visit func(sampleField) error) error {
	s.in, s.field, s.counter = in, f, f.Tag.Get("counter")
	s.name = jsonName(in, s.index)
	s.vector = f.Type == reflect.TypeFor[[]uint64]()
	wrong := func(format string, args ...any) error { return &fieldError{in, f, fmt.Sprintf(format, args...)} }
	above, below, ratio := strings.Cut(s.counter, "/")
	switch {
	case !f.IsExported():
		return wrong("is not exported and cannot be filled: begin its name with a capital letter")
	case s.name == "":
		return wrong("needs a name in JSON, as in `json:\"insts\"`")
	case s.counter == "":
		return wrong("has no counter that fills it: name one, as in `counter:\"sm.thread_insts\"`")
	case s.counter == onlyFiles:
		return visit(s)
	case s.kernels != nil && f.Type.Kind() != reflect.Uint64:
		return wrong("is %s: a counter of a kernel is uint64", f.Type)
	case ratio && f.Type != reflect.TypeFor[*float64]():
		return wrong("is %s: the ratio of two counters is *float64, nil where the second has not moved", f.Type)
	case f.Type == reflect.TypeFor[*float64]() && !ratio:
		return wrong("is a ratio: name two counters, as in `counter:\"sm.thread_insts/sm.cycles\"`")
	case !ratio && !s.vector && f.Type.Kind() != reflect.Uint64:
		return wrong("is %s: a counter is uint64, or []uint64 with an element per instance; *float64 is the ratio "+
			"of two", f.Type)
	}
	if ratio {
		s.counter, s.over = above, below
	}
	return visit(s)
}

// jsonName is the path of a field of a struct in JSON, with points; "" if the field has no name.
func jsonName(t reflect.Type, index []int) string {
	path := ""
	for i := range index {
		f := t.FieldByIndex(index[:i+1])
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			path += "." + name
		} else if !f.Anonymous {
			return ""
		}
	}
	return strings.TrimPrefix(path, ".")
}
