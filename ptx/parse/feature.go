package parse

import "strings"

// Feature is a part of the PTX ISA that modules may use: either this front end executes it, or it knows it and
// refuses it. Features is the one list of them.
type Feature struct {
	Name string `json:"name"`
	ISA  string `json:"isa"` // first version of PTX with it
	// Forms say how a module uses it: an opcode, with modifiers where only some of its forms
	// count ("cp.async.bulk"), a directive (".texref") or the beginning of the name of special
	// registers ("%cluster").
	Forms     []string `json:"forms"`
	Supported bool     `json:"supported"`
	Note      string   `json:"note,omitempty"`
}

// Features lists the features, those that are supported first.
func Features() []Feature { return append([]Feature(nil), features...) }

// features holds the features beyond scalar arithmetic, control flow and plain accesses. Of two
// that fit an instruction the first counts.
var features = []Feature{
	{"arithmetic, logic, control flow, memory", "1.0", []string{"add", "ld", "st", "bra", "call"}, true, ""},
	{"32-bit modules", "1.0", []string{".address_size"}, true, "memory below 4 GiB"},
	{"atomics", "1.2", []string{"atom", "red"}, true, "f16, bf16 and vectors, too"},
	{"barriers", "1.0", []string{"bar", "barrier"}, true, ""},
	{"pairs of f32", "8.6", []string{"add.f32x2", "sub.f32x2", "mul.f32x2", "fma.f32x2"}, true, ""},
	{"warp shuffles, votes and reductions", "1.2", []string{"shfl", "vote", "match", "redux", "elect"}, true, ""},
	{"half precision", "4.2", []string{"add.f16", "fma.bf16x2"}, true, ""},
	{"vectors of 32 bytes", "8.8", []string{"ld.global.v8", "st.global.v8"}, true, ""},
	{"cache policies", "7.4", []string{"createpolicy"}, true, "without effect on the caches"},
	{"8-bit floats", "7.8", []string{"cvt.e4m3x2", "cvt.e5m2x2"}, true, ""},
	{"stochastic rounding", "8.6", []string{"cvt.rs.f16x2", "cvt.rs.bf16x2"}, true, "of pairs"},
	{"printf, malloc and free in kernels", "2.0", []string{"call vprintf", "call malloc", "call free"}, true, ""},
	{"stack allocation", "7.3", []string{"alloca", "stacksave", "stackrestore"}, true, ""},
	{"textures and surfaces", "1.0", []string{
		"tex", "tld4", "txq", "istypep", "suld.b", "sust.b", "suq", ".tex", ".texref", ".samplerref", ".surfref",
	}, true, "1D, 2D, 3D, layered and cube maps; the base level only, which tex.level and tex.grad read, too"},
	{"cooperative launches", "6.0", []string{"%envreg1", "%envreg2"}, true, "grid-wide barriers through the workspace"},
	{"several modules", "3.0", []string{".extern", ".weak", ".alias"}, true, "linked when they are loaded"},
	{"cp.async", "7.0", []string{"cp.async.ca", "cp.async.cg"}, true, "the bytes move at issue"},
	{"ldmatrix", "6.5", []string{"ldmatrix"}, true, "m8n8, b16"},
	{"wmma", "6.0", []string{"wmma"}, true, "f16, bf16, tf32, s8 and u8"},
	{"mma", "6.5", []string{"mma"}, true, "m16n8 of f16, bf16, tf32, s8 and u8"},
	{"video instructions", "2.0", []string{
		"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset", "vadd2", "vsub2", "vavrg2",
		"vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4",
	}, true, ""},

	{"mbarrier", "7.0", []string{"mbarrier", "cp.async.mbarrier", "fence.mbarrier_init"}, false, ""},
	{"cp.async.bulk", "8.0", []string{"cp.async.bulk", "cp.reduce.async.bulk"}, false, ""},
	{"clusters", "7.8", []string{
		".reqnctapercluster", ".explicitcluster", ".maxclusterrank", "%cluster", "%ncluster", "%is_explicit_cluster",
		"barrier.cluster", "mapa", "getctarank", "ld.shared::cluster", "st.shared::cluster", "atom.shared::cluster",
		"red.shared::cluster", "st.async", "red.async", "cvta.shared::cluster", "isspacep.shared::cluster",
		"clusterlaunchcontrol",
	}, false, ""},
	{"wgmma", "8.0", []string{"wgmma", "setmaxnreg"}, false, ""},
	{"tcgen05", "8.6", []string{"tcgen05"}, false, ""},
	{"tensor maps", "8.3", []string{"tensormap", "fence.proxy"}, false, ""},
	{"programmatic dependent launch", "7.8", []string{"griddepcontrol"}, false, ""},
	{"multicast memory", "8.1", []string{"multimem"}, false, ""},
	{"stmatrix and movmatrix", "7.8", []string{"stmatrix", "movmatrix"}, false, ""},
	{"sparse mma", "7.1", []string{"mma.sp", "mma.sp::ordered_metadata"}, false, ""},
	{"mma of doubles, bits and 4-bit integers", "7.0", []string{
		"mma.f64", "mma.b1", "mma.s4", "mma.u4", "wmma.f64", "wmma.b1", "wmma.s4", "wmma.u4",
	}, false, ""},
	{"mma of Volta (m8n8k4)", "6.4", []string{"mma.m8n8k4"}, false, "use wmma or a later mma"},
	{"mma of 8-bit floats", "8.4", []string{
		"mma.e4m3", "mma.e5m2", "mma.kind::f8f6f4", "mma.kind::mxf8f6f4",
	}, false, ""},
	{"multi-sample textures, gathers from cube maps", "2.0", []string{
		"tex.2dms", "tex.a2dms", "tld4.cube", "tld4.acube", "sured", "suld.p", "sust.p", ".surf",
	}, false, "and formatted or reducing surface accesses"},
	{"128-bit integers", "8.3", []string{"ld.b128", "st.b128", "mov.b128", "atom.b128"}, false, ""},
	{"performance counters", "1.3", []string{"%pm"}, false, ""},
	{"reserved shared memory and graphs", "7.6", []string{"%reserved_smem", "%aggr_smem", "%current_graph"}, false, ""},
	{"floats of 4 and 6 bits", "8.6", []string{
		"cvt.e2m1x2", "cvt.e2m3x2", "cvt.e3m2x2", "cvt.ue8m0x2",
	}, false, ""},
}

// fits reports whether form describes the opcode with its modifiers, or the directive or
// special register.
func fits(form, name string, mods []string) bool {
	if form[0] == '.' {
		return form == name
	}
	if form[0] == '%' {
		return strings.HasPrefix(name, form)
	}
	parts := strings.Split(form, ".")
	if parts[0] != name {
		return false
	}
	for _, want := range parts[1:] {
		found := false
		for _, m := range mods {
			found = found || m == want
		}
		if !found {
			return false
		}
	}
	return true
}

// Missing is the unsupported feature to which an opcode with its modifiers, a directive (".texref") or a special
// register ("%pm0") belongs; "" if there is none.
func Missing(name string, mods []string) string {
	for i := range features {
		f := &features[i]
		for _, form := range f.Forms {
			if !f.Supported && fits(form, name, mods) {
				return f.Name
			}
		}
	}
	return ""
}

// words makes a set of the words of a text.
func words(text string) map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(text) {
		m[s] = true
	}
	return m
}
