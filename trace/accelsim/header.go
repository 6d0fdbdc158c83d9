package accelsim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/isa"
)

// MaxVersion is the newest tracer version this package reads.
const MaxVersion = 5

// Header is the header of a .traceg file, which describes its kernel.
type Header struct {
	Name        string // mangled
	ID          int
	Grid, Block [3]uint32
	Shared      int    // bytes per CTA, static and dynamic
	Regs        int    // per thread
	Binary      int    // compute capability, 70 for sm_70; 0: not given
	Stream      uint64 // number or handle of the CUDA stream; 0 is the default stream
	SharedBase  uint64 // generic address of the shared window; 0: not recorded
	LocalBase   uint64 // generic address of the local window; 0: not recorded
	NVBit       string
	Version     int  // of the tracer; below 3 the lines begin with block and warp
	LineInfo    bool // the lines begin with a source line
	// Other lists keys this package does not know; they have no effect.
	Other []string
}

// CTAs is the number of thread blocks of the grid.
func (h *Header) CTAs() int { return int(h.Grid[0]) * int(h.Grid[1]) * int(h.Grid[2]) }

// Threads is the number of threads of a CTA.
func (h *Header) Threads() int { return int(h.Block[0]) * int(h.Block[1]) * int(h.Block[2]) }

// Warps is the number of warps of a CTA.
func (h *Header) Warps() int { return (h.Threads() + isa.Lanes - 1) / isa.Lanes }

// ReadHeader reads the header of a .traceg file and nothing else of it.
func ReadHeader(file string) (Header, error) {
	s, err := openStream(file)
	if err != nil {
		return Header{}, err
	}
	h, _, err := readHeader(s)
	if e := s.Close(); err == nil {
		err = e
	}
	return h, err
}

// readHeader reads "-key = value" lines up to the first line that begins with #,
// and says whether that line already begins a thread block.
func readHeader(s *stream) (h Header, begun bool, err error) {
	seen := map[string]bool{}
	for {
		b, err := s.next()
		if errors.Is(err, io.EOF) {
			return h, false, s.bad("the header has no end (a line that begins with #): this is not a .traceg file, " +
				"or " +
				"it is cut off")
		}
		if err != nil {
			return h, false, err
		}
		if b[0] == '#' {
			begun = string(b) == beginBlock
			break
		}
		key, value, ok := strings.Cut(string(b), "=")
		if b[0] != '-' || !ok {
			return h, false, s.bad("%s in the header: want \"-key = value\", or a line that begins with # to end it",
				quote(b))
		}
		key, value = strings.TrimSpace(key[1:]), strings.TrimSpace(value)
		if seen[key] {
			return h, false, s.bad("-%s is given twice", key)
		}
		seen[key] = true
		if err := h.set(key, value); err != nil {
			return h, false, s.bad("-%s = %s: %v", key, value, err)
		}
	}
	for _, key := range []string{"kernel name", "grid dim", "block dim", "shmem", "nregs"} {
		if !seen[key] {
			return h, false, s.bad("the header ends without -%s", key)
		}
	}
	return h, begun, nil
}

func (h *Header) set(key, value string) (err error) {
	switch key {
	case "kernel name":
		h.Name = value
		if value == "" {
			err = fmt.Errorf("the name is empty")
		}
	case "kernel id":
		h.ID, err = number(value, 1<<31-1)
	case "grid dim":
		h.Grid, err = triple(value, [3]uint32{1<<31 - 1, 65535, 65535}, 1<<31-1)
	case "block dim":
		h.Block, err = triple(value, [3]uint32{1024, 1024, 64}, 1024)
	case "shmem":
		h.Shared, err = number(value, 1<<20)
	case "nregs":
		h.Regs, err = number(value, 255)
	case "binary version":
		h.Binary, err = number(value, 1000)
	case "cuda stream id":
		h.Stream, err = strconv.ParseUint(value, 10, 64)
	case "shmem base_addr":
		h.SharedBase, err = strconv.ParseUint(value, 0, 49)
	case "local mem base_addr":
		h.LocalBase, err = strconv.ParseUint(value, 0, 49)
	case "nvbit version":
		h.NVBit = value
	case "accelsim tracer version":
		if h.Version, err = number(value, 1000); err == nil && h.Version > MaxVersion {
			err = fmt.Errorf("versions up to %d are known; record with tracer version %d", MaxVersion, MaxVersion)
		}
	case "enable lineinfo":
		var n int
		n, err = number(value, 1)
		h.LineInfo = n == 1
	default:
		h.Other = append(h.Other, key)
		slices.Sort(h.Other)
	}
	return err
}

func number(s string, most int) (int, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("want a number from 0 to %d", most)
	}
	if n > uint64(most) {
		return 0, fmt.Errorf("it can be at most %d", most)
	}
	return int(n), nil
}

// triple parses "(x,y,z)", each from 1 to its limit, with a product of at most all.
func triple(s string, limit [3]uint32, all uint64) (v [3]uint32, err error) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(s, "("), ")"), ",")
	if len(parts) != 3 {
		return v, fmt.Errorf("want (x,y,z)")
	}
	n := uint64(1)
	for i, p := range parts {
		x, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil {
			return v, fmt.Errorf("want (x,y,z)")
		}
		if x == 0 || x > uint64(limit[i]) {
			return v, fmt.Errorf("%c must be 1 to %d", 'x'+i, limit[i])
		}
		v[i] = uint32(x)
		n *= x // each factor is below 2^31 and the first two together below 2^47
		if n > all {
			return v, fmt.Errorf("the product is above the limit of %d", all)
		}
	}
	return v, nil
}
