package emulate

import "heddle/ptx/parse"

// half decodes arithmetic on f16, bf16 and their packed pairs.
func (d *decoder) half(opcode string, t parse.Type) { d.unsupported("type ." + t.String()) }

// packHalves decodes cvt of two f32 into a packed pair.
func (d *decoder) packHalves(c conversion) { d.unsupported("") }
