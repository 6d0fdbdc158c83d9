package emulate

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Formats of C, as device printf has them.

// specs walks through the conversions of a format.
type specs struct {
	text  []byte
	begin int // of the current conversion, its % included
	end   int // behind it

	flags     []byte
	stars     int // arguments that give width and precision
	wide      bool
	dot       bool
	starWidth bool
	starDot   bool
	number    [2]int // width, precision, as written
	length    int    // 8, 4, 2 or 1 bytes of an integer
	verb      byte
}

// next finds the next conversion. One without a known letter is text.
func (s *specs) next() bool {
	for i := s.end; i < len(s.text); i++ {
		if s.text[i] == '%' && s.parse(i) {
			return true
		}
	}
	return false
}

func (s *specs) parse(at int) bool {
	t := s.text
	*s = specs{text: t, begin: at, end: s.end, length: 4}
	i := at + 1
	for i < len(t) && strings.IndexByte("#0- +", t[i]) >= 0 {
		i++
	}
	s.flags = t[at+1 : i]
	i, s.starWidth = s.count(i, 0)
	if i < len(t) && t[i] == '.' {
		s.dot = true
		i, s.starDot = s.count(i+1, 1)
	}
	for i < len(t) {
		switch t[i] {
		case 'h':
			s.length = max(s.length/2, 1)
		case 'l', 'j', 'z', 't', 'L': // long has 8 bytes on the hosts CUDA knows
			s.length = 8
		default:
			if strings.IndexByte("diouxXcspeEfFgGaA%", t[i]) < 0 {
				return false
			}
			s.verb, s.end = t[i], i+1
			s.wide = s.length == 8 || strings.IndexByte("speEfFgGaA", t[i]) >= 0
			return true
		}
		i++
	}
	return false
}

// count reads a width or precision.
func (s *specs) count(i, which int) (int, bool) {
	if i < len(s.text) && s.text[i] == '*' {
		s.stars++
		return i + 1, true
	}
	for ; i < len(s.text) && s.text[i] >= '0' && s.text[i] <= '9'; i++ {
		s.number[which] = min(10*s.number[which]+int(s.text[i]-'0'), maxText)
	}
	return i, false
}

// width is the size of the argument in bytes: floats are doubles, short integers are int.
func (s *specs) width() uint64 {
	if s.wide {
		return 8
	}
	return 4
}

func (s *specs) align(at uint64) uint64 { return (at + s.width() - 1) &^ (s.width() - 1) }

// formatC formats a record: args holds 8 bytes for each argument, behind which those of %s
// have their text.
func formatC(format string, args []byte) string {
	var b strings.Builder
	take := func() uint64 {
		v := binary.LittleEndian.Uint64(args)
		args = args[8:]
		return v
	}
	done := 0
	s := specs{text: []byte(format)}
	for s.next() {
		b.WriteString(format[done:s.begin])
		done = s.end
		if s.verb == '%' {
			b.WriteByte('%')
			continue
		}
		if s.starWidth {
			if s.number[0] = int(int32(take())); s.number[0] < 0 {
				s.flags, s.number[0] = append([]byte{'-'}, s.flags...), -s.number[0]
			}
		}
		if s.starDot {
			s.number[1] = int(int32(take()))
			s.dot = s.number[1] >= 0
		}
		s.number[0], s.number[1] = min(s.number[0], maxText), min(s.number[1], maxText)
		if s.verb == 's' {
			n := take()
			b.WriteString(s.text8(string(args[:n])))
			args = args[n:]
			continue
		}
		b.WriteString(s.one(take()))
	}
	b.WriteString(format[done:])
	return b.String()
}

func (s *specs) has(flag byte) bool { return strings.IndexByte(string(s.flags), flag) >= 0 }

// text8 is a string, cut to the precision.
func (s *specs) text8(v string) string {
	if s.dot {
		v = v[:min(len(v), s.number[1])]
	}
	return s.pad("", v, false)
}

// one formats an argument.
func (s *specs) one(v uint64) string {
	switch s.verb {
	case 'd', 'i':
		n := int64(v<<(64-8*s.length)) >> (64 - 8*s.length)
		sign := s.sign(n < 0)
		if n < 0 {
			n = -n
		}
		return s.integer(sign, strconv.FormatUint(uint64(n), 10))
	case 'u', 'o', 'x', 'X':
		return s.unsigned(v << (64 - 8*s.length) >> (64 - 8*s.length))
	case 'c':
		return s.pad("", string([]byte{byte(v)}), false)
	case 'p':
		return s.pad("0x", strconv.FormatUint(v, 16), s.has('0'))
	}
	return s.float(math.Float64frombits(v))
}

