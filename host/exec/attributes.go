package exec

import "github.com/heddle-sim/heddle/host"

// attributesOf are the device's attributes by CUdevice_attribute, and its name.
func attributesOf(p host.Properties) (list [256]int32, name string) {
	for i, v := range map[int]int{
		1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 1<<31 - 1, 6: 65535, 7: 65535, 8: staticSharedBytes, 9: 64 << 10, 10: 32,
		11: 1<<31 - 1, 12: p.Registers, 13: int(p.CoreMHz * 1000), 14: 512, 15: 1, 16: p.SMs, 17: 0, 18: 0, 19: 1,
		20: 0,
		21: 131072, 22: 131072, 23: 65536, 24: 16384, 25: 16384, 26: 16384, 27: 32768, 28: 32768, 29: 2048,
		30: 512, 31: 1, 32: 0, 33: 1, 34: 0, 35: 0,
		36: int(p.MemoryMHz * 1000), 37: p.MemoryBusBits, 38: p.L2, 39: p.Threads, 40: 2, 41: 1,
		51: 32, 75: p.Capability / 10, 76: p.Capability % 10, 78: 0, 79: 1, 80: 1, 81: p.Shared, 82: p.Registers, 83: 1,
		84: 0, 85: 0, 86: 0, 87: 2, 88: 0, 89: 1, 90: 1, 91: 1, 95: 1, 96: 0, 97: p.Shared, 99: 1, 100: 0, 101: 0,
		106: p.CTAs, 107: 0, 108: 0, 109: 0, 110: 0, 111: 0, 115: 1, 116: 0, 120: 0,
	} {
		list[i] = int32(min(v, 1<<31-1))
	}
	return list, "Heddle " + p.Machine
}

// staticSharedBytes is the shared memory that a block has without asking for more.
const staticSharedBytes = 48 << 10
