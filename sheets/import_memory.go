package sheets

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// cacheString is a GPGPU-Sim cache configuration taken apart:
// type:sets:line:ways,repl:write:alloc:walloc:index,mshr:entries:merge,missq[:fifo][,port]
type cacheString struct {
	sectored                      bool
	sets, line, ways              int
	repl, write, alloc, walloc    string
	index                         string
	mshrKind                      string
	entries, merge, missq, portBy int
}

// cache parses the current option; GPGPU-Sim 3.x strings lack the type.
func (im *importer) cache() cacheString {
	var c cacheString
	parts := strings.Split(im.cur.Value, ",")
	if shape := strings.Split(parts[0], ":"); len(parts) == 1 && len(shape) == 4 { // GPGPU-Sim 2: sets:line:ways:repl
		parts = []string{strings.Join(shape[:3], ":"), shape[3] + ":B:m:W:L", "A:32:8", "8"}
		im.warn("the file gives neither policies nor miss registers of the cache: write-back, 32 miss registers of 8 " +
			"requests")
	}
	if len(parts) < 4 || len(parts) > 5 {
		im.fail("a cache is type:sets:line:ways,repl:write:alloc:write-alloc:index," +
			"mshr:entries:merge,miss-queue[,port]")
		return c
	}
	shape := strings.Split(parts[0], ":")
	if len(shape) == 4 {
		c.sectored = shape[0] == "S"
		if shape[0] != "S" && shape[0] != "N" {
			im.fail("cache type %q is neither N nor S", shape[0])
		}
		shape = shape[1:]
	}
	policy := strings.Split(parts[1], ":")
	mshr := strings.Split(parts[2], ":")
	queue := strings.Split(parts[3], ":")
	if len(shape) != 3 || len(policy) < 4 || len(policy) > 5 || len(mshr) != 3 {
		im.fail("sets:line:ways, the policies or mshr:entries:merge are incomplete")
		return c
	}
	c.sets, c.line, c.ways = im.part(shape[0]), im.part(shape[1]), im.part(shape[2])
	c.repl, c.write, c.alloc, c.walloc = policy[0], policy[1], policy[2], policy[3]
	if c.index = "L"; len(policy) == 5 {
		c.index = policy[4]
	}
	c.mshrKind, c.entries, c.merge = mshr[0], im.part(mshr[1]), im.part(mshr[2])
	c.missq = im.part(queue[0])
	if len(parts) == 5 {
		c.portBy = im.part(parts[4])
	}
	return c
}

func (im *importer) part(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 || n > 1<<24 {
		im.fail("%q is not a whole number", s)
		return 1
	}
	return n
}

// level stores what both cache levels have in common.
func (im *importer) level(p string, c cacheString) {
	sector := c.line
	if c.sectored {
		sector = 32
	}
	for _, x := range []struct {
		key string
		v   int
	}{
		{"sets", c.sets},
		{"ways", c.ways},
		{"line", c.line},
		{"sector", sector},
		{"mshrs", c.entries},
		{"merge", c.merge},
		{"miss_queue", c.missq},
	} {
		im.put(p+"."+x.key, "config", x.v)
	}
	switch c.repl {
	case "L":
		im.put(p+".repl", "config", "lru")
	case "F":
		im.put(p+".repl", "config", "fifo")
	default:
		im.fail("replacement %q is neither L nor F", c.repl)
	}
	switch c.index {
	case "L":
		im.put(p+".index", "config", "linear")
	case "X":
		im.put(p+".index", "config", "xor")
	case "P":
		im.put(p+".index", "config", "ipoly")
	case "H":
		im.put(p+".index", "config", "xor")
		im.warn("Fermi's set hash is replaced by an xor of the tag bits")
	default:
		im.fail("set index %q is not one of L, X, P, H", c.index)
	}
	if c.alloc != "m" {
		im.warn("lines are always allocated on a miss (m), not %q", c.alloc)
	}
}

