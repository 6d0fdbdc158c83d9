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

// What an operation makes costs steps, so that no script takes gigabytes in one: it ends with an error and its line.
func TestSizesCostSteps(t *testing.T) {
	const text = "s = 'x' * 1000000\n"
	for _, c := range []struct{ src, want string }{
		{"list(range(1 << 40))", "list would take"},
		{"[i for i in range(1 << 40)]", "more than 10000000 steps"},
		{"dict([(i, i) for i in range(1 << 40)])", "more than 10000000 steps"},
		{"{i: i for i in range(1 << 40)}", "more than 10000000 steps"},
		{"l = []\nfor i in range(1 << 40): l.append((i, i))", "append would take"},
		{"sorted(range(1 << 40))", "sorted would take"},
		{"min(range(1 << 60))", "min would take"},
		{"enumerate(range(1 << 40))", "enumerate would take"},
		{"[0] * (1 << 29)", "* would take"},
		{"f = getattr(s, 'replace')\nf('x', s)", "replace would take"},
		{"s.replace('x', s)", "replace would take"},
		{"s.replace('', s)", "replace would take"},
		{"s.join(['a'] * 100000)", "join would take"},
		{"s.join('a' * 100000)", "got string, want iterable"},
		{"s.join(('a' * 100000).elems())", "join would take"},
		{"('%s' * 10000) % ((s,) * 10000)", "% would take"},
		{"('{0}' * 100000).format(s)", "format would take"},
		{"('{a}' * 100000).format(a = s)", "format would take"},
		{"for _ in range(60): s = s + s", "+ would take"},
		{"for _ in range(60): s += s", "+ would take"},
		{"l = [0]\nfor _ in range(60): l += l", "+= would take"},
		{"l = [0]\nfor _ in range(60): l.extend(l)", "extend would take"},
		{"d = {1: s}\nfor _ in range(60): d[1] += d[1]", "+ would take"},
		{"l = [0] * 100000\nm = []\nfor _ in range(1000000): m.append(l[:])", "the slice would take"},
		{"l = [0] * 100000\nm = []\nfor _ in range(1000000): m.append(tuple(l))", "tuple would take"},
		{"l = [[s] * 900] * 900\nstr(l)", "str would take"},
		{"x = 3\nfor _ in range(60): x = x * x", "* would take"},
		{"malloc(u8, 1 << 21).to_list()", "to_list would take"},
		{"x = 3\nfor _ in range(60): x *= x", "* would take"},
		{"x = 1 << 511\nfor _ in range(1 << 40): x <<= 511", "<< would take"},
		{"x = 3\nfor _ in range(17): x = x * x\nfor _ in range(1 << 40): (x * 3) // x", "would take"},
		{"int('9' * 1000000)", "int would take"},
		{"l = [0] * 100000\nfor _ in range(1 << 40): 1 in l", "in would take"},
		{"l = [0] * 100000\nfor _ in range(1 << 40): 1 not in l", "in would take"},
		{"for _ in range(1 << 40): 'y' in s", "in would take"},
		{"l = [0] * 100000\nfor _ in range(1 << 40): l.insert(0, l.pop(0))", "would take"},
		{"l = [0] * 100000\nfor _ in range(1 << 40): l.index(0)", "index would take"},
		{"for _ in range(1 << 40): malloc(u8, 1)", "malloc would take 200 steps"},
		{"for _ in range(1 << 40): event()", "event would take 200 steps"},
		{"def f(*a): pass\nf(*range(1 << 40))", "the arguments would take"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nd = {k: 1}", "the key: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nd = {}\nd[k] = 1", "the key: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nd = {}\nd.get(k)", "get: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nk in {}", "the key: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\n{k: 1 for _ in [0]}", "the key: the value is nested more than 200"},
		{"k = ()\nfor _ in range(60): k = (k, k)\nd = {k: 1}", "the key: the value holds more than 1000000"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nset([k])", "set: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nhash(k)", "want string or bytes"},
		{"k = ()\nfor _ in range(300000): k = (k,)\ndict([(k, 1)])", "dict: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\nset().union([k])", "union: the value is nested more than 200"},
		{"k = ()\nfor _ in range(300000): k = (k,)\n{}.update([(k, 1)])", "update: the value is nested more than 200"},
	} {
		r := run(t, body(text+c.src), Options{MaxSteps: 10_000_000})
		if r.err == nil || !strings.Contains(r.err.Error(), c.want) || !strings.HasPrefix(r.err.Error(), "app.star:") {
			t.Errorf("%s: %v, want %s", c.src, r.err, c.want)
		}
	}
}

// What a comprehension or a list keeps costs more than the steps that find it.
func TestKeptValuesCostSteps(t *testing.T) {
	for src, most := range map[string]uint64{
		"[i for i in range(10000)]": 80_000, "{i: i for i in range(10000)}": 80_000,
		"dict([(i, i) for i in range(10000)])":         400_000,
		"l = []\nfor i in range(10000): l.append(i)":   80_000,
		"l = set()\nfor i in range(10000): l.add(i)":   80_000,
		"l = []\nfor i in range(10000): l.append([0])": 160_000,
	} {
		if r := run(t, body(src), Options{MaxSteps: most}); r.err == nil {
			t.Errorf("%s takes less than %d steps", src, most)
		}
		if r := run(t, body(src), Options{MaxSteps: 3 * most}); r.err != nil {
			t.Errorf("%s: %v", src, r.err)
		}
	}
}

// Prices change nothing of what operations give, or how often their parts are evaluated.
func TestPricedOperations(t *testing.T) {
	const src = `
calls = []
def at(i):
    calls.append(i)
    return i
l = [1, 2]
m = l
l += (3,)
l[at(0)] += 10
l[at(1)] *= 3
d = {"a": {1: 2}}
d["a"] |= {3: 4}
d |= {"b": 5}
s = "a%d" % 1 + "{}-{x}".format(2, x = 3)
s += "!"
n = 7
n -= 2
n %= 3
t = (1, "x") * 2
print(m, calls, d, s, n, t, l[1:], max(*l), "-".join(["a", "b"]).replace("-", "+"), ("x", 1) in {("x", 1): 2})
print([x * 2 for x in range(3)], {x: x * x for x in (1, 2)}, (lambda a, b = 2 * 3: a % b)(8), 5 & 3 | 8, -n, not n)
`
	const want = `[11, 6, 3] [0, 1] {"a": {1: 2, 3: 4}, "b": 5} a12-3! 2 (1, "x", 1, "x") [6, 3] 11 a+b True
[0, 2, 4] {1: 1, 2: 4} 2 9 -2 False
`
	if r := run(t, body(src), Options{}); r.err != nil || r.log != want {
		t.Errorf("%v\n%s", r.err, r.log)
	}
}
