package gpu

import "unsafe"

// helperText holds two kernels of the kit's own. sweep reads n bytes, a multiple of 16, through the L2 and leaves
// them there unwritten: lines that are thrown out later cost no write. pause lasts a number of ns.
const helperText = `.version 7.0
.target sm_70
.address_size 64
.visible .entry sweep(.param .u64 from, .param .u64 n, .param .u64 to)
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .b64 %a<9>;
	ld.param.u64 %a0, [from];
	ld.param.u64 %a1, [n];
	ld.param.u64 %a2, [to];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r3, %r0, %r1, %r2;
	mul.wide.u32 %a3, %r3, 16;
	mov.u32 %r4, %nctaid.x;
	mul.lo.u32 %r4, %r4, %r1;
	mul.wide.u32 %a4, %r4, 16;
	mov.u32 %r5, 0;
again:
	setp.ge.u64 %p0, %a3, %a1;
	@%p0 bra done;
	add.u64 %a5, %a0, %a3;
	ld.global.cg.v2.u64 {%a6, %a7}, [%a5];
	cvt.u32.u64 %r6, %a6;
	add.u32 %r5, %r5, %r6;
	add.u64 %a3, %a3, %a4;
	bra again;
done:
	setp.eq.u32 %p1, %r5, 1234567;
	@%p1 st.global.u32 [%a2], %r5;
	ret;
}
.visible .entry pause(.param .u64 ns)
{
	.reg .pred %p<2>;
	.reg .b64 %a<5>;
	ld.param.u64 %a0, [ns];
	mov.u64 %a1, %globaltimer;
again:
	mov.u64 %a2, %globaltimer;
	sub.u64 %a3, %a2, %a1;
	setp.lt.u64 %p0, %a3, %a0;
	@%p0 bra again;
	ret;
}
`

// helpers are the kit's own kernels on a device.
type helpers struct {
	lib            *library
	module         uintptr
	sweeps, pauses uintptr
	from, n        uint64 // what sweep reads; n is 0 until it is used
}

func newHelpers(b *Board) (*helpers, error) {
	h := &helpers{lib: b.lib}
	var err error
	if h.module, err = b.lib.compile([]byte(helperText)); err != nil {
		return nil, err
	}
	if err := b.lib.check("cuModuleGetFunction", b.lib.mod.getFunction(&h.sweeps, h.module, "sweep")); err != nil {
		return nil, err
	}
	return h, b.lib.check("cuModuleGetFunction", b.lib.mod.getFunction(&h.pauses, h.module, "pause"))
}

// sweep fills an L2 of a number of bytes with data that no program uses, in the order of a stream.
func (h *helpers) sweep(l2 int64, stream uintptr) error {
	if h.n == 0 {
		if err := h.lib.check("cuMemAlloc", h.lib.mem.memAlloc(&h.from, uint64(3*l2))); err != nil {
			return err
		}
		h.n = uint64(3 * l2)
	}
	params := []unsafe.Pointer{unsafe.Pointer(&h.from), unsafe.Pointer(&h.n), unsafe.Pointer(&h.from)}
	return h.lib.check("cuLaunchKernel", h.lib.mod.launch(h.sweeps, 1056, 1, 1, 256, 1, 1, 0, stream, &params[0], nil))
}

// pause holds the default stream, and with it those that synchronise with it.
func (h *helpers) pause(ns uint64) error {
	params := []unsafe.Pointer{unsafe.Pointer(&ns)}
	return h.lib.check("cuLaunchKernel", h.lib.mod.launch(h.pauses, 1, 1, 1, 1, 1, 1, 0, 0, &params[0], nil))
}

func (h *helpers) close() {
	if h.n > 0 {
		h.lib.mem.memFree(h.from)
	}
	h.lib.mod.moduleUnload(h.module)
}
