package emulate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// counting is a loop whose turns are counted in one of the ways that compilers write.
type counting struct {
	cmp, typ        string
	pace            int64
	behind, swapped bool // the comparison comes behind the addition; the counter is its second operand
	not             bool // the branch is taken where the comparison does not hold
	literal         bool // the bound is a number
}

// module has the loop in a kernel of one block: in[tid] gives counter and bound, out[tid] gets what the body computes.
func (c counting) module(bound int64) string {
	bits := c.typ[1:]
	reg := map[string]string{"32": "%r", "64": "%rd"}[bits]
	counter, limit := reg+"10", reg+"11"
	if c.literal {
		limit = fmt.Sprint(bound)
		if c.typ == "u32" {
			limit = fmt.Sprint(uint32(bound))
		} else if c.typ == "u64" {
			limit = fmt.Sprintf("0x%x", uint64(bound))
		}
	}
	set := fmt.Sprintf("setp.%s.%s %%p1, %s, %s;", c.cmp, c.typ, counter, limit)
	if c.swapped {
		set = fmt.Sprintf("setp.%s.%s %%p1, %s, %s;", c.cmp, c.typ, limit, counter)
	}
	step := fmt.Sprintf("add.s%s %s, %s, %d;", bits, counter, counter, c.pace)
	if !c.behind {
		step = set + " " + step
	} else {
		step += " " + set
	}
	guard := "@%p1"
	if c.not {
		guard = "@!%p1"
	}
	narrow := "mov.b32 %r5, %r10;"
	if bits == "64" {
		narrow = "cvt.u32.u64 %r5, %rd10;"
	}
	return fuzzHead + ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + regs + `
	ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x;
	mad.wide.u32 %rd2, %r0, 16, %rd0; mad.wide.u32 %rd3, %r0, 128, %rd1;
	ld.global.u` + bits + ` ` + counter + `, [%rd2]; ld.global.u` + bits + ` ` + reg + `11, [%rd2+8];
	mov.u64 %rd4, %rd3; mov.u32 %r6, 0; mov.u32 %r8, 100;
L:
	` + narrow + `
	mad.lo.u32 %r6, %r6, 33, %r5;
	st.global.u32 [%rd4], %r6;
	mul.lo.u32 %r7, %r8, 3;
	setp.lt.u32 %p2, %r5, 77;
	@%p2 add.u32 %r7, %r7, 1;
	xor.b32 %r6, %r6, %r7;
	add.s64 %rd4, %rd4, 4;
	ld.global.u32 %r9, [%rd4+-4];
	add.u32 %r6, %r6, %r9;
	add.s32 %r8, %r8, -2;
	` + step + `
	` + guard + ` bra L;
	cvt.u64.u32 %rd5, %r7;
	st.global.u32 [%rd3+120], %r6;
	st.global.u32 [%rd3+124], %r7;
	st.global.u32 [%rd3+112], ` + map[string]string{"32": "%r10", "64": "%rd10"}[bits] + `;
	selp.u32 %r7, 1, 2, %p1;
	st.global.u32 [%rd3+116], %r7;
	ret;
}
`
}

// goesOn is what the loop's test says of a counter.
func (c counting) goesOn(counter, bound int64) bool {
	a, b := counter, bound
	if c.swapped {
		a, b = b, a
	}
	var less, same bool
	switch c.typ {
	case "s32":
		less, same = int32(a) < int32(b), int32(a) == int32(b)
	case "u32":
		less, same = uint32(a) < uint32(b), uint32(a) == uint32(b)
	case "s64":
		less, same = a < b, a == b
	case "u64":
		less, same = uint64(a) < uint64(b), a == b
	}
	holds := map[string]bool{
		"lt": less, "lo": less, "le": less || same, "ls": less || same, "gt": !less && !same, "hi": !less && !same,
		"ge": !less, "hs": !less, "ne": !same, "eq": same,
	}[c.cmp]
	return holds != c.not
}

// turns is how often the body runs, or -1 if that is more often than most.
func (c counting) turns(counter, bound int64, most int) int {
	for n := 1; n <= most; n++ {
		next := counter + c.pace
		if c.behind && !c.goesOn(next, bound) || !c.behind && !c.goesOn(counter, bound) {
			return n
		}
		counter = next
	}
	return -1
}

