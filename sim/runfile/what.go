package runfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// identify recognises files that are certainly no run file and no application, and says what to do with them. It says
// nothing about any other file.
func identify(path string) (what, remedy string, err error) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", "", err
	}
	if st.Size() == 0 {
		return "empty", "a run file names at least one application (apps:)", nil
	}
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return "", "", nil // probably a run file with a mistake: the YAML reader shows the place
	}
	return yamldoc.Foreign(path)
}

// another is the error of a file of another kind, or of a run file that contains a sweep, which must be a separate
// file.
func another(root *yamldoc.Node) error {
	if err := root.Instead("a run file"); err != nil {
		return err
	}
	for _, k := range root.Keys {
		if k.Name == "sweep" || k.Name == "vary" {
			return k.At.Errorf("a run file has no key %q: write a file of its own, with run: %s and "+
				"vary: [{machine.dram.channels: [16, 32]}], and give it to heddle sweep", k.Name,
				filepath.Base(root.File()))
		}
	}
	return nil
}

// noApplication says why a path is no application, where app.star cannot be looked at for the reason err.
func noApplication(path string, err error) error {
	st, none := os.Stat(path)
	switch {
	case errors.Is(none, fs.ErrNotExist):
		return errors.New("there is no such folder")
	case none == nil && st.IsDir() && errors.Is(err, fs.ErrNotExist):
		return errors.New("the folder has no app.star")
	case none == nil && !st.IsDir():
		return errors.New("it is a file; give a folder with app.star, a recording or a trace")
	}
	return err
}
