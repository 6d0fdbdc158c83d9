package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// helpful makes the errors of a command and of those below it say what may have been meant.
func helpful(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagError)
	if !cmd.HasSubCommands() {
		if takes := cmd.Args; takes != nil {
			cmd.Args = func(cmd *cobra.Command, args []string) error { return counted(cmd, args, takes(cmd, args)) }
		}
		return
	}
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var names []string
		for _, c := range cmd.Commands() {
			if !c.Hidden {
				names = append(names, c.Name())
			}
		}
		return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), yamldoc.DidYouMean(args[0], names))
	}
	for _, c := range cmd.Commands() {
		helpful(c)
	}
}

// counted says how a command is written that has got too few arguments, or too many.
func counted(cmd *cobra.Command, args []string, err error) error {
	if err == nil || !strings.HasPrefix(err.Error(), "accepts ") && !strings.HasPrefix(err.Error(), "requires at ") {
		return err
	}
	got := strconv.Itoa(len(args)) + " arguments"
	switch len(args) {
	case 0:
		got = "no argument"
	case 1:
		got = "1 argument"
	}
	return fmt.Errorf("%s with %s: write %s (%s --help says what they are)", cmd.CommandPath(), got, cmd.UseLine(),
		cmd.CommandPath())
}

// numbers are the kinds of flags that hold numbers, and what is wanted of them.
func numbers() map[string]string {
	return map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint": "a whole number from 0 on",
		"uint64": "a whole number from 0 on", "float64": "a number", "bool": "true or false",
		"duration": "a time such as 30s or 5m",
	}
}

// invalid is pflag's sentence on a value; the last part is the reason.
var invalid = regexp.MustCompile(`^invalid argument ("(?s:.*)") for "(?:-., )?--([^"]+)" flag: (?s:(.*))$`)

// flagError names the flag that is nearest to an unknown one, and what one with a wrong value takes.
func flagError(cmd *cobra.Command, err error) error {
	if m := invalid.FindStringSubmatch(err.Error()); m != nil {
		want := m[3]
		if f := cmd.Flags().Lookup(m[2]); f != nil && numbers()[f.Value.Type()] != "" {
			want = "want " + numbers()[f.Value.Type()]
		}
		return fmt.Errorf("--%s %s: %s", m[2], m[1], want)
	}
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	near := yamldoc.Nearest("--"+name, names)
	if near == "" {
		return fmt.Errorf("%w; %s --help lists them", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w; did you mean %s?", err, near)
}

// missing is the error of a path that does not exist, with the one that may have been meant: the first part of the
// path that is not there is compared with what is.
func missing(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if app := elsewhere(path); app != "" {
		return fmt.Errorf("there is no %s here; the application of that name is %s", path, app)
	}
	rest, at := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/"), "."
	if filepath.IsAbs(path) {
		rest, at = rest[1:], "/"
	}
	for i, part := range rest {
		next := filepath.Join(at, part)
		if _, err := os.Stat(next); err == nil {
			at = next
			continue
		}
		entries, _ := os.ReadDir(at) // what cannot be read gives no suggestion
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		near := yamldoc.Nearest(part, names)
		if near == "" {
			return fmt.Errorf("there is no %s", path)
		}
		meant := filepath.Join(append([]string{at, near}, rest[i+1:]...)...)
		return fmt.Errorf("there is no %s; did you mean %s?", path, meant)
	}
	return err
}

// inWords is an error's text with plain words for what the system says of a file that is read.
func inWords(err error) string {
	text := err.Error()
	var p *fs.PathError
	if !errors.As(err, &p) {
		return text
	}
	plain := missing(p.Path, p).Error()
	switch {
	case errors.Is(p.Err, syscall.EISDIR):
		plain = p.Path + " is a folder, where a file is needed"
	case errors.Is(p.Err, syscall.ENOTDIR) && p.Op == "open":
		plain = p.Path + " is not a folder, or lies below a file"
	case errors.Is(p.Err, fs.ErrPermission):
		plain = fmt.Sprintf("no permission to %s %s", p.Op, p.Path)
	}
	return strings.Replace(text, p.Error(), plain, 1)
}
