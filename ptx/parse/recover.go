package parse

// What lets a file be read on after a problem, so that all of them are found.

// maxProblems bounds what is kept of a file.
const maxProblems = 10_000

// problem is what a recovered panic carries; a panic of another sort goes on.
func problem(r any) *Error {
	b, ok := r.(bail)
	if !ok {
		panic(r)
	}
	return b.err
}

// collect runs a step and keeps its problem where all are wanted.
func (p *parser) collect(step func()) (ok bool) {
	if !p.all {
		step()
		return true
	}
	defer func() {
		if r := recover(); r != nil {
			p.record(problem(r))
		}
	}()
	step()
	return true
}

// record keeps a problem. One that has the words of another, as the second use of a name
// that is not declared, is said once.
func (p *parser) record(e *Error) {
	if len(p.problems) == maxProblems || e.Feature == "" && p.said[e.Msg] {
		return
	}
	p.said[e.Msg] = true
	p.problems = append(p.problems, e)
}

// attempt reads one statement, of a body or of the module, and goes on behind it after a
// problem.
func (p *parser) attempt(statement func(), top bool) {
	scope, depth, fn, start := p.scope, p.depth, p.fn, p.start
	if p.collect(statement) {
		return
	}
	p.scope, p.depth = scope, depth
	if p.fn = fn; top {
		p.fn = nil
	}
	if p.pos = max(p.start, start); p.pos == start && p.kind != tEOF {
		p.pos++ // whatever it is, it has been reported
	}
	p.skip(top)
	for at := p.pos; !p.collect(p.next); at = p.pos { // bytes that are no token
		p.pos = max(p.pos, at+1)
	}
}

// skip moves behind the end of a statement: a semicolon, or for one of the module the end of
// its braces. The brace that closes a body stays.
func (p *parser) skip(top bool) {
	open := 0
	for ; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case '\n':
			p.line++
		case ';':
			if open == 0 {
				p.pos++
				return
			}
		case '{':
			open++
		case '}':
			if open == 0 && !top {
				return
			}
			if open--; open <= 0 {
				p.pos++
				return
			}
		}
	}
}
