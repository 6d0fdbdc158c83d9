package calib

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
)

// watched is a grid whose warps are held to isa.Code.Left.
type watched struct {
	isa.Grid
	t *testing.T
}

func (g watched) Start(cta int, at isa.Place) isa.CTA {
	return &watchedCTA{CTA: g.Grid.Start(cta, at), code: g.Code(), t: g.t, ways: make([][]int32, g.Geometry().Warps)}
}

type watchedCTA struct {
	isa.CTA
	code *isa.Code
	t    *testing.T
	ways [][]int32 // by warp: what it has executed
}

func (c *watchedCTA) Step(w int, now uint64, st *isa.Step) error {
	c.ways[w] = append(c.ways[w], c.PC(w))
	err := c.CTA.Step(w, now, st)
	for k := range int32(st.Ahead) {
		c.ways[w] = append(c.ways[w], st.Next+k)
	}
	if st.Next >= 0 || c.t.Failed() {
		return err
	}
	for i, pc := range c.ways[w] {
		if n := len(c.ways[w]) - i; n < c.code.AtLeast(pc) {
			c.t.Errorf("%s: a warp ends %d instructions behind %q, at least %d were promised", c.code.Kernel, n,
				c.code.Text[pc], c.code.AtLeast(pc))
		}
	}
	return err
}

// No warp of any kernel of the set executes fewer instructions, from any one on, than
// isa.Code.Left says: strides rest on that.
func TestWarpsOutlastWhatIsLeft(t *testing.T) {
	specs, m := reference(t)
	for _, s := range specs {
		_, err := RunInstead(dir, s, m, machine.Options{}, func(g isa.Grid) (isa.Grid, error) {
			return watched{g, t},
				nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
