package uvm

// prefetchTree is TBN_p (2.2.2, Figure 4), the tree-based neighbourhood prefetcher: the 64 KB
// blocks of the faults come; then, from the lowest ancestors of these up to the root, a node of
// whose pages more than half will be there gets all that it lacks. Balancing children
// recursively comes to the same, as nothing of the node is left to choose from.
//
// The blocks of all faults of a batch count before the first node is looked at. Cost: the tree
// that the driver keeps for each 2 MB.
func prefetchTree(t *Tree) Mask {
	come := prefetchSequentialLocal(t)
	under := t.Fault // pages whose ancestors are looked at
	if t.Public {
		under = span(0, t.Pages)
	}
	for size := 2 * PagesPerBlock; size <= t.Pages; size *= 2 {
		for p := under.Next(0); p < t.Pages; p = under.Next(p&^(size-1) + size) {
			node := p &^ (size - 1)
			will := t.Present.Or(&come)
			if 2*will.CountIn(node, size) > size {
				all := span(node, size)
				come = come.Or(&all)
			}
		}
	}
	return come
}
