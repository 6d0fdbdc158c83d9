package placement

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// LAB is local-and-balanced placement. Zhao et al., "NUBA: Non-Uniform Bandwidth GPUs", ASPLOS
// 2023, section 4, equation 1: while the normalized page balance NPB = (1/n) * sum(P_i / max P)
// is above a threshold (0.9), a page goes to the partition that touches it first, else to the
// one with the fewest pages. Cost: an array of page counts in the driver, one number per channel.
//
// Readings. Ties between the partitions with the fewest pages are broken "arbitrarily" in the paper: here by the
// asking partition, and in LABLowest by the lowest channel. The test is made before the page is placed, on whole
// numbers, so that a balance of exactly the threshold is not above it; a memory without pages is balanced. In a
// machine, P_i are the tenant's pages in those of its groups that have room.
func LAB(t Threshold, least Place) Place {
	return func(v *View) int {
		if t.Under(NPB(v.Pages)) {
			return firstTouch(v)
		}
		return least(v)
	}
}

// LABLowest is LAB whose ties go to the lowest channel.
func LABLowest(t Threshold) Place { return LAB(t, Least) }

// NPB is the normalized page balance of the numbers of pages in n partitions as a fraction,
// sum(P_i) over n * max(P): between 1/n, all in one partition, and 1, all equal or no pages.
func NPB(pages []int) (sum, full uint64) {
	for _, n := range pages {
		sum += uint64(n)
	}
	if sum == 0 {
		return 1, 1
	}
	return sum, uint64(len(pages)) * uint64(slices.Max(pages))
}

// Threshold is a decimal fraction from 0 to 1, kept exactly: Num / Den.
type Threshold struct{ Num, Den uint64 }

// decimals is how many decimals a threshold may have: what fits 64 bits.
const decimals = 18

// ParseThreshold reads a decimal fraction, such as 0.9. It is an error if it is no number from
// 0 to 1 or has more than 18 decimals.
func ParseThreshold(text string) (Threshold, error) {
	whole, frac, _ := strings.Cut(text, ".")
	frac = strings.TrimRight(frac, "0")
	t := Threshold{Den: 1}
	digits := strings.TrimLeft(whole, "0") + frac
	if strings.Trim(text, "0123456789.") != "" || strings.Count(text, ".") > 1 || strings.Trim(text, ".") == "" {
		return t, fmt.Errorf("threshold %q is no decimal number: write it as 0.9", text)
	}
	if len(frac) > decimals {
		return t, fmt.Errorf("threshold %q has more than %d decimals", text, decimals)
	}
	if len(digits) > len(frac)+1 {
		return t, fmt.Errorf("threshold %q is not between 0 and 1", text)
	}
	for range frac {
		t.Den *= 10
	}
	for _, d := range []byte(digits) {
		t.Num = 10*t.Num + uint64(d-'0')
	}
	if t.Num > t.Den {
		return t, fmt.Errorf("threshold %q is not between 0 and 1", text)
	}
	return t, nil
}

// Under says whether the threshold is less than sum/full, exactly.
func (t Threshold) Under(sum, full uint64) bool {
	h1, l1 := bits.Mul64(sum, t.Den)
	h2, l2 := bits.Mul64(full, t.Num)
	return h1 > h2 || h1 == h2 && l1 > l2
}

func labEntry() Entry {
	return Entry{
		Name: "lab",
		What: "first-touch while the balance of pages is above vm.lab_threshold, else least; the asking group wins " +
			"ties",
		Source: nuba, Make: withThreshold(leastNear),
	}
}

func labLowestEntry() Entry {
	return Entry{
		Name: "lab-lowest", What: "as lab, but of equally used groups the lowest wins", Source: nuba + ", a reading",
		Make: withThreshold(Least),
	}
}

const nuba = "NUBA, ASPLOS 2023, section 4"

// withThreshold makes LAB with the threshold of a sheet, as the decimal number it is written as.
func withThreshold(least Place) func(Machine) (Place, error) {
	return func(m Machine) (Place, error) {
		t, err := ParseThreshold(strconv.FormatFloat(m.Threshold, 'f', -1, 64))
		if err != nil || m.Threshold == 0 {
			return nil, errors.New("vm.lab_threshold above 0 and up to 1 (NUBA's is 0.9)")
		}
		return LAB(t, least), nil
	}
}
