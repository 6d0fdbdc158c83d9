package parse

import (
	"fmt"
	"strings"
)

// tok is a token kind; punctuation is its own byte.
type tok uint8

const (
	tEOF tok = 0
	tID  tok = 1 // identifier, opcode with its modifiers, or directive (".reg")
	tNum tok = 2
	tStr tok = 3
)

type lexer struct {
	file string
	src  string
	pos  int
	line int

	kind  tok
	text  string
	start int // offset of the current token
	tline int // line of the current token
}

// warpSize is what the predefined constant WARP_SZ stands for.
const warpSize = "32"

// bail carries an error to the top of the parser; it never leaves the package.
type bail struct{ err *Error }

func (l *lexer) failAt(line int, format string, args ...any) {
	panic(bail{&Error{File: l.file, Line: line, Msg: fmt.Sprintf(format, args...)}})
}

// missing fails if a directive or special register belongs to a feature that is not
// supported.
func (l *lexer) missing(name string) {
	if f := Missing(name, nil); f != "" {
		panic(bail{&Error{File: l.file, Line: l.tline, Msg: name + " is not supported yet: " + f, Feature: f}})
	}
}

func (l *lexer) fail(format string, args ...any) { l.failAt(l.tline, format, args...) }

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%' ||
		c == '.'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// blank skips white space and comments.
func (l *lexer) blank() {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\n':
			l.line++
			l.pos++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
		case strings.HasPrefix(l.src[l.pos:], "//"):
			l.pos = l.lineEnd()
		case strings.HasPrefix(l.src[l.pos:], "/*"):
			n := strings.Index(l.src[l.pos+2:], "*/")
			if n < 0 {
				l.pos = len(l.src) // all that is left is the comment's
				l.failAt(l.line, "comment is not closed: add */")
			}
			l.line += strings.Count(l.src[l.pos:l.pos+2+n], "\n")
			l.pos += n + 4
		default:
			return
		}
	}
}

func (l *lexer) lineEnd() int {
	if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
		return l.pos + n
	}
	return len(l.src)
}

// next advances to the next token.
func (l *lexer) next() {
	l.blank()
	l.start, l.tline = l.pos, l.line
	if l.pos >= len(l.src) {
		l.kind, l.text = tEOF, ""
		return
	}
	c := l.src[l.pos]
	switch {
	case isDigit(c) || c == '.' && l.fraction():
		for l.pos < len(l.src) && (isWord(l.src[l.pos]) && l.src[l.pos] != '%' || l.exponentSign()) {
			l.pos++
		}
		l.kind = tNum
	case isWord(c):
		l.pos++
		for l.pos < len(l.src) {
			if isWord(l.src[l.pos]) && (c != '.' || l.src[l.pos] != '.') { // .param.u64 is two directives
				l.pos++
			} else if strings.HasPrefix(l.src[l.pos:], "::") {
				l.pos += 2 // ld.global.L1::no_allocate
			} else {
				break
			}
		}
		l.kind = tID
		if l.src[l.start:l.pos] == "WARP_SZ" {
			l.kind, l.text = tNum, warpSize
			return
		}
	case c == '"':
		n := strings.IndexByte(l.src[l.pos+1:l.lineEnd()], '"')
		if n < 0 {
			l.fail("string is not closed on this line: add \"")
		}
		l.pos += n + 2
		l.kind = tStr
		l.text = l.src[l.start+1 : l.pos-1]
		return
	default:
		l.pos++
		if c < 4 || c >= 0x7f {
			l.fail("byte 0x%02x does not belong in PTX text", c)
		}
		l.kind = tok(c)
	}
	l.text = l.src[l.start:l.pos]
}

// exponentSign reports a sign inside a decimal float such as 1.5e-3 or 1e+10.
func (l *lexer) exponentSign() bool {
	c := l.src[l.pos]
	if c != '-' && c != '+' {
		return false
	}
	w := l.src[l.start:l.pos]
	last := len(w) - 1
	return last > 0 && (w[last] == 'e' || w[last] == 'E') && strings.Trim(w[:last], "0123456789.") == ""
}

// fraction reports a float that begins with its point, as .5 does. A modifier such as .2d is none.
func (l *lexer) fraction() bool {
	end := l.pos + 1
	for end < len(l.src) && (isDigit(l.src[end]) || l.src[end]|0x20 == 'e') {
		end++
	}
	return end > l.pos+1 && isDigit(l.src[l.pos+1]) &&
		(end == len(l.src) || !isWord(l.src[end]) || l.src[end] == '%')
}

// restOfLine takes the text up to the end of the line and moves past it.
func (l *lexer) restOfLine() string {
	end := l.lineEnd()
	s := l.src[l.pos:end]
	l.pos = end
	return s
}

func (l *lexer) describe() string {
	switch l.kind {
	case tEOF:
		return "the end of the file"
	case tStr:
		return fmt.Sprintf("string %q", l.text)
	}
	if len(l.text) > 60 {
		return fmt.Sprintf("%q", l.text[:60]+"...")
	}
	return fmt.Sprintf("%q", l.text)
}

func (l *lexer) accept(k tok) bool {
	if l.kind != k {
		return false
	}
	l.next()
	return true
}

func (l *lexer) expect(k tok, where string) {
	if l.kind != k {
		l.fail("found %s where %q was expected %s", l.describe(), string(rune(k)), where)
	}
	l.next()
}

func (l *lexer) word(what string) string {
	if l.kind != tID {
		l.fail("found %s where %s was expected", l.describe(), what)
	}
	s := l.text
	l.next()
	return s
}