func (s *specs) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.has('+'):
		return "+"
	case s.has(' '):
		return " "
	}
	return ""
}

func (s *specs) unsigned(v uint64) string {
	switch s.verb {
	case 'o':
		digits := strconv.FormatUint(v, 8)
		if s.has('#') && v != 0 {
			digits = "0" + digits
		}
		return s.integer("", digits)
	case 'u':
		return s.integer("", strconv.FormatUint(v, 10))
	}
	prefix, digits := "", strconv.FormatUint(v, 16)
	if s.has('#') && v != 0 {
		prefix = "0x"
	}
	if s.verb == 'X' {
		prefix, digits = strings.ToUpper(prefix), strings.ToUpper(digits)
	}
	return s.integer(prefix, digits)
}

// integer applies the precision, the least number of digits, and the width.
func (s *specs) integer(prefix, digits string) string {
	if !s.dot {
		return s.pad(prefix, digits, s.has('0'))
	}
	if digits == "0" && s.number[1] == 0 {
		digits = ""
	}
	if n := s.number[1] - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	return s.pad(prefix, digits, false)
}

// pad fills to the width: zeros go between sign or prefix and digits.
func (s *specs) pad(prefix, v string, zeros bool) string {
	n := s.number[0] - len(prefix) - len(v)
	switch {
	case n <= 0:
		return prefix + v
	case s.has('-'):
		return prefix + v + strings.Repeat(" ", n)
	case zeros:
		return prefix + strings.Repeat("0", n) + v
	}
	return strings.Repeat(" ", n) + prefix + v
}

func (s *specs) float(v float64) string {
	sign := s.sign(math.Signbit(v))
	v = math.Abs(v)
	upper := s.verb < 'a'
	special := ""
	switch {
	case v != v:
		special = "nan"
	case math.IsInf(v, 0):
		special = "inf"
	}
	if special != "" {
		if upper {
			special = strings.ToUpper(special)
		}
		return s.pad(sign, special, false)
	}
	precision := 6
	if s.dot {
		precision = s.number[1]
	}
	prefix, digits := "", ""
	switch s.verb | 0x20 {
	case 'f':
		digits = s.point(strconv.FormatFloat(v, 'f', precision, 64))
	case 'e':
		digits = s.point(strconv.FormatFloat(v, 'e', precision, 64))
	case 'g':
		digits = s.general(v, max(precision, 1))
	default:
		prefix, digits = s.hexadecimal(v)
	}
	if upper {
		prefix, digits = strings.ToUpper(prefix), strings.ToUpper(digits)
	}
	return s.pad(sign+prefix, digits, s.has('0'))
}

// point adds the point that # asks for where there is none.
func (s *specs) point(digits string) string {
	if !s.has('#') || strings.Contains(digits, ".") {
		return digits
	}
	if e := strings.IndexAny(digits, "ep"); e >= 0 {
		return digits[:e] + "." + digits[e:]
	}
	return digits + "."
}

// general is %g: the shorter of the two forms, without zeros at the end.
func (s *specs) general(v float64, precision int) string {
	e := strconv.FormatFloat(v, 'e', precision-1, 64)
	at := strings.IndexByte(e, 'e')
	exponent, _ := strconv.Atoi(e[at+1:])
	mantissa, tail := e[:at], e[at:]
	if exponent >= -4 && exponent < precision {
		mantissa, tail = strconv.FormatFloat(v, 'f', precision-1-exponent, 64), ""
	}
	if s.has('#') {
		return s.point(mantissa + tail)
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + tail
}

// hexadecimal is %a: a digit, 0 for subnormal numbers, and the 52 bits of the fraction.
func (s *specs) hexadecimal(v float64) (prefix, digits string) {
	b := math.Float64bits(v)
	n, exponent := b&(1<<52-1), int(b>>52)-1023
	switch {
	case b == 0:
		exponent = 0
	case exponent == -1023:
		exponent = -1022
	default:
		n |= 1 << 52
	}
	kept := 13
	if s.dot && s.number[1] < kept { // round to even
		kept = s.number[1]
		drop := 4 * (13 - kept)
		rest, half := n&(1<<drop-1), uint64(1)<<(drop-1)
		n >>= drop
		if rest > half || rest == half && n&1 != 0 {
			n++
		}
	}
	text := fmt.Sprintf("%0*x", kept+1, n)
	text, fraction := text[:len(text)-kept], text[len(text)-kept:]
	if s.dot {
		fraction += strings.Repeat("0", max(0, s.number[1]-kept))
	} else {
		fraction = strings.TrimRight(fraction, "0")
	}
	if fraction != "" {
		text += "." + fraction
	}
	return "0x", s.point(text + fmt.Sprintf("p%+d", exponent))
}
