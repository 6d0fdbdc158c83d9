package record

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// The header and the trailer. A reader refuses other versions.
const (
	magic      = "\x8bHeddle\n"
	version    = 6
	headerSize = len(magic) + 8 // magic, version, CRC of both
	// trailer: index offset, its bytes compressed and not, CRCs of the index and of
	// all before, magic
	trailerSize = 8 + 8 + 8 + 4 + 4 + len(magic)
)

const (
	pageTarget = 64 << 10  // a page is written when it holds this much
	pieceBytes = 16 << 10  // a warp's stream is spilled when it holds this much
	maxPage    = 4 << 20   // more than the streams of 32 warps and the page before them
	maxIndex   = 1 << 30   // bytes, decompressed
	maxWindow  = 8 << 20   // zstd window
	maxSmall   = 128 << 20 // initial allocation for the index, at most
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func header() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

func trailer(at int64, packed []byte, full int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(at))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(packed)))
	b = binary.LittleEndian.AppendUint64(b, uint64(full))
	b = binary.LittleEndian.AppendUint32(b, checksum(packed))
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	return append(b, magic...)
}

// Is says whether the file at path begins like a recording. A folder or a file that is too short does not.
func Is(path string) (bool, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	b := make([]byte, len(magic))
	if _, err := io.ReadFull(f, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return false, err
	}
	return string(b) == magic, nil
}

// Identity is a hash of the contents of the recording at path: of its index, which holds the sums of all pages.
func Identity(path string) (string, error) {
	r, err := Open(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(r.x.encode())
	return fmt.Sprintf("recording:%x", sum), r.Close()
}

func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderCRC(false))
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxIndex),
		zstd.WithDecoderMaxWindow(maxWindow))
}

// readIndex checks header and trailer and reads the index.
func readIndex(r io.ReaderAt, size int64, d *zstd.Decoder) (*index, error) {
	if size < int64(headerSize+trailerSize) {
		return nil, fmt.Errorf("%d bytes are too few for a recording", size)
	}
	head := make([]byte, headerSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if string(head[:len(magic)]) != magic {
		return nil, errors.New("this is not a recording")
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != version {
		return nil, fmt.Errorf("version %d of the format; this program reads version %d: record again", v, version)
	}
	if string(head) != string(header()) {
		return nil, errors.New("the header is damaged")
	}
	t := make([]byte, trailerSize)
	if _, err := r.ReadAt(t, size-int64(trailerSize)); err != nil {
		return nil, err
	}
	body := t[:28]
	if string(t[32:]) != magic || checksum(body) != binary.LittleEndian.Uint32(t[28:]) {
		return nil, errors.New("the end is missing or damaged: the file was cut short or changed; record again")
	}
	at, packed, full := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:]),
		binary.LittleEndian.Uint64(t[16:])
	if at < uint64(headerSize) || at > uint64(size) || packed > uint64(size) ||
		at+packed+uint64(trailerSize) != uint64(size) || full > maxIndex {
		return nil, errors.New("the trailer contradicts the file's size: the file was cut short or changed; record " +
			"again")
	}
	b := make([]byte, packed)
	if _, err := r.ReadAt(b, int64(at)); err != nil {
		return nil, err
	}
	if checksum(b) != binary.LittleEndian.Uint32(t[24:]) {
		return nil, errors.New("the index is damaged; record again")
	}
	text, err := d.DecodeAll(b, make([]byte, 0, min(full, maxSmall)))
	if err != nil {
		return nil, fmt.Errorf("the index is damaged: %w", err)
	}
	if uint64(len(text)) != full {
		return nil, errors.New("the index has another length than the trailer says")
	}
	x, err := decodeIndex(text, int64(headerSize))
	if err != nil {
		return nil, fmt.Errorf("the index is damaged: %w", err)
	}
	end := int64(headerSize)
	if n := len(x.pages); n > 0 {
		end = x.pages[n-1].at + int64(x.pages[n-1].size)
	}
	if end != int64(at) {
		return nil, errors.New("the pages do not fill the file: it was changed; record again")
	}
	return x, nil
}
