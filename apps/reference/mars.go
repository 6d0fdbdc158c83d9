package reference

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// stringmatch(text, line, keyword) is every position at which the keyword begins and
// ends within a line; line holds where the lines begin and where the last ends.
func stringmatch(list []any) (any, error) {
	in := arguments{list: list}
	text := slice[uint8](&in, -1, "an array of u8")
	line := in.i32s(-1)
	keyword := []byte(in.text())
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(keyword) == 0 || len(line) == 0 || line[0] < 0 || int(line[len(line)-1]) > len(text) ||
		!slices.IsSorted(line) {
		return nil, fmt.Errorf("keyword %q, %d lines: a keyword, and lines that ascend within the %d bytes", keyword,
			len(line)-1, len(text))
	}
	found := []int32{}
	for i, start := range line[:len(line)-1] {
		from := int(start)
		for {
			at := bytes.Index(text[from:line[i+1]], keyword)
			if at < 0 {
				break
			}
			found = append(found, int32(from+at))
			from += at + 1
		}
	}
	return found, nil
}

// wordcount(which, text) is the "count" or the position of the "first" occurrence of
// every word (lower-case letters), ordered by the words' FNV-1a hashes.
func wordcount(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	text := slice[uint8](&in, -1, "an array of u8")
	if err := in.done(); err != nil {
		return nil, err
	}
	if which != "count" && which != "first" {
		return nil, fmt.Errorf("result %q: it must be count or first", which)
	}
	type entry struct {
		hash  uint64
		count int32
		first uint32
	}
	var words []entry
	known := map[string]int{} // a word's index in words
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' }
	for i := 0; i < len(text); i++ {
		end := i
		for end < len(text) && letter(text[end]) {
			end++
		}
		if end == i {
			continue
		}
		w, seen := known[string(text[i:end])]
		if !seen {
			h := fnv.New64a()
			h.Write(text[i:end])
			w = len(words)
			known[string(text[i:end])] = w
			words = append(words, entry{hash: h.Sum64(), first: uint32(i)})
		}
		words[w].count++
		i = end
	}
	slices.SortFunc(words, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	count, first := make([]int32, len(words)), make([]uint32, len(words))
	for i, w := range words {
		count[i], first[i] = w.count, w.first
	}
	if which == "count" {
		return count, nil
	}
	return first, nil
}

// pageviewcount(page, visitor, pages) is the number of distinct visitors of each page.
func pageviewcount(list []any) (any, error) {
	in := arguments{list: list}
	page := slice[uint64](&in, -1, "an array of u64")
	visitor := in.u32s(len(page))
	pages := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	count := make([]uint32, pages)
	seen := map[[2]uint64]bool{}
	for i, p := range page {
		if p >= uint64(pages) {
			return nil, fmt.Errorf("entry %d is of page %d: there are %d", i, p, pages)
		}
		if view := [2]uint64{p, uint64(visitor[i])}; !seen[view] {
			seen[view] = true
			count[p]++
		}
	}
	return count, nil
}
