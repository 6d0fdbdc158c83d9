package accelsim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// header is a minimal header of a grid of one block of 32 threads: 8 lines, of
// which the last one is empty.
func header(version int) string {
	return fmt.Sprintf("-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = "+
		"8\n-accelsim tracer version = %d\n#traces format\n\n", version)
}

func body(lines ...string) string {
	return fmt.Sprintf("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = %d\n%s\n#END_TB\n", len(lines),
		strings.Join(lines, "\n"))
}

// TestMalformed: every file is refused, at the line and in the words given.
func TestMalformed(t *testing.T) {
	h := header(5)
	one := func(line string) string { return h + body(line) } // the line is number 13
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "k.traceg: the header has no end"},
		{"no header", "0000 ffffffff 0 EXIT 0 0 0\n", "k.traceg:1: \"0000 ffffffff 0 EXIT 0 0 0\" in the header"},
		{"key without value", "-kernel name\n", ":1: \"-kernel name\" in the header"},
		{"empty name", "-kernel name =\n", ":1: -kernel name = : the name is empty"},
		{"key missing", strings.Replace(h, "-nregs = 8\n", "", 1), "without -nregs"},
		{"key twice", "-nregs = 8\n-nregs = 8\n", ":2: -nregs is given twice"},
		{"grid zero", "-grid dim = (0,1,1)\n", "x must be 1 to"},
		{"grid two numbers", "-grid dim = (1,1)\n", "want (x,y,z)"},
		{"grid absurd", "-grid dim = (2147483647,65535,65535)\n", "the product is above"},
		{"grid overflow", "-grid dim = (99999999999999999999,1,1)\n", "want (x,y,z)"},
		{"block absurd", "-block dim = (1024,1024,1)\n", "the product is above the limit of 1024"},
		{"shmem negative", "-shmem = -1\n", "want a number"},
		{"shmem absurd", "-shmem = 99999999999\n", "at most"},
		{"version 6", header(6), "versions up to 5"},
		{"base", "-shmem base_addr = 0xfffffffffffffffff\n", "-shmem base_addr"},
		{"no blocks", h, "holds 0 of the 1 thread blocks"},
		{"ungrouped", h + "0 0 0 0 0000 ffffffff 0 EXIT 0 0\n", "post-traces-processing"},
		{"junk between blocks", h + "junk\n", ":9: \"junk\" between thread blocks"},
		{"block number missing", h + "#BEGIN_TB\nwarp = 0\n", ":10: want \"thread block = x,y,z\""},
		{"block outside", h + "#BEGIN_TB\nthread block = 1,0,0\n", ":10: thread block = 1,0,0: x"},
		{"block of two", h + "#BEGIN_TB\nthread block = 0,0\n", "want x,y,z"},
		{"block twice", strings.Replace(h, "(1,1,1)", "(2,1,1)", 1) + body("0 1 0 EXIT 0 0 0") +
			body("0 1 0 EXIT 0 0 0"), "thread block 0,0,0 comes twice"},
		{"block too many", h + body("0 1 0 EXIT 0 0 0") + body("0 1 0 EXIT 0 0 0"), "a thread block more than the 1"},
		{
			"block missing", strings.Replace(h, "(1,1,1)", "(2,2,1)", 1) + body("0 1 0 EXIT 0 0 0"),
			"holds 1 of the 4 thread blocks of its grid, 1,0,0 is the first",
		},
		{"cut in block", h + "#BEGIN_TB\nthread block = 0,0,0\n", "ends within thread block 0,0,0"},
		{
			"cut in warp", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0 1 0 NOP 0 0 0\n",
			"ends within warp 0",
		},
		{"warp outside", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 1\n", "warp = 1"},
		{"warp twice", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 0\nwarp = 0\n", "warp 0 comes twice"},
		{"insts missing", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\nwarp = 0\n", "want \"insts = n\""},
		{"insts negative", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = -1\n", "want \"insts = n\""},
		{
			"insts too many", h + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 2\n0 1 0 NOP 0 0 0\n#END_TB\n",
			"promises more",
		},
		{
			"insts too few", h +
				"#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0 1 0 NOP 0 0 0\n0 1 0 NOP 0 0 0\n",
			"the count of instructions before may be wrong",
		},
		{"short line", one("0000 ffffffff"), ":13: the line ends before the number of destinations"},
		{"PC", one("00zz ffffffff 0 EXIT 0 0 0"), "the PC is \"00zz\""},
		{"PC too long", one("11111111111111111 1 0 EXIT 0 0 0"), "at most 64 bits"},
		{"PC 0x", one("0x 1 0 EXIT 0 0 0"), "the PC is \"0x\""},
		{"mask", one("0 1ffffffff 0 EXIT 0 0 0"), "want 32 bits"},
		{"destinations", one("0 1 9 R1 MOV 0 0 0"), "the number of destinations is 9"},
		{"destinations negative", one("0 1 -1 MOV 0 0 0"), "the number of destinations is -1"},
		{"register", one("0 1 1 R256 MOV 0 0 0"), "a destination is \"R256\""},
		{"register name", one("0 1 1 P0 MOV 0 0 0"), "a destination is \"P0\""},
		{"register empty", one("0 1 1 R MOV 0 0 0"), "a destination is \"R\""},
		{"opcode", one("0 1 0 FNORD.X 0 0 0"), ":13: opcode FNORD.X is not known"},
		{
			"texture", one("0 1 1 R2 TEX.SCR.LL 1 R4 0 0"),
			"opcode TEX.SCR.LL is not known, or traces lack its addresses",
		},
		{"no addresses", one("0 1 1 R2 LDG.E 1 R4 0 0"), "LDG.E has no addresses"},
		{"mode", one("0 1 1 R2 LDG.E 1 R4 4 7 0x100 0"), "address mode 7"},
		{"addresses missing", one("0 3 1 R2 LDG.E 1 R4 4 0 0x100"), "ends before an address"},
		{"address", one("0 1 1 R2 LDG.E 1 R4 4 0 0x10q 0"), "an address is \"0x10q\""},
		{"addresses too many", one("0 1 1 R2 LDG.E 1 R4 4 0 0x100 0x200 0x300"), "follows the end of the instruction"},
		{"stride missing", one("0 3 1 R2 LDG.E 1 R4 4 1 0x100"), "ends before the stride"},
		{"stride", one("0 3 1 R2 LDG.E 1 R4 4 1 0x100 4x"), "the stride is \"4x\""},
		{"stride with holes", one("0 5 1 R2 LDG.E 1 R4 4 1 0x100 4"), "not contiguous"},
		{"differences missing", one("0 7 1 R2 LDG.E 1 R4 4 2 0x100 4"), "ends before an address difference"},
		{"not aligned", one("0 1 1 R2 LDG.E.128 1 R4 4 1 0x104 4"), "not aligned"},
		{"beyond 49 bits", one("0 1 1 R2 LDG.E 1 R4 4 1 0x2000000000000 4"), "49 bits"},
		{"wraps", one("0 3 1 R2 LDG.E 1 R4 4 1 0x0 -4"), "49 bits"},
		{"shared window", one("0 1 1 R2 LDS 1 R4 4 1 0x1000000 4"), "outside the shared window"},
		{"local span", one("0 3 1 R2 LDL 1 R4 4 0 0x0 0xfffff0"), "span more than"},
		{"two immediates", one("0 1 0 EXIT 0 0 0 0"), "follows the end"},
		{"immediate", one("0 1 0 EXIT 0 0 zero"), "one immediate"},
		{
			"old line", header(2) + body("0 0 0 1 0 1 0 EXIT 0 0"),
			"the line belongs to block 0,0,0 warp 1, among lines of block 0,0,0 warp 0",
		},
		{"new line in an old file", header(2) + body("0000 ffffffff 0 EXIT 0 0"), "the block's y is \"ffffffff\""},
		{"long line", h + strings.Repeat("x", 300_000), "a line of more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := read(newStream("k.traceg", strings.NewReader(c.text)), Options{}, &mapper{})
			var own *Error
			if !errors.As(err, &own) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, trace %v; want %q", err, tr != nil, c.want)
			}
		})
	}
}

