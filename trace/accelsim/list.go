package accelsim

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The commands of a kernelslist.g that name a range of memory.
const (
	copyCommand    = "MemcpyHtoD"
	allocCommand   = "cudaMalloc"
	managedCommand = "cudaMallocManaged"
)

// command is a line of a kernelslist.g that matters.
type command struct {
	line   int
	kernel string // file of a kernel, relative to the list; empty: what names a range
	what   string // copyCommand, allocCommand or managedCommand
	addr   uint64 // of the range
	bytes  int64
	header Header // of the kernel, filled in by Load
}

// maxCopy bounds a range; no GPU has more memory.
const maxCopy = 1 << 40

// readList reads a kernelslist.g: allocations, copies to the device and kernels; other lines are
// ignored and counted.
func readList(s *stream) (list []command, ignored int, err error) {
	acts := false
	for {
		b, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		text := string(b)
		switch {
		case strings.HasPrefix(text, copyCommand), strings.HasPrefix(text, allocCommand):
			c, err := readRange(s, b)
			if err != nil {
				return nil, 0, err
			}
			acts = acts || c.what == copyCommand
			list = append(list, c)
		case strings.HasPrefix(text, "kernel"):
			if !strings.Contains(text, ".traceg") {
				return nil, 0,
					s.bad("%s: want a .traceg file (.trace files must be grouped by thread blocks with "+
						"post-traces-processing first)", quote(b))
			}
			acts = true
			list = append(list, command{line: s.line, kernel: text})
		default:
			ignored++
		}
	}
	if !acts {
		return nil, 0, &Error{
			File: s.file,
			Msg: "no kernel and no copy: a kernelslist.g has lines like kernel-1.traceg and " +
				"MemcpyHtoD,0x7f0000000000,4096",
		}
	}
	return list, ignored, nil
}

// readRange reads COMMAND,0x<address>,<bytes>.
func readRange(s *stream, b []byte) (command, error) {
	what, rest, _ := strings.Cut(string(b), ",")
	c := command{line: s.line, what: strings.TrimSpace(what)}
	if c.what != copyCommand && c.what != allocCommand && c.what != managedCommand {
		return c, s.bad("%s: want %s, %s or %s, then ,0x<address>,<bytes>", quote(b), copyCommand, allocCommand,
			managedCommand)
	}
	addr, bytes, _ := strings.Cut(rest, ",")
	var e1, e2 error
	c.addr, e1 = strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(addr), "0x"), 16, 64)
	c.bytes, e2 = strconv.ParseInt(strings.TrimSpace(bytes), 10, 64)
	if e := errors.Join(e1, e2); e != nil {
		return c, s.bad("%s: want %s,0x<address>,<bytes>", quote(b), c.what)
	}
	if c.bytes < 0 || c.bytes > maxCopy || c.addr >= maxAddr || c.addr+uint64(c.bytes) > maxAddr {
		return c, s.bad("%s: no GPU has that range of memory", quote(b))
	}
	return c, nil
}

// missing explains why a kernel's file cannot be opened.
func missing(path string, err error) string {
	if !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	for _, suffix := range []string{".xz", ".gz", ".zst"} {
		bare := strings.TrimSuffix(path, suffix)
		for _, other := range []string{path + suffix, bare} {
			if other == path {
				continue
			}
			if _, e := os.Stat(other); e == nil {
				return "there is no " + filepath.Base(path) + ", but " + filepath.Base(other) + ": list that name"
			}
		}
	}
	return "there is no " + path
}

// Identity is a hash of the contents of a trace: of the list and of every file it names, as they are on disk.
func Identity(list string) (string, error) {
	s, err := openStream(list)
	if err != nil {
		return "", err
	}
	commands, _, err := readList(s)
	if err = errors.Join(err, s.Close()); err != nil {
		return "", err
	}
	h := sha256.New()
	files, seen := []string{filepath.Base(list)}, map[string]bool{}
	for i := range commands {
		if k := commands[i].kernel; k != "" && !seen[k] {
			seen[k] = true
			files = append(files, k)
		}
	}
	for _, name := range files {
		n, err := addFile(h, filepath.Join(filepath.Dir(list), name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %d\n", name, n)
	}
	return "accelsim:" + hex.EncodeToString(h.Sum(nil)), nil
}

func addFile(w io.Writer, path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, f)
	return n, errors.Join(err, f.Close())
}
