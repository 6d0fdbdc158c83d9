package script

import "go.starlark.net/syntax"

// The interpreter counts one step for `a * b` whatever a and b are. The tree of a script is therefore changed before
// it is compiled: an expression that may make a large value becomes a call of an operation that pays for it first. No
// script can say the names of operations, because they begin with $.
const (
	opMethod = "$."    // of x.name: methods come back with their price
	opSpread = "$..."  // of *x in a call
	opKey    = "$key"  // of what is looked up
	opSearch = "$in"   // of the container in which a value is looked up
	opKeep   = "$keep" // of the values that a comprehension keeps
	opSlice  = "$[:]"  // of x[i:j]
)

// binaryOps are the operators that make values out of values; numbers alone know the others.
func binaryOps() map[syntax.Token]bool {
	return map[syntax.Token]bool{
		syntax.PLUS: true, syntax.MINUS: true, syntax.STAR: true, syntax.PERCENT: true, syntax.AMP: true,
		syntax.PIPE: true, syntax.CIRCUMFLEX: true, syntax.SLASH: true, syntax.SLASHSLASH: true, syntax.LTLT: true,
		syntax.GTGT: true,
	}
}

// rewriter changes one tree.
type rewriter struct{ ops map[syntax.Token]bool }

// priced is the file with each operation paid for.
func priced(f *syntax.File) {
	r := rewriter{binaryOps()}
	f.Stmts = r.stmts(f.Stmts)
}

func call(name string, pos syntax.Position, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: ident(name, pos), Lparen: pos, Args: args, Rparen: pos}
}

func ident(name string, pos syntax.Position) *syntax.Ident {
	return &syntax.Ident{Name: name, NamePos: pos}
}

func (r *rewriter) stmts(in []syntax.Stmt) (out []syntax.Stmt) {
	for _, s := range in {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			out = append(out, r.assign(s)...)
			continue
		case *syntax.DefStmt:
			r.params(s.Params)
			s.Body = r.stmts(s.Body)
		case *syntax.ExprStmt:
			s.X = r.expr(s.X)
		case *syntax.IfStmt:
			s.Cond, s.True, s.False = r.expr(s.Cond), r.stmts(s.True), r.stmts(s.False)
		case *syntax.ForStmt:
			r.target(s.Vars)
			s.X, s.Body = r.expr(s.X), r.stmts(s.Body)
		case *syntax.WhileStmt:
			s.Cond, s.Body = r.expr(s.Cond), r.stmts(s.Body)
		case *syntax.ReturnStmt:
			s.Result = r.expr(s.Result)
		}
		out = append(out, s)
	}
	return out
}

// assign spells x += y as x = x + y. The parts of the target a[i] are evaluated once, into names of their own.
func (r *rewriter) assign(s *syntax.AssignStmt) []syntax.Stmt {
	s.RHS = r.expr(s.RHS)
	r.target(s.LHS)
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	if s.Op == syntax.EQ || !r.ops[op] || number(s.RHS) && (op == syntax.PLUS || op == syntax.MINUS) {
		return []syntax.Stmt{s}
	}
	pos := s.OpPos
	var first []syntax.Stmt
	once := func(name string, e syntax.Expr) syntax.Expr {
		first = append(first, &syntax.AssignStmt{OpPos: pos, Op: syntax.EQ, LHS: ident(name, pos), RHS: e})
		return ident(name, pos)
	}
	var value syntax.Expr
	switch x := unparen(s.LHS).(type) {
	case *syntax.Ident:
		value = ident(x.Name, x.NamePos)
	case *syntax.IndexExpr:
		x.X, x.Y = once("$x", x.X), once("$y", x.Y)
		value = &syntax.IndexExpr{X: ident("$x", pos), Lbrack: x.Lbrack, Y: ident("$y", pos), Rbrack: x.Rbrack}
	case *syntax.DotExpr:
		x.X = once("$x", x.X)
		name := ident(x.Name.Name, x.NamePos)
		value = &syntax.DotExpr{X: ident("$x", pos), Dot: x.Dot, NamePos: x.NamePos, Name: name}
	default:
		return []syntax.Stmt{s} // the resolver refuses it
	}
	s.RHS, s.Op = call("$"+s.Op.String(), pos, value, s.RHS), syntax.EQ
	return append(first, s)
}

// target changes the expressions inside the target of an assignment.
func (r *rewriter) target(e syntax.Expr) {
	switch x := e.(type) {
	case *syntax.ParenExpr:
		r.target(x.X)
	case *syntax.IndexExpr:
		r.index(x)
	case *syntax.DotExpr:
		x.X = r.expr(x.X)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			r.target(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			r.target(e)
		}
	}
}

