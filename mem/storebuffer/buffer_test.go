package storebuffer

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Random stores, writes and reads on two regions give what they give on memory that is written at once. Before the
// stores are published, memory has none of them.
func TestAgainstMemory(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var b Buffer
		var old, want, got [2][]byte
		for i := range got {
			got[i] = make([]byte, 100+rng.IntN(8000))
			for k := range got[i] {
				got[i][k] = byte(rng.Uint32())
			}
			want[i] = bytes.Clone(got[i])
		}
		for range 4 { // the buffer is used again
			for i := range got {
				old[i] = bytes.Clone(got[i])
			}
			for range 1 + rng.IntN(3000) {
				i := rng.IntN(2)
				base := unsafe.Pointer(&got[i][0])
				switch n := 1 + rng.IntN(40); rng.IntN(3) {
				case 0:
					if rng.IntN(4) == 0 {
						words(rng, &b, got[i], want[i])
						continue
					}
					size := 1 << rng.IntN(4)
					off := rng.IntN(len(got[i])/size) * size
					var v [8]byte
					binary.LittleEndian.PutUint64(v[:], rng.Uint64())
					b.Store(base, uint64(off), uint8(size), binary.LittleEndian.Uint64(v[:]))
					copy(want[i][off:], v[:size])
				case 1:
					off := rng.IntN(len(got[i]) - n)
					src := make([]byte, n)
					for k := range src {
						src[k] = byte(rng.Uint32())
					}
					b.Write(base, uint64(off), src)
					copy(want[i][off:], src)
				default:
					off := rng.IntN(len(got[i]) - n)
					dst := bytes.Clone(got[i][off : off+n])
					if b.Holds(base) {
						b.Forward(base, uint64(off), dst)
					}
					if !bytes.Equal(dst, want[i][off:off+n]) {
						t.Fatalf("seed %d: %d bytes at %d are %x, want %x", seed, n, off, dst, want[i][off:off+n])
					}
				}
			}
			for i := range got {
				if !bytes.Equal(got[i], old[i]) {
					t.Fatalf("seed %d: memory has changed before the stores were published", seed)
				}
			}
			b.Publish()
			for i := range got {
				if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("seed %d: memory has other bytes than were stored", seed)
				}
				if b.Holds(unsafe.Pointer(&got[i][0])) {
					t.Fatalf("seed %d: the buffer has stores after they were published", seed)
				}
			}
		}
	}
}

// words stores some words of the lanes of a warp, of which the highest wins where several store to one place.
func words(rng *rand.Rand, b *Buffer, got, want []byte) {
	var off [32]uint64
	var v [32]uint32
	first, mask := uint64(4*rng.IntN(3)), rng.Uint32()|rng.Uint32()
	for l := range off {
		off[l], v[l] = uint64(rng.IntN((len(got)-12)/4)*4), rng.Uint32()
		if l > 0 && rng.IntN(3) > 0 {
			off[l] = min(off[l-1]+4, uint64(len(got)-16)&^3)
		}
		if mask>>l&1 != 0 {
			binary.LittleEndian.PutUint32(want[off[l]+first:], v[l])
		}
	}
	b.Words(unsafe.Pointer(&got[0]), &off, first, &v, mask)
}

// No buffer holds nothing.
func TestNone(t *testing.T) {
	var b *Buffer
	if x := byte(0); b.Holds(unsafe.Pointer(&x)) {
		t.Error("no buffer holds stores")
	}
}

// BenchmarkWarp is a store of 32 neighbouring words, as a warp makes it, and every tenth a publication.
func BenchmarkWarp(b *testing.B) {
	var buf Buffer
	var off [32]uint64
	var words [32]uint32
	mem := make([]byte, 1<<20)
	b.ReportAllocs()
	at := uint64(0)
	for n := 0; b.Loop(); n++ {
		for l := range off {
			off[l] = at + 4*uint64(l)
		}
		buf.Words(unsafe.Pointer(&mem[0]), &off, 0, &words, ^uint32(0))
		at = (at + 128) % uint64(len(mem))
		if n%10 == 9 {
			buf.Publish()
		}
	}
}
