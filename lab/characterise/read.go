package characterise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Read reads profiles that were written as JSON arrays and groups them by preset and machine; profiles with a sweep
// get groups of their own. Groups come in the order in which they first appear, applications by name. A later profile
// replaces an earlier one.
func Read(files []string) (groups [][]Profile, err error) {
	type key struct {
		size, machine string
		sweep         bool
	}
	at := map[key]int{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		var list []Profile
		if err := d.Decode(&list); err != nil {
			return nil, fmt.Errorf("%s: %w: give a file that heddle characterise --json has printed", name, err)
		}
		for i := range list {
			p := &list[i]
			if p.App == "" || p.Size == "" {
				return nil, fmt.Errorf("%s: entry %d has no app or no size: give a file that heddle characterise "+
					"--json has printed", name, i+1)
			}
			k := key{p.Size, p.Machine, len(p.SMs) > 0}
			g, ok := at[k]
			if !ok {
				g = len(groups)
				at[k] = g
				groups = append(groups, nil)
			}
			groups[g] = replace(groups[g], p)
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b Profile) int { return strings.Compare(a.App, b.App) })
	}
	return groups, nil
}

// replace puts p in place of an earlier profile of its application, or at the end.
func replace(list []Profile, p *Profile) []Profile {
	for i := range list {
		if list[i].App == p.App {
			list[i] = *p
			return list
		}
	}
	return append(list, *p)
}
