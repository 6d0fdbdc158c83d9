package analyze

import (
	"sort"
	"strings"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Summary describes one function for reports.
type Summary struct {
	Name         string       `json:"name"`
	Kernel       bool         `json:"kernel"`
	Line         int          `json:"line"`
	Instructions int          `json:"instructions"`
	Registers    int          `json:"registers"`         // 32-bit, largest number live at once
	Virtual      int          `json:"virtual_registers"` // declared and used
	Blocks       []BlockInfo  `json:"blocks"`
	Branches     []BranchInfo `json:"branches"` // those that can diverge
	Forms        []FormCount  `json:"forms"`
}

// BlockInfo is a basic block. Lines are lines of the PTX file; PostDom is the index of the
// immediate post-dominator, -1 for the end of the function.
type BlockInfo struct {
	FirstLine int   `json:"first_line"`
	LastLine  int   `json:"last_line"`
	Succ      []int `json:"succ"`
	PostDom   int   `json:"post_dominator"`
}

// BranchInfo says where the lanes that part at a branch meet; Reconverge is 0 when
// they meet only at the end of the function.
type BranchInfo struct {
	Line       int    `json:"line"`
	Text       string `json:"text"`
	Reconverge int    `json:"reconverge_line"`
	Waits      bool   `json:"waits"` // backward branch of a loop that may wait for another thread
}

// FormCount is the static count of an opcode form (opcode and modifiers).
type FormCount struct {
	Form  string `json:"form"`
	Count int    `json:"count"`
}

// Summarize analyses f.
func Summarize(f *parse.Func) Summary {
	g := Build(f)
	live := Live(g)
	s := Summary{
		Name: f.Called, Kernel: f.Entry, Line: f.Line, Instructions: len(f.Instrs), Registers: live.MaxRegs,
		Blocks: []BlockInfo{}, Branches: []BranchInfo{}, Forms: Forms(f),
	}
	for _, span := range live.Spans() {
		if span.Last >= span.First {
			s.Virtual++
		}
	}
	for b, blk := range g.Blocks {
		info := BlockInfo{
			FirstLine: f.Instrs[blk.First].Line, LastLine: f.Instrs[blk.Last].Line,
			Succ: append([]int{}, blk.Succ...), PostDom: g.IPDom[b],
		}
		if info.PostDom == len(g.Blocks) {
			info.PostDom = -1
		}
		s.Blocks = append(s.Blocks, info)
	}
	spins := g.Spins()
	for i, in := range f.Instrs {
		_, targets, falls := Jumps(f, in)
		if len(targets) == 0 || len(targets) == 1 && !falls {
			continue
		}
		b := BranchInfo{Line: in.Line, Text: in.Text, Waits: spins[i]}
		if r := g.Reconverge(i); r >= 0 {
			b.Reconverge = f.Instrs[r].Line
		}
		s.Branches = append(s.Branches, b)
	}
	return s
}

// Forms counts the opcode forms of f, most frequent first.
func Forms(f *parse.Func) []FormCount {
	n := map[string]int{}
	for _, in := range f.Instrs {
		n[strings.Join(append([]string{in.Op}, in.Mods...), ".")]++
	}
	list := make([]FormCount, 0, len(n))
	for form, c := range n {
		list = append(list, FormCount{form, c})
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Count != list[j].Count {
			return list[i].Count > list[j].Count
		}
		return list[i].Form < list[j].Form
	})
	return list
}
