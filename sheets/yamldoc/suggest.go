package yamldoc

import (
	"slices"
	"strings"
)

// Nearest is the candidate that name was probably meant to be, or "" if none is near enough: the one at the smallest
// distance in typing errors; of several the one with the longest piece of name in it, then the first in sorted order.
// If none is near, it is the only candidate of which name begins a word.
func Nearest(name string, candidates []string) string {
	sorted := slices.Sorted(slices.Values(candidates))
	low := strings.ToLower(name)
	best, least, piece := "", 1+slips(len(name)), 0
	var whole []string
	for _, c := range sorted {
		other := strings.ToLower(c)
		if begins(low, other) {
			whole = append(whole, c)
		}
		switch d := distance(low, other); {
		case d < least:
			best, least, piece = c, d, common(low, other)
		case d == least && best != "" && common(low, other) > piece:
			best, piece = c, common(low, other)
		}
	}
	if best == "" && len(whole) == 1 {
		return whole[0]
	}
	return best
}

// leastPart is the length from which the beginning of a word says which is meant.
const leastPart = 3

// begins says that a word of whole begins with part, and does not go on with a digit: a10 is not the beginning of a100.
func begins(part, whole string) bool {
	if len(part) < leastPart {
		return false
	}
	for at := 0; at+len(part) <= len(whole); at++ {
		end := at + len(part)
		first := at == 0 || strings.ContainsRune("-_./ ", rune(whole[at-1]))
		if first && whole[at:end] == part && (end == len(whole) || !digit(whole[end])) {
			return true
		}
	}
	return false
}

// slips is how many slips a name of a length may have: in a short one a second makes it another name.
func slips(length int) int {
	if length <= 4 {
		return 1
	}
	return (length + 2) / 3
}

// common is the length of the longest piece that two short names share.
func common(a, b string) (most int) {
	if len(a) > longest || len(b) > longest {
		return 0
	}
	for i := range a {
		for j := i + most + 1; j <= len(a) && strings.Contains(b, a[i:j]); j++ {
			most = j - i
		}
	}
	return most
}

// Guess is the end of an error message about an unknown name, where the message itself lists the names: a suggestion if
// one is near, else "".
func Guess(name string, candidates []string) string {
	if s := Nearest(name, candidates); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

// DidYouMean is the end of an error message about an unknown name: a suggestion if one is near, the list of names if
// it is short, else "".
func DidYouMean(name string, candidates []string) string {
	if s := Guess(name, candidates); s != "" {
		return s
	}
	if len(candidates) > 0 && len(candidates) <= mostKnown {
		return "; known: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
	}
	return ""
}

// mostKnown bounds a list in a message.
const mostKnown = 24

// longest is the length of names beyond which nothing is near.
const longest = 128

// distance is the edit distance with transpositions of neighbours (restricted Damerau-Levenshtein), weighted by what
// is a slip: another first letter, or another digit, is rather another name (v100 and a100, h100 and h200) and counts
// twice.
func distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range b {
		prev[j+1] = prev[j] + 1
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = prev[0] + 1
		for j := 1; j <= len(b); j++ {
			cost := 1
			switch {
			case a[i-1] == b[j-1]:
				cost = 0
			case i == 1 && j == 1, digit(a[i-1]), digit(b[j-1]):
				cost = 2
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

func digit(c byte) bool { return c >= '0' && c <= '9' }
