package parse

import (
	"math"
	"strconv"
	"strings"
)

// number is a literal: an integer, or a float whose bits are those of a double
// (wide) or a single.
type number struct {
	bits     uint64
	float    bool
	wide     bool
	unsigned bool // .u64 by the rules of constant expressions
}

// literal parses PTX literals: decimal, 0x, octal, 0b, the U suffix, 0fXXXXXXXX,
// 0dXXXXXXXXXXXXXXXX and decimal floats.
func literal(s string) (number, bool) {
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'f', 'F':
			v, err := strconv.ParseUint(s[2:], 16, 32)
			return number{bits: v, float: true}, err == nil && len(s) == 10
		case 'd', 'D':
			v, err := strconv.ParseUint(s[2:], 16, 64)
			return number{bits: v, float: true, wide: true}, err == nil && len(s) == 18
		}
	}
	decimal := strings.Trim(s, "0123456789") != "" && strings.Trim(s, "0123456789.eE+-") == ""
	if decimal || strings.Contains(s, ".") {
		if strings.ContainsAny(s, "xXpP_") {
			return number{}, false
		}
		f, err := strconv.ParseFloat(s, 64)
		return number{bits: math.Float64bits(f), float: true, wide: true}, err == nil
	}
	digits := strings.TrimSuffix(s, "U")
	if strings.Contains(s, "_") {
		return number{}, false
	}
	v, err := strconv.ParseUint(digits, 0, 64) // base 0 knows 0x, 0b and leading-zero octal
	return number{bits: v, unsigned: digits != s || v > math.MaxInt64}, err == nil
}

// integer reads a constant expression in [lo, hi].
func (l *lexer) integer(what string, lo, hi int64) int {
	line := l.tline
	return l.within(line, l.number(what), what, lo, hi)
}

// within is an integer in [lo, hi].
func (l *lexer) within(line int, n number, what string, lo, hi int64) int {
	if v := int64(n.bits); n.float || v < lo || v > hi {
		l.failAt(line, "%s must be an integer from %d to %d", what, lo, hi)
	}
	return int(int64(n.bits))
}

func f64bits(f float64) uint64 { return math.Float64bits(f) }
func f64from(b uint64) float64 { return math.Float64frombits(b) }
func f32bits(f float32) uint32 { return math.Float32bits(f) }
func f32from(b uint32) float32 { return math.Float32frombits(b) }
