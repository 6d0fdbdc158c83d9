// Package kernelname gives the kernels of C++ sources the names that their sources have: compilers write
// _Z4axpyifPf for axpy(int, float, float*). A module's kernels are called by the shortest name that tells
// them apart (Short); a user may write any of its forms (Forms). There are no types to know.
package kernelname

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Plain is a symbol as its source has it, with the types of its parameters: axpy<float>(int, float*). A name
// that no C++ compiler has made stays as it is.
func Plain(symbol string) string { return write(symbol, true) }

// write is a symbol in the source's words, with its parameters or without; never with the type it returns.
func write(symbol string, params bool) string {
	if !strings.HasPrefix(symbol, "_Z") {
		return symbol
	}
	tree, err := demangle.ToAST(symbol, demangle.NoRust, demangle.NoClones, demangle.MaxLength(mostLog))
	if err != nil {
		return symbol
	}
	if t, ok := tree.(*demangle.Typed); ok {
		f, isFunction := t.Type.(*demangle.FunctionType)
		switch {
		case isFunction && !params:
			tree = t.Name
		case isFunction:
			tree = &demangle.Typed{Name: t.Name, Type: &demangle.FunctionType{Args: f.Args}}
		}
	}
	return demangle.ASTToString(tree, demangle.NoRust, demangle.NoClones, demangle.MaxLength(mostLog))
}

// mostLog bounds names to 2^mostLog bytes: substitutions of substitutions grow without end.
const mostLog = 12

// Short are the names by which a module's kernels are called: axpy or axpy<float>; with the types of the parameters
// if another kernel has the same name, and the symbol itself if those are equal, too.
func Short(symbols []string) []string {
	short := make([]string, len(symbols))
	uses := map[string]int{}
	for i, s := range symbols {
		short[i] = write(s, false)
		uses[short[i]]++
	}
	for i, s := range symbols {
		if uses[short[i]] > 1 {
			short[i] = Plain(s)
		}
	}
	seen := map[string]int{}
	for _, s := range short {
		seen[s]++
	}
	for i, s := range symbols {
		if seen[short[i]] > 1 {
			short[i] = s
		}
	}
	return short
}

// Forms are the ways to write the name of a kernel, given as its symbol or in any of these forms: the most exact ones
// first, without spaces.
func Forms(name string) []string {
	forms := []string{packed(name)}
	add := func(s string) {
		if s = packed(s); s != "" && !slices.Contains(forms, s) {
			forms = append(forms, s)
		}
	}
	plain := bare(Plain(name))
	add(plain)
	if open := parameters(plain); open > 0 {
		plain = plain[:open]
		add(plain)
	}
	if open := strings.IndexByte(plain, '<'); open > 0 && strings.HasSuffix(plain, ">") {
		add(plain[:open])
	}
	return forms
}

// bare is a name with parameters without the type before it: void axpy<float>(int).
func bare(plain string) string {
	open := parameters(plain)
	if open <= 0 {
		return plain
	}
	name := strings.TrimRight(plain[:open], " ")
	if space := strings.LastIndex(outside(name), " "); space > 0 {
		return plain[space+1:]
	}
	return plain
}

// parameters is where the list of parameters at the end of a name begins; -1: it has none.
func parameters(name string) int {
	if !strings.HasSuffix(name, ")") {
		return -1
	}
	depth := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// outside is a name with everything within brackets blotted out.
func outside(name string) string {
	b, depth := []byte(name), 0
	for i, c := range b {
		switch {
		case c == '<' || c == '(':
			depth++
		case (c == '>' || c == ')') && depth > 0:
			depth--
		case depth == 0:
			continue
		}
		b[i] = '.'
	}
	return string(b)
}

// packed is a name without its spaces, but for those that end a word.
func packed(name string) string { return strings.ReplaceAll(name, " ", "") }

// Find is the one of symbols that name means: a symbol itself, or the only symbol with such a form. If several match,
// the second result lists them.
func Find(name string, symbols []string) (at int, several []int) {
	if i := slices.Index(symbols, name); i >= 0 {
		return i, nil
	}
	for _, form := range []string{packed(name), packed(bare(name))} {
		var hit []int
		for i, s := range symbols {
			if slices.Contains(Forms(s), form) {
				hit = append(hit, i)
			}
		}
		switch {
		case len(hit) == 1:
			return hit[0], nil
		case len(hit) > 1:
			return -1, hit
		}
	}
	return -1, nil
}

// Same says whether a name, written in any form, means the kernel that Short calls short.
func Same(written, kernel string) bool {
	return written == kernel || slices.Contains(Forms(written), packed(kernel))
}
