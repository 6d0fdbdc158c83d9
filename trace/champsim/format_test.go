package champsim

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// cloudSuite is a trace of so many of CloudSuite's records: what sample does, and a fourth register and address.
func cloudSuite(records int) (b []byte) {
	small := sample(records)
	for i := range records {
		var r Record
		if err := r.Parse(small[i*Bytes:]); err != nil {
			panic(err)
		}
		r.CloudSuite = &CloudSuite{ASID: [2]uint8{1, 1}}
		if i%7 == 6 {
			r.CloudSuite.Writes, r.CloudSuite.Stores = [2]uint8{0, 11}, [2]uint64{0, 0x7000}
		}
		b = r.Append(b)
	}
	return b
}

// Where the fields of CloudSuite's record lie, byte by byte.
func TestCloudSuiteRecord(t *testing.T) {
	b := make([]byte, CloudSuiteBytes)
	for i := range b {
		b[i] = byte(i)
	}
	b[8], b[9] = 1, 0
	clear(b[18:24])
	clear(b[90:])
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	r := Record{CloudSuite: &CloudSuite{}}
	if err := r.Parse(b); err != nil {
		t.Fatal(err)
	}
	want := Record{
		IP: at(0), Branch: true, Writes: [2]uint8{10, 11}, Reads: [4]uint8{14, 15, 16, 17},
		Stores: [2]uint64{at(24), at(32)}, Loads: [4]uint64{at(56), at(64), at(72), at(80)},
	}
	more := CloudSuite{Writes: [2]uint8{12, 13}, Stores: [2]uint64{at(40), at(48)}, ASID: [2]uint8{88, 89}}
	if *r.CloudSuite != more {
		t.Errorf("%+v, want %+v", *r.CloudSuite, more)
	}
	if got := r.Append(nil); !bytes.Equal(got, b) {
		t.Errorf("written anew it is %v", got)
	}
	if r.CloudSuite = nil; r != want {
		t.Errorf("%+v, want %+v", r, want)
	}
}

// An instruction of four registers and addresses written; and registers mean nothing, as they are SPARC's.
func TestCloudSuiteOperations(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Record
		more CloudSuite
		want []scalar.Inst
	}{
		{
			"four of each",
			Record{Loads: [4]uint64{64}, Writes: [2]uint8{1, 2}, Stores: [2]uint64{128}, Reads: [4]uint8{26, 6}},
			CloudSuite{Writes: [2]uint8{3, 4}, Stores: [2]uint64{192, 256}},
			[]scalar.Inst{
				{Kind: scalar.Load, Addr: 64, Src: [4]uint16{26, 6}, Dst: [2]uint16{scalar.Temporary}, More: true},
				{Src: [4]uint16{scalar.Temporary}, Dst: [2]uint16{1, 2}, More: true},
				{Src: [4]uint16{scalar.Temporary}, Dst: [2]uint16{3, 4}, More: true},
				{Kind: scalar.Store, Addr: 128, Src: [4]uint16{scalar.Temporary}, More: true},
				{Kind: scalar.Store, Addr: 192, Src: [4]uint16{scalar.Temporary}, More: true},
				{Kind: scalar.Store, Addr: 256, Src: [4]uint16{scalar.Temporary}},
			},
		},
		{
			"the fourth register alone",
			Record{Loads: [4]uint64{64}},
			CloudSuite{Writes: [2]uint8{0, 6}},
			[]scalar.Inst{{Kind: scalar.Load, Addr: 64, Dst: [2]uint16{6}}},
		},
		{
			"a branch",
			Record{Branch: true, Reads: [4]uint8{26}, Writes: [2]uint8{26}},
			CloudSuite{},
			[]scalar.Inst{{Kind: scalar.Branch, Src: [4]uint16{26}, Dst: [2]uint16{26}, Conditional: true}},
		},
	} {
		c.r.CloudSuite = &c.more
		var out [most]scalar.Inst
		n := c.r.operations(out[:])
		if n != len(c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, out[:n], c.want)
			continue
		}
		for i := range n {
			if out[i] != c.want[i] {
				t.Errorf("%s: operation %d is %+v, want %+v", c.name, i, out[i], c.want[i])
			}
		}
	}
}

