package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// privateWords are turns of phrase that are correct and that nobody outside understands at once, each with the
// reason. The kind is meant: a new one that a reader stumbles over gets a line here.
var privateWords = []struct{ pattern, reason string }{
	{
		`\b(is|are|was|were) of (since|before|then|now|today|earlier)\b`,
		"a time without a verb: say what was done when, as in \"was run after the fix\"",
	},
	{
		`\b(is|are) of (a|an|all|one|two|some|mixes|kernels|none|everybody|who|what)\b`,
		"\"of\" instead of a verb: write belongs to, describes, has, comes from",
	},
	{`\b[Cc]ame (less|more) far\b|\bcame further\b`, "say which run did more work"},
	{
		`\b[Ww]ho (goes|takes|has|suffers|touches|asks|outgrows|waits|wants|looks|doubts|gets|fills|plans|gains)\b`,
		"programs, tenants and requests are no persons: name the thing, as in \"the application that goes first\"",
	},
	{`\bwhat there is\b`, "name the things"},
	{`\b(has|have|wants?|knows?) nothing of (it|them|that|what)\b`, "say what it lacks"},
	{`\b[Ee]verybody's\b`, "shared"},
	{`\bsteered nothing\b`, "had no effect"},
	{`\b(tells?|told) of (a|an|the|its|every|each|all)\b`, "reports, describes, gets"},
	{`\bto be had\b`, "available"},
	{`\bfor the part that is in both\b`, "for the work that both did"},
	{`\b(are|is) without power\b`, "powered down"},
	{`\bwhoever (that|it) is\b|\bwhose it is\b`, "name the owner"},
	{`\bwho got what\b`, "name what is reported: the speed of each program, its share of the machine"},
	{`\bwhat becomes of\b`, "say what happens to the thing"},
	{`\b([Ss]ome|[Aa]ny)body\b`, "name the program, the tenant, the request or the user"},
	{`\b(is|are) to (have|get|come|be powered)\b`, "write shall: \"the tenant shall get two SMs\""},
	{`\bfrom the begin\b`, "from the beginning"},
	{`\bin the place of\b`, "in place of"},
	{`\btakes? note of\b|\blooked through\b`, "notes; is analysed"},
	{`\bof one's own\b`, "your own"},
	{`\bas to (power|ownership|time|speed|what|how)\b`, "about, by, for: name the property"},
	{`\bis told (which|what|when|that)\b`, "say what the thing gets, sets or notes"},
	{`\bwhat (became|has become|had become) of\b`, "say what happened to the thing"},
	{`\b(from|to) (its|their) begin\b|\bfrom begin to end\b`, "beginning is the noun"},
	{`\b(of|for|has|have) so many\b`, "so many means very many: write a number of, or name the number"},
	{`\b[Ee]verybody\b`, "name the applications, the components or the users"},
	{`\bbeside[.;,]`, "beside needs its noun: in addition, also"},
	{`\b(for|of|by|to|from|with|on|against) whom?\b|\bWho\b`, "components are no persons: name the thing"},
	{`\bwhom\b`, "components are no persons: name the thing"},
	{`\b(is|are) to (read|write|copy|move|load)\b`, "write reads or shall read"},
	{`\bsteer nothing\b|\bdecide nothing\b`, "have no effect; make no decision"},
	{`\bwhat lies behind\b|\bwhat travels\b`, "name the things"},
	{
		`\bnobody (else )?(has|had|uses|waits|asks|takes|needs|looks|reads|knows|can|may|touches|wants|changes|` +
			`writes|gives|starves|pays|tells|plans|owns|holds)\b`,
		"say what does not happen to the thing: \"is not used\", \"has no owner\"",
	},
	{
		`\b[Ww]ho (asked|follows|cares|made|plans|used|accessed|owns|writes|reads|launches|came|did|caused|brings|` +
			`uses|orders|caught|catches|is to|will)\b|\b[Ww]hoever\b`,
		"components are no persons: name the part, the request, the application or the user",
	},
	{`\bat hand\b`, "available, present"},
	{`\b(tells?|told) of\b|\bis told\b`, "reports, describes; is called"},
	{
		`\bso many (bytes|columns|more|of|times|links|pages|cycles|clocks|instructions|operations|warps)\b`,
		"a number of",
	},
	{`\bbooks (a|an|the|n|what|why|that|each)\b`, "records, counts or reserves"},
	{`\bas far as (it|they) (goes|go|comes|come)\b`, "as far as possible"},
	{`\bnothing comes of\b|\bcame of it\b`, "has no effect; name the effect"},
	{
		`\b[Ww]hat (comes|lies|follows|goes|stands|is left|hinders|happens to be)\b`,
		"name the thing: the rest, the next instruction, the line after it",
	},
}

