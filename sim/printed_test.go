package sim

import (
	"strings"
	"testing"
)

// What an endless loop prints is kept up to a limit, and the log says how much was not.
func TestPrintedIsBounded(t *testing.T) {
	var p printed
	line := strings.Repeat("x", 1<<20-1) + "\n"
	for range 20 {
		if n, err := p.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if p.text.Len() != mostPrinted {
		t.Errorf("%d bytes are kept", p.text.Len())
	}
	l := p.lines()
	if want := "(4194304 more bytes were printed; a result keeps the first 16 MiB)"; len(l) != 17 || l[16] != want {
		t.Errorf("%d lines, the last is %q", len(l), l[len(l)-1])
	}
	var few printed
	if _, err := few.Write([]byte("a\nb\n")); err != nil {
		t.Fatal(err)
	}
	if l := few.lines(); len(l) != 2 || l[1] != "b" {
		t.Errorf("%q", l)
	}
}
