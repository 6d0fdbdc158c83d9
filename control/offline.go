package control

import "fmt"

// Point is one measurement of an application alone on a slice.
type Point struct {
	Alloc
	Progress float64 // IPC on the slice over IPC alone on the whole machine
}

// BestStatic is UGPU-offline (UGPU paper, section 6: the size of each slice by offline profiling). It chooses one
// measured point per application, so that the sum of progress (STP) is largest and all points together fit the
// machine. Of equal choices the point listed first wins. It is an error if an application has no point, a point is no
// slice, or nothing fits. Cost: points x SMs x groups of the machine.
func BestStatic(m Machine, apps [][]Point) (best []Alloc, stp float64, err error) {
	// value[i][s][g] is the best sum of applications i.. on s SMs and g groups.
	const none = -1.0
	width := m.Groups + 1
	value := make([][]float64, len(apps)+1)
	choice := make([][]int, len(apps))
	value[len(apps)] = make([]float64, (m.SMs+1)*width)
	for i := len(apps) - 1; i >= 0; i-- {
		if len(apps[i]) == 0 {
			return nil, 0, fmt.Errorf("best static slices: application %d has no measured point", i)
		}
		value[i], choice[i] = make([]float64, len(value[len(apps)])), make([]int, len(value[len(apps)]))
		for at := range value[i] {
			value[i][at] = none
			for k, pt := range apps[i] {
				if pt.SMs < 1 || pt.Groups < 1 || !(pt.Progress >= 0) {
					return nil, 0,
						fmt.Errorf("best static slices: application %d, point %+v: a slice has an SM and a channel "+
							"group, progress is not negative", i, pt)
				}
				if pt.SMs > at/width || pt.Groups > at%width {
					continue
				}
				rest := value[i+1][at-pt.SMs*width-pt.Groups]
				if v := pt.Progress + rest; rest != none && v > value[i][at] {
					value[i][at], choice[i][at] = v, k
				}
			}
		}
	}
	at := m.SMs*width + m.Groups
	if stp = value[0][at]; stp == none {
		return nil, 0, fmt.Errorf("best static slices: no choice of measured points fits %d SMs and %d channel groups",
			m.SMs, m.Groups)
	}
	for i := range apps {
		pt := apps[i][choice[i][at]]
		best = append(best, pt.Alloc)
		at -= pt.SMs*width + pt.Groups
	}
	return best, stp, nil
}
