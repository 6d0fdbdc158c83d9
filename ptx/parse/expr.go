package parse

import "strings"

// Constant expressions: literals joined by the operators of C, evaluated in 64 bits,
// signed unless an operand is unsigned (PTX ISA, "Constant Expressions").

// number reads a constant expression. what names it in messages.
func (l *lexer) number(what string) number { return expression{l, what}.ternary(0) }

// expression reads one; what names it in messages.
type expression struct {
	*lexer
	what string
}

// binary operators by rising precedence; of two that begin alike the longer is first.
var operators = [][]string{
	{"||"},
	{"&&"},
	{"|"},
	{"^"},
	{"&"},
	{"==", "!="},
	{"<=", ">=", "<", ">"},
	{"<<", ">>"},
	{"+", "-"},
	{"*", "/", "%"},
}

// shiftLevel is the precedence of the shifts, the lowest above comparisons.
const shiftLevel = 7

func (l expression) ternary(depth int) number {
	n := l.binary(0, depth)
	if l.kind != '?' {
		return n
	}
	l.next()
	yes := l.ternary(depth + 1)
	l.expect(':', "in a ?: expression")
	no := l.ternary(depth + 1)
	if n.bits != 0 {
		return yes
	}
	return no
}

// binary reads operators of the given precedence and higher ones.
func (l expression) binary(level, depth int) number {
	if level == len(operators) {
		return l.unary(depth)
	}
	a := l.binary(level+1, depth)
	for {
		op := l.operator(level)
		if op == "" {
			return a
		}
		for range op {
			l.next()
		}
		b := l.binary(level+1, depth)
		if a.float || b.float {
			a = l.floats(op, a, b)
		} else {
			a = l.integers(op, a, b)
		}
	}
}

// operator is the operator of the given precedence that begins here, or "".
func (l expression) operator(level int) string {
	if l.kind < '!' {
		return ""
	}
	for _, op := range operators[level] {
		rest := l.src[l.start:]
		if !strings.HasPrefix(rest, op) {
			continue
		}
		longer := len(rest) > 1 && len(op) == 1 &&
			(rest[1] == rest[0] && strings.Contains("&|<>", op) || rest[1] == '=' && strings.Contains("<>", op))
		if !longer {
			return op
		}
	}
	return ""
}

func (l expression) unary(depth int) number {
	if depth > maxDepth {
		l.fail("expression is nested too deeply")
	}
	switch c := l.kind; c {
	case '-', '+', '~', '!':
		l.next()
		return l.sign(c, l.unary(depth+1))
	case '(':
		l.next()
		if l.kind == tID && (l.text == ".s64" || l.text == ".u64") {
			unsigned := l.text == ".u64"
			l.next()
			l.expect(')', "after a cast")
			n := l.unary(depth + 1)
			if n.float {
				l.fail("a cast takes an integer")
			}
			n.unsigned = unsigned
			return n
		}
		n := l.ternary(depth + 1)
		l.expect(')', "after a constant expression")
		return n
	}
	if l.kind != tNum {
		l.fail("found %s where %s was expected", l.describe(), l.what)
	}
	n, ok := literal(l.text)
	if !ok {
		l.fail("%q is not a PTX number: use decimal, 0x hexadecimal, 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX", l.text)
	}
	l.next()
	return n
}

// sign applies a unary operator.
func (l expression) sign(op tok, n number) number {
	switch {
	case op == '-' && n.float && n.wide:
		n.bits ^= 1 << 63
	case op == '-' && n.float:
		n.bits ^= 1 << 31
	case op == '-':
		n.bits = -n.bits
	case op == '+':
	case n.float:
		l.fail("%c takes an integer", op)
	case op == '~':
		n.bits = ^n.bits
	default:
		n = truth(n.bits == 0)
	}
	return n
}

func truth(b bool) number {
	if b {
		return number{bits: 1}
	}
	return number{}
}

// floats combines two numbers in double precision, the type of such expressions.
func (l expression) floats(op string, a, b number) number {
	x, y := l.double(a), l.double(b)
	switch op {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		x /= y
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "<":
		return truth(x < y)
	case "<=":
		return truth(x <= y)
	case ">":
		return truth(x > y)
	case ">=":
		return truth(x >= y)
	default:
		l.fail("%s takes integers", op)
	}
	return number{bits: f64bits(x), float: true, wide: true}
}

func (l expression) double(n number) float64 {
	switch {
	case n.float && n.wide:
		return f64from(n.bits)
	case n.float:
		return float64(f32from(uint32(n.bits)))
	case n.unsigned:
		return float64(n.bits)
	}
	return float64(int64(n.bits))
}

// integers combines two integers.
//
//heddle:table
func (l expression) integers(op string, x, y number) number {
	a, b := x.bits, y.bits
	unsigned := x.unsigned || y.unsigned
	less := int64(a) < int64(b)
	if unsigned {
		less = a < b
	}
	switch op {
	case "||":
		return truth(a != 0 || b != 0)
	case "&&":
		return truth(a != 0 && b != 0)
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<":
		return truth(less)
	case "<=":
		return truth(less || a == b)
	case ">":
		return truth(!less && a != b)
	case ">=":
		return truth(!less)
	case "|":
		a |= b
	case "^":
		a ^= b
	case "&":
		a &= b
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	case "<<":
		return number{bits: a << min(b, 64), unsigned: x.unsigned}
	case ">>":
		if a >>= min(b, 64); !x.unsigned {
			a = uint64(int64(x.bits) >> min(b, 63))
		}
		return number{bits: a, unsigned: x.unsigned}
	default:
		a = l.divide(op, a, b, unsigned)
	}
	return number{bits: a, unsigned: unsigned}
}

// divide is / or %.
func (l expression) divide(op string, a, b uint64, unsigned bool) uint64 {
	switch {
	case b == 0:
		l.fail("division by zero in a constant expression")
	case unsigned && op == "/":
		return a / b
	case unsigned:
		return a % b
	case b == ^uint64(0): // the quotient of the smallest number overflows
		if op == "/" {
			return -a
		}
		return 0
	case op == "/":
		return uint64(int64(a) / int64(b))
	}
	return uint64(int64(a) % int64(b))
}
