package calib

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// Init says how a buffer is filled before the launch. The initialisers are those of the reference set: all random
// numbers come from hash32.
type Init struct {
	Kind            string
	Value           float64
	Seed            uint32
	Scale, Offset   float64
	Mod             uint32
	Lines, Stride   int
	Order           string
	Min, Max, Heavy int
	HeavyDeg        int `json:"heavy_deg"`
}

// hash32 is the reference set's pseudo-random source.
func hash32(i, seed uint32) uint32 {
	x := i*0x9E3779B9 + seed
	x ^= x >> 16
	x *= 0x85EBCA6B
	x ^= x >> 13
	x *= 0xC2B2AE35
	return x ^ x>>16
}

// Make fills dst with count elements of the type.
func (in *Init) Make(dst []byte, dtype string, count int) error {
	size := 4
	if dtype == "f64" {
		size = 8
	}
	put := func(i int, v float64) {
		switch dtype {
		case "f32":
			binary.LittleEndian.PutUint32(dst[i*size:], math.Float32bits(float32(v)))
		case "f64":
			binary.LittleEndian.PutUint64(dst[i*size:], math.Float64bits(v))
		default:
			binary.LittleEndian.PutUint32(dst[i*size:], uint32(int64(v)))
		}
	}
	switch in.Kind {
	case "none", "zero":
	case "const":
		for i := range count {
			put(i, in.Value)
		}
	case "iota":
		for i := range count {
			put(i, float64(i))
		}
	case "hashf":
		for i := range count {
			put(i, in.Offset+in.Scale*(float64(hash32(uint32(i), in.Seed)>>8)/16777216))
		}
	case "hashu":
		for i := range count {
			put(i, float64(hash32(uint32(i), in.Seed)%in.Mod))
		}
	case "chase":
		in.chase(put)
	case "csr_rowptr":
		in.rows(put, count)
	case "levels":
		for i := range count {
			put(i, float64(in.level(uint32(i))))
		}
	default:
		return fmt.Errorf("initialiser %q is not known", in.Kind)
	}
	return nil
}

// chase is a cyclic list over Lines slots that lie Stride elements apart.
func (in *Init) chase(put func(int, float64)) {
	o := make([]int, in.Lines)
	for i := range o {
		o[i] = i
	}
	if in.Order != "seq" {
		at := 0
		for i := in.Lines - 1; i > 0; i-- {
			j := int(hash32(uint32(i), in.Seed) % uint32(i+1))
			o[i], o[j] = o[j], o[i]
		}
		for i, v := range o {
			if v == 0 {
				at = i
			}
		}
		o = append(append([]int(nil), o[at:]...), o[:at]...)
	}
	for q, slot := range o {
		put(slot*in.Stride, float64(o[(q+1)%in.Lines]*in.Stride))
	}
}

func (in *Init) rows(put func(int, float64), count int) {
	sum := 0
	put(0, 0)
	for r := range count - 1 {
		d := in.Min + int(hash32(uint32(r), in.Seed)%uint32(in.Max-in.Min+1))
		if in.Heavy != 0 && r%in.Heavy == 0 {
			d = in.HeavyDeg
		}
		sum += d
		put(r+1, float64(sum))
	}
}

func (in *Init) level(i uint32) int {
	h := hash32(i, in.Seed)
	switch {
	case h%in.Mod == 0:
		return 0
	case h%4 == 1:
		return 1
	}
	return -1
}

// params packs the arguments as the kernel's parameters want them.
func (s *Spec) params(k *emulate.Kernel, regions map[string]*mem.Region) ([]byte, error) {
	out := make([]byte, k.ParamBytes)
	if len(s.Args) != len(k.Params) {
		return nil, fmt.Errorf("%s: %d arguments for %d parameters", s.Name, len(s.Args), len(k.Params))
	}
	for i, a := range s.Args {
		at := out[k.Params[i].Offset:]
		for kind, v := range a {
			switch kind {
			case "ptr":
				binary.LittleEndian.PutUint64(at, regions[v.(string)].Base)
			case "i32", "u32":
				binary.LittleEndian.PutUint32(at, uint32(int64(v.(float64))))
			case "f32":
				binary.LittleEndian.PutUint32(at, math.Float32bits(float32(v.(float64))))
			case "f64":
				binary.LittleEndian.PutUint64(at, math.Float64bits(v.(float64)))
			default:
				return nil, fmt.Errorf("%s: argument kind %q is not known", s.Name, kind)
			}
		}
	}
	return out, nil
}
