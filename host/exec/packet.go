package exec

import (
	"encoding/binary"
	"fmt"

	"github.com/heddle-sim/heddle/cuda/shim"
)

// packet is a call of the program, or what it is sent.
type packet struct {
	kind   int32 // shim.Call or shim.Push
	status int32
	v      [shim.Values]uint64
	data   []byte
}

// decode reads a packet; data stays in b.
func decode(b []byte) (p packet, err error) {
	le := binary.LittleEndian
	if len(b) < shim.Header {
		return p, fmt.Errorf("a packet of %d bytes: its head has %d", len(b), shim.Header)
	}
	p.kind, p.status = int32(le.Uint32(b)), int32(le.Uint32(b[4:]))
	if n := le.Uint32(b[8:]); uint64(n) != uint64(len(b)-shim.Header) {
		return p, fmt.Errorf("a packet of %d bytes claims to have %d", len(b)-shim.Header, n)
	}
	for i := range p.v {
		p.v[i] = le.Uint64(b[16+8*i:])
	}
	p.data = b[shim.Header:]
	return p, nil
}

// encode appends the packet's bytes.
func (p *packet) encode(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(p.kind))
	b = le.AppendUint32(b, uint32(p.status))
	b = le.AppendUint32(b, uint32(len(p.data)))
	b = le.AppendUint32(b, 0)
	for _, v := range p.v {
		b = le.AppendUint64(b, v)
	}
	return append(b, p.data...)
}
