package reference

import (
	"fmt"
	"slices"
)

// btree("find", keys, values, queries) is the value of each query's key or -1;
// btree("first", keys, low) the number of keys below; btree("count", keys, low, width)
// the number in [low, low + width). The keys ascend.
func btree(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	keys := in.i32s(-1)
	var values []int32
	if which == "find" {
		values = in.i32s(len(keys))
	}
	queries := in.i32s(-1)
	width := int32(0)
	if which == "count" {
		width = in.i32()
	}
	if err := in.done(); err != nil {
		return nil, err
	}
	if !slices.IsSorted(keys) {
		return nil, fmt.Errorf("the keys must ascend")
	}
	out := make([]int32, len(queries))
	for i, q := range queries {
		at, found := slices.BinarySearch(keys, q)
		switch which {
		case "find":
			out[i] = -1
			if found {
				out[i] = values[at]
			}
		case "first":
			out[i] = int32(at)
		case "count":
			end, _ := slices.BinarySearch(keys, q+width)
			out[i] = int32(end - at)
		default:
			return nil, fmt.Errorf("result %q: it must be find, first or count", which)
		}
	}
	return out, nil
}
