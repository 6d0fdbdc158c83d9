package accelsim

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Inst is an instruction to be written.
type Inst struct {
	Source int // source line, with Header.LineInfo
	PC     uint64
	Mask   uint32
	Dst    []int // register numbers; 255 is RZ
	Op     string
	Src    []int
	// Addr holds the address of each active lane, lowest first; nil: the instruction
	// has no addresses.
	Addr []uint64
	Mode int // address mode: 0 list, 1 base and stride, 2 base and differences
	Imm  int64
}

// Writer writes a .traceg file. It exists for tests and for tools that make traces of something
// else; it writes its input and checks only what the format cannot express.
type Writer struct {
	w     *bufio.Writer
	h     Header
	block [3]uint32
	warp  int
	in    bool
	err   error
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) *Writer {
	t := &Writer{w: bufio.NewWriter(w), h: h}
	lines := [][2]string{
		{"kernel name", h.Name},
		{"kernel id", fmt.Sprint(h.ID)},
		{"grid dim", dims(h.Grid)},
		{"block dim", dims(h.Block)},
		{"shmem", fmt.Sprint(h.Shared)},
		{"nregs", fmt.Sprint(h.Regs)},
		{"binary version", fmt.Sprint(h.Binary)},
		{"cuda stream id", fmt.Sprint(h.Stream)},
		{"shmem base_addr", fmt.Sprintf("0x%016x", h.SharedBase)},
		{"local mem base_addr", fmt.Sprintf("0x%016x", h.LocalBase)},
		{"nvbit version", h.NVBit},
		{"accelsim tracer version", fmt.Sprint(h.Version)},
		{"enable lineinfo", "0"},
	}
	if h.LineInfo {
		lines[len(lines)-1][1] = "1"
	}
	for _, l := range lines {
		t.printf("-%s = %s\n", l[0], l[1])
	}
	t.printf("\n#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width " +
		"[adrrescompress?] [mem_addresses] immediate\n\n")
	return t
}

func dims(v [3]uint32) string { return fmt.Sprintf("(%d,%d,%d)", v[0], v[1], v[2]) }

func (t *Writer) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// Block begins a thread block.
func (t *Writer) Block(x, y, z uint32) {
	t.endBlock()
	t.block, t.in = [3]uint32{x, y, z}, true
	t.printf("%s\n\nthread block = %d,%d,%d\n", beginBlock, x, y, z)
}

func (t *Writer) endBlock() {
	if t.in {
		t.printf("\n%s\n\n", endBlock)
	}
	t.in = false
}

// Warp begins a warp of the block, of n instructions, which Inst then writes.
func (t *Writer) Warp(w, n int) {
	t.warp = w
	t.printf("\nwarp = %d\ninsts = %d\n", w, n)
}

// Inst writes an instruction of the warp.
func (t *Writer) Inst(i *Inst) {
	if t.h.Version < 3 {
		t.printf("%d %d %d %d ", t.block[0], t.block[1], t.block[2], t.warp)
	}
	if t.h.LineInfo {
		t.printf("%d ", i.Source)
	}
	t.printf("%04x %08x %d ", i.PC, i.Mask, len(i.Dst))
	for _, r := range i.Dst {
		t.printf("R%d ", r)
	}
	t.printf("%s %d ", i.Op, len(i.Src))
	for _, r := range i.Src {
		t.printf("R%d ", r)
	}
	if i.Addr == nil {
		t.printf("0 ")
	} else {
		t.addresses(i)
	}
	if t.h.Version >= 5 { // older tracers do not record it
		t.printf("%d", i.Imm)
	}
	t.printf("\n")
}

func (t *Writer) addresses(i *Inst) {
	a := i.Addr
	if n := bits.OnesCount32(i.Mask); len(a) != n {
		t.err = errors.Join(t.err, fmt.Errorf("%s at PC 0x%x: %d addresses for %d lanes", i.Op, i.PC, len(a), n))
		return
	}
	t.printf("4 %d ", i.Mode) // the width is nominal: readers take it from the opcode
	if len(a) == 0 {
		a = []uint64{0}
	}
	switch i.Mode {
	case 0:
		for _, x := range i.Addr {
			t.printf("0x%016x ", x)
		}
	case 1:
		stride := int64(0)
		if len(a) > 1 {
			stride = int64(a[1] - a[0])
		}
		for k, x := range a {
			if x != a[0]+uint64(stride)*uint64(k) {
				t.err = errors.Join(t.err,
					fmt.Errorf("%s at PC 0x%x: address mode 1 cannot express addresses that are not evenly spaced",
						i.Op, i.PC))
			}
		}
		t.printf("0x%x %d ", a[0], stride)
	case 2:
		t.printf("0x%x ", a[0])
		for k := 1; k < len(a); k++ {
			t.printf("%d ", int64(a[k]-a[k-1]))
		}
	default:
		t.err = errors.Join(t.err, fmt.Errorf("address mode %d: want 0, 1 or 2", i.Mode))
	}
}

// Close ends the last block and reports the first error of all calls. It does not
// close the underlying writer.
func (t *Writer) Close() error {
	t.endBlock()
	return errors.Join(t.err, t.w.Flush())
}

// Create makes a file, compressed as its suffix says: .gz, .xz, .zst or not. The
// file is complete when Close returned no error.
func Create(file string) (io.WriteCloser, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	c := &packed{f: f}
	switch filepath.Ext(file) {
	case ".gz":
		c.WriteCloser = gzip.NewWriter(f)
	case ".xz":
		c.WriteCloser, err = xz.NewWriter(f)
	case ".zst":
		c.WriteCloser, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	default:
		c.WriteCloser, c.f = f, nil
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// packed closes the file behind a compressor.
type packed struct {
	io.WriteCloser
	f *os.File
}

func (p *packed) Close() error {
	err := p.WriteCloser.Close()
	if p.f != nil {
		err = errors.Join(err, p.f.Close())
	}
	return err
}

// WriteList writes a kernelslist.g into dir; lines are "MemcpyHtoD,0x...,n" (see
// Copy) and names of kernels' files.
func WriteList(dir string, lines ...string) error {
	return os.WriteFile(filepath.Join(dir, ListName), []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}

// Copy is the line of a kernelslist.g for a copy to the device.
func Copy(addr uint64, bytes int64) string {
	return fmt.Sprintf("MemcpyHtoD,0x%016x,%d", addr, bytes)
}
