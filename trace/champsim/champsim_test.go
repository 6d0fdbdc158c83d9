package champsim

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// sample is a trace of so many records in which every kind of instruction occurs.
func sample(records int) []byte {
	var b []byte
	for i := range records {
		a := uint64(i)
		r := Record{IP: 0x400000 + a*4}
		switch i % 7 {
		case 0:
			r.Reads, r.Writes, r.Loads = [4]uint8{3}, [2]uint8{1}, [4]uint64{0x7fff0000 + a*8}
		case 1:
			r.Reads, r.Stores = [4]uint8{1, 4}, [2]uint64{0x10000 + a*8}
		case 2:
			r.Reads, r.Writes = [4]uint8{1, 2}, [2]uint8{2, flags}
		case 3:
			r.Branch, r.Taken, r.Reads = true, i%2 == 0, [4]uint8{instructionPointer, flags}
			r.Writes = [2]uint8{instructionPointer}
		case 5: // from memory to memory
			r.Loads, r.Stores, r.Reads = [4]uint64{0x20000 + a}, [2]uint64{0x30000 + a}, [4]uint8{6, 7}
		case 6:
			r.Loads, r.Writes = [4]uint64{0x1000, 0x2000, 0x3000, 0x4000}, [2]uint8{9, 10}
			r.Stores = [2]uint64{0x5000, 0x6000}
		}
		b = r.Append(b)
	}
	return b
}

