// Package yamldoc reads YAML for Heddle's own files. Every value keeps its line and column, and an error shows the
// line with a caret under the value that is wrong.
//
// A reader must know three types. Node is a value of the document with its
// position. Key is one entry of a mapping. Error is a complaint about a place in
// a file; everything built on this package reports user mistakes as an *Error.
package yamldoc

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Kind is the shape of a node.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int // fits an int64
	Float
	Text
	List
	Map
)

func (k Kind) String() string {
	return [...]string{"nothing", "a flag", "a whole number", "a number", "text", "a list", "a mapping"}[k]
}

// Limits of a document; Heddle's files are far below them, and a hostile file
// must not exhaust memory or the stack.
const (
	MaxBytes = 256 << 10
	maxDepth = 64
)

// Node is one value with its place in the file.
type Node struct {
	Kind  Kind
	Raw   string // a scalar as written, without quotes
	Int   int64
	Float float64 // also set for Int
	Bool  bool
	Items []*Node // List
	Keys  []Key   // Map, in file order, names unique

	Line, Col int // 1-based
	file      *file
}

// Key is one entry of a mapping.
type Key struct {
	Name  string
	Value *Node
	At    *Node // the key itself, for messages about it
}

// file is what all nodes of one document share.
type file struct {
	name  string
	lines []string
}

// Error is a complaint about a place in a file.
type Error struct {
	File      string
	Line, Col int // 0: the file as a whole
	Msg       string
	Excerpt   string // the line with a caret, may be empty
}

func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d:%d", e.Line, e.Col)
	}
	s += ": " + e.Msg
	if e.Excerpt != "" {
		s += "\n" + e.Excerpt
	}
	return s
}

