package report

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a line\n\tand another, µ and 中": "a line\n\tand another, µ and 中",
		"red \x1b[31m bell \a":           `red \x1b[31m bell \x07`,
		"C1 \u009b31m, DEL \x7f, \r":     `C1 \x9b31m, DEL \x7f, \x0d`,
	} {
		var b strings.Builder
		n, err := PlainWriter(&b).Write([]byte(in))
		if b.String() != want || n != len(in) || err != nil {
			t.Errorf("%q became %q, %d bytes, %v", in, b.String(), n, err)
		}
	}
}
