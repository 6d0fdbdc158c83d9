package kernelname

import (
	"slices"
	"testing"
)

func TestPlain(t *testing.T) {
	for symbol, want := range map[string]string{
		"triad":                 "triad",
		"_Z4axpyifPf":           "axpy(int, float, float*)",
		"_Z4axpy":               "axpy",
		"_ZL4axpyv":             "axpy()",
		"_Z4axpyIfEviT_":        "axpy<float>(int, float)",
		"_ZN3lib1kEPKf":         "lib::k(float const*)",
		"_ZN12_GLOBAL__N_11kEv": "(anonymous namespace)::k()",
		"_Znonsense":            "_Znonsense",
		"_Z6kernelILi128EfEvPKT0_S2_PS0_iiijjPKc": "kernel<128, float>(float const*, float const*, float*, int, int, " +
			"int, unsigned int, unsigned int, char const*)",
	} {
		if got := Plain(symbol); got != want {
			t.Errorf("%s: got %s, want %s", symbol, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct{ symbols, want []string }{
		{[]string{"_Z4axpyif", "k"}, []string{"axpy", "k"}},
		{[]string{"_Z4axpyif", "_Z4axpyid"}, []string{"axpy(int, float)", "axpy(int, double)"}},
		{[]string{"_Z4axpyIfEvT_", "_Z4axpyIdEvT_"}, []string{"axpy<float>", "axpy<double>"}},
		{[]string{"_Z4axpyif", "axpy"}, []string{"axpy(int, float)", "axpy"}},
		{[]string{"_Z1kv", "_ZL1kv"}, []string{"_Z1kv", "_ZL1kv"}},
	} {
		if got := Short(c.symbols); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.symbols, got, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	symbols := []string{"_Z4axpyifPf", "_Z4axpyidPd", "_Z5scaleIfEviPT_", "_ZN3lib1kEj", "triad"}
	for name, want := range map[string]int{
		"_Z4axpyifPf": 0, "axpy(int,float,float*)": 0, "axpy(int, double, double*)": 1, "axpy": -1,
		"void axpy(int, double, double*)": 1,
		"scale":                           2, "scale<float>": 2, "scale<float>(int, float*)": 2, "scale<double>": -1,
		"void scale<float>(int, float*)": 2,
		"lib::k":                         3, "lib::k(unsigned int)": 3, "k": -1,
		"triad": 4, "tria": -1, "": -1, ")": -1, "triad(int)": -1,
	} {
		at, several := Find(name, symbols)
		if at != want || (name == "axpy") != (len(several) == 2) {
			t.Errorf("%q: got %d, %d", name, at, several)
		}
	}
	for _, written := range []string{"_Z4axpyifPf", "axpy", "axpy(int, float, float*)", "axpy (int,float,float*)"} {
		if !Same(written, "axpy") {
			t.Errorf("%s is axpy", written)
		}
	}
	if Same("axpy", "axpy(int)") || Same("axp", "axpy") {
		t.Error("another kernel")
	}
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"_Z4axpyifPf", "void a<b<c> >(int (*)(float))", "_ZN12_GLOBAL__N_11kEv", ">(", "a b(", ") <",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if forms := Forms(s); len(forms) == 0 || !Same(s, s) {
			t.Errorf("%q: %q", s, forms)
		}
		if at, _ := Find(s, []string{s}); at != 0 {
			t.Errorf("%q does not find itself", s)
		}
	})
}
