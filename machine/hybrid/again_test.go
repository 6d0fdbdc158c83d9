package hybrid

import "testing"

// TestEntryLeaves: a read that has found its entry waits for a full channel, while a read of another set takes the
// only line of the remap cache. The entry is read again, and that is a miss, too.
func TestEntryLeaves(t *testing.T) {
	const far = 16 * 256 // to a set with another line of the table, in another bank
	cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 64, 2)
	cfg.Remap, cfg.RemapWays = Unit, 1
	r := newRig(t, cfg, NewLRU(4))
	if r.c.table.entryLine(0, 0) == r.c.table.entryLine(far/256, 0) {
		t.Fatal("both sets have one line")
	}
	r.readLine(0)
	r.drain()
	const line, unit = 128, 2 // of the block of set 0; not in the channel of its entry
	tier, addr := r.c.table.address(r.c.table.find(0, 0), unit)
	full := r.c.Out(tier, r.c.out.maps[tier].Channel(addr))
	for !full.Full() {
		full.Push(Access{Write: true, Buffer: ofEntry})
	}
	const cpu = 0
	r.ask(line, 0b11, false, cpu)
	r.ask(far, 0b11, false, cpu)
	for range cfg.Lookup + 1 {
		r.now++
		r.c.Tick(r.now) // the channels stand still
	}
	for full.Len() > 0 {
		full.Pop()
	}
	r.drain()
	if hits, stalls := r.count(cpu, RemapHits), r.count(cpu, Stalls); hits != 1 || stalls == 0 {
		t.Fatalf("%d entries were found and %d cycles waited, want 1 and some", hits, stalls)
	}
	if lines, misses := r.count(2+cpu, TableReads), r.count(cpu, RemapMisses); lines != 3 || misses != 3 {
		t.Errorf("%d lines of the table for %d misses, want 3 and 3", lines, misses)
	}
}

// TestBlockLeaves: a write waits for its block, which comes, and leaves by a reconfiguration before the write is
// carried out. The block is brought again, and that is a miss, too.
func TestBlockLeaves(t *testing.T) {
	const gpu = 1
	again := 0
	for set := range uint64(16) {
		cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 2)
		p := newHydrogen(t, cfg.Shape, HydrogenOptions{Tokens: Unlimited, Split: Split{Cap: 1}})
		r := newRig(t, cfg, p)
		r.ask(set*256, 0b1111, true, gpu)
		for r.c.moving.left == len(r.c.moving.list) {
			r.step()
		}
		for r.c.moving.left < len(r.c.moving.list) {
			r.step()
		}
		if err := p.SetSplit(Split{Cap: 3}); err != nil {
			t.Fatal(err)
		}
		r.c.ReconfiguredAtOnce()
		r.drain()
		brought := r.count(gpu, Migrations)
		if misses := r.count(gpu, WriteMisses); misses != brought {
			t.Errorf("set %d: %d misses have brought %d blocks", set, misses, brought)
		}
		if brought == 2 {
			again++
		}
	}
	if again == 0 {
		t.Error("no block has left")
	}
}

// dropping lets each block leave at its first hit.
type dropping struct{ *LRU }

func (dropping) Hit(*View, int) (Action, int) { return Drop, 0 }

// TestPlaceIsRead: a block of flat memory leaves its way while an earlier read of it is on its way there. Nothing is
// copied into the way, but the transfer lasts until the read has its data, so that no other block is written there.
func TestPlaceIsRead(t *testing.T) {
	cfg := small(t, Flat, Shape{Ways: 2, Channels: 4}, 128, 16, 1)
	r := newRig(t, cfg, dropping{NewLRU(2)})
	read := r.c.table.hold(r.c.table.find(0, 0))
	r.c.readers[read]++
	r.ask(0, 0b1111, true, 0)
	for r.count(0, DirtyDrops) == 0 {
		r.step()
	}
	for range 2000 {
		r.step()
	}
	if r.c.moving.left == len(r.c.moving.list) {
		t.Error("the transfer has ended before the read")
	}
	r.c.readers[read]--
	r.drain()
}

// TestWaitingWriteComesFirst: a write waits for the transfer of its block, and the entry of the block leaves the remap
// cache. A later read of the block waits for the entry. Whenever it comes, the write is carried out before it.
func TestWaitingWriteComesFirst(t *testing.T) {
	overlapped := false
	for delay := range 60 {
		cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 64, 2)
		r := newRig(t, cfg, NewLRU(4))
		var writes []bool // of the requests' own accesses
		see := r.c.out.trace
		r.c.out.trace = func(e event) {
			if e.kind == sent && e.access.Buffer&^bufferIndex == ofPart {
				writes = append(writes, e.access.Write)
			}
			see(e)
		}
		r.ask(0, 0b11, true, 0)
		for r.c.moving.left == len(r.c.moving.list) {
			r.step()
		}
		r.c.remap.tags.Reset() // the entry leaves
		for range delay {
			r.step()
		}
		r.ask(0, 0b11, false, 0)
		for r.c.moving.left < len(r.c.moving.list) {
			r.step()
		}
		overlapped = overlapped || r.c.remap.pending > 0
		r.drain()
		if len(writes) > 0 && !writes[0] {
			t.Fatalf("the read came %d cycles after the transfer began, and was carried out before the write", delay)
		}
	}
	if !overlapped {
		t.Error("no entry was on its way when the transfer ended")
	}
}