// run executes the module's kernel on the threads' counters and bounds.
func runUnrolled(t *testing.T, text string, unroll bool, in []int64) (out []byte, insts uint64, changed bool) {
	t.Helper()
	m, err := Load("t.ptx", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	sp := mem.NewSpace(0)
	inst, err := m.Bind(sp)
	if err != nil {
		t.Fatal(err)
	}
	threads := len(in) / 2
	src, err := sp.Alloc(int64(16*threads), mem.Device, "in")
	if err != nil {
		t.Fatal(err)
	}
	dst, err := sp.Alloc(int64(128*threads), mem.Device, "out")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range in {
		binary.LittleEndian.PutUint64(src.Data[8*i:], uint64(v))
	}
	params := binary.LittleEndian.AppendUint64(nil, src.Base)
	g, err := inst.Grid(m.Kernels()[0], Launch{
		Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{uint32(threads), 1, 1}, Unroll: unroll,
		Params: binary.LittleEndian.AppendUint64(params, dst.Base),
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := Run(g, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	k := m.Kernels()[0]
	return slices.Clone(dst.Data), n.WarpInsts, unroll && k.unrolled.kernel != k
}

// certain says that the assembler can tell how many turns are left: the counter goes towards the bound.
func (c counting) certain() bool {
	how := signless(c.cmp)
	if c.swapped {
		how = map[string]string{"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne", "eq": "eq"}[how]
	}
	if c.not {
		how = map[string]string{"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq", "eq": "ne"}[how]
	}
	return how == "ne" || how[0] == 'l' && c.pace > 0 || how[0] == 'g' && c.pace < 0
}

func signless(how string) string {
	return map[string]string{
		"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge",
		"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "ne": "ne", "eq": "eq",
	}[how]
}

// An unrolled loop computes what the loop computes, however it counts, and with bounds at the ends of a type's range.
func TestUnrolledLoops(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const most = 25
	tried := 0
	for _, typ := range []string{"s32", "u32", "s64", "u64"} {
		low, high := int64(0), int64(-1)
		switch typ {
		case "s32":
			low, high = -1<<31, 1<<31-1
		case "u32":
			high = 1<<32 - 1
		case "s64":
			low, high = -1<<63, 1<<63-1
		}
		names := []string{"lt", "le", "gt", "ge", "ne", "eq"}
		if typ[0] == 'u' {
			names = append(names, "lo", "ls", "hi", "hs")
		}
		for _, cmp := range names {
			for n := range 48 {
				c := counting{
					cmp: cmp, typ: typ, pace: []int64{1, -1, 3, -4, 32}[rnd.IntN(5)], behind: n&1 > 0, swapped: n&2 > 0,
					not: n&4 > 0, literal: n&8 > 0,
				}
				near := []int64{low, high, 0, 1000, 77}[rnd.IntN(5)]
				fixed := near + int64(rnd.IntN(9)-4)
				var in []int64
				for range 64 {
					bound := fixed
					if !c.literal {
						bound = near + int64(rnd.IntN(9)-4)
					}
					k := 0
					for try := range 200 {
						counter := bound - c.pace*int64(rnd.IntN(most)) + int64(rnd.IntN(3)-1)*int64(try%2)
						if k = c.turns(counter, bound, most); k > 0 {
							in = append(in, counter, bound)
							break
						}
					}
					if k <= 0 {
						break // such a loop never ends
					}
				}
				if len(in) < 128 {
					continue
				}
				plain, _, _ := runUnrolled(t, c.module(fixed), false, in)
				fast, _, unrolled := runUnrolled(t, c.module(fixed), true, in)
				if unrolled != c.certain() {
					t.Errorf("%+v: unrolled %v", c, unrolled)
				}
				if !slices.Equal(plain, fast) {
					for i := range plain {
						if plain[i] != fast[i] {
							k := i / 128
							t.Fatalf("%+v: thread %d, counter %d, bound %d: byte %d is %d, want %d", c, k, in[2*k],
								in[2*k+1], i%128, fast[i], plain[i])
						}
					}
				}
				tried++
			}
		}
	}
	if tried < 300 {
		t.Errorf("%d loops tried", tried)
	}
}

// Of four turns that become one, three tests and branches and three additions to the address and each of two counters
// go, 15 instructions; to read a counter as it is in the second to fourth turn takes six additions. The loop is entered
// and left with six more.
func TestUnrolledInstructions(t *testing.T) {
	in := slices.Repeat([]int64{100, 122}, 64) // 22 turns: five times four, and two
	text := counting{cmp: "lt", typ: "s32", pace: 1, behind: true}.module(0)
	_, plain, _ := runUnrolled(t, text, false, in)
	_, fast, _ := runUnrolled(t, text, true, in)
	if warps := uint64(2); plain-fast != warps*(5*(15-6)-6) {
		t.Errorf("%d warp instructions, %d unrolled", plain, fast)
	}
}