func (r *rewriter) index(x *syntax.IndexExpr) { x.X, x.Y = r.expr(x.X), r.key(x.Y, x.Lbrack) }

// key is a value that is looked up in a dictionary or set.
func (r *rewriter) key(e syntax.Expr, pos syntax.Position) syntax.Expr {
	if _, plain := unparen(e).(*syntax.Literal); plain {
		return e
	}
	return call(opKey, pos, r.expr(e))
}

func (r *rewriter) list(all []syntax.Expr) {
	for i := range all {
		all[i] = r.expr(all[i])
	}
}

// params changes defaults of parameters.
func (r *rewriter) params(all []syntax.Expr) {
	for _, p := range all {
		if x, ok := p.(*syntax.BinaryExpr); ok {
			x.Y = r.expr(x.Y)
		}
	}
}

// args changes arguments of a call: x, name = x, *x and **x.
func (r *rewriter) args(all []syntax.Expr) {
	for i, a := range all {
		switch x := a.(type) {
		case *syntax.BinaryExpr:
			if x.Op == syntax.EQ {
				x.Y = r.expr(x.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if x.Op == syntax.STAR || x.Op == syntax.STARSTAR {
				x.X = call(opSpread, x.OpPos, r.expr(x.X))
				continue
			}
		}
		all[i] = r.expr(a)
	}
}

// expr is the expression with what is inside of it changed.
func (r *rewriter) expr(e syntax.Expr) syntax.Expr {
	switch x := e.(type) {
	case *syntax.BinaryExpr:
		return r.binary(x)
	case *syntax.CallExpr:
		x.Fn = r.expr(x.Fn)
		r.args(x.Args)
	case *syntax.Comprehension:
		r.comprehension(x)
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = r.expr(x.Cond), r.expr(x.True), r.expr(x.False)
	case *syntax.DictEntry:
		x.Key, x.Value = r.key(x.Key, x.Colon), r.expr(x.Value)
	case *syntax.DictExpr:
		r.list(x.List)
	case *syntax.DotExpr:
		x.X = r.expr(x.X)
		return call(opMethod, x.Dot, x)
	case *syntax.IndexExpr:
		r.index(x)
	case *syntax.LambdaExpr:
		r.params(x.Params)
		x.Body = r.expr(x.Body)
	case *syntax.ListExpr:
		r.list(x.List)
	case *syntax.ParenExpr:
		x.X = r.expr(x.X)
	case *syntax.SliceExpr:
		x.X, x.Lo, x.Hi, x.Step = r.expr(x.X), r.expr(x.Lo), r.expr(x.Hi), r.expr(x.Step)
		return call(opSlice, x.Lbrack, x)
	case *syntax.TupleExpr:
		r.list(x.List)
	case *syntax.UnaryExpr:
		x.X = r.expr(x.X)
	}
	return e
}

func (r *rewriter) binary(x *syntax.BinaryExpr) syntax.Expr {
	if x.Op == syntax.IN || x.Op == syntax.NOT_IN {
		x.X, x.Y = r.key(x.X, x.OpPos), call(opSearch, x.OpPos, r.expr(x.Y))
		return x
	}
	x.X, x.Y = r.expr(x.X), r.expr(x.Y)
	a, b := number(x.X), number(x.Y)
	if !r.ops[x.Op] || a && b || (a || b) && (x.Op == syntax.PLUS || x.Op == syntax.MINUS) {
		return x // a sum with a number is one
	}
	return call("$"+x.Op.String(), x.OpPos, x.X, x.Y)
}

func (r *rewriter) comprehension(x *syntax.Comprehension) {
	entry, isEntry := x.Body.(*syntax.DictEntry)
	switch {
	case isEntry:
		r.expr(entry)
		entry.Value = call(opKeep, x.Lbrack, entry.Value)
	case x.Curly:
		x.Body = call(opKeep, x.Lbrack, r.key(x.Body, x.Lbrack))
	default:
		x.Body = call(opKeep, x.Lbrack, r.expr(x.Body))
	}
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			r.target(c.Vars)
			c.X = r.expr(c.X)
		case *syntax.IfClause:
			c.Cond = r.expr(c.Cond)
		}
	}
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// number says that an expression is a number as the script writes it.
func number(e syntax.Expr) bool {
	x, ok := unparen(e).(*syntax.Literal)
	return ok && (x.Token == syntax.INT || x.Token == syntax.FLOAT)
}
