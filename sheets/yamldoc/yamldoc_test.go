package yamldoc

import (
	"strings"
	"testing"
)

func TestPositionsAndKinds(t *testing.T) {
	n, err := Parse("f.yaml", []byte("a: 1\nb: [2.5, MHz, true]\n"+
		"c:\n  d: \"x y\"\n  e:\n  - k: 1\n    l: 2\n  - k: 3\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := n.Get("b")
	if b.Kind != List || b.Items[0].Float != 2.5 || b.Items[1].Raw != "MHz" || !b.Items[2].Bool {
		t.Errorf("b = %+v", b)
	}
	if x := b.Items[1]; x.Line != 2 || x.Col != 10 {
		t.Errorf("MHz at %d:%d, want 2:10", x.Line, x.Col)
	}
	d := n.Get("c").Get("d")
	if d.Raw != "x y" || d.Line != 4 {
		t.Errorf("d = %+v", d)
	}
	if e := n.Get("c").Get("e"); len(e.Items) != 2 || e.Items[0].Get("l").Int != 2 {
		t.Errorf("e = %+v", e)
	}
}

func TestUnknownKeyShowsCaret(t *testing.T) {
	n, err := Parse("f.yaml", []byte("machine: a\nmachne: b\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = n.Only("a run file", "machine", "apps")
	want := "f.yaml:2:1: unknown key \"machne\" in a run file; did you mean machine?\n   2 | machne: b\n     | ^"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestMalformed(t *testing.T) {
	for src, want := range map[string]string{
		"":                        "empty",
		"a: 1\na: 2\n":            "already defined",
		"a: [1, 2\n":              "not valid YAML",
		"a: *x\n":                 "alias",
		"a: &x 1\n":               "anchor",
		"a: !!str 1\n":            "tag",
		"<<: {a: 1}\n":            "plain name",
		"a: .inf\n":               "inf is not used",
		"a: 99999999999999999999": "",
		strings.Repeat("[", 200):  "nested deeper",
		"a: 1\n---\nb: 2\n":       "more than one",
		"? [1, 2]\n: 3\n":         "",
	} {
		n, err := Parse("f.yaml", []byte(src))
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %+v, %v; want an error with %q", src, n, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"machine", "apps", "sharing", "length"}
	for in, want := range map[string]string{
		"machne": "machine", "app": "apps", "lenght": "length", "zzz": "",
		"Sharing": "sharing",
	} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// A suggestion is what was meant, or there is none: never another thing of the same kind.
func TestNearestMachine(t *testing.T) {
	names := []string{
		"a100", "fermi", "h100", "hydrogen", "hydrogen-hbm3", "nuba", "nuba-mcm", "qv100", "ugpu", "ugpu-440", "uvm",
	}
	for in, want := range map[string]string{
		"v100": "qv100", "qv10O": "qv100", "hydro": "", "p100": "", "h200": "", "qv10": "qv100", "b100": "",
		"rtx5090": "",
		"q100":    "qv100", "A100": "a100", "ugpo": "ugpu", "gpu": "ugpu", "femri": "fermi", "hbm3": "hydrogen-hbm3",
		"nubamcm": "nuba-mcm", "hydorgen": "hydrogen", "V100": "qv100", "fer": "fermi", "ugpu440": "ugpu-440",
	} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Nearest("v100", append(names, "v100-sxm2", "v100")); got != "v100" {
		t.Errorf("a sheet v100: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a: [1, MHz, x]\nb: {c: 1}\n- x"))
	f.Add([]byte("# one\na: 1 # two\n#"))
	f.Add([]byte("a: |\n  text\nb: 'x'\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		n, err := Parse("f", src)
		if (n == nil) == (err == nil) {
			t.Fatalf("node %v, error %v", n, err)
		}
	})
}

// Only brackets that nest count: those that a text or comment closes do not, nor do those that one opens.
func TestDepthBeforeParsing(t *testing.T) {
	for _, src := range []string{
		"a: [" + strings.Repeat(`"]", [`, 2_000), "a: [" + strings.Repeat("']', {x: [", 2_000),
		"a: " + strings.Repeat("[ # ]\n", 2_000), strings.Repeat("- [", 100), strings.Repeat("{a: ", 100),
	} {
		_, err := Parse("x.yaml", []byte(src))
		if err == nil || !strings.Contains(err.Error(), "nested deeper than 64") {
			t.Errorf("%.20s: %v", src, err)
		}
	}
	for _, src := range []string{
		"# " + strings.Repeat("[", 100) + "\na: 1\n", `a: "` + strings.Repeat("[{", 100) + "\"\n",
		"a: b" + strings.Repeat("[", 100) + "\n", "a: [1]\n" + strings.Repeat("# [\n", 100),
	} {
		if _, err := Parse("x.yaml", []byte(src)); err != nil {
			t.Errorf("%.20s: %v", src, err)
		}
	}
}
