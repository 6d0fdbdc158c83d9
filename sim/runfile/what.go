package runfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/trace/accelsim"
)

// A file that a user gives to heddle run by mistake is named by its content: the YAML reader's
// opinion of a trace helps nobody.

// peek is how many bytes of a file's begin tell what it is.
const peek = 4096

// kind is a sort of file that is no run file: how it is told, and what to do with it.
type kind struct {
	is     func(head []byte) bool
	what   string
	remedy string
}

// kinds are in the order in which they are tried.
func kinds() []kind {
	begins := func(with ...string) func([]byte) bool {
		return func(head []byte) bool {
			for _, w := range with {
				if bytes.HasPrefix(head, []byte(w)) {
					return true
				}
			}
			return false
		}
	}
	line := func(begin string) func([]byte) bool { // one of the first lines begins with it
		return func(head []byte) bool {
			return bytes.HasPrefix(head, []byte(begin)) || bytes.Contains(head, []byte("\n"+begin))
		}
	}
	const packed = "a ChampSim trace belongs to a CPU core: name it in a run file as cpu: {trace: FILE}; a packed " +
		"Accel-Sim trace is given by the folder that holds its " + accelsim.ListName
	return []kind{
		{
			line("-kernel name"), "one kernel of an Accel-Sim trace",
			"give the folder that holds its " + accelsim.ListName,
		},
		{
			begins("\x7fELF"), "a program for the processor, or machine code of a GPU",
			"heddle simulates PTX: give an application's folder (app.star beside kernel.ptx) or a run file",
		},
		{
			line(".version"), "PTX code",
			"heddle ptx check FILE checks it; to run it, put it beside an app.star that launches its kernels, and " +
				"give the folder",
		},
		{begins("\xfd7zXZ\x00", "\x1f\x8b", "\x28\xb5\x2f\xfd"), "a packed file (xz, gzip or zstd)", packed},
		{
			line("#include"), "source code in C or CUDA",
			"heddle cc --ptx FILE makes PTX of CUDA kernels",
		},
		{
			func(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }, "a binary file",
			"a run file is YAML text. A ChampSim trace is named in a run file as cpu: {trace: FILE}; a " +
				"recording of heddle run --record that was cut or changed cannot be replayed: record it again",
		},
	}
}

// identify says what a file is that is certainly no run file and no application, and what to do
// about it; nothing where it may be one, or where it is no plain file.
func identify(path string) (what, remedy string, err error) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	head := make([]byte, peek)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", "", err
	}
	if n == 0 {
		return "empty", "a run file names at least one application (apps:)", nil
	}
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		return "", "", nil // meant as a run file: the YAML reader shows the place
	}
	for _, k := range kinds() {
		if k.is(head[:n]) {
			return k.what, k.remedy, nil
		}
	}
	return "", "", nil
}

// another is an error where a file is of another sort, or where a run file has a sweep in it, which is a file of its
// own.
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
