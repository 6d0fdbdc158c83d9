package machine

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// near is a machine of 16 SMs and 8 channels that places device memory where it is touched: two
// SMs are near each channel.
func near(m *sheets.Machine) {
	small(m)
	m.DRAM.Channels, m.DRAM.Stacks, m.DRAM.Migration, m.DRAM.MigrationCrossbar = 8, 1, "none", false
	m.DRAM.Capacity /= 4
	m.Map = sheets.Map{Kind: "page", BankHash: "pae"}
	m.Conventional = sheets.BitMap{}
	m.VM.Placement, m.VM.FirstTouch, m.VM.FaultUs, m.VM.FaultSlots = "first-touch", true, 1, 1<<14
	m.SM.Dispatch, m.SM.DispatchParts = "distributed", 8
}

// Device memory gets its frames where the CTAs run that touch it first: with a chunk of the grid
// per partition a copy's pages lie in order over the partitions, and nobody else touches them.
func TestDeviceMemoryOnFirstTouch(t *testing.T) {
	var ends []uint64
	for _, o := range []Options{{Touches: true}, {Every: true}} {
		r := newRig(t, "ugpu", o, near, tenant("a", upTo(16)))
		const words = 8 * 32 * 1024 // 32 pages of input and of output for each partition
		k, check := r.scale(0, words, mem.Device)
		if free := r.g.translation.Tables.Frames().Free(3); free < r.g.translation.Tables.Frames().PerPool()-8 {
			t.Errorf("%d frames are free before anybody has touched a page", free)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		ends = append(ends, k.End)
		if n := r.counted(0, "mmu.faults"); n != 2*8*32 {
			t.Errorf("%d faults for %d pages", n, 2*8*32)
		}
		if !o.Touches {
			continue
		}
		degree, homes := r.g.PageTouches()
		if pages := degree[0] + degree[1]; pages != 2*8*32 {
			t.Errorf("pages by SMs: %v; want %d of one or two", degree, 2*8*32)
		}
		for h, row := range homes {
			want := make([]uint64, 8)
			want[h] = 64
			if !slices.Equal(row, want) {
				t.Errorf("pages at home %d by partition: %v, want %v", h, row, want)
			}
		}
	}
	if ends[0] != ends[1] {
		t.Errorf("the kernel ends at %v: skipping or watching touches changes it", ends)
	}
}