// Both layouts are told apart by their content, whatever the compression, and where the length is one of both.
func TestLayout(t *testing.T) {
	const records = 5000 * 96 / 32 // a number of bytes that is a multiple of both sizes in either
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		for _, c := range []struct {
			format Format
			b      []byte
		}{{ChampSimFormat, sample(records)}, {CloudSuiteFormat, cloudSuite(records)}} {
			for _, said := range []Format{Auto, c.format} {
				r, err := Open(write(t, "t"+suffix, compress(t, suffix, c.b)), said)
				if err != nil {
					t.Fatalf("%q, %s said to be %q: %v", suffix, c.format, said, err)
				}
				if r.format != c.format {
					t.Errorf("%q: %s is read as %s", suffix, c.format, r.format)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			_, insts, err := read(write(t, "t"+suffix, compress(t, suffix, c.b)))
			if err != nil || insts != records {
				t.Errorf("%q: %d instructions of %d, %v", suffix, insts, records, err)
			}
		}
	}
}

// loads is a trace each instruction of which loads, on the other end of the program from where the last did: nothing
// in it speaks against either layout.
func loads(records int, more *CloudSuite) (b []byte) {
	for i := range records {
		a := uint64(i) * 64
		r := Record{IP: 0x400000 + a, Loads: [4]uint64{0x10000000 + a, 0x20000000 + a<<16, 0, 0}, CloudSuite: more}
		if more != nil {
			more.Stores[0], r.Loads[1] = 0x30000000+a<<16, 0x20000000+a
			r.Stores = [2]uint64{0x50000000 + a, 0x40000000 + a<<16}
			r.Loads[2] = 0x70000000 + a<<16
		}
		b = r.Append(b)
	}
	return b
}

// What content does not show, length does or the user says; what he says wrongly, or what cannot be told, is refused.
func TestFormatSaid(t *testing.T) {
	const asks = "say format: champsim or format: cloudsuite"
	for _, c := range []struct {
		name string
		b    []byte
		said Format
		want string // of the error, or the format
	}{
		{"odd", loads(4, nil), Auto, "champsim"},
		{"even", loads(6, nil), Auto, asks},
		{"even", loads(6, nil), ChampSimFormat, "champsim"},
		{"even", loads(6, nil), CloudSuiteFormat, "cloudsuite"}, // nobody can tell
		{"long.gz", loads(2001, nil), Auto, asks},
		{"long.gz", loads(2001, nil), ChampSimFormat, "champsim"},
		{"short.gz", loads(4, nil), Auto, "champsim"},
		{"odd", loads(5, &CloudSuite{}), Auto, "cloudsuite"},
		{"even", loads(6, &CloudSuite{}), Auto, asks},
		{"even", loads(6, &CloudSuite{}), CloudSuiteFormat, "cloudsuite"},
		{"wrong", cloudSuite(30), ChampSimFormat, "the trace has records of 96 bytes: say format: cloudsuite"},
		{"wrong", sample(30), CloudSuiteFormat, "the trace has records of 64 bytes: say format: champsim"},
		{"cut", cloudSuite(64)[:60*96-64], Auto, "at byte 5664: the last record has 32 bytes of 96"},
		{"one", cloudSuite(1), Auto, "cloudsuite"},
		{"one", sample(1), Auto, "champsim"},
		{"two", cloudSuite(2), Auto, "cloudsuite"},
		{"three", sample(3), Auto, "champsim"},
		{"less", cloudSuite(1)[:80], CloudSuiteFormat, "the last record has 80 bytes of 96"},
	} {
		got := ""
		r, err := Open(write(t, c.name, compress(t, c.name[max(0, len(c.name)-3):], c.b)), c.said)
		if err != nil {
			got = err.Error()
		} else {
			got = string(r.format)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s of %d bytes said to be %q: %s, want %s", c.name, len(c.b), c.said, got, c.want)
		}
	}
}

// A record that is damaged behind the begin is found in either layout.
func TestCloudSuiteDamaged(t *testing.T) {
	b := cloudSuite(3000)
	b[2001*CloudSuiteBytes+9] = 2
	_, insts, err := read(write(t, "t", b))
	if err == nil || insts != 2001 || !strings.Contains(err.Error(), "at byte 192096: is_branch is ") {
		t.Errorf("%d instructions, %v", insts, err)
	}
}
