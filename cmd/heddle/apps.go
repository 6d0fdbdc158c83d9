package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/workload"
)

// app is one application: a folder, or a model file.
type app struct {
	Name   string   `json:"name"` // path below the folder of applications
	Path   string   `json:"path"`
	Params []string `json:"params"`
	What   string   `json:"what"` // first sentence of its README, or the model's description
	Error  string   `json:"error,omitempty"`
}

// appsDir finds the folder of applications.
func appsDir() (string, error) { return nearest("apps", "name one: heddle inspect apps DIR") }

// nearest finds a folder in the working directory or the nearest one above; remedy is the advice in the error.
func nearest(folder, remedy string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for up := "."; ; up = filepath.Join(up, "..") {
		if st, err := os.Stat(filepath.Join(dir, folder)); err == nil && st.IsDir() {
			return filepath.Join(up, folder), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no folder %s here or above; %s", folder, remedy)
		}
		dir = parent
	}
}

// findApps lists the folders with app.star and the model files below dir, not
// following links.
func findApps(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && d.Name() == "app.star" {
			out = append(out, filepath.Dir(path))
		}
		if model, err := workload.Is(path); err != nil || !model {
			return err
		}
		out = append(out, path)
		return nil
	})
	return out, err
}

// appPaths completes application folders.
func appPaths(prefix string) []string {
	dir, err := appsDir()
	if err != nil {
		return nil
	}
	list, err := findApps(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, a := range list {
		if strings.HasPrefix(a, prefix) {
			out = append(out, a)
		}
	}
	return out
}

func inspectApps(w io.Writer, name string, asJSON bool) error {
	paths, err := appsCalled(name)
	if err != nil {
		return err
	}
	var list []app
	rows := [][]string{{"APPLICATION", "PARAMETERS", "WHAT"}}
	for _, p := range paths {
		a := describeApp(p)
		list = append(list, a)
		what := a.What
		if a.Error != "" {
			what = "BROKEN: " + a.Error
		}
		rows = append(rows, []string{a.Path, strings.Join(a.Params, " "), what})
	}
	if asJSON {
		return printJSON(w, list)
	}
	if name == "" {
		if rows, err = cpuModels(rows); err != nil {
			return err
		}
	}
	return text.Columns(w, rows)
}

// appsCalled finds the folder or model that the argument of inspect apps names: a path, one below the folder of
// applications, as "polybench" or "polybench/atax", or all applications with that name, as "atax".
func appsCalled(name string) ([]string, error) {
	if name != "" {
		if _, err := os.Stat(name); err == nil {
			return appsBelow(name)
		}
	}
	base, err := appsDir()
	if err != nil && name != "" {
		return nil, fmt.Errorf("there is no folder %s, and %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(base, name)
	if _, err := os.Stat(dir); err == nil {
		return appsBelow(dir)
	}
	all, err := findApps(base)
	if err != nil {
		return nil, err
	}
	if same := namesakes(all, name); len(same) > 0 {
		return same, nil
	}
	return nil, fmt.Errorf("there is no folder %s here or below %s, and no application of that name%s; "+
		"heddle inspect apps lists them", name, base, nearApp(all, base, name))
}

func appsBelow(dir string) ([]string, error) {
	paths, err := findApps(dir)
	if err == nil && len(paths) == 0 {
		return nil, fmt.Errorf("no application (a folder with app.star, or a model file) below %s", dir)
	}
	return paths, err
}

// elsewhere says where the applications with this name, or this path below the folder of applications, are; empty if
// there is none.
func elsewhere(name string) string {
	base, err := appsDir()
	if err != nil {
		return ""
	}
	all, err := findApps(base)
	if err != nil {
		return ""
	}
	if below := filepath.Join(base, name); slices.Contains(all, below) {
		return below
	}
	return strings.Join(namesakes(all, name), " or ")
}

// namesakes are the applications whose folder or model file has a name.
func namesakes(all []string, name string) (out []string) {
	for _, a := range all {
		if b := filepath.Base(a); b == name || strings.TrimSuffix(b, filepath.Ext(b)) == name {
			out = append(out, a)
		}
	}
	return out
}

// nearApp suggests an application or a suite for a name that is neither.
func nearApp(all []string, base, name string) string {
	called := map[string]string{} // by name alone, and by path
	for _, a := range all {
		rel, err := filepath.Rel(base, a)
		if err != nil {
			continue
		}
		called[filepath.Base(a)], called[rel], called[filepath.Dir(rel)] = rel, rel, filepath.Dir(rel)
	}
	near := yamldoc.Nearest(name, slices.Sorted(maps.Keys(called)))
	if near == "" {
		return ""
	}
	return " (did you mean " + called[near] + "?)"
}

func describeApp(path string) app {
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") {
		return describeModel(path)
	}
	a := app{
		Name: filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), Path: path, Params: []string{},
		What: firstSentence(filepath.Join(path, "README.md")),
	}
	prog, err := script.Load(path, script.Options{})
	if err != nil {
		a.Error = err.Error()
		return a
	}
	for _, p := range prog.Params() {
		if p.Default == "" {
			a.Params = append(a.Params, p.Name)
		} else {
			a.Params = append(a.Params, p.Name+"="+p.Default)
		}
	}
	return a
}

func describeModel(path string) app {
	a := app{
		Name: filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path), Path: path,
		Params: []string{"scale=1"},
	}
	m, err := workload.Read(path)
	if err != nil {
		a.Error = err.Error()
		return a
	}
	a.Params, a.What = append(a.Params, fmt.Sprintf("rounds=%d", m.Rounds)), m.Description
	return a
}

// firstSentence is the first sentence after the title of a README; empty without one.
func firstSentence(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := bufio.NewScanner(io.LimitReader(f, 1<<16))
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if i := strings.Index(line, ". "); i > 0 {
			line = line[:i+1]
		}
		return line
	}
	return ""
}
