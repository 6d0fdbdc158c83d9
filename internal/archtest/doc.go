// Package archtest holds the rules of the code base as tests, each with its
// reason: which package may import which, how long a file or function may be, what
// must not appear at all. It is documentation that fails when it is no longer true.
// Its types are source (a parsed file), rule and limit; there is nothing to import.
package archtest
