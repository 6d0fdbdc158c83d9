package readonly

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// cached reports a load that goes the read-only way already.
func cached(in *parse.Instr) bool { return in.Has("nc") || in.Has("ro") }

// plain reports a load of global memory that .nc may be added to: without ordering, and with
// no cache operator that .nc excludes.
func plain(in *parse.Instr) bool {
	for _, m := range in.Mods {
		_, typed := parse.TypeOf(m)
		switch {
		case typed, strings.HasPrefix(m, "L1::"), strings.HasPrefix(m, "L2::"):
		case m == "global", m == "v2", m == "v4", m == "v8", m == "ca", m == "cg", m == "cs":
		default:
			return false
		}
	}
	return in.Op == "ld" && in.Has("global")
}

// Rewrite gives .nc to the loads that only read what their kernel does not write, and leaves
// every other byte of the text alone. src is what m was parsed from. A function that several
// kernels call keeps a load as it is unless it is read-only in all of them, and so does one that
// others may call unseen: from other modules, or through a register. The error is a
// *parse.Error: of a module that is too old for .nc (PTX 3.1, sm_32).
func Rewrite(m *parse.Module, src []byte) ([]byte, error) {
	verdict, indirect := map[*parse.Instr]bool{}, false
	for _, r := range Module(m) {
		for in, only := range r.readOnly {
			old, seen := verdict[in]
			verdict[in] = only && (old || !seen)
		}
		indirect = indirect || r.opaque
	}
	var out []byte
	from := 0
	for _, f := range m.Funcs { // in the order of the file
		if !f.Entry && (f.Visible || indirect) {
			continue
		}
		for _, in := range f.Instrs {
			if !verdict[in] || cached(in) || !plain(in) {
				continue
			}
			if old(m) {
				return nil, &parse.Error{File: m.File, Line: in.Line, Msg: fmt.Sprintf(
					"ld.global.nc needs PTX 3.1 and sm_32, this is PTX %s for %s: compile for a later target",
					m.Version, m.Target)}
			}
			at := behind(src, in.At)
			out = append(append(out, src[from:at]...), ".nc"...)
			from = at
		}
	}
	return append(out, src[from:]...), nil
}

// old reports a module whose version or target has no .nc.
func old(m *parse.Module) bool {
	var major, minor, sm int
	if n, _ := fmt.Sscanf(m.Version, "%d.%d", &major, &minor); n == 2 && (major < 3 || major == 3 && minor < 1) {
		return true
	}
	n, _ := fmt.Sscanf(m.Target, "sm_%d", &sm)
	return n == 1 && sm < 32
}

// behind is where .nc belongs in the load whose opcode begins at offset at: behind .global and a
// cache operator.
func behind(src []byte, at int) int {
	for end := 0; ; {
		at = blank(src, at)
		start := at
		for at < len(src) && (src[at] == '.' && at == start || word(src[at])) {
			at++
		}
		switch string(src[start:at]) {
		case "":
			return end
		case ".global":
			end = at
		case ".ca", ".cg", ".cs":
			if end > 0 {
				return at
			}
		default:
			if end > 0 {
				return end
			}
		}
	}
}

func word(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':'
}

// blank skips white space and comments.
func blank(src []byte, at int) int {
	for at < len(src) {
		rest := string(src[at:min(at+2, len(src))])
		switch {
		case strings.TrimSpace(rest[:1]) == "":
			at++
		case rest == "//":
			for at < len(src) && src[at] != '\n' {
				at++
			}
		case rest == "/*":
			at += 2
			for at < len(src) && !strings.HasPrefix(string(src[at:min(at+2, len(src))]), "*/") {
				at++
			}
			at += 2
		default:
			return at
		}
	}
	return at
}
