package report

import (
	"bytes"
	"io"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
	"github.com/heddle-sim/heddle/sim"
)

// Files of a result that end anywhere are read to their end.
func TestTruncated(t *testing.T) {
	for _, kind := range []struct {
		write func(io.Writer, *sim.Result) error
		read  func([]byte, *sim.Result) error
	}{{EpochsCSV, readEpochs}, {Timeline, readTimeline}, {Decisions, readDecisions}} {
		var file bytes.Buffer
		if err := kind.write(&file, sample()); err != nil {
			t.Fatal(err)
		}
		whole := false
		truncated.Each(t, file.Bytes(), func(part []byte) {
			r := sample()
			r.Epochs, r.Spans, r.Decisions = nil, nil, nil
			err := kind.read(part, r)
			whole = err == nil
		})
		if !whole {
			t.Error("the whole file is not read")
		}
	}
}
