package control

import "fmt"

// hydrogenParams are the parameters: weights, the shape of the fast memory, the start, the
// ranges and steps of the search, and its clock. Tokens per period are blocks of 256 B that
// a slow memory of four channels of DDR4-3200 (102.4 GB/s) delivers in 1 M cycles of 3.2
// GHz, 125 000, in 16 steps.
func hydrogenParams() []Param {
	const large, long = 1e9, 1e15
	const tokStep, tokMost = 7812, 16 * 7812
	return []Param{
		{"w_cpu", 12, "1", "weight of the CPU's IPC (the ratio of core counts)", false, 0, 0},
		{"w_gpu", 1, "1", "weight of the GPU's IPC", false, 0, 0},
		{"ways", 4, "ways", "ways of a set of the fast memory", true, 1, 16},
		{"channels", 4, "superchannels", "superchannels of the fast memory", true, 1, 0},
		{"cap", 3, "ways", "start: ways of each set for data of the CPU", true, 0, 0},
		{"bw", 1, "superchannels", "start: channels reserved for the CPU", true, 0, 0},
		{"tok", -1, "tokens", "start: migrations of the GPU per period; -1: the middle of the range", true, -1, large},
		{"cap_min", 1, "ways", "least cap", true, 0, 0},
		{"cap_max", -1, "ways", "most cap; -1: one less than ways", true, -1, 0},
		{"cap_step", 1, "ways", "a step of cap; 0: cap stays fixed", true, 0, 0},
		{"bw_min", 0, "superchannels", "least bw", true, 0, 0},
		{"bw_max", -1, "superchannels", "most bw; -1: what cap allows", true, -1, 0},
		{"bw_step", 1, "superchannels", "a step of bw; 0: bw stays fixed", true, 0, 0},
		{"tok_min", 0, "tokens", "least tok", true, 0, large},
		{"tok_max", tokMost, "tokens", "most tok", true, 0, large},
		{"tok_step", tokStep, "tokens", "a step of tok; 0: tok stays fixed", true, 0, large},
		{
			"epoch", 10_000_000, "CPU cycles", "time between two samples of a run; a replay takes samples as they " +
				"come", true,
			1, long,
		},
		{"phase", 500_000_000, "CPU cycles", "length of a phase: the search begins anew at each multiple; 0: " +
			"never", true, 0, long},
		{"repeat", 1, "epochs", "how long a point is held; its mean over them is its score", true, 1, 1000},
		{"first", 0, "CPU cycles", "time before the first phase, in which the start is held and nothing is " +
			"measured", true, 0, long},
	}
}

// hydrogenGrid is the range of the search. It is an error if the start lies outside, or if ways and channels do not
// divide.
func hydrogenGrid(get func(string) float64) (grid, error) {
	n := func(name string) int { return int(get(name)) }
	g := grid{ways: n("ways"), channels: n("channels")}
	if g.ways%g.channels != 0 && g.channels%g.ways != 0 {
		return g, fmt.Errorf("%d ways and %d channels do not divide: one must be a multiple of the other", g.ways,
			g.channels)
	}
	limit := point{g.ways - 1, g.channels, n("tok_max")}
	for i, name := range [dimensions]string{"cap", "bw", "tok"} {
		g.start[i], g.least[i], g.most[i], g.step[i] = n(name), n(name+"_min"), n(name+"_max"), n(name+"_step")
		if i == cpuWays && g.ways == 1 {
			g.least[i], g.most[i], g.step[i] = g.start[i], g.start[i], 0
			continue
		}
		if g.most[i] < 0 {
			g.most[i] = limit[i]
		}
		if g.start[i] < 0 && g.step[i] > 0 {
			g.start[i] = g.least[i] + (g.most[i]-g.least[i])/g.step[i]/2*g.step[i]
		} else if g.start[i] < 0 {
			g.start[i] = g.least[i]
		}
		switch {
		case g.most[i] > limit[i]:
			return g, fmt.Errorf("%s_max = %d, and of %d ways and %d channels the CPU can have %d", name, g.most[i],
				g.ways, g.channels, limit[i])
		case g.start[i] < g.least[i] || g.start[i] > g.most[i]:
			return g, fmt.Errorf("the start %s = %d is not in %d to %d (%s_min, %s_max)", name, g.start[i], g.least[i],
				g.most[i], name, name)
		}
	}
	if !g.has(g.start) {
		return g, fmt.Errorf("the start has bw = %d of %d channels with cap = %d of %d ways: bw*ways/channels <= cap "+
			"must hold, and the GPU needs a way", g.start[cpuChannels], g.channels, g.start[cpuWays], g.ways)
	}
	return g, nil
}
