// Package champsim reads traces of CPU programs in ChampSim's format: 64 bytes per instruction, or 96 in
// CloudSuite's, plain or compressed (.gz, .xz, .zst).
//
// A reader must know three types. Record is one instruction of a trace. Format is how it is laid out, which
// the trace itself shows in most cases. Reader is a trace as
// the source of a core's operations (isa/scalar): it holds a piece of the file of 48 KiB and what the
// decompressor needs, whatever the length of the trace.
//
// A trace has no opcodes, no sizes of accesses and no values: instructions on registers take a
// cycle, and loads and stores go to the line of their address alone.
package champsim

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// mostDictionary bounds the memory a compressed file may ask of a decompressor: twice what xz -9
// does.
const mostDictionary = 128 << 20

// piece is how much of the trace is decompressed at once, a whole number of records of each size.
const piece = 256 * Bytes * 3

// Error is a mistake in a trace, with its place.
type Error struct {
	File   string
	Offset int64  // bytes from the beginning
	Of     string // of the file, or of the decompressed data
	Msg    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: at byte %d%s: %s", e.File, e.Offset, e.Of, e.Msg)
}

// Reader reads a trace from beginning to end.
type Reader struct {
	file   string
	f      *os.File
	in     *counted
	r      io.Reader
	closer io.Closer // of the decompressor; may be nil
	// dictionary is the bytes of memory an .xz file asks for; each reader of it has as much.
	dictionary int64

	format Format // Auto until the first piece has been read
	bytes  int    // of a record

	buf     []byte
	at, n   int
	offset  int64 // of buf in the trace
	plain   uint32
	end     bool
	problem error
	record  Record
}

