package accelsim

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// store holds the records of a kernel: in memory up to a limit, beyond it all in a
// temporary file. It is written once from front to back and then read anywhere.
type store struct {
	opt  Options
	buf  []byte   // everything, or what the file does not have yet
	f    *os.File // nil: in memory
	name string   // of the file where it could not be unlinked at once
	size int64
}

// spill is how many bytes are written to the file at a time.
const spill = 1 << 20

func (s *store) write(b []byte) error {
	s.buf = append(s.buf, b...)
	s.size += int64(len(b))
	if s.f == nil && s.size <= s.opt.Memory || s.f != nil && len(s.buf) < spill {
		return nil
	}
	return s.flush()
}

// flush moves the buffer to the file.
func (s *store) flush() error {
	if s.size > s.opt.Disk {
		return fmt.Errorf("its records need more than %d bytes of temporary space: trace fewer thread blocks or "+
			"fewer kernels", s.opt.Disk)
	}
	if s.f == nil {
		f, err := os.CreateTemp(s.opt.TempDir, "heddle-trace-*")
		if err != nil {
			return err
		}
		s.f = f
		if os.Remove(f.Name()) != nil { // where an open file cannot be removed, Close does
			s.name = f.Name()
		}
	}
	if _, err := s.f.Write(s.buf); err != nil {
		return fmt.Errorf("writing %d bytes of records to a temporary file: %w (TMPDIR says where)", s.size, err)
	}
	s.buf = s.buf[:0]
	return nil
}

// seal ends the writing.
func (s *store) seal() error {
	if s.f == nil {
		return nil
	}
	err := s.flush()
	s.buf = nil
	return err
}

// inMemory is how many bytes of records are held in memory.
func (s *store) inMemory() int64 { return int64(cap(s.buf)) }

// read gives up to n bytes from off on: a part of the memory, or read into dst.
func (s *store) read(off int64, n int, dst []byte) ([]byte, error) {
	n = int(min(int64(n), s.size-off))
	if s.f == nil {
		if s.buf == nil && s.size > 0 {
			return nil, os.ErrClosed
		}
		return s.buf[off : off+int64(n)], nil
	}
	m, err := s.f.ReadAt(dst[:n], off)
	if errors.Is(err, io.EOF) && m == n {
		err = nil
	}
	return dst[:m], err
}

// Close gives memory and file back.
func (s *store) Close() error {
	s.buf = nil
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	return err
}
