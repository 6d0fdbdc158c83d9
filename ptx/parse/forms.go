package parse

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// What decides whether a form that this front end does not execute is one of PTX, which is not supported yet, or a
// slip: the table of the forms of the ISA.

//go:embed forms.txt
var formText string

// form is a line of the table: an instruction has words of one line only.
type form struct {
	op, isa, target string
	types, mods     map[string]bool
	typed           bool // it has at least one of types
}

// forms lists the lines of each opcode.
var forms = sync.OnceValue(func() map[string][]form {
	table, groups := map[string][]form{}, map[string]string{}
	for _, line := range strings.Split(formText, "\n") {
		cells := strings.Split(line, "|")
		name := strings.TrimSpace(cells[0])
		switch {
		case name == "" || name[0] == '#':
			continue
		case name[0] == '@':
			groups[name] = cells[1]
			continue
		}
		expand := func(cell string) map[string]bool {
			set := map[string]bool{}
			for _, w := range strings.Fields(cell) {
				if w[0] == '@' {
					maps.Copy(set, words(groups[w]))
				} else {
					set[w] = true
				}
			}
			return set
		}
		types, typed := strings.CutPrefix(strings.TrimSpace(cells[3]), "!")
		table[name] = append(table[name], form{
			op: name, isa: strings.TrimSpace(cells[1]), target: "sm_" + strings.TrimSpace(cells[2]),
			types: expand(types), mods: expand(cells[4]), typed: typed,
		})
	}
	return table
})

// strange lists the words of an instruction that are not of the form.
func (f *form) strange(mods []string) (list []string) {
	for _, m := range mods {
		if !f.types[m] && !f.mods[m] {
			list = append(list, m)
		}
	}
	return list
}

// lacksType reports whether the form wants a type and none is given.
func (f *form) lacksType(mods []string) bool {
	return f.typed && !slices.ContainsFunc(mods, func(m string) bool { return f.types[m] })
}

// Since is the first version of the PTX ISA, and target, that has an instruction with these modifiers, as "PTX ISA
// 8.6, sm_100"; "" if none has.
func Since(op string, mods []string) string {
	for _, f := range forms()[op] {
		if len(f.strange(mods)) == 0 && !f.lacksType(mods) {
			return "PTX ISA " + f.isa + ", " + f.target
		}
	}
	return ""
}

// Slip says why no version of the PTX ISA has an instruction with these modifiers, and which one may be meant; "" if
// one has.
func Slip(op string, mods []string) string {
	list := forms()[op]
	written := strings.Join(append([]string{op}, mods...), ".")
	if list == nil {
		return written + " is not an instruction of PTX" + meantOp(op, mods)
	}
	if Since(op, mods) != "" {
		return ""
	}
	known := map[string]bool{}
	var types []string
	for i := range list {
		maps.Copy(known, list[i].types)
		maps.Copy(known, list[i].mods)
		for t := range list[i].types {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	types = slices.Compact(types)
	for _, m := range mods {
		if !known[m] {
			return fmt.Sprintf("%s is no form of %s: PTX has no %s.%s%s", written, op, op, m, meant(m, known, types))
		}
	}
	near := &list[0] // the form with the fewest words too many
	for i := range list {
		if f := &list[i]; len(f.strange(mods)) < len(near.strange(mods)) {
			near = f
		}
	}
	if odd := near.strange(mods); len(odd) > 0 {
		var rest []string
		for _, m := range mods {
			if !slices.Contains(odd, m) {
				rest = append(rest, m)
			}
		}
		if len(rest) == 0 {
			rest = []string{op}
		}
		return fmt.Sprintf("%s is no form of %s: .%s does not go with %s", written, op, strings.Join(odd, " and ."),
			"."+strings.Join(rest, "."))
	}
	return fmt.Sprintf("%s is no form of %s: a type is missing, add one of %s", written, op, dotted(types))
}

func dotted(names []string) string { return "." + strings.Join(names, " .") }

// meant suggests a word for one that an opcode does not have.
func meant(word string, known map[string]bool, types []string) string {
	if t := typeLike(word); t != "" && known[t] {
		return "; did you mean ." + t + "?"
	}
	if near := yamldoc.Nearest(word, slices.Collect(maps.Keys(known))); near != "" {
		return "; did you mean ." + near + "?"
	}
	if _, ok := TypeOf(word); ok || typeLike(word) != "" || looksTyped(word) {
		return "; its types are " + dotted(types)
	}
	return ""
}

// looksTyped reports a letter or two and digits, as names of types are.
func looksTyped(word string) bool {
	stem := strings.TrimRight(word, "0123456789")
	return stem != word && slices.Contains([]string{"b", "u", "s", "i", "f", "bf", "tf", "p"}, stem)
}

// meantOp suggests an opcode, or where a dot is missing in one.
func meantOp(op string, mods []string) string {
	for cut := len(op) - 1; cut > 1; cut-- {
		rest := append([]string{op[cut:]}, mods...)
		if t := typeLike(rest[0]); t != "" {
			rest[0] = t
		}
		if list := forms()[op[:cut]]; list != nil && Slip(op[:cut], rest) == "" {
			return "; did you mean " + op[:cut] + "." + strings.Join(rest, ".") + "?"
		}
	}
	if near := yamldoc.Nearest(op, slices.Collect(maps.Keys(forms()))); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// typeLike is the type of PTX that other languages call by the given name; "" where there is none.
func typeLike(name string) string {
	switch name {
	case "int", "int32", "i32", "s32_t":
		return "s32"
	case "uint", "uint32", "unsigned":
		return "u32"
	case "i8", "i16", "i64":
		return "s" + name[1:]
	case "int8", "int16", "int64":
		return "s" + name[3:]
	case "uint8", "uint16", "uint64":
		return "u" + name[4:]
	case "float", "float32":
		return "f32"
	case "double", "float64":
		return "f64"
	case "half", "float16", "fp16":
		return "f16"
	case "fp32", "fp64":
		return "f" + name[2:]
	case "bool", "i1", "b1":
		return "pred"
	}
	return ""
}

// typeSlip says what is wrong with a word that stands where a type belongs, and "" where nothing near is known.
func typeSlip(word string) string {
	bare := strings.TrimPrefix(word, ".")
	t := typeLike(bare)
	if _, ok := TypeOf(bare); ok {
		t = bare
	}
	if t == "" {
		t = yamldoc.Nearest(bare, typeNames[1:])
	}
	switch {
	case t == "":
		return ""
	case t == bare:
		return ": the dot is missing, write ." + t
	}
	return "; did you mean ." + t + "?"
}
