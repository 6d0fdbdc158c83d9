package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// dims reads "x[,y[,z]]".
func dims(s, flag string) (d [3]uint32, err error) {
	d = [3]uint32{1, 1, 1}
	parts := strings.Split(s, ",")
	if len(parts) > 3 {
		return d, fmt.Errorf("--%s %q has more than three numbers", flag, s)
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil {
			return d, fmt.Errorf("--%s %q: %q is not a number of 1 or more", flag, s, p)
		}
		d[i] = uint32(v)
	}
	return d, nil
}

// ptxArgList is the decoded --arg list: parameter bytes and the buffers among them.
type ptxArgList struct {
	params []byte
	bufs   map[int]ptxBuf // by argument
	n      int
}

type ptxBuf struct {
	typ    parse.Type
	region *mem.Region
}

// ptxBuffer is a buffer after the run; First holds numbers, or strings for values
// JSON cannot express (NaN, infinities).
type ptxBuffer struct {
	Arg   int    `json:"arg"`
	Type  string `json:"type"`
	Count int    `json:"count"`
	First []any  `json:"first"`
}

func ptxArgs(sp *mem.Space, k *emulate.Kernel, list []string, seed uint64) (*ptxArgList, error) {
	if len(list) != len(k.Params) {
		return nil, fmt.Errorf("kernel %s takes %d arguments, %d --arg given", k.Name, len(k.Params), len(list))
	}
	a := &ptxArgList{params: make([]byte, k.ParamBytes), bufs: map[int]ptxBuf{}, n: len(list)}
	for i, s := range list {
		p := k.Params[i]
		kind, rest, ok := strings.Cut(s, ":")
		if !ok {
			return nil, fmt.Errorf("--arg %q: write TYPE:VALUE or buf:TYPE:COUNT[:INIT]", s)
		}
		value, err := a.value(sp, i, kind, rest, seed)
		if err != nil {
			return nil, fmt.Errorf("--arg %q: %w", s, err)
		}
		if _, buffer := a.bufs[i]; buffer && p.Size == k.Addresses() {
			value = value[:p.Size] // below 4 GiB, which the launch checks
		}
		if len(value) != p.Size {
			return nil, fmt.Errorf("--arg %q has %d bytes, parameter %d (%s %s) has %d", s, len(value), i, p.Type,
				p.Name, p.Size)
		}
		copy(a.params[p.Offset:], value)
	}
	return a, nil
}

// value gives the parameter bytes of one argument.
func (a *ptxArgList) value(sp *mem.Space, i int, kind, rest string, seed uint64) ([]byte, error) {
	switch kind {
	case "raw":
		return hex.DecodeString(rest)
	case "buf":
		b, err := newPTXBuf(sp, i, rest, seed)
		if err != nil {
			return nil, err
		}
		a.bufs[i] = b
		return binary.LittleEndian.AppendUint64(nil, b.region.Base), nil
	}
	t, err := ptxType(kind)
	if err != nil {
		return nil, err
	}
	bits, err := ptxNumber(t, rest)
	if err != nil {
		return nil, err
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:t.Bytes()], nil
}

func ptxType(name string) (parse.Type, error) {
	if name == "i32" || name == "i64" {
		name = "s" + name[1:]
	}
	t, ok := parse.TypeOf(name)
	if !ok || t == parse.Pred || t == parse.B128 || t.Bytes() == 0 || t.Float() && t != parse.F32 && t != parse.F64 {
		return 0, fmt.Errorf("%q is not a type: use u8 s8 u16 s16 u32 s32 u64 s64 f32 f64", name)
	}
	return t, nil
}

// ptxNumber parses a value of type t to its bits.
func ptxNumber(t parse.Type, s string) (uint64, error) {
	switch {
	case t == parse.F32:
		f, err := strconv.ParseFloat(s, 32)
		return uint64(math.Float32bits(float32(f))), err
	case t == parse.F64:
		f, err := strconv.ParseFloat(s, 64)
		return math.Float64bits(f), err
	case t.Signed() || strings.HasPrefix(s, "-"):
		v, err := strconv.ParseInt(s, 0, t.Bits())
		return uint64(v), err
	}
	return strconv.ParseUint(s, 0, t.Bits())
}

