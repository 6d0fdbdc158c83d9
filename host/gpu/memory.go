package gpu

import (
	"fmt"
	"unsafe"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/mem"
)

// pinned holds the bytes of arrays where the GPU reads and writes them at full speed.
type pinned struct {
	lib *library
	at  map[uint64]unsafe.Pointer
}

func (p pinned) Bytes(base uint64, n int64) ([]byte, error) {
	var at unsafe.Pointer
	if err := p.lib.check("cuMemAllocHost", p.lib.mem.memAllocHost(&at, uint64(n))); err != nil {
		return nil, err
	}
	p.at[base] = at
	b := unsafe.Slice((*byte)(at), n)
	clear(b)
	return b, nil
}

func (p pinned) Release(base uint64, _ int64) {
	p.lib.mem.memFreeHost(p.at[base])
	delete(p.at, base)
}

// Allocated refuses memory that the GPU shares with others, and clears all other memory.
func (d *Device) Allocated(r *mem.Region) error {
	switch r.Kind {
	case mem.Managed:
		return fmt.Errorf("%s: managed memory is not measured: use malloc", r.Name)
	case mem.Device:
		return d.b.lib.check("cuMemsetD8", d.b.lib.mem.memset(r.Base, 0, uint64(r.Len())))
	}
	return nil
}

// Freed has nothing to do: the arena stays.
func (d *Device) Freed(*mem.Region) error { return nil }

// address is where a byte of a region is on the GPU.
func (d *Device) address(r *mem.Region, off int64) (uint64, error) {
	switch r.Kind {
	case mem.Device:
		return r.Base + uint64(off), nil
	case mem.Symbol:
		if at, ok := d.symbols[r]; ok {
			return at + uint64(off), nil
		}
		return 0, fmt.Errorf("%s: the driver does not know this variable by its name", r.Name)
	}
	return 0, fmt.Errorf("%s is %s memory, which the GPU cannot reach: use malloc", r.Name, r.Kind)
}

// write gives memory the bytes that the program makes up, once everything before is done.
func (d *Device) write(op *host.Op) error {
	if err := d.Synchronize(); err != nil {
		return err
	}
	dst, err := d.address(op.Dst, op.DstOff)
	if err != nil {
		return err
	}
	op.Apply()
	lib := d.b.lib
	from := unsafe.Pointer(&op.Dst.Data[op.DstOff])
	if err := lib.check("cuMemcpyHtoDAsync", lib.mem.toDevice(dst, from, uint64(op.N), 0)); err != nil {
		return err
	}
	op.Done = true
	return lib.check("cuStreamSynchronize", lib.ord.streamSync(0))
}

// copy begins a copy.
func (d *Device) copy(w *work, s uintptr) error {
	op, lib := w.op, d.b.lib
	n := uint64(op.N)
	toGPU, fromGPU := op.Dst.Kind != mem.Host, op.Src.Kind != mem.Host
	if !toGPU && !fromGPU {
		w.apply = op.Apply
		return nil
	}
	var dst, src uint64
	var err error
	if toGPU {
		dst, err = d.address(op.Dst, op.DstOff)
	}
	if fromGPU && err == nil {
		src, err = d.address(op.Src, op.SrcOff)
	}
	switch {
	case err != nil:
		return err
	case toGPU && fromGPU:
		return lib.check("cuMemcpyDtoDAsync", lib.mem.onDevice(dst, src, n, s))
	case toGPU:
		return lib.check("cuMemcpyHtoDAsync", lib.mem.toDevice(dst, unsafe.Pointer(&op.Src.Data[op.SrcOff]), n, s))
	}
	w.apply = op.Apply
	return lib.check("cuMemcpyDtoHAsync", lib.mem.toHost(unsafe.Pointer(&op.Src.Data[op.SrcOff]), src, n, s))
}

// Fetch brings a region's bytes from the GPU.
func (d *Device) Fetch(r *mem.Region) error {
	if r.Kind == mem.Host {
		return nil
	}
	if err := d.Synchronize(); err != nil {
		return err
	}
	src, err := d.address(r, 0)
	if err != nil {
		return err
	}
	l := d.b.lib
	code := l.mem.toHost(unsafe.Pointer(&r.Data[0]), src, uint64(r.Len()), 0)
	if err := l.check("cuMemcpyDtoHAsync", code); err != nil {
		return err
	}
	return l.check("cuStreamSynchronize", l.ord.streamSync(0))
}
