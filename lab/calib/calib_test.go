package calib

import (
	"os"
	"testing"
)

const dir = "../../apps/calib"

// Every kernel of the reference set gives the reference's output bytes.
func TestOutputs(t *testing.T) {
	rows, err := All(dir, func(_, config string) bool { return config == "base" })
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 40 {
		t.Fatalf("only %d rows", len(rows))
	}
	for _, r := range rows {
		if len(r.Got.Wrong) > 0 {
			t.Errorf("%s: wrong bytes in %v", r.Name, r.Got.Wrong)
		}
	}
	if testing.Verbose() {
		if err := Print(os.Stdout, rows); err != nil {
			t.Fatal(err)
		}
	}
}