// ownWords says for a line of privateWords whether it stands in a text.
func ownWords(t *testing.T) func(text string) (phrase, reason string) {
	t.Helper()
	all := make([]*regexp.Regexp, len(privateWords))
	for i, w := range privateWords {
		all[i] = regexp.MustCompile(w.pattern)
	}
	return func(text string) (string, string) {
		text = strings.Join(strings.Fields(text), " ")
		for i, re := range all {
			if m := re.FindString(text); m != "" {
				return m, privateWords[i].reason
			}
		}
		return "", ""
	}
}

// TestPlainWords holds private turns of phrase out of documents, of printed texts, and of comments: sentences in which
// a reader cannot tell which thing is meant.
func TestPlainWords(t *testing.T) {
	find := ownWords(t)
	for _, private := range []string{
		"SMQoS's study is of since", "a line that nobody waits for", "who caused it", "whoever asks",
		"send tells of it",
		"look is told in every cycle", "a text of so many bytes", "what is left of a quota", "the text at hand",
		"end books the end of a kernel", "tick takes the moves as far as they go", "why nothing comes of a decision",
	} {
		if m, _ := find(private); m == "" {
			t.Errorf("the list does not find %q", private)
		}
	}
	for _, plain := range []string{
		"a user who needs the list", "the SMs that nobody's row counts", "what the driver reads",
		"as many bytes as fit",
	} {
		if m, _ := find(plain); m != "" {
			t.Errorf("the list finds %q in %q", m, plain)
		}
	}
	check := func(where, text string) {
		if m, reason := find(text); m != "" {
			t.Errorf("%s: %q: %s", where, m, reason)
		}
	}
	for _, s := range sources(t) {
		if s.test || s.gen {
			continue
		}
		for _, l := range printed(s) {
			check(s.path+":"+strconv.Itoa(l.line), l.text)
		}
		for _, g := range s.file.Comments {
			check(s.path+":"+strconv.Itoa(s.line(g.Pos())), g.Text())
		}
	}
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/reference/*.md", "paper/README.md", "paper/*/REPRODUCTION.md",
		"apps/README.md", "apps/*/*/README.md", "host/script/README.md", "lab/silicon/README.md",
		"report/page/page.html", "serve/*.html", "examples/*.yaml",
	} {
		files, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no document %s: %v", pattern, err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range strings.Split(string(text), "\n\n") {
				check(filepath.Base(f)+", paragraph "+strconv.Itoa(i+1), p)
			}
		}
	}
}

// TestNamedFiles: every Go file that a comment names is in the repository, under that name or as the end of its path. A
// name with * stands for a family of files.
func TestNamedFiles(t *testing.T) {
	there := map[string]bool{}
	for _, s := range sources(t) {
		for path := s.path; path != ""; _, path, _ = strings.Cut(path, "/") {
			there[path] = true
		}
	}
	file := regexp.MustCompile(`[\w/*]+\.go\b`)
	for _, s := range sources(t) {
		for _, g := range s.file.Comments {
			for _, name := range file.FindAllString(g.Text(), -1) {
				if !strings.Contains(name, "*") && !there[name] {
					t.Errorf("%s:%d: a comment names %s, which is not in the repository", s.path, s.line(g.Pos()), name)
				}
			}
		}
	}
}

// words is a text and the line it begins in.
type words struct {
	line int
	text string
}

// printed are the string literals of a file, those that are joined by + as one.
func printed(s *source) (all []words) {
	inside := map[ast.Node]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || inside[n] {
			return true
		}
		if text := joined(e, inside); text != "" {
			all = append(all, words{s.line(e.Pos()), text})
		}
		return true
	})
	return all
}

// joined is the text of a literal, or of a sum with literals; its parts are noted as inside.
func joined(e ast.Expr, inside map[ast.Node]bool) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			inside[x] = true
			text, _ := strconv.Unquote(x.Value)
			return text
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			inside[x] = true
			return joined(x.X, inside) + joined(x.Y, inside)
		}
	}
	return ""
}
