package control

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/stat"
)

// kinds knows three counters.
func kinds(name string) (stat.Kind, error) {
	switch name {
	case "sm.thread_insts", "sm.cycles", "kernel.thread_insts":
		return stat.Sum, nil
	case "vm.pages":
		return stat.Gauge, nil
	}
	return 0, fmt.Errorf("a counter that is not there: %s", name)
}

// sound is an entry that Check has nothing against; its file is that of observe.
func sound() Entry {
	return Entry{
		Name: "observe", Source: "a test", What: "does nothing", Period: 1000,
		Params: []Param{{Name: "step", Default: 2, Unit: "SMs", Doc: "how many move", Least: 1, Most: 4, Whole: true}},
		Make:   func(Machine, func(string) float64) Policy { return nothing[struct{ Clock }]() },
	}
}

func nothing[S any]() Policy { return Of(func(*S) Plan { return nil }) }

// readingOf is a sound entry whose samples are S.
func readingOf[S any]() Entry {
	e := sound()
	e.Make = func(Machine, func(string) float64) Policy { return nothing[S]() }
	return e
}

func with(change func(*Entry)) Entry {
	e := sound()
	change(&e)
	return e
}

type own struct {
	Clock
	Rate float64 `json:"rate" counter:"sm.thread_insts/sm.cycles"`
}

type crossed struct {
	Held
	Mine uint64 `json:"sms" counter:"sm.thread_insts"`
}

// nobodys is a policy whose samples are no structs.
type nobodys struct{}

func (nobodys) NewSample() any  { return 7 }
func (nobodys) Decide(any) Plan { return nil }

