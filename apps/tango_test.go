package apps_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/mem"
)

// noting is a device that notes the shapes of launches and executes none.
type noting struct {
	*host.Functional
	shapes []string
}

func (d *noting) Enqueue(op *host.Op) error {
	if op.Kind != host.OpLaunch {
		return d.Functional.Enqueue(op)
	}
	g := op.Grid.Geometry()
	d.shapes = append(d.shapes, fmt.Sprintf("%s %d of %dx%d", op.Name, g.CTAs, g.BlockDim[0], g.BlockDim[1]))
	op.Done = true
	return nil
}

// TestTangoLaunches: the first layers at full size, a CTA per filter and tile of at most 32 x 32 pixels, per column, or
// per unit.
func TestTangoLaunches(t *testing.T) {
	for dir, want := range map[string][]string{
		"tango-like/alexnet": {
			"conv_relu 96 of 32x32", "conv_relu 96 of 32x23", "conv_relu 96 of 23x32", "conv_relu 96 of 23x23",
			"lrn 96 of 32x32", "lrn 96 of 32x23", "lrn 96 of 23x32", "lrn 96 of 23x23",
			"maxpool 96 of 27x27", "conv_relu 256 of 27x27",
		},
		"tango-like/squeezenet": {
			"conv_relu 111 of 111x1", "maxpool 55 of 55x1", "conv_relu 55 of 55x1",
		},
		"tango-like/resnet": {
			"conv 64 of 32x32", "conv 64 of 32x32", "conv 64 of 32x32", "conv 64 of 32x16", "conv 64 of 32x32",
		},
		"tango-like/gru":  {"step 184 of 128x1", "step 184 of 128x1"},
		"tango-like/lstm": {"step 184 of 128x1", "step 184 of 128x1"},
	} {
		p, err := script.Load(dir, script.Options{Args: arguments("size=paper verify=False"), References: references()})
		if err != nil {
			t.Fatal(err)
		}
		d := &noting{Functional: host.NewFunctional(context.Background(), limit)}
		if err := p.Run(host.New(d, mem.NewSpace(1<<30), host.Options{})); err != nil {
			t.Fatal(err)
		}
		if got := d.shapes[:min(len(want), len(d.shapes))]; !slices.Equal(got, want) {
			t.Errorf("%s launches\n%q, want\n%q", dir, got, want)
		}
	}
}
