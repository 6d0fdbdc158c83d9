// Package workload is the third source of work: kernels that are described, not executed. A model file gives a
// kernel's instruction mix, the access pattern of each allocation, footprint, reuse and divergence. The package emits
// warp instructions with these statistics in the same records as PTX and traces.
//
// A reader must know three types. Model is a model file. Grid is one launch of one
// of its kernels (isa.Grid): every mask and address is a hash or a formula of the
// seed, the launch, the CTA, the warp and the iteration, so the order in which the
// machine steps warps does not matter. Program is the application (host.Program):
// it allocates, copies in, launches kernels for its rounds.
package workload

// Model is a model file as written. Every number in it stands for a property of a
// program that is not shipped; Source says where the numbers come from.
type Model struct {
	Name        string       `yaml:"model"`
	Description string       `yaml:"description"`
	Source      string       `yaml:"source"` // required: a reference, or "estimate: ..."
	Rounds      int          `yaml:"rounds"` // how often the list of kernels is launched; default 1
	Allocations []Allocation `yaml:"allocations"`
	Kernels     []Kernel     `yaml:"kernels"`

	file string
}

// Allocation is an array. It has a length and no contents.
type Allocation struct {
	Name    string `yaml:"name"`
	Bytes   Bytes  `yaml:"bytes"`
	Memory  string `yaml:"memory"`   // device (default) or managed
	CopyIn  bool   `yaml:"copy_in"`  // device memory: copied from the host before the first kernel
	CopyOut bool   `yaml:"copy_out"` // device memory: copied to the host after the last
	Source  string `yaml:"source"`
}

// Kernel is one kernel: a loop whose body has the instructions of Mix, those of
// Accesses and one branch.
type Kernel struct {
	Name       string `yaml:"name"`
	CTAs       int    `yaml:"ctas"`
	Threads    int    `yaml:"threads"`    // per CTA, a multiple of 32
	Registers  int    `yaml:"registers"`  // 32-bit registers per thread; default 32
	Shared     Bytes  `yaml:"shared"`     // shared memory per CTA
	Iterations int    `yaml:"iterations"` // of the loop, per warp; default 1
	Launches   int    `yaml:"launches"`   // per round; default 1
	Mix        Mix    `yaml:"mix"`
	// an ALU instruction reads the result this many ALU instructions back; default 4
	Dependence int        `yaml:"dependence"`
	LoadUse    int        `yaml:"load_use"` // instructions between a load and its first use; default 4
	Order      string     `yaml:"order"`    // batched: loads first, stores last (default); spread: evenly
	Conflict   int        `yaml:"conflict"` // bank conflict degree of shared-memory accesses: 1 (default) to 32
	Divergence Divergence `yaml:"divergence"`
	Accesses   []Access   `yaml:"accesses"`
	Source     string     `yaml:"source"`

	line int32 // of the model file
}

// mixed is the number of kinds of instruction in a Mix.
const mixed = 11

// Mix counts the warp instructions of one iteration that do not touch global
// memory. Int includes the loop counter, so it is at least 1.
type Mix struct {
	Int         int `yaml:"int"`    // add
	Mad         int `yaml:"mad"`    // integer multiply-add
	Move        int `yaml:"move"`   // move, logic, compare
	FP          int `yaml:"fp"`     // single-precision fused multiply-add
	DP          int `yaml:"dp"`     // double-precision fused multiply-add
	SFU         int `yaml:"sfu"`    // special functions
	Tensor      int `yaml:"tensor"` // matrix multiply-accumulate
	SharedLoad  int `yaml:"shared_load"`
	SharedStore int `yaml:"shared_store"`
	Barrier     int `yaml:"barrier"`
	Fence       int `yaml:"fence"`

	lines [mixed]int32 // of the model file, in the order of counts
}

// Divergence says how often a warp's iteration runs with part of its lanes.
type Divergence struct {
	Share float64 `yaml:"share"` // of the iterations
	Lanes int     `yaml:"lanes"` // lanes that execute a diverged iteration, 1 to 31
	// Paths is 1 (default) when the other lanes skip the body, 2 when they execute it
	// afterwards, as with an if and an else.
	Paths int `yaml:"paths"`
}

// Access is the accesses to one allocation in each iteration.
type Access struct {
	On      string `yaml:"on"`      // allocation
	Op      string `yaml:"op"`      // load (default), store, atomic, reduce
	Pattern string `yaml:"pattern"` // see Patterns
	Width   int    `yaml:"width"`   // bytes per lane: 1 2 4 8 16; default 4
	Count   int    `yaml:"count"`   // per iteration; default 1
	Reuse   int    `yaml:"reuse"`   // iterations (tiled: sweeps of the tile) before moving on; default 1
	Cache   string `yaml:"cache"`   // ca (default) cg cs cv nc

	Row     Bytes   `yaml:"row"`     // stencil: distance of vertical neighbours
	Plane   Bytes   `yaml:"plane"`   // stencil: distance of neighbours in the third dimension
	Tile    Bytes   `yaml:"tile"`    // tiled: bytes a CTA works on at a time
	Stride  Bytes   `yaml:"stride"`  // strided: distance between neighbouring threads
	Block   Bytes   `yaml:"block"`   // random, zipf, chase: contiguous bytes read together; default width
	Theta   float64 `yaml:"theta"`   // zipf: exponent; default 0.9
	Sharers int     `yaml:"sharers"` // shared: CTAs that read the same slice; default all
	Layout  string  `yaml:"layout"`  // shared: sharers are blocked (neighbours, default) or interleaved
	Source  string  `yaml:"source"`

	line int32 // of the model file
}

// Pattern says how the addresses of an access follow from thread and iteration.
type Pattern uint8

const (
	Stream  Pattern = iota // thread i of the grid: element i, then on by the grid's threads
	Stencil                // as stream; the accesses of an iteration are the neighbours in order of distance
	Tiled                  // a CTA sweeps its tile, Reuse times, then takes the tile CTAs further on
	Strided                // thread i: from i*Stride on, one element after the other
	Random                 // every block equally likely
	Zipf                   // block of rank r with probability ~ r^-Theta; hot blocks are scattered
	Chase                  // each chain follows a random cycle over all blocks; a load waits for the one before
	Shared                 // all CTAs of a group of Sharers sweep the same slice in the same order
)

// Patterns lists the names of the patterns, in the order of the constants.
var Patterns = [...]string{"stream", "stencil", "tiled", "strided", "random", "zipf", "chase", "shared"}

func (p Pattern) String() string { return Patterns[p] }
