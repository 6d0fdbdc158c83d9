package yamldoc

import (
	"sort"
	"strings"
)

// Nearest is the candidate closest to name by edit distance, or "" when none is
// close enough to be what was meant. Ties go to the first in sorted order.
func Nearest(name string, candidates []string) string {
	sorted := append([]string(nil), candidates...)
	sort.Strings(sorted)
	best, dist := "", 1+(len(name)+2)/3
	low := strings.ToLower(name)
	for _, c := range sorted {
		d := distance(low, strings.ToLower(c))
		if d < dist {
			best, dist = c, d
		}
	}
	return best
}

// DidYouMean is the end of an error message about an unknown name: a suggestion
// when one is near, the list of names when it is short, else nothing.
func DidYouMean(name string, candidates []string) string {
	if s := Nearest(name, candidates); s != "" {
		return "; did you mean " + s + "?"
	}
	if len(candidates) > 0 && len(candidates) <= 16 {
		sorted := append([]string(nil), candidates...)
		sort.Strings(sorted)
		return "; known: " + strings.Join(sorted, ", ")
	}
	return ""
}

// distance is the edit distance with transpositions of neighbours (restricted
// Damerau-Levenshtein). Very long names are never close to anything.
func distance(a, b string) int {
	if len(a) > 128 || len(b) > 128 {
		return len(a) + len(b)
	}
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
