package probe

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/machine/hybrid"
)

// maxWays bounds what is printed.
const maxWays = 1 << 22

// Remap is a mapping, written out, and the number of ways that changed hands.
type Remap struct {
	Sets  []Set `json:"sets"`
	Moved int   `json:"moved"`
}

// Set is one set of a mapping.
type Set struct {
	Set  int   `json:"set"`
	Ways []Way `json:"ways"`
}

// Way is one way of a set.
type Way struct {
	Way     int    `json:"way"`
	Owner   string `json:"owner"` // cpu or gpu
	Channel int    `json:"channel"`
}

// RunRemap maps a number of sets, first with one split and then with another.
func RunRemap(sets int, shape hybrid.Shape, from, to hybrid.Split) (*Remap, error) {
	before, err := hybrid.NewMapping(shape, from)
	if err != nil {
		return nil, err
	}
	after, err := hybrid.NewMapping(shape, to)
	if err != nil {
		return nil, fmt.Errorf("the new mapping: %w", err)
	}
	if sets < 1 || sets > maxWays/shape.Ways {
		return nil, fmt.Errorf("%d sets: 1 to %d can be written out", sets, maxWays/shape.Ways)
	}
	r := &Remap{Sets: make([]Set, sets)}
	for i := range r.Sets {
		set := uint64(i)
		r.Moved += hybrid.Moved(before, after, set)
		gpu := after.GPUWays(set)
		ways := make([]Way, shape.Ways)
		for w := range ways {
			ways[w] = Way{w, "cpu", shape.Channel(set, w)}
			if gpu>>w&1 != 0 {
				ways[w].Owner = "gpu"
			}
		}
		r.Sets[i] = Set{i, ways}
	}
	return r, nil
}

// ParseSplit reads "cap=X,bw=Y"; a value that is left out stays as it was.
func ParseSplit(text string, was hybrid.Split) (hybrid.Split, error) {
	seen := map[string]bool{}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		if err != nil || seen[name] || (name != "cap" && name != "bw") {
			return was, fmt.Errorf("%q in %q: cap=X,bw=Y is expected, each once", part, text)
		}
		if seen[name] = true; name == "cap" {
			was.Cap = n
		} else {
			was.BW = n
		}
	}
	return was, nil
}
