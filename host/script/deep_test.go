package script

import (
	"strings"
	"testing"
)

// The text of a value that is deep, or the same many times over, is an error and not a matter of minutes.
func TestDeepValues(t *testing.T) {
	for what, want := range map[string]string{
		"str(l)": "nested more than 200 levels", "print(l)": "nested more than 200 levels",
		"log(l)": "nested more than 200 levels", "fail(l)": "nested more than 200 levels",
		"repr(m)": "holds more than 1000000 others", "repr({1: m})": "holds more than 1000000 others",
	} {
		r := run(t, body("l, m = [], []\nfor _ in range(100000): l = [l]\nfor _ in range(60): m = [m, m]\n"+what), Options{})
		if r.err == nil || !strings.Contains(r.err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, r.err, want)
		}
	}
	if r := run(t, body("print(str([1, (2, {3: 'a'})]), repr('b'))"), Options{}); r.log != "[1, (2, {3: \"a\"})] \"b\"\n" {
		t.Errorf("%q %v", r.log, r.err)
	}
}