// Check finds a policy that is wrong, whatever is wrong with it, and says what to write.
func TestCheck(t *testing.T) {
	if err := Check(append(All(), with(func(e *Entry) { e.Name = "sampler" })), func(string) (stat.Kind, error) {
		return stat.Sum, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := Check([]Entry{readingOf[struct {
		Clock
		Apps []struct {
			Held
			Insts   uint64   `json:"insts" counter:"sm.thread_insts"`
			Rate    *float64 `json:"rate" counter:"sm.thread_insts/sm.cycles"`
			Kernels []struct {
				HeldKernel
				Insts uint64 `json:"insts" counter:"kernel.thread_insts"`
			} `json:"kernels"`
		} `json:"apps"`
		Pages []uint64 `json:"pages" counter:"vm.pages"`
		Later float64  `json:"later" counter:"-"`
	}]()}, kinds); err != nil {
		t.Error(err)
	}
	for want, e := range map[string]Entry{
		"field own.Rate is float64: the ratio of two counters is *float64": readingOf[own](),
		"field X is float64: a counter is uint64, or []uint64": readingOf[struct {
			Clock
			X float64 `json:"x" counter:"sm.thread_insts"`
		}](),
		"field X is a ratio: name two counters, as in `counter:\"sm.": readingOf[struct {
			Clock
			X *float64 `json:"x" counter:"sm.thread_insts"`
		}](),
		"field X is a ratio, and vm.pages does not sum up: name two": readingOf[struct {
			Clock
			X *float64 `json:"x" counter:"sm.thread_insts/vm.pages"`
		}](),
		`field X reads sm.insts: a counter that is not there: sm.insts`: readingOf[struct {
			Clock
			X uint64 `json:"x" counter:"sm.insts"`
		}](),
		"field x is not exported and cannot be filled: begin": readingOf[struct {
			Clock
			x uint64 `counter:"sm.thread_insts"`
		}](),
		`field crossed.Mine has the name "sms" in JSON`: readingOf[struct {
			Clock
			Apps []crossed `json:"apps"`
		}](),
		"field X needs a name in JSON": readingOf[struct {
			Clock
			X uint64 `counter:"sm.thread_insts"`
		}](),
		"field X has no counter that fills it": readingOf[struct {
			Clock
			X uint64 `json:"x"`
		}](),
		"field Apps is map[string]int: Apps is a slice of structs": readingOf[struct {
			Clock
			Apps map[string]int `json:"apps"`
		}](),
		"field Insts reads sm.thread_insts, but the counters of a kernel are called kernel.NAME": readingOf[struct {
			Clock
			Apps []struct {
				Kernels []struct {
					Insts uint64 `json:"insts" counter:"sm.thread_insts"`
				} `json:"kernels"`
			} `json:"apps"`
		}](),
		"does not embed Clock: write Clock as its first line": readingOf[struct{}](),
		"a sample is a pointer to a struct, not int": with(func(e *Entry) {
			e.Make = func(Machine, func(string) float64) Policy { return nobodys{} }
		}),

		"Entry has no Name":                   with(func(e *Entry) { e.Name = "" }),
		"Entry has no Source":                 with(func(e *Entry) { e.What = "" }),
		"it would never decide":               with(func(e *Entry) { e.Period = 0 }),
		"Entry has no Make":                   with(func(e *Entry) { e.Make = nil }),
		`Settings names "sm", which does not`: with(func(e *Entry) { e.Settings = []string{"sm"} }),
		`Epoch names "turn", which is`:        with(func(e *Entry) { e.Epoch = "turn" }),
		"there is no file control/so_and_so.go: the file of a policy has its name": with(func(e *Entry) {
			e.Name = "so-and-so"
		}),
		"Files names gone.go, which is not": with(func(e *Entry) { e.Files = []string{"gone.go"} }),
		"parameter step has no Default in its range: it is 0 (0 where it is left out), the range is 1 to 4": with(
			func(e *Entry) { e.Params[0].Default = 0 }),
		"parameter step has no Default in its range: it is NaN": with(func(e *Entry) {
			e.Params[0].Default = math.NaN()
		}),
		"parameter step is Whole, and its Default is 1.5": with(func(e *Entry) { e.Params[0].Default = 1.5 }),
		"parameter step: Least 9 is above Most 4":         with(func(e *Entry) { e.Params[0].Least = 9 }),
		`parameter "step" lacks a Name, a Unit or a Doc`:  with(func(e *Entry) { e.Params[0].Unit = "" }),
		"parameter step has 2 Choices: declare it Whole, from 0 to 1": with(func(e *Entry) {
			e.Choices = map[string][]string{"step": {"few", "many"}}
		}),
		`Params has "step" twice: give each parameter a name`: with(func(e *Entry) {
			e.Params = append(e.Params, e.Params[0])
		}),
		`it reads parameter "stop", which is not in Params: decl`: with(func(e *Entry) { e.Make = gets("stop") }),
		"Make returns nil": with(func(e *Entry) { e.Make = func(Machine, func(string) float64) Policy { return nil } }),
		"it panics with its default parameters: runtime error: index": with(func(e *Entry) { e.Make = gets("") }),
		"its Check refuses its own default parameters: never": with(func(e *Entry) {
			e.Check = func(func(string) float64) error { return fmt.Errorf("never") }
		}),
	} {
		err := Check([]Entry{e}, kinds)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "control/") {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	twice := []Entry{sound(), sound()}
	if err := Check(twice, kinds); err == nil || !strings.Contains(err.Error(), "has this name too") {
		t.Error(err)
	}
	two := []Entry{readingOf[own](), with(func(e *Entry) { e.Make = nil })}
	if err := Check(two, kinds); err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("an error for each policy: %v", err)
	}
}

// gets makes a policy that asks for a parameter, or panics.
func gets(name string) func(Machine, func(string) float64) Policy {
	return func(_ Machine, get func(string) float64) Policy {
		if name == "" {
			_ = []int{}[len(name)]
		}
		get(name)
		return nothing[struct{ Clock }]()
	}
}

// An error of a field has the line in the policy's file.
func TestCheckFindsTheLine(t *testing.T) {
	const text = "package control\n\ntype s struct {\n\tClock\n" +
		"\tRate  float64 `json:\"rate\" counter:\"sm.thread_insts/sm.cycles\"`\n}\n"
	e := readingOf[own]()
	c := entryCheck{entry: &e, kind: kinds}
	var field *fieldError
	if !errors.As(c.all(), &field) || field.line(text) != 5 || field.line("package control\n") != 0 {
		t.Errorf("%+v", field)
	}
}
