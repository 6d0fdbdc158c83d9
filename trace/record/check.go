package record

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
)

// maxShared is more shared memory than a CTA has on any GPU, in bytes.
const maxShared = 1 << 20

// checkCode says what the machine could not run in a kernel's static side. It
// holds for everything a Writer takes, so that a Recording may insist on it.
func checkCode(c *isa.Code) error {
	if len(c.Instr) == 0 {
		return fmt.Errorf("kernel %s has no instructions", c.Kernel)
	}
	if len(c.Text) != 0 && len(c.Text) != len(c.Instr) {
		return fmt.Errorf("kernel %s has %d instructions and %d texts", c.Kernel, len(c.Instr), len(c.Text))
	}
	if len(c.Left) != 0 && len(c.Left) != len(c.Instr) {
		return fmt.Errorf("kernel %s has %d instructions and %d bounds of the instructions left",
			c.Kernel, len(c.Instr), len(c.Left))
	}
	for pc := range c.Instr {
		in := &c.Instr[pc]
		switch {
		case in.Kind >= isa.NumKinds || in.Scope >= isa.NumScopes || in.Change >= isa.NumChanges ||
			in.Unit >= isa.NumUnits || in.Timing >= isa.NumTimings ||
			in.Space > isa.Generic || in.Cache >= isa.NumCaches:
			return fmt.Errorf("kernel %s, PC %d: an instruction class that does not exist", c.Kernel, pc)
		case in.Width > 32 || in.Width&(in.Width-1) != 0:
			return fmt.Errorf("kernel %s, PC %d: an access of %d bytes, not 1, 2, 4, 8, 16 or 32", c.Kernel,
				pc, in.Width)
		case in.NDst > in.NReg || uint64(in.Reg)+uint64(in.NReg) > uint64(len(c.Regs)):
			return fmt.Errorf("kernel %s, PC %d: registers outside the list", c.Kernel, pc)
		}
		needs := in.Kind >= isa.Load && in.Kind <= isa.Reduce || in.Kind == isa.AsyncCopy
		if needs && (in.Unit != isa.LDST || in.Width == 0) {
			return fmt.Errorf("kernel %s, PC %d: a memory instruction of %d bytes in unit %d", c.Kernel, pc, in.Width,
				in.Unit)
		}
	}
	for _, r := range c.Regs {
		if int(r) >= c.NumRegs {
			return fmt.Errorf("kernel %s: register %d of %d", c.Kernel, r, c.NumRegs)
		}
	}
	if c.NumRegs > 1<<16 {
		return fmt.Errorf("kernel %s: %d registers", c.Kernel, c.NumRegs)
	}
	return nil
}

// checkSource says what the machine could not follow in the code that an assembler has made. It holds for every code
// of package emulate.
func checkSource(c *isa.Code) error {
	m, n := c.Machine, int32(len(c.Instr))
	src := m.Source
	bad := func(pc int) error {
		return fmt.Errorf("kernel %s: instruction %d of the machine's code does not follow the kernel's", c.Kernel, pc)
	}
	begins := true
	for pc := range m.Instr {
		in := &m.Instr[pc]
		if src.Upto[pc] < -1 || src.Upto[pc] >= n || in.Times > 1 && in.Unit == isa.LDST || in.Back > 16 {
			return bad(pc)
		}
		if begins = in.Marks&isa.Ends != 0; begins && src.Upto[pc] < 0 {
			return bad(pc)
		}
	}
	if !begins {
		return bad(len(m.Instr) - 1)
	}
	for pc, to := range src.Enter {
		if to < -1 || int(to) >= len(m.Instr) || to > 0 && m.Instr[to-1].Marks&isa.Ends == 0 || pc == 0 && to < 0 {
			return fmt.Errorf("kernel %s: PC %d is in no run of the machine's code", c.Kernel, pc)
		}
	}
	return nil
}

// checkGeometry says what cannot be in a launch.
func checkGeometry(g *isa.Geometry) error {
	ctas, threads := uint64(1), uint64(1)
	for i := range 3 {
		ctas *= uint64(g.GridDim[i])
		threads *= uint64(g.BlockDim[i])
		if ctas > 1<<31 || threads > 1<<31 {
			return fmt.Errorf("a grid of %v blocks of %v threads", g.GridDim, g.BlockDim)
		}
	}
	switch {
	case ctas == 0 || ctas != uint64(g.CTAs):
		return fmt.Errorf("%d CTAs in a grid of %v", g.CTAs, g.GridDim)
	case threads == 0 || threads > 1024 || threads != uint64(g.Threads):
		return fmt.Errorf("%d threads in a block of %v", g.Threads, g.BlockDim)
	case g.Warps != (g.Threads+isa.Lanes-1)/isa.Lanes:
		return fmt.Errorf("%d warps for %d threads", g.Warps, g.Threads)
	case g.Regs < 0 || g.Regs > 1<<16 || g.SharedBytes < 0 || g.SharedBytes > maxShared || g.LocalBytes < 0 ||
		g.LocalBytes > localLimit:
		return fmt.Errorf("a CTA with %d registers, %d bytes of shared and %d of local memory", g.Regs, g.SharedBytes,
			g.LocalBytes)
	}
	return nil
}
