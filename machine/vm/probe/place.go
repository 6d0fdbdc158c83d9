// Package probe places pages without a machine: the placement policies of vm on a trace of
// which partition touches which page. Read Options and Result.
package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/mem/placement"
)

// Options say how pages are placed.
type Options struct {
	Policy    string // first-touch, round-robin, least-first or lab
	Channels  int    // partitions, each with a channel of its own
	Threshold string // of lab, a decimal fraction
}

// mostChannels bounds what is asked for.
const mostChannels = 1 << 16

// Placement is where a page went.
type Placement struct {
	Page    string `json:"page"` // as its first touch writes it
	Channel int    `json:"channel"`
}

// Result is every page in the order of placement, and the normalized page balance (NUBA,
// equation 1) after each.
type Result struct {
	Pages []Placement `json:"pages"`
	NPB   []float64   `json:"npb"`
}

// policy is the placement asked for.
func (o *Options) policy() (placement.Place, error) {
	names := map[string]string{
		"first-touch": "first-touch", "round-robin": "round-robin", "least-first": "least", "lab": "lab",
	}
	name, ok := names[o.Policy]
	if !ok {
		return nil, fmt.Errorf("placement policy %q: use first-touch, round-robin, least-first or lab", o.Policy)
	}
	if o.Channels < 1 || o.Channels > mostChannels {
		return nil, fmt.Errorf("%d channels: use 1 to %d", o.Channels, mostChannels)
	}
	t, err := placement.ParseThreshold(o.Threshold)
	if err != nil {
		return nil, err
	}
	if name == "lab" {
		return placement.LABLowest(t), nil
	}
	e, _ := placement.ByName(name)
	return e.Make(placement.Machine{})
}

// Place places the pages of a trace, each at its first touch. Errors name the line of file.
func Place(o Options, file string, in io.Reader) (*Result, error) {
	place, err := o.policy()
	if err != nil {
		return nil, err
	}
	v := placement.View{Pages: make([]int, o.Channels)}
	for c := range o.Channels {
		v.Groups = append(v.Groups, c)
	}
	r := &Result{Pages: []Placement{}, NPB: []float64{}}
	placed := map[uint64]bool{}
	lines := bufio.NewScanner(in)
	n := 0
	for lines.Scan() {
		n++
		t, err := parse(lines.Text())
		if err == nil && t.some && t.partition >= uint64(o.Channels) {
			err = fmt.Errorf("partition %d of %d: partitions are 0 to %d, one for each of --channels", t.partition,
				o.Channels, o.Channels-1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if !t.some || placed[t.page] {
			continue
		}
		placed[t.page] = true
		v.Near = int(t.partition)
		c := place(&v)
		v.Pages[c]++
		v.Turn++
		sum, full := placement.NPB(v.Pages)
		r.Pages, r.NPB = append(r.Pages, Placement{t.name, c}), append(r.NPB, float64(sum)/float64(full))
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: %w: want `PARTITION 0xPAGE`", file, n+1, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// touch is a line of a trace; some is false for one without a touch.
type touch struct {
	partition, page uint64
	name            string
	some            bool
}

// parse reads a line `PARTITION 0xPAGE`. Blank lines and the rest of a line after # are
// ignored.
func parse(line string) (touch, error) {
	text, _, _ := strings.Cut(line, "#")
	f := strings.Fields(text)
	if len(f) == 0 {
		return touch{}, nil
	}
	bad := func(err error) (touch, error) {
		why := ""
		if errors.Is(err, strconv.ErrRange) {
			why = ", numbers of at most 64 bits"
		}
		return touch{}, fmt.Errorf("want `PARTITION 0xPAGE`, as in `1 0x2a`%s, got %.80q", why, line)
	}
	if len(f) != 2 || len(f[1]) < 2 || !strings.EqualFold(f[1][:2], "0x") {
		return bad(nil)
	}
	partition, err := strconv.ParseUint(f[0], 10, 64)
	if err != nil {
		return bad(err)
	}
	page, err := strconv.ParseUint(f[1][2:], 16, 64)
	if err != nil {
		return bad(err)
	}
	return touch{partition, page, f[1], true}, nil
}
