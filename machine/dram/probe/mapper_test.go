package probe

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
)

// mapConfig has 64-byte accesses, 2 ranks, 4 groups, 4 banks, 16 columns, 256 rows.
func mapConfig() *dram.Config {
	return &dram.Config{Access: 64, Ranks: 2, Sids: 1, Groups: 4, Banks: 4, Columns: 16, Rows: 256}
}

// TestMappers checks single address bits, worked out by hand. Bits 0-5 are the
// offset, 6 the channel of two.
func TestMappers(t *testing.T) {
	type want struct {
		bit     int
		channel int
		at      dram.Loc
	}
	for name, list := range map[string][]want{
		"RoBaRaCoCh": {
			{5, 0, dram.Loc{}},
			{6, 1, dram.Loc{}},
			{7, 0, dram.Loc{Col: 1}},
			{10, 0, dram.Loc{Col: 8}},
			{11, 0, dram.Loc{Rank: 1}},
			{12, 0, dram.Loc{BankGroup: 1}},
			{14, 0, dram.Loc{Bank: 1}},
			{16, 0, dram.Loc{Row: 1}},
			{23, 0, dram.Loc{Row: 128}},
			{24, 0, dram.Loc{}},
		},
		"ChRaBaRoCo": {
			{6, 1, dram.Loc{}},
			{7, 0, dram.Loc{Col: 1}},
			{11, 0, dram.Loc{Row: 1}},
			{19, 0, dram.Loc{Bank: 1}},
			{21, 0, dram.Loc{BankGroup: 1}},
			{23, 0, dram.Loc{Rank: 1}},
		},
		// column bits 0-1, rank, group, bank, column bits 2-3, row; then rank ^= col, group ^= col>>1, bank ^=
		// col>>3, row ^= col>>5
		"MOP4CLXOR": {
			{7, 0, dram.Loc{Col: 1, Rank: 1}},
			{8, 0, dram.Loc{Col: 2, BankGroup: 1}},
			{9, 0, dram.Loc{Rank: 1}},
			{10, 0, dram.Loc{BankGroup: 1}},
			{12, 0, dram.Loc{Bank: 1}},
			{14, 0, dram.Loc{Col: 4, BankGroup: 2}},
			{15, 0, dram.Loc{Col: 8, Bank: 1}},
			{16, 0, dram.Loc{Row: 1}},
		},
		"RoRaBgBaCoCh": {
			{6, 1, dram.Loc{}},
			{7, 0, dram.Loc{Col: 1}},
			{11, 0, dram.Loc{Bank: 1}},
			{13, 0, dram.Loc{BankGroup: 1}},
			{15, 0, dram.Loc{Rank: 1}},
			{16, 0, dram.Loc{Row: 1}},
		},
		"RoCoRaBgBaCh": {
			{7, 0, dram.Loc{Bank: 1}},
			{9, 0, dram.Loc{BankGroup: 1}},
			{11, 0, dram.Loc{Rank: 1}},
			{12, 0, dram.Loc{Col: 1}},
		},
	} {
		m, err := NewMapper(name, mapConfig(), 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range list {
			if ch, at := m.Map(1 << w.bit); ch != w.channel || at != w.at {
				t.Errorf("%s bit %d: channel %d %+v, want %d %+v", name, w.bit, ch, at, w.channel, w.at)
			}
		}
	}
}

// TestMapperIsOneToOne: distinct accesses of the device get distinct places.
func TestMapperIsOneToOne(t *testing.T) {
	for _, name := range []string{"RoBaRaCoCh", "ChRaBaRoCo", "MOP4CLXOR"} {
		for _, channels := range []int{1, 2, 3} {
			c := mapConfig()
			c.Sids, c.Rows = 2, 8
			m, err := NewMapper(name, c, channels)
			if err != nil {
				t.Fatal(err)
			}
			type place struct {
				ch int
				at dram.Loc
			}
			seen := map[place]uint64{}
			total := uint64(channels * 2 * 2 * 4 * 4 * 16 * 8)
			for i := range total {
				ch, at := m.Map(i * 64)
				p := place{ch, at}
				if old, ok := seen[p]; ok {
					t.Fatalf("%s, %d channels: accesses %d and %d share %+v", name, channels, old, i, p)
				}
				if ch >= channels || at.Rank > 1 || at.BankGroup > 7 || at.Bank > 3 || at.Row > 7 || at.Col > 15 {
					t.Fatalf("%s, %d channels: access %d is at %+v", name, channels, i, p)
				}
				seen[p] = i
			}
		}
	}
}

func TestMapperErrors(t *testing.T) {
	for _, c := range []struct {
		name     string
		channels int
		rows     int
		want     string
	}{
		{"RoBaCo", 1, 256, `unknown mapper "RoBaCo"`},
		{"RoBaBgRaCoChX", 1, 256, "unknown mapper"},
		{"RoRoBgRaCoCh", 1, 256, "unknown mapper"},
		{"RoBaRaCoCh", 1, 100, "100 rows"},
		{"ChRoBaBgRaCo", 3, 256, "must be the lowest field"},
	} {
		k := mapConfig()
		k.Rows = c.rows
		if _, err := NewMapper(c.name, k, c.channels); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestSize: what lies a whole device further lies at the same place, and nothing nearer does.
func TestSize(t *testing.T) {
	for _, name := range []string{"RoBaRaCoCh", "ChRaBaRoCo", "MOP4CLXOR"} {
		for _, channels := range []int{1, 2, 3} {
			m, err := NewMapper(name, mapConfig(), channels)
			if err != nil {
				t.Fatal(err)
			}
			size := uint64(64*2*4*4*16*256) * uint64(channels)
			if m.Size() != size {
				t.Errorf("%s, %d channels: %d bytes, want %d", name, channels, m.Size(), size)
			}
			for _, addr := range []uint64{0, 64, 12345 * 64, size - 64} {
				ch, at := m.Map(addr)
				if ch2, at2 := m.Map(addr + 5*size); ch != ch2 || at != at2 {
					t.Errorf("%s, %d channels: %#x lies at %d %v, five devices on at %d %v", name, channels,
						addr, ch, at, ch2, at2)
				}
				if ch2, at2 := m.Map(addr ^ size/2); channels < 3 && ch == ch2 && at == at2 {
					t.Errorf("%s, %d channels: %#x and %#x both lie at %d %v", name, channels, addr,
						addr^size/2, ch, at)
				}
			}
		}
	}
}