// compress makes a file of a trace; small blocks, so that there are several.
func compress(t testing.TB, suffix string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch suffix {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".xz":
		w, err = xz.WriterConfig{DictCap: 1 << 16, BlockSize: 4096}.NewWriter(&out)
	case ".zst":
		w, err = zstd.NewWriter(&out)
	default:
		return b
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// read reads a trace to its end: its operations, and how many instructions they are.
func read(file string) (ops []scalar.Inst, insts int, err error) {
	r, err := Open(file, Auto)
	if err != nil {
		return nil, 0, err
	}
	buf := make([]scalar.Inst, 64)
	for {
		n, err := r.Read(buf)
		for _, in := range buf[:n] {
			ops = append(ops, in)
			insts += int(in.Before)
			if !in.More {
				insts++
			}
		}
		if errors.Is(err, io.EOF) {
			return ops, insts, r.Close()
		}
		if err != nil {
			if again := r.Close(); again != nil {
				err = fmt.Errorf("%w, and closing it: %w", err, again)
			}
			return ops, insts, err
		}
	}
}

// Every instruction is told of once, whatever the compression.
func TestSuffixes(t *testing.T) {
	const records = 5000
	var plain []scalar.Inst
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		ops, insts, err := read(write(t, "t"+suffix, compress(t, suffix, sample(records))))
		if err != nil {
			t.Fatal(err)
		}
		if insts != records {
			t.Errorf("%q: %d instructions, want %d", suffix, insts, records)
		}
		if suffix == "" {
			plain = ops
		}
		if len(ops) != len(plain) {
			t.Fatalf("%q: %d operations, want %d", suffix, len(ops), len(plain))
		}
		for i := range ops {
			if ops[i] != plain[i] {
				t.Fatalf("%q: operation %d is %+v, want %+v", suffix, i, ops[i], plain[i])
			}
		}
	}
}

// What an instruction becomes.
func TestOperations(t *testing.T) {
	const ip = instructionPointer
	src := func(regs ...uint16) (out [scalar.Operands]uint16) { copy(out[:], regs); return out }
	dst := func(regs ...uint16) (out [scalar.Results]uint16) { copy(out[:], regs); return out }
	const t0, t1 = scalar.Temporary, scalar.Temporary + 1
	for _, c := range []struct {
		name string
		r    Record
		want []scalar.Inst
	}{
		{"nothing", Record{}, nil},
		{
			"a load",
			Record{Loads: [4]uint64{0, 64}, Reads: [4]uint8{0, 3}, Writes: [2]uint8{0, 1}},
			[]scalar.Inst{{Kind: scalar.Load, Addr: 64, Src: src(3), Dst: dst(1)}},
		},
		{
			"a store",
			Record{Stores: [2]uint64{64}, Reads: [4]uint8{3, 4}},
			[]scalar.Inst{{Kind: scalar.Store, Addr: 64, Src: src(3, 4)}},
		},
		{
			"push: the stack pointer is known",
			Record{Stores: [2]uint64{64}, Reads: [4]uint8{6, 4}, Writes: [2]uint8{6}},
			[]scalar.Inst{{Kind: scalar.Store, Addr: 64, Src: src(6, 4)}},
		},
		{
			"the stack pointer from a register",
			Record{Reads: [4]uint8{4}, Writes: [2]uint8{6}},
			[]scalar.Inst{{Src: src(4), Dst: dst(6)}},
		},
		{
			"the stack pointer less a constant",
			Record{Reads: [4]uint8{6}, Writes: [2]uint8{6}},
			[]scalar.Inst{{Src: src(6)}},
		},
		{
			"read, change and write",
			Record{Loads: [4]uint64{64}, Stores: [2]uint64{64}, Reads: [4]uint8{3}, Writes: [2]uint8{25}},
			[]scalar.Inst{
				{Kind: scalar.Load, Addr: 64, Src: src(3), Dst: dst(t0), More: true},
				{Src: src(t0), Dst: dst(25), More: true},
				{Kind: scalar.Store, Addr: 64, Src: src(t0)},
			},
		},
		{
			"two loads",
			Record{Loads: [4]uint64{64, 128}, Writes: [2]uint8{1}},
			[]scalar.Inst{
				{Kind: scalar.Load, Addr: 64, Dst: dst(t0), More: true},
				{Kind: scalar.Load, Addr: 128, Dst: dst(t1), More: true},
				{Src: src(t0, t1), Dst: dst(1)},
			},
		},
		{
			"two loads for nothing",
			Record{Loads: [4]uint64{64, 128}},
			[]scalar.Inst{
				{Kind: scalar.Load, Addr: 64, Dst: dst(t0), More: true},
				{Kind: scalar.Load, Addr: 128, Dst: dst(t1)},
			},
		},
		{
			"a conditional branch",
			Record{Branch: true, Taken: true, Reads: [4]uint8{ip, 25}, Writes: [2]uint8{ip}},
			[]scalar.Inst{{Kind: scalar.Branch, Src: src(25), Conditional: true, Taken: true}},
		},
		{
			"a jump",
			Record{Branch: true, Taken: true, Reads: [4]uint8{ip}, Writes: [2]uint8{ip}},
			[]scalar.Inst{{Kind: scalar.Branch, Taken: true}},
		},
		{
			"a return",
			Record{Branch: true, Taken: true, Reads: [4]uint8{6}, Writes: [2]uint8{ip, 6}, Loads: [4]uint64{64}},
			[]scalar.Inst{{Kind: scalar.Load, Addr: 64, Src: src(6)}},
		},
	} {
		var out [most]scalar.Inst
		n := c.r.operations(out[:])
		if n != len(c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, out[:n], c.want)
			continue
		}
		for i := range n {
			if out[i] != c.want[i] {
				t.Errorf("%s: operation %d is %+v, want %+v", c.name, i, out[i], c.want[i])
			}
		}
	}
}

// A trace that is cut off anywhere is refused with the place; what is whole of it is read before.
func TestCutOff(t *testing.T) {
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		whole := compress(t, suffix, sample(130))
		dir := t.TempDir()
		for n := 0; n < len(whole); n += 1 + len(whole)/400 {
			file := filepath.Join(dir, "t"+suffix)
			if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			_, insts, err := read(file)
			if suffix == "" && n%Bytes == 0 && n > 0 {
				if err != nil || insts != n/Bytes {
					t.Errorf("%d bytes: %d instructions, %v", n, insts, err)
				}
				continue
			}
			var e *Error
			if !errors.As(err, &e) || err.Error() != e.Error() || e.File != file ||
				e.Offset > int64(n) && suffix == "" {
				t.Fatalf("%q of %d bytes cut off at %d: %d instructions, %v", suffix, len(whole), n, insts, err)
			}
		}
	}
}

