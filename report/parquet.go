package report

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/heddle-sim/heddle/sim"
)

// A Parquet file of one flat table: required columns, plain encoding, one page per
// column, no compression. The library that reads and writes all of Parquet
// (parquet-go, which the tests read this back with) would double what `go run`
// compiles on a fresh machine; see RATIONALE.md.

// Parquet's physical and converted types, of those we use.
const (
	physInt64, physDouble, physBytes = 2, 5, 6
	convNone, convUTF8, convUint64   = -1, 0, 14
)

// Thrift's compact protocol: the wire types of the footer.
const (
	wireI32, wireI64, wireBinary, wireList, wireStruct = 5, 6, 8, 9, 12
)

// column is one column, its values encoded.
type column struct {
	name, unit string
	phys, conv int
	data       []byte
	offset     int64 // of its page in the file
	size       int64 // of page header and page
}

// thrift writes structs of the compact protocol.
type thrift struct {
	b    []byte
	last []int // number of the last field, per open struct
}

func (t *thrift) varint(x uint64) { t.b = binary.AppendUvarint(t.b, x) }

func (t *thrift) open() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

// field begins field id; ids ascend by less than 16.
func (t *thrift) field(id, wire int) {
	top := &t.last[len(t.last)-1]
	t.b = append(t.b, byte((id-*top)<<4|wire))
	*top = id
}

func (t *thrift) zigzag(x int64) { t.varint(uint64(x<<1) ^ uint64(x>>63)) }

func (t *thrift) i32(id int, x int64) { t.field(id, wireI32); t.zigzag(x) }

func (t *thrift) i64(id int, x int64) { t.field(id, wireI64); t.zigzag(x) }

func (t *thrift) text(s string) {
	t.varint(uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thrift) list(id, n, wire int) {
	t.field(id, wireList)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|wire))
		return
	}
	t.b = append(t.b, byte(0xf0|wire))
	t.varint(uint64(n))
}

// encode is the rows of epochs.csv column by column.
func encode(rows []epochRow) []column {
	var out []column
	for i, e := range epochColumns() {
		c := column{name: e.name, unit: e.unit, phys: physInt64, conv: convUint64}
		if e.real {
			c.phys, c.conv = physDouble, convNone
		}
		if e.name == "tenant" {
			c.phys, c.conv = physBytes, convUTF8
		}
		for k := range rows {
			if r := &rows[k]; c.phys == physBytes {
				c.data = binary.LittleEndian.AppendUint32(c.data, uint32(len(r.tenant)))
				c.data = append(c.data, r.tenant...)
			} else {
				c.data = binary.LittleEndian.AppendUint64(c.data, r.bits(i))
			}
		}
		out = append(out, c)
	}
	return out
}

// bits is what column i holds of a row, as 64 bits.
func (r *epochRow) bits(i int) uint64 {
	switch i {
	case 0:
		return r.cycle
	case 2:
		return uint64(r.SMs)
	case 3:
		return uint64(r.Channels)
	case 4:
		return math.Float64bits(r.IPC)
	case 5:
		return math.Float64bits(r.BandwidthGBs)
	case 6:
		return r.gated
	}
	return r.Counts[i-counted]
}

// EpochsParquet writes the rows of EpochsCSV as Parquet. The file's metadata has the hash
// of the Spec, the version that made it, and the unit of each column ("unit.NAME").
func EpochsParquet(w io.Writer, r *sim.Result) error {
	rows := epochRows(r)
	cols := encode(rows)
	out := []byte("PAR1")
	for i := range cols {
		c := &cols[i]
		c.offset = int64(len(out))
		h := thrift{}
		h.open()
		h.i32(1, 0) // a data page
		h.i32(2, int64(len(c.data)))
		h.i32(3, int64(len(c.data)))
		h.field(5, wireStruct)
		h.open()
		h.i32(1, int64(len(rows)))
		h.i32(2, 0) // plain
		h.i32(3, 3) // levels would be RLE; required columns have none
		h.i32(4, 3)
		h.end()
		h.end()
		out = append(append(out, h.b...), c.data...)
		c.size = int64(len(out)) - c.offset
	}
	foot := footer(cols, int64(len(rows)), r)
	out = append(out, foot...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(foot)))
	_, err := w.Write(append(out, "PAR1"...))
	return err
}

// footer is the file's metadata: schema, one row group, and keys with values.
func footer(cols []column, rows int64, r *sim.Result) []byte {
	t := thrift{}
	t.open()
	t.i32(1, 1)
	t.list(2, len(cols)+1, wireStruct)
	t.open()
	t.field(4, wireBinary)
	t.text("epochs")
	t.i32(5, int64(len(cols)))
	t.end()
	for i := range cols {
		c := &cols[i]
		t.open()
		t.i32(1, int64(c.phys))
		t.i32(3, 0) // required
		t.field(4, wireBinary)
		t.text(c.name)
		if c.conv != convNone {
			t.i32(6, int64(c.conv))
		}
		t.end()
	}
	t.i64(3, rows)
	t.list(4, 1, wireStruct)
	t.open()
	var total int64
	t.list(1, len(cols), wireStruct)
	for i := range cols {
		total += cols[i].size
		t.chunk(&cols[i], rows)
	}
	t.i64(2, total)
	t.i64(3, rows)
	t.end()
	t.list(5, len(cols)+2, wireStruct)
	t.pair("spec_hash", r.SpecHash)
	t.pair("heddle", r.Wall.Version)
	for i := range cols {
		t.pair("unit."+cols[i].name, cols[i].unit)
	}
	t.field(6, wireBinary)
	t.text("heddle")
	t.end()
	return t.b
}

// pair is a key of the file's metadata with its value.
func (t *thrift) pair(key, value string) {
	t.open()
	t.field(1, wireBinary)
	t.text(key)
	t.field(2, wireBinary)
	t.text(value)
	t.end()
}

// chunk describes where a column lies.
func (t *thrift) chunk(c *column, rows int64) {
	t.open()
	t.i64(2, c.offset)
	t.field(3, wireStruct)
	t.open()
	t.i32(1, int64(c.phys))
	t.list(2, 1, wireI32)
	t.zigzag(0)
	t.list(3, 1, wireBinary)
	t.text(c.name)
	t.i32(4, 0) // uncompressed
	t.i64(5, rows)
	t.i64(6, c.size)
	t.i64(7, c.size)
	t.i64(9, c.offset)
	t.end()
	t.end()
}
