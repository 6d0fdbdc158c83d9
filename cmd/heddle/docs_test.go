package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "write docs/reference anew")

// TestReferencePages: docs/reference is what heddle docs writes.
func TestReferencePages(t *testing.T) {
	pages, err := referencePages(rootCmd())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		path := filepath.Join("../../docs/reference", p.file)
		if *updateDocs {
			if err := os.WriteFile(path, p.text, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, p.text) {
			t.Errorf("%s is not what the tables say (%v): make docs", path, err)
		}
	}
}

// TestReadmeIsGenerated: the parts of README.md, DEVIATIONS.md and ARCHITECTURE.md between marks are what the tables,
// the papers' reports and the comment of GPU.Run say. make docs writes them.
func TestReadmeIsGenerated(t *testing.T) {
	for file, blocks := range generatedBlocks() {
		path := filepath.Join("..", "..", file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := withBlocks(string(text), "../..", blocks)
		if err != nil {
			t.Fatal(file, err)
		}
		switch {
		case want == string(text):
		case *updateDocs:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s is not what the tables and reports say: make docs", file)
		}
	}
}

// TestCommandsOfDocuments: every command that stands in a line of its own in a document exists, the files that it names
// are in the repository, and probes run as they stand there.
func TestCommandsOfDocuments(t *testing.T) {
	t.Chdir("../..")
	var lines []string
	for _, file := range []string{"docs/commands.md", "README.md", "paper/README.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	probes := 0
	root := rootCmd()
	for _, line := range lines {
		line, indented := strings.CutPrefix(line, "    ")
		line = strings.TrimPrefix(line, "go run ./cmd/")
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		args := strings.Fields(strings.TrimSpace(line))
		if !indented || len(args) < 2 || args[0] != "heddle" {
			continue
		}
		if c, _, err := root.Find(args[1:]); err != nil || c == root {
			t.Errorf("%s: no such command (%v)", line, err)
		}
		for _, a := range args {
			if strings.HasPrefix(a, "examples/") || strings.HasPrefix(a, "apps/") || strings.HasPrefix(a, "docs/") {
				if _, err := os.Stat(a); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		if args[1] != "probe" {
			continue
		}
		probes++
		var out, errs bytes.Buffer
		if code := heddle(args[1:], &out, &errs); code != exitOK || !json.Valid(out.Bytes()) {
			t.Errorf("%s: status %d, %s", line, code, errs.String())
		}
	}
	if probes < 5 {
		t.Errorf("%d probes tried: the document has changed its form", probes)
	}
}

// TestNamedFiles: every Go file that a document names in a code span is in the repository, under that name or as the
// end of its path. The files of the example policy and of the example placement are exempt.
func TestNamedFiles(t *testing.T) {
	t.Chdir("../..")
	there := map[string]bool{"control/hill_climb.go": true, "mem/placement/lowest.go": true}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			for path := filepath.ToSlash(path); path != ""; _, path, _ = strings.Cut(path, "/") {
				there[path] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named, span := 0, regexp.MustCompile("`([\\w/]+\\.go)`")
	for _, pattern := range []string{"*.md", "docs/*.md", "paper/README.md", "apps/README.md", "host/*/README.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no document %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range span.FindAllStringSubmatch(string(text), -1) {
				named++
				if !there[m[1]] {
					t.Errorf("%s names %s, which is not in the repository", file, m[1])
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("%d files named: the documents have changed their form", named)
	}
}

// TestDocsFromTheCommandLine: reference and man pages appear where they are asked for.
func TestDocsFromTheCommandLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	for _, args := range [][]string{{"docs", dir}, {"docs", "--man", dir}} {
		var out bytes.Buffer
		if code := heddle(args, &out, &out); code != exitOK {
			t.Fatalf("%v: %d %s", args, code, out.String())
		}
	}
	for file, want := range map[string]string{
		"policies.md": "`hydrogen`", "machine.md": "`dram.timing.cl`", "runfile.md": "`length.cycles`",
		"heddle-run.1": "--sharing", "heddle-policy-replay.1": "--samples",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(strings.ReplaceAll(string(text), `\-`, "-"), want) {
			t.Errorf("%s lacks %s: %v", file, want, err)
		}
	}
}

// TestLinks: every relative link of a document leads to a file, and to a heading of it where it
// names one.
func TestLinks(t *testing.T) {
	root := "../.."
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	count := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "results") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			count++
			file := path
			if to != "" {
				file = filepath.Join(filepath.Dir(path), filepath.FromSlash(to))
			}
			body, err := os.ReadFile(file)
			if st, statErr := os.Stat(file); err != nil && (statErr != nil || !st.IsDir()) {
				t.Errorf("%s: %s leads nowhere", path, m[1])
			} else if heading != "" && !hasHeading(string(body), heading) {
				t.Errorf("%s: %s has no heading #%s", path, file, heading)
			}
		}
		return nil
	})
	if err != nil || count < 20 {
		t.Errorf("%d links, %v", count, err)
	}
}

// hasHeading finds a heading by the anchor that Markdown renderers make of it.
func hasHeading(text, anchor string) bool {
	drop := regexp.MustCompile(`[^a-z0-9 _-]`)
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line {
			made := drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			if strings.ReplaceAll(made, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}
