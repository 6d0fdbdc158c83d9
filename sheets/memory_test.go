package sheets

import (
	"strings"
	"testing"
)

// What of a memory of two tiers does not fit together is said with its place and what to do.
func TestMemoryErrors(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"memory.hybrid.ways=6", "memory.hybrid.ways = 6 and superchannels = 4 do not divide"},
		{"memory.hybrid.partition=colors", "memory.hybrid.partition"},
		{"memory.hybrid.partition=sets,memory.hybrid.policy=waypart", "policy waypart does not divide sets"},
		{"memory.hybrid.partition=sets,memory.hybrid.cap=4", "of 4 colors the CPU can have 3"},
		{"memory.hybrid.partition=sets,memory.hybrid.bw=2,memory.hybrid.cap=1", "bw <= cap must hold"},
		{"memory.hybrid.ways=32", "memory.hybrid.ways is 32; a set has 1 to 16"},
		{"memory.hybrid.superchannels=3", "channels = 16 must be a multiple of memory.hybrid.superchannels = 3"},
		{"memory.hybrid.block=96", "memory.hybrid.block is 96; it must be a power of two from 64 to 2048"},
		{"memory.hybrid.block=4096", "memory.hybrid.block is 4096"},
		{"memory.hybrid.capacity=17179869184", "the slow tier has dram.capacity = 8589934592 bytes"},
		{"memory.hybrid.capacity=1000000000", "is not 1, 2, 4, 8 ... times memory.hybrid.capacity = 1000000000"},
		{"memory.hybrid.cap=4", "of memory.hybrid.ways = 4 the CPU can have 3, and the GPU needs one"},
		{"memory.hybrid.bw=4", "of memory.hybrid.superchannels = 4, 0 to 3 can be reserved for the CPU"},
		{"memory.hybrid.cap=1,memory.hybrid.bw=2", "bw*ways/superchannels <= cap must hold"},
		{"memory.hybrid.policy=waypart,memory.hybrid.cap=0", "of 4 ways the CPU can have 1 to 3"},
		{"memory.hybrid.policy=lru", "memory.hybrid.policy is \"lru\"; it must be one of none"},
		{"memory.hybrid.policy=profess,memory.hybrid.mode=flat", "policy is profess, which is for mode cache"},
		{"memory.hybrid.queue=1,memory.hybrid.block=64", "a line of the LLC (128 bytes) can bring 2 blocks"},
		{"memory.hybrid.policy=waypart,memory.hybrid.ways=1", "memory.hybrid.ways is 1, and memory.hybrid.policy"},
		{"memory.hybrid.remap_cache=63", "memory.hybrid.remap_cache is 63 bytes; lines of 64 make no sets"},
		{"memory.hybrid.buffers=1", "memory.hybrid.buffers is 1; it must be between 2 and 65536"},
		{"memory.hybrid.port=3", "memory.hybrid.port is 3; it must be between 4 and 4096"},
		{"memory.hybrid.banks=65", "memory.hybrid.banks is 65; it must be between 1 and 64"},
		{"memory.hybrid.swap=often", "memory.hybrid.swap is \"often\"; it must be one of"},
		{"memory.hybrid.tok_share=1.5", "memory.hybrid.tok_share is 1.5; it must be between 0 and 1"},
		{"memory.fast.clock=0", "memory.fast.clock and memory.hybrid.clock are 0 and 1600 MHz"},
		{"memory.fast.device.access=32", "memory.fast.device.access is 32; both tiers"},
		{"memory.fast.device.timing.cl=0", "memory.fast.device.timing.cl is 0; it must be at least 1"},
		{"memory.fast.map.hash=ipoly", "memory.fast.map has kind bits with hash ipoly; ways name channels"},
		{"memory.fast.device.channels=8", "memory.fast.map"},
		{"memory.fast.device.ranks=4", "memory.fast.map.rank has 1 bits, but memory.fast.device.ranks is 4"},
		{"noc.kind=local,noc.vcs=1", "noc.whole_lines is true, and noc.kind is local"},
		{"l3.banks=3", "l3.banks is 3; it must divide the 16 slices of the LLC"},
		{"l3.mshrs=3", "l3.mshrs is 3; two lines of 2 sectors need as many"},
		{"l3.ways=1", "l3.ways is 1; it must be at least 2"},
		{"l3.port=0", "l3.port is 0"},
		{"noc.kind=stages", "l3 is between crossbars, and noc.kind is stages"},
		{"vm.enabled=false", "memory.hybrid needs vm.enabled"},
	} {
		set := map[string]string{}
		for _, s := range strings.Split(c.set, ",") {
			path, value, _ := strings.Cut(s, "=")
			set[path] = value
		}
		_, _, err := Resolve("hydrogen", set)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.set, err, c.want)
		}
	}
}

// The bits of ranks are those of map.rank.
func TestRanks(t *testing.T) {
	_, _, err := Resolve("hydrogen", map[string]string{
		"dram.channels": "2", "map.channel": "8", "dram.ranks": "2", "map.rank": "9", "llc.slices_per_channel": "8",
		"map.slice": "7, 9, 10",
	})
	if err != nil {
		t.Error(err)
	}
}

// A machine without the section has one tier; a section begun must be whole.
func TestMemoryIsWhole(t *testing.T) {
	m, prov, err := Load("qv100")
	if err != nil || m.Memory.Given() {
		t.Errorf("qv100: %v, two tiers %v", err, m.Memory.Given())
	}
	for _, e := range prov.List(m) {
		if strings.HasPrefix(e.Path, "memory.") {
			t.Errorf("%s of a machine with one tier is listed", e.Path)
		}
	}
	_, _, err = Parse("m.yaml", []byte(small("memory:\n  hybrid:\n    ways: [4, ways, me]\n")))
	if want := "no value for memory.fast.clock (command clock of the fast tier); add `"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if m, _, err = Load("hydrogen"); err != nil || !m.Memory.Given() {
		t.Fatalf("hydrogen: %v", err)
	}
}

// The fast tier of the Hydrogen machine has 16 channels of 64 B in two clocks of 1600 MHz: 819.2 GB/s.
func TestFastPeak(t *testing.T) {
	m, _, err := Load("hydrogen")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.FastPeak() * m.Clock.Core / 1000; got < 819.1 || got > 819.3 {
		t.Errorf("%.4g GB/s", got)
	}
	if m, _, err = Load("qv100"); err != nil || m.FastPeak() != 0 {
		t.Errorf("one tier: %v B a cycle beyond it, %v", m.FastPeak(), err)
	}
}