func (im *importer) caches() {
	im.direct([]direct{
		{"l1d.latency", false, []string{"-gpgpu_l1_latency"}},
		{"l1d.banks", false, []string{"-gpgpu_l1_banks"}},
		{"llc.latency", true, []string{"-gpgpu_l2_rop_latency", "-rop_latency"}},
	})
	for _, f := range []struct {
		path     string
		spelling []string
	}{
		{"l1d.skip_global", []string{"-gpgpu_gmem_skip_L1D", "-gmem_skip_L1D"}},
		{"l1d.flush_each", []string{"-gpgpu_flush_l1_cache"}},
		{"llc.prefill_copies", []string{"-gpgpu_perf_sim_memcpy"}},
	} {
		if im.take(f.spelling...) {
			im.put(f.path, "config", im.number() != 0)
		}
	}
	im.l1()
	if im.take("-gpgpu_cache:dl2") {
		c := im.cache()
		im.level("llc", c)
		if c.portBy > 0 {
			im.put("llc.port", "config", c.portBy)
		}
		switch c.walloc {
		case "L":
			im.put("llc.write_alloc", "config", "lazy")
		case "F", "W":
			im.put("llc.write_alloc", "config", "fetch")
		default:
			im.put("llc.write_alloc", "config", "lazy")
			im.warn("a last-level cache without write allocation is not modelled; lazy fetch on read is used")
		}
		if c.write != "B" {
			im.warn("the last-level cache is always write-back (B), not %q", c.write)
		}
	} else {
		im.absent("-gpgpu_cache:dl2", "llc.sets")
	}
	im.lines()
	if l1, l2 := im.m.L1D.Sector, im.m.LLC.Sector; l1 != l2 && im.take("-gpgpu_cache:dl1", "-gpgpu_cache:dl2") {
		im.warn("sectors of %d bytes under sectors of %d bytes are not modelled; both caches get %d", l1, l2,
			min(l1, l2))
		im.put("l1d.sector", "derived", min(l1, l2))
		im.put("llc.sector", "derived", min(l1, l2))
	}
	if im.take("-gpgpu_dram_partition_queues") {
		p := im.list(":", 4, 4)
		for i, path := range []string{"llc.in_queue", "llc.to_dram", "llc.from_dram", "llc.out_queue"} {
			im.put(path, "config", p[i])
		}
	}
}

// lines gives both caches the shorter line where they differ; sizes stay.
func (im *importer) lines() {
	l1, l2 := im.m.L1D.Line, im.m.LLC.Line
	if l1 == l2 || !im.take("-gpgpu_cache:dl2", "-gpgpu_cache:dl1") {
		return
	}
	line := min(l1, l2)
	im.warn("lines of %d bytes in the L1 and of %d in the last-level cache are not modelled; both get %d, with more "+
		"sets", l1, l2, line)
	for path, of := range map[string][3]int{
		"l1d": {l1, im.m.L1D.Sets, im.m.L1D.Sector}, "llc": {l2, im.m.LLC.Sets, im.m.LLC.Sector},
	} {
		im.put(path+".sets", "derived", of[1]*of[0]/line)
		im.put(path+".line", "derived", line)
		im.put(path+".sector", "derived", min(of[2], line))
	}
}

func (im *importer) l1() {
	if im.take("-gpgpu_cache:dl1") && im.cur.Value == "none" {
		im.warn("without an L1 for data, global accesses bypass it (l1d.skip_global); local memory keeps machine " +
			importBase + "'s")
		im.put("l1d.skip_global", "config", true)
	} else if im.take("-gpgpu_cache:dl1") {
		c := im.cache()
		im.level("l1d", c)
		im.l1Writes(c)
	} else {
		im.absent("-gpgpu_cache:dl1", "l1d.sets")
	}
	adaptive := im.take("-gpgpu_adaptive_cache_config") && im.number() != 0
	if !adaptive {
		im.put("l1d.unified", "derived", 0)
		im.put("l1d.carveouts", "derived", "")
		im.used["-gpgpu_shmem_option"], im.used["-gpgpu_unified_l1d_size"] = true, true
		return
	}
	if im.take("-gpgpu_unified_l1d_size") {
		im.put("l1d.unified", "config", im.number()*1024)
	}
	if im.take("-gpgpu_shmem_option") {
		var sizes []string
		for _, kb := range strings.Split(im.cur.Value, ",") {
			sizes = append(sizes, strconv.Itoa(im.part(kb)*1024))
		}
		im.put("l1d.carveouts", "config", strings.Join(sizes, ","))
	}
}