// What is no trace is refused when it is opened.
func TestMalformed(t *testing.T) {
	bad := sample(10)
	bad[3*Bytes+8] = 7
	footer := compress(t, ".xz", nil)
	footer = footer[len(footer)-12:]
	for _, c := range []struct {
		name, want string
		b          []byte
	}{
		{"empty", "at byte 0: the trace has no instruction", nil},
		{"bad", "at byte 192: is_branch is 7 and branch_taken 0", bad},
		{"text", "the last record has 20 bytes of 64", []byte("kernel-1.traceg\nabcd")},
		{"text.xz", "at byte 0 of the compressed file: cannot decompress: it does not", []byte("kernel-1\n\n\n\n")},
		{"text2.xz", "cannot decompress: xz: invalid header magic bytes", append([]byte("kernel-1.traceg"), footer...)},
		{"more.xz", "or something follows its compressed data", append(compress(t, ".xz", sample(10)), "more"...)},
		{"more.gz", "or something else follows", append(compress(t, ".gz", sample(10)), "more"...)},
		{"gzip", "or its name lacks the suffix", append(compress(t, ".gz", sample(10)), "x"...)},
		{"text.gz", "cannot decompress: gzip: invalid header", []byte("kernel-1.traceg\n")},
	} {
		_, _, err := read(write(t, c.name, c.b))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, _, err := read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

// A file cannot ask for any memory it likes.
func TestDictionary(t *testing.T) {
	small := compress(t, ".xz", sample(100))
	i := bytes.Index(small[:64], []byte{0x21, 1})
	large := bytes.Clone(small)
	large[i+2] = 40 // 4 GiB
	_, _, err := read(write(t, "t.xz", large))
	if err == nil || !strings.Contains(err.Error(), "its dictionary of 4096 MiB is too large") {
		t.Errorf("%v", err)
	}
}

// A second reading is the same, and reading allocates nothing.
func TestRewind(t *testing.T) {
	r, err := Open(write(t, "t", sample(100_000)), Auto)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]scalar.Inst, 64)
	var first []scalar.Inst
	for pass := range 2 {
		for i := range 100 {
			n, err := r.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			if pass == 0 {
				first = append(first, buf[:n]...)
			} else if got := buf[0]; got != first[0] {
				t.Fatalf("batch %d: %+v, want %+v", i, got, first[0])
			} else {
				first = first[n:]
			}
		}
		if pass == 0 {
			if err := r.Rewind(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// Memory does not grow with the trace: 64 MiB, of instructions that do nothing, in less than one.
func TestMemory(t *testing.T) {
	file := write(t, "t", nil)
	if err := os.Truncate(file, 64<<20); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file, Auto)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	buf := make([]scalar.Inst, 64)
	insts := 0
	for {
		n, err := r.Read(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range buf[:n] {
			insts += int(in.Before) + 1
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 || insts != 1<<20 {
		t.Errorf("%d instructions read, %d bytes allocated", insts, got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzRead(f *testing.F) {
	for i, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		b := compress(f, suffix, sample(40))
		f.Add(uint8(i), b)
		f.Add(uint8(i), b[:len(b)/2])
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		suffix := []string{"", ".gz", ".xz", ".zst"}[kind%4]
		file := filepath.Join(dir, "t"+suffix)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		ops, insts, err := read(file)
		if err == nil && (insts == 0 || len(ops) == 0) {
			t.Fatalf("%d operations, %d instructions and no error", len(ops), insts)
		}
		for _, o := range ops {
			if (o.Kind == scalar.Load || o.Kind == scalar.Store) != (o.Addr != 0) {
				t.Fatalf("%+v", o)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r, err := Open(write(b, "t", sample(200_000)), Auto)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]scalar.Inst, 64)
	insts := 0
	for b.Loop() {
		n, err := r.Read(buf)
		if errors.Is(err, io.EOF) {
			if err := r.Rewind(); err != nil {
				b.Fatal(err)
			}
		} else if err != nil {
			b.Fatal(err)
		}
		for _, in := range buf[:n] {
			insts += int(in.Before)
			if !in.More {
				insts++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(insts), "ns/inst")
}
