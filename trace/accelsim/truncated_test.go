package accelsim

import (
	"bytes"
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A trace and a list of kernels that end anywhere are read to their end.
func TestTruncated(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, vecadd(1))
	w.Block(0, 0, 0)
	list := vecaddWarp(0, 0)
	w.Warp(0, len(list))
	for i := range list {
		w.Inst(&list[i])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	truncated.Each(t, b.Bytes(), func(part []byte) {
		tr, err := read(newStream("f.traceg", bytes.NewReader(part)), Options{Other: true}, &mapper{})
		var own *Error
		if err != nil && !errors.As(err, &own) || (tr == nil) == (err == nil) {
			t.Errorf("the first %d bytes: %v, %v", len(part), tr, err)
		}
	})
	text := []byte("MemcpyHtoD,0x00007f4a80000000,4096\nkernel-1.traceg.xz\nMemcpyDtoH,0,1\n")
	truncated.Each(t, text, func(part []byte) {
		if list, _, err := readList(newStream(ListName, bytes.NewReader(part))); (len(list) == 0) == (err == nil) {
			t.Errorf("%q: %v, %v", part, list, err)
		}
	})
}
