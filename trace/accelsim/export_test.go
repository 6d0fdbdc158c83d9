package accelsim

// What the tests in package accelsim_test, which import sim, share with the others.
const (
	BufA = bufA
	BufB = bufB
	BufC = bufC
)

var (
	WriteVecadd = writeVecadd
	WriteKernel = writeKernel
	Vecadd      = vecadd
	VecaddWarp  = vecaddWarp
	Lanes       = lanes
	Shuffled    = shuffled
	MinHeader   = header
)