// exponent is a number such as 2e6, which the YAML library leaves as text.
var exponent = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$`)

// At returns the key itself, or the mapping when it has no such key.
func (n *Node) At(name string) *Node {
	for i := range n.Keys {
		if n.Keys[i].Name == name {
			return n.Keys[i].At
		}
	}
	return n
}

// Errorf makes an error at the node.
func (n *Node) Errorf(format string, args ...any) *Error {
	return n.file.at(n.Line, n.Col, fmt.Sprintf(format, args...))
}

// Found is the text in place of a whole number: a number as it is written, of anything else the kind.
func (n *Node) Found() string {
	if n.Kind == Float {
		return n.Raw
	}
	return n.Kind.String()
}

// File is the name the document was parsed under.
func (n *Node) File() string { return n.file.name }

// Get returns the value of a key, or nil.
func (n *Node) Get(name string) *Node {
	for i := range n.Keys {
		if n.Keys[i].Name == name {
			return n.Keys[i].Value
		}
	}
	return nil
}

// Only fails on the first key that is not among names, with a suggestion.
func (n *Node) Only(what string, names ...string) error { return n.only(what, names, nil) }

// only is Only, which also accepts the keys of earlier.
func (n *Node) only(what string, names []string, earlier map[string]string) error {
	for _, k := range n.Keys {
		_, known := earlier[k.Name]
		for _, x := range names {
			known = known || x == k.Name
		}
		if !known {
			return k.At.Errorf("unknown key %q in %s%s", k.Name, what, DidYouMean(k.Name, names))
		}
	}
	return nil
}

func (f *file) at(line, col int, msg string) *Error {
	e := &Error{File: f.name, Line: line, Col: col, Msg: msg}
	if line < 1 || line > len(f.lines) {
		return e
	}
	text := f.lines[line-1]
	const most = 200
	if len(text) > most {
		text = text[:most] + " ..."
	}
	pad := make([]byte, 0, col)
	for i, c := range []byte(text) {
		if i >= col-1 {
			break
		}
		if c != '\t' {
			c = ' '
		}
		pad = append(pad, c)
	}
	num := fmt.Sprintf("%4d", line)
	e.Excerpt = fmt.Sprintf("%s | %s\n%s | %s^", num, text, strings.Repeat(" ", len(num)), pad)
	return e
}

// ReadFile reads a file of at most MaxBytes. A device, a directory or a larger file is an error, not a hang.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if err := foreign(name, src); err != nil {
		return nil, err
	}
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("%s: longer than %d bytes, the limit for configurations", name, MaxBytes)
	}
	return src, nil
}

// Parse reads one document. Anchors, aliases, tags and merge keys are refused:
// a reader of the file should see what it says.
func Parse(name string, src []byte) (root *Node, err error) {
	f := &file{name: name, lines: strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")}
	if len(src) > MaxBytes {
		return nil, f.at(0, 0, fmt.Sprintf("%d bytes is too long, the limit is %d", len(src), MaxBytes))
	}
	defer func() {
		// The parser is a library; a panic in it is a malformed document to us.
		if p := recover(); p != nil {
			root, err = nil, f.at(0, 0, fmt.Sprintf("not valid YAML (the parser gave up: %v)", p))
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if err := refuseDepth(f, tokens); err != nil {
		return nil, err
	}
	doc, perr := parser.Parse(tokens, 0)
	if perr != nil {
		var ye yaml.Error
		if errors.As(perr, &ye) && ye.GetToken() != nil && ye.GetToken().Position != nil {
			p := ye.GetToken().Position
			return nil, f.at(p.Line, p.Column, "not valid YAML: "+ye.GetMessage())
		}
		return nil, f.at(0, 0, "not valid YAML: "+perr.Error())
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		return nil, f.at(0, 0, "the file is empty")
	}
	if len(doc.Docs) > 1 {
		return nil, f.at(0, 0, "more than one YAML document in the file; keep one")
	}
	if root, err = f.convert(doc.Docs[0].Body, 0); err != nil {
		return nil, err
	}
	return root, nil
}

// refuseDepth bounds nesting before the recursive parser sees the document. It counts the brackets that the parser will
// see, which those of texts and comments are not.
func refuseDepth(f *file, tokens token.Tokens) error {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(0, depth-1)
		}
		if depth > maxDepth {
			return f.at(t.Position.Line, t.Position.Column,
				fmt.Sprintf("brackets nested deeper than %d levels", maxDepth))
		}
	}
	for i, l := range f.lines {
		if n := len(l) - len(strings.TrimLeft(l, " -?")); n > 4*maxDepth {
			return f.at(i+1, n+1, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		}
	}
	return nil
}

func (f *file) place(t *token.Token) *Node {
	n := &Node{file: f, Line: 1, Col: 1}
	if t != nil && t.Position != nil {
		n.Line, n.Col = t.Position.Line, t.Position.Column
	}
	return n
}

func (f *file) convert(a ast.Node, depth int) (*Node, error) {
	n := f.place(a.GetToken())
	if depth > maxDepth {
		return nil, n.Errorf("nested deeper than %d levels", maxDepth)
	}
	switch x := a.(type) {
	case *ast.NullNode:
		n.Raw = x.GetToken().Value
	case *ast.BoolNode:
		n.Kind, n.Bool, n.Raw = Bool, x.Value, x.GetToken().Value
	case *ast.IntegerNode:
		return n, n.setInt(x)
	case *ast.FloatNode:
		n.Kind, n.Float, n.Raw = Float, x.Value, x.GetToken().Value
		if math.IsInf(n.Float, 0) || math.IsNaN(n.Float) {
			return nil, n.Errorf("%s is out of range", n.Raw)
		}
	case *ast.StringNode:
		n.Kind, n.Raw = Text, x.Value
		if x.GetToken().Type == token.StringType && exponent.MatchString(n.Raw) {
			if v, err := strconv.ParseFloat(n.Raw, 64); err == nil {
				n.Kind, n.Float = Float, v
			}
		}
	case *ast.LiteralNode:
		n.Kind, n.Raw = Text, x.Value.Value
	case *ast.SequenceNode:
		return n, n.setList(x, depth)
	case *ast.MappingNode:
		return n, n.setMap(x.Values, depth)
	case *ast.MappingValueNode:
		return n, n.setMap([]*ast.MappingValueNode{x}, depth)
	default:
		return nil, n.Errorf("%s is not used in this file format; write the value out",
			strings.ToLower(a.Type().YAMLName()))
	}
	return n, nil
}

func (n *Node) setInt(x *ast.IntegerNode) error {
	n.Kind, n.Raw = Int, x.GetToken().Value
	switch v := x.Value.(type) {
	case int64:
		n.Int = v
	case uint64:
		if v > math.MaxInt64 {
			return n.Errorf("%s is out of range", n.Raw)
		}
		n.Int = int64(v)
	default:
		return n.Errorf("%s is not a whole number", n.Raw)
	}
	n.Float = float64(n.Int)
	return nil
}

func (n *Node) setList(x *ast.SequenceNode, depth int) error {
	n.Kind = List
	for _, v := range x.Values {
		c, err := n.file.child(n, v, depth)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, c)
	}
	return nil
}

func (n *Node) setMap(values []*ast.MappingValueNode, depth int) error {
	n.Kind = Map
	seen := make(map[string]bool, len(values))
	for i, kv := range values {
		at := n.file.place(kv.Key.GetToken())
		if i == 0 {
			n.Line, n.Col = at.Line, at.Col
		}
		name, ok := keyName(kv.Key)
		if !ok {
			return at.Errorf("a key must be a plain name")
		}
		if seen[name] {
			return at.Errorf("key %q is given twice", name)
		}
		seen[name] = true
		at.Raw = name
		c, err := n.file.child(at, kv.Value, depth)
		if err != nil {
			return err
		}
		n.Keys = append(n.Keys, Key{Name: name, Value: c, At: at})
	}
	return nil
}

// child converts a value; a missing one is a Null at its parent's place.
func (f *file) child(parent *Node, v ast.Node, depth int) (*Node, error) {
	if v == nil {
		return &Node{file: f, Line: parent.Line, Col: parent.Col}, nil
	}
	return f.convert(v, depth+1)
}

func keyName(k ast.MapKeyNode) (string, bool) {
	switch x := k.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return k.GetToken().Value, true
	}
	return "", false
}
