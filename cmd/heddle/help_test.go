package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// tooWide is the first line that has more than a hundred columns; empty when none has.
func tooWide(text string) string {
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > wide {
			return line
		}
	}
	return ""
}

// said is what a command line prints that succeeds.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := heddle(args, &out, &errs); code != exitOK {
		t.Fatalf("heddle %s: status %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// flagTexts are the texts of the flags in a help text, by name; a flag begins a line and its text may go on in others.
func flagTexts(help string) map[string]string {
	out := map[string]string{}
	name := ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		if _, flag, ok := strings.Cut(line[:min(len(line), 8)], "--"); ok {
			name, _, _ = strings.Cut(flag+line[min(len(line), 8):], " ")
		}
		if name != "" {
			out[name] += line + "\n"
		}
	}
	return out
}

// TestHelp: the help of every command fits 100 columns, and each flag with a value says its default or that it must be
// given.
func TestHelp(t *testing.T) {
	commands := 0
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		commands++
		help := said(t, append(path, "--help")...)
		if line := tooWide(help); line != "" {
			t.Errorf("help of %q has a line of more than %d columns:\n%s", path, wide, line)
		}
		texts := flagTexts(help)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			text := texts[f.Name]
			if said := strings.Contains(text, "(default") || strings.Contains(text, "(required)"); !said && !f.Hidden &&
				f.Value.Type() != "bool" {
				t.Errorf("help of %q says no default of --%s: %q", path, f.Name, text)
			}
		})
		for _, sub := range c.Commands() {
			if sub.Name() != "help" {
				walk(sub, append(path[:len(path):len(path)], sub.Name()))
			}
		}
	}
	root := rootCmd()
	root.InitDefaultCompletionCmd()
	walk(root, nil)
	if commands < 30 {
		t.Errorf("%d commands", commands)
	}
}

// TestListsFit: no list of inspect has a line of more than 100 columns.
func TestListsFit(t *testing.T) {
	t.Chdir("../..")
	lists := [][]string{{"machine"}, {"policies"}, {"policies", "sharing"}, {"apps"}, {"counters"}}
	for _, p := range policies() {
		lists = append(lists, []string{"policies", p.Name})
	}
	sheets, err := filepath.Glob("sheets/*.yaml")
	if err != nil || len(sheets) == 0 {
		t.Fatal(err)
	}
	for _, s := range sheets {
		lists = append(lists, []string{"machine", s})
	}
	for _, l := range lists {
		out := said(t, append([]string{"inspect"}, l...)...)
		if line := tooWide(out); line != "" {
			t.Errorf("inspect %s has a line of more than %d columns:\n%s", strings.Join(l, " "), wide, line)
		}
		if strings.Count(out, "\n") < 2 {
			t.Errorf("inspect %s: %q", l, out)
		}
	}
}

// TestTablesOfFilesFit: names in files may be long, as those of C++ kernels are; no line of a table is.
func TestTablesOfFilesFit(t *testing.T) {
	dir := t.TempDir()
	name := "void detail::transform<float, (int)256, detail::multiply_and_add<float const*> >(float const*, float*, " +
		strings.Repeat("unsigned long, ", 20) + "int)"
	traceg := "-kernel name = " + name + "\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 8\n" +
		"-unknown key " + strings.Repeat("long ", 30) + " = 1\n" +
		"-accelsim tracer version = 5\n#traces format\n\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n" +
		"0000 ffffffff 0 EXIT 0 0\n#END_TB\n"
	file := filepath.Join(dir, strings.Repeat("kernel-", 20)+"1.traceg")
	params := strings.Repeat(".param .u64 p, ", 40)
	for k := range 40 {
		params = strings.Replace(params, " p,", fmt.Sprintf(" a_long_name_of_parameter_%d,", k), 1)
	}
	module := filepath.Join(dir, strings.Repeat("module-", 20)+".ptx")
	ptx := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry " + strings.Repeat("kernel_", 20) + "(" +
		strings.TrimSuffix(params, ", ") + ")\n{\n\tret;\n}\n"
	for path, text := range map[string]string{file: traceg, module: ptx} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"trace", "info", file},
		{"ptx", "check", module},
		{"ptx", "analyze", module},
		{"ptx", "analyze", "apps/rodinia-like/bfs/kernel.ptx"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			t.Chdir("../..")
			if line := tooWide(said(t, args...)); line != "" {
				t.Errorf("a line of more than %d columns:\n%s", wide, line)
			}
		})
	}
}

// TestInspectAppsByName: an application is found by its name alone, and a slip is met with the right name.
func TestInspectAppsByName(t *testing.T) {
	t.Chdir("../..")
	if out := said(t, "inspect", "apps", "blackscholes"); !strings.Contains(out, "\napps/sdk-like/blackscholes ") {
		t.Errorf("inspect apps blackscholes: %s", out)
	}
	for _, c := range []struct{ args, want string }{
		{"inspect apps blackschole", "no application of that name (did you mean sdk-like/blackscholes?)"},
		{"inspect apps polybnch", "(did you mean polybench?)"},
		{"run blackscholes", "the application of that name is apps/sdk-like/blackscholes"},
		{"run sdk-like/blackscholes", "the application of that name is apps/sdk-like/blackscholes"},
	} {
		var out, errs bytes.Buffer
		code := heddle(strings.Fields(c.args), &out, &errs)
		if code != exitInput || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: status %d, %s", c.args, code, errs.String())
		}
	}
	if _, err := os.Stat("blackscholes"); err == nil {
		t.Error("something was written")
	}
}
