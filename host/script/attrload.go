package script

import "strings"

// loadMethod is what the interpreter sees where a script says array.load(...):
// Starlark reserves the word load for its load statement, even after a dot.
const loadMethod = "load_"

// allowLoadMethod rewrites `.load` outside of strings and comments to loadMethod.
// Lines stay as they are; columns after it move, which no message shows.
func allowLoadMethod(src string) string {
	if !strings.Contains(src, "load") {
		return src
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '#':
			i += lineLength(src[i:])
		case c == '"' || c == '\'':
			i += stringLength(src[i:])
		case c == '.' && strings.HasPrefix(src[i:], ".load") && !identifierAt(src, i+len(".load")):
			out.WriteString(src[done:i] + "." + loadMethod)
			i += len(".load")
			done = i
		default:
			i++
		}
	}
	return out.String() + src[done:]
}

func identifierAt(src string, i int) bool {
	if i >= len(src) {
		return false
	}
	c := src[i]
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// stringLength is the length of the string literal s begins with, quotes included;
// an unterminated one ends with its line (which the parser will report) or file.
func stringLength(s string) int {
	quote := s[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s, triple) {
		quote = triple
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		case s[i] == '\n' && len(quote) == 1:
			return i
		}
	}
	return len(s)
}
