package sm

// none says that a warp slot has no piece of a kernel's local memory.
const none = -1

// LocalMemory says where the local memory of a tenant's warps lies. Each warp slot of the machine has a piece of the
// tenant's local window. A warp whose context moves to another SM keeps its piece, because hardware need not copy
// data that are in memory already. The piece of its new slot is then free for a warp that starts in a slot without
// one.
type LocalMemory struct {
	of    []int32 // [warp slot of the machine] its piece; none: it has left with a context
	spare []int32 // pieces that no slot and no context has
}

// NewLocalMemory makes the local memory of a tenant on a machine with a number of warp slots.
func NewLocalMemory(slots int) *LocalMemory {
	l := &LocalMemory{of: make([]int32, slots)}
	for i := range l.of {
		l.of[i] = int32(i)
	}
	return l
}

// piece is the piece of local memory of the warp in a slot. Where more warps of the tenant live than the machine
// has slots, as some wait in memory, one in a slot without a piece shares that of the one that has left it.
func (l *LocalMemory) piece(slot int) int32 {
	if l == nil || l.of[slot] == none {
		return int32(slot)
	}
	return l.of[slot]
}

// start gives a slot in which a new warp starts a piece, if there is a spare one and it has none.
func (l *LocalMemory) start(slot int) {
	if n := len(l.spare); l.of[slot] == none && n > 0 {
		l.of[slot], l.spare = l.spare[n-1], l.spare[:n-1]
	}
}

// leave takes the piece of a slot away with the context of its warp; none if it had none of its own.
func (l *LocalMemory) leave(slot int) (piece int32) {
	piece, l.of[slot] = l.of[slot], none
	return piece
}

// come brings a piece to the slot of a warp that is back.
func (l *LocalMemory) come(slot int, piece int32) {
	if piece == none {
		l.start(slot)
		return
	}
	if l.of[slot] != none {
		l.spare = append(l.spare, l.of[slot])
	}
	l.of[slot] = piece
}