// TestTolerated: what other tools write and Accel-Sim reads.
func TestTolerated(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"blanks, carriage returns, no format line", "\r\n" + strings.ReplaceAll(header(5), "#traces format\n", "") +
			strings.ReplaceAll(body("  0000 ffffffff 0 EXIT 0 0 0 "), "\n", "\r\n\r\n")},
		{"unknown key", "-gpu color = green\n" + header(5) + body("0 1 0 EXIT 0 0")},
		{"no immediate, width 0", header(4) + body("0 1 0 EXIT 0 0")},
		{"memory with no lane", header(5) + body("0 0 1 R2 LDG.E 1 R4 4 1 0x0 0 0")},
		{"memory with no lane, no addresses", header(5) + body("0 0 1 R2 LDG.E 1 R4 0 0")},
		{"uniform registers", header(5) + body("0 1 1 UR4 ULDC 1 UR63 0 0")},
		{"clusters", header(5) + strings.Replace(body("0 1 0 EXIT 0 0 0"), "warp = 0",
			"cluster id = 0,0,0\ncluster rank = 0\nwarp = 0", 1)},
		{"no final newline", header(5) + strings.TrimSpace(body("0 1 0 EXIT 0 0 0"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, err := read(newStream("k.traceg", strings.NewReader(c.text)), Options{}, &mapper{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(replayAll(t, tr, 0)[0]); n != 1 {
				t.Errorf("%d instructions, want 1", n)
			}
		})
	}
}

// TestOther: unknown opcodes are register-only where the user says so, and counted.
func TestOther(t *testing.T) {
	text := header(5) + body("0 1 1 R2 TEX.SCR.LL 1 R4 0 0", "10 1 0 UTMALDG.2D 0 4 0 3 0x7f 0x80 0x90 anything",
		"0 1 1 R2 TEX.SCR.LL 1 R4 0 0")
	tr, err := read(newStream("k", strings.NewReader(text)), Options{Other: true}, &mapper{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tr.Unknown); got != "[{TEX.SCR.LL 2} {UTMALDG.2D 1}]" {
		t.Errorf("unknown %s", got)
	}
	in := tr.Code.Instr[0]
	if in.Kind != isa.ALU || in.Unit != isa.INT || in.Timing != isa.TimeOther || in.NDst != 1 || in.NReg != 2 {
		t.Errorf("TEX is %+v", in)
	}
}

// TestDamaged: cut off and corrupted files of every compression.
func TestDamaged(t *testing.T) {
	for _, suffix := range []string{".gz", ".xz", ".zst"} {
		dir := writeVecadd(t, 30, suffix, nil)
		file := filepath.Join(dir, "kernel-1.traceg"+suffix)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 3, len(whole) / 2, len(whole) - 5} {
			if err := os.WriteFile(file, whole[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			if tr, err := Read(file, Options{}); err == nil ||
				!strings.Contains(err.Error(), "kernel-1.traceg"+suffix) {
				t.Errorf("%s cut to %d of %d bytes: trace %v, error %v", suffix, n, len(whole), tr != nil, err)
			}
		}
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0x55
		if err := os.WriteFile(file, flipped, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file, Options{}); err == nil {
			t.Errorf("%s with a flipped byte is read", suffix)
		}
	}
}

func TestDisk(t *testing.T) {
	dir := writeVecadd(t, 30, "", nil)
	file := filepath.Join(dir, "kernel-1.traceg")
	if _, err := Read(file, Options{Memory: 1, Disk: 100}); err == nil ||
		!strings.Contains(err.Error(), "more than 100 bytes of temporary space") {
		t.Errorf("error %v", err)
	}
	if _, err := Read(file, Options{Memory: 1, TempDir: filepath.Join(dir, "nowhere")}); err == nil {
		t.Error("a missing folder for temporary files goes unnoticed")
	}
	tr, err := Read(file, Options{Memory: 1, TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "heddle-trace-*")); len(left) > 0 {
		t.Errorf("temporary files with a name: %v", left)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	var s isa.Step
	err = tr.Launch().Start(3, isa.Place{}).Step(1, 0, &s)
	var fault *isa.Fault
	if !errors.As(err, &fault) || fault.Block != [3]uint32{3, 0, 0} || fault.Thread[0] != 32 {
		t.Errorf("a CTA of a closed trace: %v", err)
	}
}

func TestMalformedLists(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "no kernel and no copy"},
		{"nothing\n", "no kernel and no copy"},
		{"MemcpyHtoD,0x100\n", ":1: \"MemcpyHtoD,0x100\": want MemcpyHtoD,0x<address>,<bytes>"},
		{"MemcpyHtoDAsync,0x100,5\n", "want MemcpyHtoD,"},
		{"MemcpyHtoD,0xzz,5\n", "want MemcpyHtoD,"},
		{"MemcpyHtoD,0x100,five\n", "want MemcpyHtoD,"},
		{"MemcpyHtoD,0x100,-5\n", "no GPU has that range"},
		{"MemcpyHtoD,0x1ffffffffffff,5000\n", "no GPU has that range"},
		{"MemcpyHtoD,0x100,99999999999999999999\n", "want MemcpyHtoD,"},
		{"kernel-1.trace\n", "want a .traceg file"},
	} {
		_, _, err := readList(newStream(ListName, strings.NewReader(c.text)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

// FuzzTraceg: no text makes the reader panic, and what it accepts replays to the
// end, from memory and from disk alike.
func FuzzTraceg(f *testing.F) {
	var b bytes.Buffer
	w := NewWriter(&b, vecadd(1))
	w.Block(0, 0, 0)
	for k := range 4 {
		list := vecaddWarp(0, k)
		w.Warp(k, len(list))
		for i := range list {
			w.Inst(&list[i])
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(header(2) + body("0 0 0 0 0 5 1 R2 LDL.64 1 R4 4 0 0x10 0x20")))
	f.Add([]byte(header(5) + body("0 ffffff 1 R2 LDSM.16.M88.4 1 R4 4 2 0x10 16 16")))
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := read(newStream("f.traceg", bytes.NewReader(text)), Options{Other: true}, &mapper{})
		if err != nil {
			var own *Error
			if !errors.As(err, &own) {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		disk, err := read(newStream("f.traceg", bytes.NewReader(text)),
			Options{Other: true, Memory: 1, TempDir: t.TempDir()}, &mapper{})
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		n := uint64(0)
		for cta := range tr.CTAs() {
			a, b := replayAll(t, tr, cta), replayAll(t, disk, cta)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatal("memory and disk differ")
			}
			for _, w := range a {
				n += uint64(len(w))
			}
		}
		if n != tr.WarpInsts+uint64(tr.Empty) {
			t.Fatalf("%d instructions replayed, %d read, %d empty warps", n, tr.WarpInsts, tr.Empty)
		}
	})
}

func FuzzKernelsList(f *testing.F) {
	f.Add([]byte("MemcpyHtoD,0x00007f4a80000000,4096\nkernel-1.traceg.xz\nMemcpyDtoH,0,1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, ignored, err := readList(newStream(ListName, bytes.NewReader(text)))
		if err == nil && len(list) == 0 {
			t.Fatal("an empty list passes")
		}
		if ignored < 0 {
			t.Fatal(ignored)
		}
		for _, c := range list {
			if c.kernel == "" && c.addr+uint64(c.bytes) > maxAddr {
				t.Fatalf("copy beyond the address space: %+v", c)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, suffix := range []string{"", ".zst", ".gz", ".xz"} {
		b.Run("text"+suffix, func(b *testing.B) {
			dir := writeVecadd(b, 500, suffix, nil)
			file := filepath.Join(dir, "kernel-1.traceg"+suffix)
			b.ReportAllocs()
			for b.Loop() {
				tr, err := Read(file, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(tr.Bytes)
				if err := tr.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
