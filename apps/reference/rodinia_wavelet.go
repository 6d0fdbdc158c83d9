package reference

import "fmt"

// dwt2d(image, n, levels) is the 5/3 wavelet transform; the low band of each level is
// its upper left quadrant.
func dwt2d(list []any) (any, error) {
	in := arguments{list: list}
	image := in.i32s(-1)
	n, levels := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(image) != n*n || levels < 1 || levels > 30 || n == 0 || n%(1<<levels) != 0 {
		return nil, fmt.Errorf("%d samples, %d levels: n x n samples, n = %d a multiple of 2^levels", len(image),
			levels, n)
	}
	out := append([]int32(nil), image...)
	line, room := make([]int32, n), make([]int32, n)
	for size := n; size > n>>levels; size /= 2 {
		for y := range size {
			lift(out[y*n:y*n+size], room)
		}
		for x := range size {
			for y := range size {
				line[y] = out[y*n+x]
			}
			lift(line[:size], room)
			for y := range size {
				out[y*n+x] = line[y]
			}
		}
	}
	return out, nil
}

// lift transforms a line of even length: low band first, then high.
func lift(line, room []int32) {
	n := len(line)
	at := func(i int) int32 { // mirrored about the first and the last sample
		if i < 0 {
			i = -i
		}
		if i >= n {
			i = 2*(n-1) - i
		}
		return line[i]
	}
	for i := 1; i < n; i += 2 {
		line[i] -= (at(i-1) + at(i+1)) >> 1
	}
	for i := 0; i < n; i += 2 {
		line[i] += (at(i-1) + at(i+1) + 2) >> 2
	}
	for i, v := range line {
		room[i%2*(n/2)+i/2] = v
	}
	copy(line, room[:n])
}
