package sm

// writer is a warp that has sent stores, as their acknowledgements name it. A warp may exit before they come
// (issueConfig.earlyExit); its slot then goes to another warp, and the acknowledgements still to come concern the
// kernel alone, which ends after them.
type writer struct {
	slot   int16   // of the warp; noWarp: it has left
	stores int32   // acknowledgements still to come for a warp that has left
	k      *Kernel // of a warp that has left
}

// writers is the writers of an SM.
type writers struct {
	of    []int32 // [warp slot] the writer that its warp is
	list  []writer
	spare []int32 // writers that are no warp, and wait for nothing
}

func (w *writers) build(slots int) {
	w.of, w.list = make([]int32, slots), make([]writer, slots)
	for i := range slots {
		w.of[i], w.list[i].slot = int32(i), int16(i)
	}
}

// leave parts a slot from its warp, some of whose stores are under way, and makes it another writer.
func (w *writers) leave(slot int, k *Kernel, stores int32) {
	was := w.of[slot]
	w.list[was] = writer{slot: noWarp, stores: stores, k: k}
	if n := len(w.spare); n > 0 {
		w.of[slot], w.spare = w.spare[n-1], w.spare[:n-1]
	} else {
		w.of[slot] = int32(len(w.list))
		w.list = append(w.list, writer{})
	}
	w.list[w.of[slot]].slot = int16(slot)
}

// acknowledge notes an acknowledgement for a writer that has left; it returns the kernel.
func (w *writers) acknowledge(i int32) *Kernel {
	x := &w.list[i]
	k := x.k
	if x.stores--; x.stores == 0 {
		x.k, w.spare = nil, append(w.spare, i)
	}
	return k
}
