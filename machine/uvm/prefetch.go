package uvm

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Tree is a prefetcher's view of a chunk in which pages fault.
type Tree struct {
	Present Mask // on the device, or on their way there
	Fault   Mask // pages that fault, none of them present
	Thrash  Mask // pages that thrash: they do not come along
	Pages   int  // of the tree: 16 * 2^i, at most PagesPerChunk
	Random  *rand.Rand
	Public  bool // as in the public simulator: all nodes of the tree are looked at, and any page of it may be chosen
}

// prefetcher says which pages come along with the pages that fault: of each tree by itself, or of a
// whole allocation or the whole of memory.
type prefetcher struct {
	name string
	tree func(t *Tree) Mask // pages to come; those present, or that fault, may be among them
	span func(r *Runtime)   // adds to the batch by Runtime.add
	what string
}

func prefetchers() []prefetcher {
	return []prefetcher{
		{name: "none", what: "4 KB on demand"},
		{name: "random", tree: prefetchRandom, what: "one random page of the same 2 MB"},
		{name: "sl", tree: prefetchSequentialLocal, what: "the 64 KB block of the fault"},
		{name: "zheng-sequential", span: prefetchSequential, what: "128 pages from the lowest address on"},
		{name: "zheng-512k", span: prefetchLocality, what: "128 pages from the fault on"},
		{name: "tbn", tree: prefetchTree, what: "tree-based neighbourhood"},
		{name: "driver-today", tree: prefetchDriver, what: "regions of which more than 51 % are valid, as in " +
			"today's driver"},
	}
}

// PrefetcherNames are the names of the prefetchers.
func PrefetcherNames() (names []string) {
	for _, p := range prefetchers() {
		names = append(names, p.name)
	}
	return names
}

func prefetcherByName(name string) (prefetcher, error) {
	for _, p := range prefetchers() {
		if p.name == name {
			return p, nil
		}
	}
	return prefetcher{}, fmt.Errorf("prefetcher %q: use %s", name, strings.Join(PrefetcherNames(), ", "))
}
