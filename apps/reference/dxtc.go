package reference

import (
	"fmt"
	"math"
)

type colours [16][3]float32

// dxtc(image, cuts, width) compresses 4 x 4 pixels at a time to two words: the end
// colours and the codes. A cut i | j<<8 | k<<16 says where groups 2, 3 and 4 begin.
func dxtc(list []any) (any, error) {
	in := arguments{list: list}
	image, cuts := in.u32s(-1), in.u32s(-1)
	width := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if width == 0 || width%4 != 0 || len(image)%(4*width) != 0 {
		return nil, fmt.Errorf("%d pixels in rows of %d: both sides must be multiples of 4", len(image), width)
	}
	for _, c := range cuts {
		if i, j, k := c&255, c>>8&255, c>>16; i > j || j > k || k > 16 {
			return nil, fmt.Errorf("cut %#x: the groups' beginnings must rise and be at most 16", c)
		}
	}
	var out []uint32
	for y := 0; y < len(image)/width; y += 4 {
		for x := 0; x < width; x += 4 {
			var px colours
			for p := range px {
				for c := range 3 {
					px[p][c] = mul32(float32(image[(y+p/4)*width+x+p%4]>>(8*c)&255), float32(1)/255)
				}
			}
			ends, codes := dxtcBlock(&px, cuts)
			out = append(out, ends, codes)
		}
	}
	return out, nil
}

// dxtcBlock compresses one block of pixels.
func dxtcBlock(px *colours, cuts []uint32) (ends, codes uint32) {
	order := alongAxis(px)
	var sum [17][3]float32
	for s, p := range order {
		for c := range 3 {
			sum[s+1][c] = sum[s][c] + px[p][c]
		}
	}
	best, at := float32(math.Inf(1)), 0
	var start, end uint32
	for n, cut := range cuts {
		if e, a, b := tryCut(cut, &sum); e < best {
			best, at, start, end = e, n, a, b
		}
	}
	table := [4]uint32{0, 2, 3, 1}
	switch {
	case start < end:
		start, end = end, start
		table = [4]uint32{1, 3, 2, 0}
	case start == end:
		table = [4]uint32{}
	}
	for s, p := range order {
		group := 0
		for shift := 0; shift <= 16; shift += 8 {
			if uint32(s) >= cuts[at]>>shift&255 {
				group++
			}
		}
		codes |= table[group] << (2 * p)
	}
	return start | end<<16, codes
}

// alongAxis is the order of the pixels along the principal axis of their colours.
func alongAxis(px *colours) [16]int {
	var mean [3]float32
	for c := range 3 {
		for p := range px {
			mean[c] += px[p][c]
		}
		mean[c] = mul32(mean[c], 1.0/16)
	}
	var cov [3][3]float32
	for p := range px {
		for a := range 3 {
			for b := range 3 {
				cov[a][b] = fma32(px[p][a]-mean[a], px[p][b]-mean[b], cov[a][b])
			}
		}
	}
	widest := 0
	for c := range 3 {
		if cov[c][c] > cov[widest][widest] {
			widest = c
		}
	}
	axis := cov[widest]
	for range 8 {
		var next [3]float32
		var most float32
		for c := range 3 {
			next[c] = fma32(cov[c][0], axis[0], fma32(cov[c][1], axis[1], mul32(cov[c][2], axis[2])))
			most = max(most, float32(math.Abs(float64(next[c]))))
		}
		if most == 0 {
			break
		}
		for c := range 3 {
			axis[c] = next[c] / most
		}
	}
	var along [16]float32
	for p := range px {
		along[p] = fma32(px[p][0], axis[0], fma32(px[p][1], axis[1], mul32(px[p][2], axis[2])))
	}
	var order [16]int
	for t, v := range along {
		rank := 0
		for p, w := range along {
			if w < v || w == v && p < t {
				rank++
			}
		}
		order[rank] = t
	}
	return order
}

// tryCut is the error of a cut and its end colours of 5:6:5 bits.
func tryCut(cut uint32, sum *[17][3]float32) (e float32, start, end uint32) {
	i, j, k := int(cut&255), int(cut>>8&255), int(cut>>16)
	a9, b9, ab9 := 9*i+4*(j-i)+(k-j), 9*(16-k)+4*(k-j)+(j-i), 2*(k-i)
	det := a9*b9 - ab9*ab9
	if det == 0 {
		return float32(math.Inf(1)), 0, 0
	}
	fa, fb, fab, scale := float32(a9), float32(b9), float32(ab9), 9/float32(det)
	unit := func(v float32) float32 { return min(max(mul32(scale, v), 0), 1) }
	for c, levels := range [3]float32{31, 63, 31} {
		ax := mul32(sum[i][c]+sum[j][c]+sum[k][c], float32(1)/3)
		bx := sum[16][c] - ax
		qa := uint32(fma32(unit(fma32(ax, fb, -mul32(bx, fab))), levels, 0.5))
		qb := uint32(fma32(unit(fma32(bx, fa, -mul32(ax, fab))), levels, 0.5))
		a, b := float32(qa)/levels, float32(qb)/levels
		square := fma32(mul32(a, a), fa, fma32(mul32(b, b), fb, mul32(mul32(2, mul32(a, b)), fab)))
		e += fma32(-2, fma32(a, ax, mul32(b, bx)), mul32(square, float32(1)/9))
		shift := [3]int{11, 5, 0}[c]
		start |= qa << shift
		end |= qb << shift
	}
	return e, start, end
}
