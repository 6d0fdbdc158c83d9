//go:build linux && amd64

package exec

import (
	"context"
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/mem"
)

// hostile is a session whose program is the test: what it sends to the program is taken and forgotten, and functions of
// the host that it asks for have run at once.
func hostile(t *testing.T) *session {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWindow()
	if err != nil {
		t.Skip("skipped, no device memory: ", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, shim.Header+shim.Payload+1)
		for {
			n, err := unix.Read(fds[1], b)
			if err == unix.EINTR {
				continue
			}
			if err != nil || n == 0 {
				return
			}
			if p, err := decode(b[:n]); err == nil && shim.Push(p.kind) == shim.HostCall {
				ran := packet{kind: int32(shim.Done)}
				if unix.Sendto(fds[1], ran.encode(nil), unix.MSG_NOSIGNAL, nil) != nil {
					return
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = unix.Close(fds[0])
		<-done
		_ = unix.Close(fds[1])
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	props := host.Properties{
		Machine: "test", SMs: 4, Threads: 2048, CTAs: 32, Registers: 65536, Shared: 96 << 10, L2: 1 << 20,
		MemoryBytes: 16 << 20, CoreMHz: 1000, MemoryMHz: 800, MemoryBusBits: 256, Capability: 70, Timeless: true,
	}
	ctx := context.Background()
	options := host.Options{Ctx: ctx, Properties: props}
	c := host.New(host.NewFunctional(ctx, 10000), mem.NewSpace(props.MemoryBytes), options)
	s := &session{
		p: &Program{}, c: c, d: c.DriverAPI(), w: w, conn: fds[0], said: map[string]bool{},
		in: make([]byte, shim.Header+shim.Payload+1),
	}
	s.reset()
	c.Space().BackBy(w)
	return s
}

// FuzzCalls sends calls with whatever values and data: each gets an answer, and none ends heddle. Each two bytes of the
// input are one: the call, then where its values come from.
func FuzzCalls(f *testing.F) {
	const kernel = ".version 6.4\n.target sm_70\n.address_size 64\n.global .texref t;\n.visible .global .u32 g[4];\n" +
		".visible .entry k(.param .u64 p) { .reg .b64 %d<2>; ld.param.u64 %d0, [p]; st.global.u64 [%d0], %d0; ret; }\n"
	seed := func(list ...byte) { f.Add(list) }
	// A module, its kernel, memory, a launch; a texture of the memory, bound and ended; events and streams.
	seed(4, 0, 6, 1, 11, 2, 10, 3, 38, 4, 40, 5, 39, 6, 25, 0, 31, 0, 32, 7, 15, 8, 16, 9)
	seed(11, 200, 12, 3, 13, 3, 14, 0, 17, 3, 18, 3, 19, 3, 36, 0, 20, 0, 21, 0, 99, 1)
	f.Fuzz(func(t *testing.T, input []byte) {
		s := hostile(t)
		n := copy(s.w.staged(int64(len(kernel))), kernel)
		var last uint64
		for i := 0; i+1 < len(input) && i < 64; i += 2 {
			kind, from := int32(input[i]), input[i+1]
			if call := shim.Call(kind); call == shim.Hello || call == shim.Done {
				continue // the first sends the window, the second is no call
			}
			interesting := []uint64{
				0, 1, 2, uint64(n), 64, 4096, mem.DefaultBase, mem.DefaultBase + 256, last, 0x1010, 1 << 20, 1 << 27,
				1 << 32, 1<<40 - 1, 1 << 63, ^uint64(0), 0x10401, 1<<32 | 1,
			}
			p := packet{kind: kind}
			for k := range p.v {
				p.v[k] = interesting[(int(from)*(2*k+1)+k*k)%len(interesting)]
			}
			if from < 16 { // ordinary values: small ones, and what the call before gave
				p.v = [shim.Values]uint64{last, 1, 1 << 32, 1, 1, 4, 1 << 32, 0}
			}
			switch name := []string{"k", "g", "t", "none", ""}[int(from)%5]; shim.Call(kind) {
			case shim.Module:
				p.v[0], p.v[1] = uint64(n), uint64(from)%4
			case shim.Launch:
				p.data = binary.LittleEndian.AppendUint64(nil, last)
			default:
				p.data = []byte(name)
			}
			if err := s.answer(&p); err != nil {
				return // the device has failed, as a fault makes it: the program ends
			}
			if regions := s.c.Space().Regions(); len(regions) > 0 {
				last = regions[len(regions)-1].Base
			}
		}
	})
}
