package sharing

// Distributed dispatch divides a grid into contiguous chunks, one per SM or per partition of the machine, so that
// neighbouring CTAs, which mostly share data, run where their pages are (the MCM-GPU paper, ISCA 2017; NUBA, section
// 6: partition = CTA * P / CTAs of the grid). Within a partition CTAs go to the SMs in the order in which these ask.
// An SM takes no CTA of another partition's chunk, because that would undo the locality. There is one exception: if
// SMs change hands and the application has no SM left in a partition, SMs that have finished their own chunk take
// CTAs of that partition's chunk.

// chunk is a range of CTAs that are dispatched in one place: from next to end.
type chunk struct{ next, end int }

// divide gives a kernel the chunks of its application's SMs; none where CTAs go breadth first.
func (d *Dispatcher) divide(k *Kernel) {
	if d.parts == 0 {
		return
	}
	present := d.present[k.Tenant]
	n := 0 // partitions that take part
	for _, sms := range present {
		if sms > 0 {
			n++
		}
	}
	k.chunks = make([]chunk, d.parts)
	i := 0
	for p, sms := range present {
		if sms > 0 {
			k.chunks[p] = chunk{next: i * k.Geo.CTAs / n, end: (i + 1) * k.Geo.CTAs / n}
			i++
		}
	}
}

// part is the partition of SM i: SMs are numbered partition by partition.
func (d *Dispatcher) part(i int) int { return i * d.parts / len(d.sms) }

// countPresent notes in which partitions the applications have SMs now, and asks all SMs: one may
// have left a chunk behind.
func (d *Dispatcher) countPresent(now uint64) {
	if d.parts == 0 {
		return
	}
	for i, t := range d.tenants {
		clear(d.present[i])
		for _, s := range t.SMs {
			d.present[i][d.part(s)]++
		}
	}
	d.holdings.offer(now)
}

// chunkOf is the chunk SM i takes the next CTA of a kernel from; -1 where it takes none.
func (d *Dispatcher) chunkOf(k *Kernel, i int) int {
	own := d.part(i)
	if k.chunks[own].next < k.chunks[own].end {
		return own
	}
	for p, sms := range d.present[k.Tenant] {
		if sms == 0 && k.chunks[p].next < k.chunks[p].end {
			return p
		}
	}
	return -1
}

// has says that there is a CTA of a kernel to dispatch to SM i.
func (d *Dispatcher) has(k *Kernel, i int) bool {
	return k.Next < k.Geo.CTAs && (k.chunks == nil || d.chunkOf(k, i) >= 0)
}

// take is the number of the next CTA of a kernel for SM i.
func (d *Dispatcher) take(k *Kernel, i int) int {
	k.Next++
	if k.chunks == nil {
		return k.Next - 1
	}
	c := &k.chunks[d.chunkOf(k, i)]
	c.next++
	return c.next - 1
}