func newPTXBuf(sp *mem.Space, i int, s string, seed uint64) (ptxBuf, error) {
	parts := strings.SplitN(s, ":", 3)
	if len(parts) < 2 {
		return ptxBuf{}, fmt.Errorf("write buf:TYPE:COUNT[:INIT]")
	}
	t, err := ptxType(parts[0])
	if err != nil {
		return ptxBuf{}, err
	}
	n, err := strconv.ParseInt(parts[1], 0, 34)
	if err != nil || n < 1 {
		return ptxBuf{}, fmt.Errorf("%q is not a count of 1 or more", parts[1])
	}
	r, err := sp.Alloc(n*int64(t.Bytes()), mem.Device, fmt.Sprintf("arg %d", i))
	if err != nil {
		return ptxBuf{}, err
	}
	b := ptxBuf{t, r}
	if len(parts) == 3 {
		err = b.fill(parts[2], rand.New(rand.NewPCG(seed, uint64(i))))
	}
	return b, err
}

// fill initialises the buffer.
func (b ptxBuf) fill(how string, rng *rand.Rand) error {
	if file, ok := strings.CutPrefix(how, "@"); ok {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if len(data) != len(b.region.Data) {
			return fmt.Errorf("%s has %d bytes, the buffer %d", file, len(data), len(b.region.Data))
		}
		copy(b.region.Data, data)
		return nil
	}
	next := func(int) uint64 { return 0 }
	switch how {
	case "zero":
	case "arange":
		next = func(i int) uint64 { return ptxFromFloat(b.typ, float64(i), uint64(i)) }
	case "random": // floats in [0, 1), integers over their whole range
		next = func(int) uint64 { return ptxFromFloat(b.typ, rng.Float64(), rng.Uint64()) }
	default:
		v, err := ptxNumber(b.typ, how)
		if err != nil {
			return fmt.Errorf("%q is not zero, arange, random, a number or @FILE", how)
		}
		next = func(int) uint64 { return v }
	}
	w := b.typ.Bytes()
	var word [8]byte
	for i := range len(b.region.Data) / w {
		binary.LittleEndian.PutUint64(word[:], next(i))
		copy(b.region.Data[i*w:], word[:w])
	}
	return nil
}

func ptxFromFloat(t parse.Type, f float64, i uint64) uint64 {
	switch t {
	case parse.F32:
		return uint64(math.Float32bits(float32(f)))
	case parse.F64:
		return math.Float64bits(f)
	}
	return i
}

// buffers lists the buffers with their first elements.
func (a *ptxArgList) buffers(show int) []ptxBuffer {
	out := []ptxBuffer{}
	for i := range a.n {
		b, ok := a.bufs[i]
		if !ok {
			continue
		}
		w := b.typ.Bytes()
		n := len(b.region.Data) / w
		p := ptxBuffer{Arg: i, Type: b.typ.String(), Count: n, First: []any{}}
		for e := range min(max(show, 0), n) {
			p.First = append(p.First, b.element(b.region.Data[e*w:]))
		}
		out = append(out, p)
	}
	return out
}

func (b ptxBuf) element(data []byte) any {
	var word [8]byte
	copy(word[:], data[:b.typ.Bytes()])
	v := binary.LittleEndian.Uint64(word[:])
	n := b.typ.Bits()
	var f float64
	switch {
	case b.typ == parse.F32:
		if f = float64(math.Float32frombits(uint32(v))); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return float32(f)
		}
		return fmt.Sprint(f)
	case b.typ == parse.F64:
		if f = math.Float64frombits(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return fmt.Sprint(f)
	case b.typ.Signed():
		return int64(v<<(64-n)) >> (64 - n)
	}
	return v
}

type ptxDump struct {
	file string
	data []byte
}

// dumps checks the --dump list.
func (a *ptxArgList) dumps(list []string) ([]ptxDump, error) {
	var out []ptxDump
	for _, s := range list {
		arg, file, ok := strings.Cut(s, "=")
		i, err := strconv.Atoi(arg)
		b, isBuf := a.bufs[i]
		if !ok || err != nil || !isBuf || file == "" {
			return nil, fmt.Errorf("--dump %q: write I=FILE where argument I is a buffer", s)
		}
		out = append(out, ptxDump{file, b.region.Data})
	}
	return out, nil
}
