package fatbin

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const sample = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n" +
	".visible .entry l() { ret; }\n.visible .entry m() { ret; }\n.visible .entry n() { ret; }\n"

func TestRoundTrip(t *testing.T) {
	list, err := Parse(Write([]byte(sample), 70))
	if err != nil || len(list) != 1 || list[0].Arch != 70 || string(list[0].Text) != sample {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err = Parse([]byte(sample + "\x00\x00")); err != nil || string(list[0].Text) != sample {
		t.Errorf("bare text: %+v, %v", list, err)
	}
}

// packed is a container whose payload is packed.
func packed(payload []byte, flag uint64) []byte {
	b := Write(payload, 80)
	e := b[headBytes:]
	binary.LittleEndian.PutUint32(e[16:], uint32(len(payload)))
	binary.LittleEndian.PutUint64(e[40:], flag)
	binary.LittleEndian.PutUint64(e[56:], uint64(len(sample)))
	return b
}

func TestPacked(t *testing.T) {
	long := []byte(sample)
	block := make([]byte, lz4.CompressBlockBound(len(long)))
	n, err := lz4.CompressBlock(long, block, nil)
	if err != nil || n == 0 {
		t.Fatal(err)
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for flag, p := range map[uint64][]byte{flagLZ4: block[:n], flagZstd: w.EncodeAll(long, nil)} {
		list, err := Parse(packed(p, flag))
		if err != nil || string(list[0].Text) != sample {
			t.Errorf("flag %#x: %+v, %v", flag, list, err)
		}
	}
}

func TestChoose(t *testing.T) {
	list := []Entry{{Machine, 80, nil}, {PTX, 60, []byte("a")}, {PTX, 80, []byte("b")}}
	for machine, want := range map[int]string{0: "b", 70: "a", 90: "b"} {
		if got, err := Choose(list, machine); err != nil || string(got) != want {
			t.Errorf("machine %d: %q, %v", machine, got, err)
		}
	}
	none := (*NoPTX)(nil)
	if _, err := Choose(list[:1], 0); !errors.As(err, &none) || !strings.Contains(err.Error(), "only sm_80 code") {
		t.Errorf("machine code: %v", err)
	}
	if _, err := Choose(nil, 0); !errors.As(err, &none) {
		t.Errorf("nothing: %v", err)
	}
}

// FuzzParse: whatever a program hands over, the reader says what is wrong and neither fails nor takes memory without
// bound.
func FuzzParse(f *testing.F) {
	f.Add(Write([]byte(sample), 70))
	f.Add(packed([]byte(sample), flagLZ4))
	f.Add(packed([]byte(sample), flagZstd))
	f.Add([]byte(sample))
	f.Add([]byte(elfMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := Parse(data)
		if err != nil {
			return
		}
		for _, e := range list {
			if e.Kind == PTX && len(e.Text) > maxPTX {
				t.Errorf("%d bytes of PTX", len(e.Text))
			}
		}
	})
}