// l1Writes says what the L1 does with stores, and what of that the simulated L1 does otherwise.
func (im *importer) l1Writes(c cacheString) {
	switch c.write {
	case "T":
	case "B":
		im.warn("the L1 writes through (l1d.write: through), not back (B): a store is sent to the last-level cache " +
			"at once, so that SMs need not be asked for each other's stores")
	case "L", "E":
		im.warn("write policy %s is modelled as write-through", c.write)
	default:
		im.fail("write policy %q is not one of T, L, E, B", c.write)
	}
	im.put("l1d.write", "config", "through")
	switch c.walloc {
	case "N":
		im.put("l1d.write_alloc", "config", "none")
	case "W", "F":
		im.warn("a store that allocates a line in the L1 does not fetch the rest of it (%s): a later load does "+
			"(l1d.write_alloc: lazy)", c.walloc)
		im.put("l1d.write_alloc", "config", "lazy")
	case "L":
		im.put("l1d.write_alloc", "config", "lazy")
	default:
		im.fail("write allocation %q is not one of N, W, F, L", c.walloc)
	}
}

func (im *importer) memory() {
	im.direct([]direct{
		{"dram.extra_latency", false, []string{"-dram_latency"}},
		{"dram.queue", true, []string{"-gpgpu_frfcfs_dram_sched_queue_size"}},
		{"dram.return", false, []string{"-gpgpu_dram_return_queue_size"}},
	})
	if im.take("-gpgpu_dram_scheduler") {
		im.put("dram.sched", "config", map[bool]string{true: "frfcfs", false: "fcfs"}[im.number() == 1])
	}
	if im.take("-dram_dual_bus_interface") {
		im.put("dram.dual_bus", "config", im.number() != 0)
	} else {
		im.put("dram.dual_bus", "derived", false) // GPGPU-Sim's default
	}
	if im.take("-gpgpu_memory_partition_indexing") {
		hash, ok := map[string]string{"0": "none", "1": "xor", "2": "ipoly"}[im.cur.Value]
		if !ok {
			hash = "none"
			im.warn("this partition hash is not modelled; none is used")
		}
		im.put("map.hash", "config", hash)
	} else {
		im.put("map.hash", "derived", "none")
	}
	bits := "high" // GPGPU-Sim's default
	if im.take("-dram_bnkgrp_indexing_policy") && im.cur.Value == "1" {
		bits = "low"
	}
	im.put("map.group_bits", "config", bits)
	if im.take("-dram_bnk_indexing_policy") && im.cur.Value != "0" {
		im.warn("bank numbers are taken as they stand in the address (0)")
	}
	if im.take("-gpgpu_mem_address_mask") && im.cur.Value != "1" {
		im.warn("only the 1 (bit map) form of the address map is read")
	}
	im.geometry()
	im.writeQueue()
	im.timing()
}

// geometry derives access size, rows and row size as GPGPU-Sim does.
func (im *importer) geometry() {
	bus, burst, chips, ratio, given := 0, 0, 1, 2, false
	if im.take("-gpgpu_n_mem_per_ctrlr") {
		chips = im.number()
	}
	if im.take("-dram_data_command_freq_ratio") {
		ratio = max(im.number(), 1)
	}
	if im.take("-gpgpu_dram_buswidth") {
		bus, given = im.number(), true
	}
	if im.take("-gpgpu_dram_burst_length") && given {
		burst = im.number()
		im.put("dram.access", "config", bus*burst*chips)
		im.put("dram.timing.bl", "config", max(burst/ratio, 1))
	} else if im.err == nil {
		im.absent("-gpgpu_dram_buswidth and -gpgpu_dram_burst_length", "dram.access")
	}
	if !im.take("-gpgpu_mem_addr_mapping") {
		im.absent("-gpgpu_mem_addr_mapping", "map.string")
		return
	}
	up := strings.ToUpper(im.cur.Value)
	_, fields, ok := strings.Cut(up, ";")
	if !ok || !strings.HasPrefix(im.cur.Value, "dramid@") {
		im.fail("only maps of the form dramid@N;... are read")
		return
	}
	r, c, s := strings.Count(fields, "R"), strings.Count(fields, "C"), strings.Count(fields, "S")
	if c+s > 30 {
		im.fail("%d column bits are more than 30", c+s)
		return
	}
	im.put("map.kind", "config", "gpgpusim")
	// A memory is a TiB at most; rows are the rest of it.
	most := 40 - c - s - strings.Count(fields, "B") - bits.Len(uint(im.m.DRAM.Channels-1))
	if r > most {
		im.warn("of %d row bits the lower %d are used, which give 1 TiB: addresses that differ only in higher bits "+
			"share a row", r, max(most, 0))
		head, _, _ := strings.Cut(im.cur.Value, ";")
		im.put("map.string", "derived", head+";"+strings.Replace(fields, "R", "0", r-max(most, 0)))
		r = max(most, 0)
	} else {
		im.put("map.string", "config", im.cur.Value)
	}
	im.put("dram.rows", "derived", 1<<r)
	im.put("dram.row_bytes", "derived", 1<<(c+s))
}

