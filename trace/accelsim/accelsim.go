// Package accelsim runs Accel-Sim traces. NVBit records them from an application on a real GPU, as kernelslist.g and
// one .traceg file per kernel (plain, .gz, .xz or .zst; tracer versions up to 5).
//
// A reader must know three types. Trace is one kernel, read and checked: static
// code, and the records of every warp in a compact form. Program is a
// kernelslist.g as a host program: its copies and launches in order. Writer makes
// trace files, for tests and for other tools.
//
// A kernel is read once, from its first to its last line, when its launch is near. The machine needs the whole static
// code before the first warp starts, and a malformed line must be found before the simulation. Lines are turned into
// records of a few bytes each, kept in memory up to Options.Memory and beyond that in a temporary file that has no
// name. Thread blocks may be in any order in the file, compressed or not: a CTA that starts finds its records by
// their offset, and each resident warp holds a window of 4 KiB of them. So memory is bounded by Options.Memory, 16
// bytes per thread block of the grid, the windows of the resident warps and the static code, whatever the length of
// the trace.
//
// Heddle invents nothing that a trace lacks:
//   - Predicates are not in the trace: dependences go through registers only.
//   - Barriers have no number and no count: every BAR is barrier 0 of the whole CTA.
//   - Opcodes without recorded addresses (textures, surfaces, TMA) and unknown ones
//     are errors, unless Options.Other takes them as register-only instructions.
//   - DEPBAR waits for all asynchronous copies (LDGSTS), not for all but N groups.
//   - Registers of a vector beyond the first follow from the opcode's width; the
//     uniform datapath's registers are recorded by no tracer.
//   - Generic addresses in a trace without window bases are global.
//   - Allocations are in a list where its tracer writes cudaMalloc lines (or cudaMallocManaged); other memory gets its
//     region when a copy or a kernel touches it. Managed memory has whole chunks of unified memory.
//   - Streams wait for the default stream, 0, and it for them, as in CUDA. Every other number is a stream of its own.
//   - Thread-block clusters are not modelled: their lines have no effect.
//
// Addresses of a recording lie anywhere in 49 bits. Their low 32 bits are kept;
// the windows of 4 GiB they lie in are moved below 256 GiB (see mapper).
package accelsim

import (
	"fmt"
	"os"
	"path/filepath"
)

// Options of reading.
type Options struct {
	// Other takes opcodes the table lacks as register-only instructions of class
	// "other"; Trace.Unknown counts them. Without it they are errors.
	Other bool
	// Memory is how many bytes of records of one kernel are kept in memory, the rest
	// goes to a temporary file; 0: DefaultMemory.
	Memory int64
	// Disk bounds the bytes of a kernel's temporary file; 0: DefaultDisk.
	Disk int64
	// TempDir is where temporary files go; empty: os.TempDir().
	TempDir string
}

// DefaultMemory is the size up to which a kernel's records stay in memory, in bytes.
const DefaultMemory = 64 << 20

// DefaultDisk bounds a kernel's temporary file, in bytes.
const DefaultDisk = 64 << 30

func (o Options) withDefaults() Options {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Disk == 0 {
		o.Disk = DefaultDisk
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	return o
}

// Error is a mistake in a trace: its place and the remedy.
type Error struct {
	File string
	Line int // 1-based, of the decompressed text; 0: the file as a whole
	Msg  string
}

func (e *Error) Error() string { return e.Pos() + ": " + e.Msg }

// Pos is "file:line", or the file alone.
func (e *Error) Pos() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d", e.File, e.Line)
}

// ListName is the name of the file that lists a trace's kernels.
const ListName = "kernelslist.g"

// Find says whether path is a trace, that is a kernelslist.g or a folder that holds one and no app.star, and returns
// the path of its kernelslist.g.
func Find(path string) (list string, ok bool) {
	if filepath.Base(path) == ListName {
		return path, true
	}
	if _, err := os.Stat(filepath.Join(path, "app.star")); err == nil {
		return "", false
	}
	list = filepath.Join(path, ListName)
	if st, err := os.Stat(list); err != nil || st.IsDir() {
		return "", false
	}
	return list, true
}
