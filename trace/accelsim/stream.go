package accelsim

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// maxLine bounds a line in bytes; the longest legal one (32 addresses) has 700.
const maxLine = 8 << 10

// maxWindow bounds the memory a compressed file may ask the zstd decoder for.
const maxWindow = 256 << 20

// stream is the decompressed text of a file, line by line.
type stream struct {
	file  string
	r     *bufio.Reader
	line  int // number of the line read last
	bytes int64
	close []func() error
}

// openStream opens a file; the suffix says how it is compressed.
func openStream(file string) (*stream, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	s := &stream{file: file, close: []func() error{f.Close}}
	r, err := s.decompress(f)
	if err != nil {
		return nil, errors.Join(&Error{
			File: file,
			Msg: fmt.Sprintf("cannot decompress: %v (the suffix says how a trace is compressed: .gz, .xz, .zst or "+
				"nothing)", err),
		}, s.Close())
	}
	s.r = bufio.NewReaderSize(r, 256<<10)
	return s, nil
}

func (s *stream) decompress(f io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(f, 256<<10)
	switch {
	case strings.HasSuffix(s.file, ".gz"):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, z.Close)
		return z, nil
	case strings.HasSuffix(s.file, ".xz"):
		return xz.NewReader(in)
	case strings.HasSuffix(s.file, ".zst"):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		s.close = append(s.close, func() error { z.Close(); return nil })
		return z, nil
	}
	return in, nil
}

// newStream reads from memory or any other reader, uncompressed.
func newStream(file string, r io.Reader) *stream {
	return &stream{file: file, r: bufio.NewReader(r)}
}

// Close releases the file.
func (s *stream) Close() error {
	var all error
	for i := len(s.close) - 1; i >= 0; i-- {
		all = errors.Join(all, s.close[i]())
	}
	return all
}

// next is the next line that is not blank, without its end and surrounding blanks.
// It is valid until the next call. At the end the error is io.EOF.
func (s *stream) next() ([]byte, error) {
	for {
		b, err := s.r.ReadSlice('\n')
		if len(b) > 0 {
			s.line++
			s.bytes += int64(len(b))
		}
		switch {
		case len(b) > maxLine || errors.Is(err, bufio.ErrBufferFull):
			return nil, s.bad("a line of more than %d bytes: this is not a trace, or it is damaged", maxLine)
		case err != nil && !errors.Is(err, io.EOF):
			s.line++
			return nil, s.bad("cannot read on: %v: the file is cut off or damaged; record or copy it again", err)
		}
		if b = trim(b); len(b) > 0 {
			return b, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
	}
}

// bad is an error at the line read last.
func (s *stream) bad(format string, args ...any) error {
	return &Error{File: s.file, Line: s.line, Msg: fmt.Sprintf(format, args...)}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func trim(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// quote is a line for a message, cut where it is long.
func quote(b []byte) string {
	if len(b) > 80 {
		return fmt.Sprintf("%q...", b[:80])
	}
	return fmt.Sprintf("%q", b)
}
