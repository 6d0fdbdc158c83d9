package report

import (
	"encoding/binary"
	"io"
	"math"

	"heddle/sim"
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
	name       string
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

// epochColumns encodes the rows of epochs.csv column by column.
func epochColumns(rows []epochRow) []column {
	ints := func(name string, conv int, v func(*epochRow) uint64) column {
		c := column{name: name, phys: physInt64, conv: conv}
		for i := range rows {
			c.data = binary.LittleEndian.AppendUint64(c.data, v(&rows[i]))
		}
		return c
	}
	count := func(name string, v func(*epochRow) uint64) column { return ints(name, convUint64, v) }
	real := func(name string, v func(*epochRow) float64) column {
		c := ints(name, convNone, func(r *epochRow) uint64 { return math.Float64bits(v(r)) })
		c.phys = physDouble
		return c
	}
	tenant := column{name: "tenant", phys: physBytes, conv: convUTF8}
	for i := range rows {
		tenant.data = binary.LittleEndian.AppendUint32(tenant.data, uint32(len(rows[i].Tenant)))
		tenant.data = append(tenant.data, rows[i].Tenant...)
	}
	return []column{
		count("cycle", func(r *epochRow) uint64 { return r.Cycle }), tenant,
		ints("sms", convNone, func(r *epochRow) uint64 { return uint64(r.SMs) }),
		ints("channels", convNone, func(r *epochRow) uint64 { return uint64(r.Channels) }),
		real("ipc", func(r *epochRow) float64 { return r.IPC }),
		real("bandwidth_gbs", func(r *epochRow) float64 { return r.BandwidthGBs }),
		count("thread_insts", func(r *epochRow) uint64 { return r.ThreadInsts }),
		count("warp_insts", func(r *epochRow) uint64 { return r.WarpInsts }),
		count("l1_accesses", func(r *epochRow) uint64 { return r.L1Accesses }),
		count("l1_hits", func(r *epochRow) uint64 { return r.L1Hits }),
		count("llc_accesses", func(r *epochRow) uint64 { return r.LLCAccesses }),
		count("llc_hits", func(r *epochRow) uint64 { return r.LLCHits }),
		count("dram_reads", func(r *epochRow) uint64 { return r.DRAMReads }),
		count("dram_writes", func(r *epochRow) uint64 { return r.DRAMWrites }),
		count("dram_bytes", func(r *epochRow) uint64 { return r.DRAMBytes }),
	}
}

// EpochsParquet writes the rows of EpochsCSV as Parquet.
func EpochsParquet(w io.Writer, r *sim.Result) error {
	rows := epochRows(r)
	cols := epochColumns(rows)
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
	foot := footer(cols, int64(len(rows)))
	out = append(out, foot...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(foot)))
	_, err := w.Write(append(out, "PAR1"...))
	return err
}

// footer is the file's metadata: schema and one row group.
func footer(cols []column, rows int64) []byte {
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
	t.field(6, wireBinary)
	t.text("heddle")
	t.end()
	return t.b
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