func (im *importer) writeQueue() {
	on := im.take("-dram_seperate_write_queue_enable", "-Seperate_Write_Queue_Enable") && im.number() != 0
	if !im.take("-dram_write_queue_size", "-Write_Queue_Size") || !on {
		return
	}
	p := im.list(":", 3, 3)
	size, high, low := im.part(p[0]), im.part(p[1]), im.part(p[2])
	if size == 0 {
		im.fail("the write queue has no entries")
		return
	}
	im.put("dram.write_queue", "config", size)
	im.put("dram.high_water", "config", float64(high)/float64(size))
	im.put("dram.low_water", "config", float64(low)/float64(size))
}

// timing reads -gpgpu_dram_timing_opt, by name or by position.
func (im *importer) timing() {
	if !im.take("-gpgpu_dram_timing_opt") {
		im.absent("-gpgpu_dram_timing_opt", "dram.timing.cl")
		im.capacity() // the number of channels may be another one all the same
		return
	}
	names := []string{"nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL", "RTPL"}
	t := map[string]int{"nbkgrp": 1}
	for i, p := range strings.Split(im.cur.Value, ":") {
		key, value, named := strings.Cut(strings.TrimSpace(p), "=")
		if !named {
			if i >= len(names) {
				im.fail("more than %d values", len(names))
				return
			}
			key, value = names[i], p
		}
		t[key] = im.part(value)
	}
	for _, n := range names[:11] {
		if t[n] == 0 && im.err == nil {
			im.fail("%s is missing", n)
		}
	}
	if im.err != nil {
		return
	}
	groups := max(t["nbkgrp"], 1)
	if t["nbk"]%groups != 0 {
		im.fail("nbk = %d does not divide into nbkgrp = %d", t["nbk"], groups)
	}
	// CCDL and RTPL of 0 are GPGPU-Sim's way to say "no bank groups".
	bl := im.m.DRAM.T.BL
	for _, x := range []struct {
		path, source string
		v            int
	}{
		{"bank_groups", "config", groups},
		{"banks", "config", t["nbk"] / groups},
		{"timing.ccds", "config", t["CCD"]},
		{"timing.ccdl", "config", max(t["CCDL"], t["CCD"])},
		{"timing.rrds", "config", t["RRD"]},
		{"timing.rrdl", "config", t["RRD"]},
		{"timing.rcdrd", "config", t["RCD"]},
		{"timing.rcdwr", "derived", max(t["RCD"]-t["WL"]-1, 1)},
		{"timing.ras", "config", t["RAS"]},
		{"timing.rp", "config", t["RP"]},
		{"timing.rc", "config", t["RC"]},
		{"timing.cl", "config", t["CL"]},
		{"timing.cwl", "config", t["WL"]},
		{"timing.wr", "config", t["WR"]},
		{"timing.wtrs", "config", t["CDLR"]},
		{"timing.wtrl", "config", t["CDLR"]},
		{"timing.rtp", "config", t["RTPL"]},
		{"timing.rtw", "derived", max(t["CL"]+bl+2-t["WL"], 0)},
	} {
		im.put("dram."+x.path, x.source, x.v)
	}
	im.capacity()
}

// capacity is the product of the geometry.
func (im *importer) capacity() {
	d := &im.m.DRAM
	per := int64(d.Rows) * int64(d.RowBytes)
	if per > 1<<44 {
		im.fail("the address map makes more than 16 TiB per bank")
		return
	}
	im.put("dram.capacity", "derived", fmt.Sprint(int64(d.Channels)*int64(d.Ranks)*int64(d.BankGroups*d.Banks)*per))
}
