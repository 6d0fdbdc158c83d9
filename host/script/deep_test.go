package script

import (
	"strings"
	"testing"
)

// The text of a value that is deep, or the same many times over, is an error and not a matter of minutes.
func TestDeepValues(t *testing.T) {
	const deep = "l, m = [], []\nfor _ in range(100000): l = [l]\nfor _ in range(60): m = [m, m]\n"
	for what, want := range map[string]string{
		"str(l)": "nested more than 200 levels", "print(l)": "nested more than 200 levels",
		"log(l)": "nested more than 200 levels", "fail(l)": "nested more than 200 levels",
		"repr(m)": "holds more than 1000000 others", "repr({1: m})": "holds more than 1000000 others",
	} {
		r := run(t, body(deep+what), Options{})
		if r.err == nil || !strings.Contains(r.err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, r.err, want)
		}
	}
	const want = "[1, (2, {3: \"a\"})] \"b\"\n"
	if r := run(t, body("print(str([1, (2, {3: 'a'})]), repr('b'))"), Options{}); r.log != want {
		t.Errorf("%q %v", r.log, r.err)
	}
}
