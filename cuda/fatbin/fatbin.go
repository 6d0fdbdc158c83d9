// Package fatbin reads and writes fat binaries: the containers in which CUDA compilers put PTX and machine code into
// programs. Type to know: Entry, one piece of code in a container. Several open readers agree on the layout.
package fatbin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Kind is what an entry holds.
type Kind uint16

const (
	PTX     Kind = 1 // text
	Machine Kind = 2 // an ELF file with machine code
)

// Entry is one piece of code in a container.
type Entry struct {
	Kind Kind
	Arch int    // 70 for sm_70 or compute_70
	Text []byte // the PTX, without the trailing NULs; nil for machine code
}

const (
	magic       = 0xba55ed50
	headBytes   = 16
	entryBytes  = 64
	flag64      = 1
	flagLinux   = 0x10
	flagLZ4     = 0x2000
	flagZstd    = 0x8000
	maxPTX      = 256 << 20 // of one entry, unpacked
	maxEntries  = 1024
	elfMagic    = "\x7fELF"
	wrapperMark = 0x466243b1
)

// Parse reads a container, or bare PTX text, which counts as one entry.
func Parse(data []byte) ([]Entry, error) {
	switch {
	case len(data) >= 4 && binary.LittleEndian.Uint32(data) == magic:
		return container(data)
	case bytes.HasPrefix(data, []byte(elfMagic)):
		return []Entry{{Kind: Machine}}, nil
	case len(data) >= 4 && binary.LittleEndian.Uint32(data) == wrapperMark:
		return nil, errors.New("the address of a fat binary's wrapper was given, not the fat binary")
	}
	text := bytes.TrimRight(data, "\x00")
	if !bytes.Contains(text, []byte(".version")) {
		return nil, errors.New("neither a fat binary nor PTX (no .version in it)")
	}
	return []Entry{{Kind: PTX, Text: text}}, nil
}

// container reads the entries of a fat binary.
func container(data []byte) (list []Entry, err error) {
	le := binary.LittleEndian
	if len(data) < headBytes {
		return nil, fmt.Errorf("fat binary of %d bytes: its head alone has %d", len(data), headBytes)
	}
	head, size := int(le.Uint16(data[6:])), le.Uint64(data[8:])
	if head < headBytes || head > len(data) || size > uint64(len(data)-head) {
		return nil, fmt.Errorf("fat binary: head of %d bytes and entries of %d do not fit into %d", head, size,
			len(data))
	}
	rest := data[head : head+int(size)]
	for len(rest) > 0 {
		if len(rest) < entryBytes {
			return nil, fmt.Errorf("fat binary, entry %d: %d bytes are left, an entry's head has %d", len(list),
				len(rest), entryBytes)
		}
		if len(list) == maxEntries {
			return nil, fmt.Errorf("fat binary with more than %d entries", maxEntries)
		}
		own, payload := uint64(le.Uint32(rest[4:])), le.Uint64(rest[8:])
		if own < entryBytes || own > uint64(len(rest)) || payload > uint64(len(rest))-own {
			return nil, fmt.Errorf("fat binary, entry %d: head of %d bytes and payload of %d do not fit into %d",
				len(list), own, payload, len(rest))
		}
		e := Entry{Kind: Kind(le.Uint16(rest)), Arch: int(min(le.Uint32(rest[28:]), math.MaxInt16))}
		if e.Kind == PTX {
			if e.Text, err = unpack(rest[own:own+payload], le.Uint64(rest[40:]), uint64(le.Uint32(rest[16:])),
				le.Uint64(rest[56:])); err != nil {
				return nil, fmt.Errorf("fat binary, entry %d: %w", len(list), err)
			}
		}
		list = append(list, e)
		rest = rest[own+payload:]
	}
	return list, nil
}

// unpack is the text of an entry's payload.
func unpack(p []byte, flags, packed, size uint64) ([]byte, error) {
	if flags&(flagLZ4|flagZstd) == 0 {
		return bytes.TrimRight(p, "\x00"), nil
	}
	if packed > uint64(len(p)) || size > maxPTX {
		return nil, fmt.Errorf("%d packed bytes of %d, %d unpacked, at most %d", packed, len(p), size, maxPTX)
	}
	if packed > 0 {
		p = p[:packed]
	}
	if flags&flagZstd != 0 {
		r, err := zstd.NewReader(bytes.NewReader(p), zstd.WithDecoderMaxMemory(maxPTX), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		text, err := io.ReadAll(io.LimitReader(r, maxPTX+1))
		if err == nil && len(text) > maxPTX {
			err = fmt.Errorf("more than %d bytes of PTX", maxPTX)
		}
		return bytes.TrimRight(text, "\x00"), err
	}
	out := make([]byte, min(size, 255*uint64(len(p))+64)) // LZ4 packs 255 to 1 at best
	n, err := lz4.UncompressBlock(p, out)
	if err != nil {
		return nil, fmt.Errorf("LZ4: %w", err)
	}
	return bytes.TrimRight(out[:n], "\x00"), nil
}

// Write makes a container with one entry of PTX for an architecture such as 70.
func Write(ptx []byte, arch int) []byte {
	le := binary.LittleEndian
	padded := (len(ptx) + 1 + 7) &^ 7 // a NUL ends the text
	out := make([]byte, headBytes+entryBytes+padded)
	le.PutUint32(out, magic)
	le.PutUint16(out[4:], 1)
	le.PutUint16(out[6:], headBytes)
	le.PutUint64(out[8:], uint64(entryBytes+padded))
	e := out[headBytes:]
	le.PutUint16(e, uint16(PTX))
	le.PutUint16(e[2:], 0x101)
	le.PutUint32(e[4:], entryBytes)
	le.PutUint64(e[8:], uint64(padded))
	le.PutUint16(e[24:], 0)
	le.PutUint16(e[26:], 8) // PTX 8.0
	le.PutUint32(e[28:], uint32(arch))
	le.PutUint64(e[40:], flag64|flagLinux)
	copy(e[entryBytes:], ptx)
	return out
}

// Choose is the PTX of the highest architecture up to that of the machine, or of any where machine is 0; machine code
// alone is refused.
func Choose(list []Entry, machine int) ([]byte, error) {
	best, archs := -1, ""
	for i, e := range list {
		switch {
		case e.Kind == Machine:
			archs = fmt.Sprintf("sm_%d", e.Arch)
		case e.Kind == PTX && (machine == 0 || e.Arch <= machine) && (best < 0 || e.Arch > list[best].Arch):
			best = i
		case e.Kind == PTX && best < 0:
			archs = fmt.Sprintf("compute_%d", e.Arch)
		}
	}
	if best >= 0 {
		return list[best].Text, nil
	}
	return nil, &NoPTX{archs}
}

// NoPTX is the error of a container without PTX for the machine.
type NoPTX struct{ Found string }

func (n *NoPTX) Error() string {
	if n.Found == "" {
		return "the program brings no code for the GPU"
	}
	return "only " + n.Found + " code is embedded, and Heddle runs PTX: compile with heddle cc, or with " +
		"nvcc -gencode arch=compute_70,code=compute_70 (CMake: CUDA_ARCHITECTURES 70-virtual)"
}