// counted counts what has been read of a file.
type counted struct {
	r *bufio.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadByte is what decompressors read headers with.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// Open opens a trace and reads its first piece, so that a file that is no trace is refused at once, and so is one
// whose content contradicts the given format.
func Open(file string, format Format) (*Reader, error) {
	switch st, err := os.Stat(file); { // before a pipe without a writer is opened, which waits for one
	case err != nil:
	case st.IsDir():
		return nil, fmt.Errorf("%s is a folder: a trace is one file", file)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file: a trace is read more than once, so that it must be a "+
			"file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file, f: f, format: format, buf: make([]byte, piece)}
	if err := r.begin(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// begin starts at the begin of the file.
func (r *Reader) begin() error {
	r.release()
	r.in = &counted{}
	size, err := r.checkEnd()
	if err != nil {
		return err
	}
	if _, err := r.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.in = &counted{r: bufio.NewReaderSize(r.f, 256<<10)}
	r.at, r.n, r.offset, r.plain, r.end, r.problem = 0, 0, 0, 0, false, nil
	if err := r.decompressor(); err != nil {
		return r.broken(err)
	}
	r.load()
	if r.n == 0 {
		if r.problem == nil {
			r.problem = &Error{File: r.file, Msg: "the trace has no instruction"}
		}
		return r.problem
	}
	if r.end && r.problem == nil {
		size = int64(r.n)
	}
	if err := r.lay(size); err != nil {
		if r.problem != nil {
			return r.problem
		}
		return err
	}
	if left := size % int64(r.bytes); size > 0 && left != 0 {
		return r.incomplete(size-left, int(left))
	}
	if r.n < r.bytes {
		return r.problem
	}
	return r.parse()
}

// lay decides how the records are laid out, from the first piece and the bytes of the whole trace; 0: not known.
func (r *Reader) lay(size int64) error {
	if r.bytes != 0 { // read again
		return nil
	}
	f, err := layout(r.buf[:r.n], size, r.format)
	if err != nil {
		return fmt.Errorf("%s: %w", r.file, err)
	}
	r.format, r.bytes = f, f.bytes()
	if f == CloudSuiteFormat {
		r.record.CloudSuite = &CloudSuite{}
	}
	return nil
}

// parse reads the record at the present place.
func (r *Reader) parse() error {
	err := r.record.Parse(r.buf[r.at : r.at+r.bytes])
	if err != nil {
		return &Error{File: r.file, Offset: r.offset + int64(r.at), Of: r.of(), Msg: err.Error()}
	}
	return nil
}

func (r *Reader) decompressor() (err error) {
	switch {
	case strings.HasSuffix(r.file, ".gz"):
		var z *gzip.Reader
		if z, err = gzip.NewReader(r.in); err != nil {
			return err
		}
		r.r, r.closer = z, z
	case strings.HasSuffix(r.file, ".xz"):
		if r.dictionary, err = checkDictionary(r.in.r); err != nil {
			return err
		}
		r.r, err = xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(r.in)
	case strings.HasSuffix(r.file, ".zst"):
		var z *zstd.Decoder
		z, err = zstd.NewReader(r.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostDictionary),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return err
		}
		r.r, r.closer = z, z.IOReadCloser()
	default:
		r.r = r.in
	}
	return err
}

// packed says that the trace is compressed.
func (r *Reader) packed() bool {
	return strings.HasSuffix(r.file, ".gz") || strings.HasSuffix(r.file, ".xz") || strings.HasSuffix(r.file, ".zst")
}

// checkEnd refuses an .xz file that is cut off, which its end shows. It returns the bytes of a trace that is not
// compressed, else 0.
func (r *Reader) checkEnd() (int64, error) {
	size, err := r.f.Seek(0, io.SeekEnd)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: a trace is read more than once, so that it must be a file: %w", r.file, err)
	case strings.HasSuffix(r.file, ".xz"):
		return 0, r.checkFooter(size)
	case r.packed():
		return 0, nil
	}
	return size, nil
}

// incomplete is the error of a last record that has only a number of bytes.
func (r *Reader) incomplete(offset int64, bytes int) error {
	return &Error{
		File: r.file, Offset: offset, Of: r.of(),
		Msg: fmt.Sprintf("the last record has %d bytes of %d: the trace is cut off, its records do not have %d "+
			"bytes, or "+
			"its name lacks the suffix that says how it is compressed (.gz, .xz, .zst)", bytes, r.bytes, r.bytes),
	}
}

// checkFooter refuses an .xz file that does not end as one, which the decompressor does not notice
// where it is cut off between two blocks. The footer is a CRC32 of the 6 bytes behind it, those, and
// YZ; zeros in fours may follow (xz file format 1.2.1, 2.1.2 and 2.2).
func (r *Reader) checkFooter(size int64) error {
	var b [12]byte
	for end := size; ; end -= 4 {
		if end < int64(len(b)) {
			break
		}
		if _, err := r.f.ReadAt(b[:], end-int64(len(b))); err != nil {
			return fmt.Errorf("%s: %w", r.file, err)
		}
		if b[8]|b[9]|b[10]|b[11] != 0 {
			break
		}
	}
	if b[10] == 'Y' && b[11] == 'Z' && crc32.ChecksumIEEE(b[4:10]) == binary.LittleEndian.Uint32(b[:]) {
		return nil
	}
	if _, err := r.f.ReadAt(b[:], 0); err == nil && !bytes.HasPrefix(b[:], []byte(xzMagic)) {
		return r.broken(errors.New("it does not begin as .xz"))
	}
	r.in.n = size
	return r.broken(errNoFooter)
}

// xzMagic is how an .xz file begins (xz file format 1.2.1, 2.1.1.1).
const xzMagic = "\xfd7zXZ\x00"

// errNoFooter is what an .xz file lacks that is cut off or has something behind its end.
var errNoFooter = errors.New("no .xz footer at the end")

// checkDictionary refuses an .xz file whose first block asks for too much memory, before the
// decompressor takes it. The block's header stands behind the 12 bytes of the stream's: its size in
// words of 4 bytes less one, flags, perhaps two sizes of the block, then the filters; that of LZMA2
// (0x21) has one byte, the size of its dictionary (xz file format 1.2.1, 3.1 and 5.3.1), which is
// returned in bytes; 0 if that is not known.
func checkDictionary(in *bufio.Reader) (int64, error) {
	b, err := in.Peek(12 + 4)
	if err != nil || b[12] == 0 {
		return 0, nil // what is wrong with it the decompressor will say
	}
	b, err = in.Peek(12 + 4*(int(b[12])+1))
	if err != nil {
		return 0, nil
	}
	head := b[12:]
	at, skip := 2, int(head[1]>>6&1)+int(head[1]>>7)
	for ; skip > 0 && at < len(head); skip-- { // a size takes 7 bits of each byte, the last has no top bit
		for at < len(head) && head[at]&0x80 != 0 {
			at++
		}
		at++
	}
	for filters := int(head[1]&3) + 1; filters > 0 && at+2 < len(head); filters-- {
		id, more := head[at], int(head[at+1])
		if id != 0x21 || more != 1 {
			at += 2 + more
			continue
		}
		size := int64(2|head[at+2]&1) << (head[at+2]/2 + 11)
		if size > mostDictionary {
			return 0, fmt.Errorf("its dictionary of %d MiB is too large, at most %d: compress it again with xz -9 or "+
				"less", size>>20, mostDictionary>>20)
		}
		return size, nil
	}
	return 0, nil
}

// broken is an error of the file that is decompressed, or of a plain one.
func (r *Reader) broken(err error) error {
	of := ""
	if r.packed() {
		of = " of the compressed file"
	}
	msg := fmt.Sprintf("cannot decompress: %v (the suffix says how a trace is compressed: .gz, .xz, .zst or nothing)",
		err)
	switch {
	case errors.Is(err, errNoFooter):
		msg = "the file does not end as .xz does: it is cut off, or something follows its compressed data; copy or " +
			"download it again"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		msg = "the file ends in the middle of its compressed data: it is cut off, or something else follows them; " +
			"copy or download it again"
	}
	return &Error{File: r.file, Offset: r.in.n, Of: of, Msg: msg}
}

// fill reads the next piece. At the end of the trace there is none, and perhaps a problem.
func (r *Reader) fill() {
	r.load()
	if left := r.n % r.bytes; r.end && r.problem == nil && left != 0 {
		r.problem = r.incomplete(r.offset+int64(r.n-left), left)
	}
}

// load reads the next piece, whatever its records are.
func (r *Reader) load() {
	r.offset += int64(r.n)
	r.at, r.n = 0, 0
	for r.n < len(r.buf) && !r.end {
		n, err := r.r.Read(r.buf[r.n:])
		r.n += n
		if err == nil {
			continue
		}
		r.end = true
		if !errors.Is(err, io.EOF) {
			r.problem = r.broken(err)
		}
	}
}

// Read fills a buffer of at least 10 operations. A trace that is cut off gives its whole records, and then the error.
func (r *Reader) Read(out []scalar.Inst) (int, error) {
	if len(out) < most {
		return 0, fmt.Errorf("a buffer of %d operations is too small: at least %d", len(out), most)
	}
	n := 0
	for n+most <= len(out) {
		if r.n-r.at < r.bytes {
			if r.end {
				break
			}
			r.fill()
			continue
		}
		if err := r.parse(); err != nil {
			r.end, r.n, r.problem = true, r.at, err
			break
		}
		r.at += r.bytes
		k := r.record.operations(out[n:])
		if k == 0 && r.plain < mostPlain {
			r.plain++
			continue
		}
		if k == 0 {
			out[n], k = scalar.Inst{}, 1
		}
		out[n].Before, r.plain = r.plain, 0
		n += k
	}
	switch {
	case n > 0:
		return n, nil
	case r.problem != nil:
		return 0, r.problem
	case r.plain > 0: // behind the last operation
		out[0], r.plain = scalar.Inst{Before: r.plain - 1}, 0
		return 1, nil
	}
	return 0, io.EOF
}

// mostPlain instructions in a row are reported at once.
const mostPlain = 1 << 20

// of says what offsets in the trace count.
func (r *Reader) of() string {
	if r.packed() {
		return " of the decompressed trace"
	}
	return ""
}

// Rewind starts again at the beginning.
func (r *Reader) Rewind() error { return r.begin() }

// release closes the decompressor. Its errors have been reported when it was read. A large dictionary goes back to
// the system at once. Otherwise the next one would be allocated in addition.
func (r *Reader) release() {
	if r.closer != nil {
		_ = r.closer.Close()
		r.closer = nil
	}
	if r.dictionary >= largeDictionary {
		r.r, r.dictionary = nil, 0
		debug.FreeOSMemory()
	}
}

// largeDictionary is twice what xz takes when it is not told anything.
const largeDictionary = 16 << 20

// Close releases the file.
func (r *Reader) Close() error {
	r.release()
	return r.f.Close()
}
