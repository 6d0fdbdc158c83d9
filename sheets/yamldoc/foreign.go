package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// A file that a user gives by mistake is named by its content: the YAML reader's error for a trace does not help.

// peek is how many bytes of a file's begin tell what it is.
const peek = 4096

// stranger is a kind of file that is no configuration: how it is recognised, and what to do with it.
type stranger struct {
	is     func(head []byte) bool
	what   string
	remedy string
	maybe  bool // a configuration may look like this, too
}

// strangers are in the order in which they are tried.
func strangers() []stranger {
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
	const list = "kernelslist.g"
	const packed = "a ChampSim trace belongs to a CPU core: name it in a run file as cpu: {trace: FILE}; a packed " +
		"Accel-Sim trace is given by the folder that holds its " + list
	return []stranger{
		{
			line("-kernel name"), "one kernel of an Accel-Sim trace",
			"give heddle run the folder that holds its " + list, false,
		},
		{
			begins("\x7fELF"), "a program for the processor, or machine code of a GPU",
			"heddle simulates PTX: give an application's folder (app.star beside kernel.ptx) or a run file", false,
		},
		{
			line(".version"), "PTX code",
			"heddle ptx check FILE checks it; to run it, put it beside an app.star that launches its kernels, and " +
				"give the folder", true,
		},
		{begins("\xfd7zXZ\x00", "\x1f\x8b", "\x28\xb5\x2f\xfd"), "a packed file (xz, gzip or zstd)", packed, false},
		{
			line("#include"), "source code in C or CUDA",
			"heddle cc --ptx FILE makes PTX of CUDA kernels", true,
		},
		{
			func(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }, "a binary file",
			"a ChampSim trace is named in a run file as cpu: {trace: FILE}; a recording of heddle run --record that " +
				"was cut or changed cannot be replayed: record it again", false,
		},
	}
}

// Foreign says what a file is by its first bytes, if it is something else than a configuration, and what to do with it.
func Foreign(file string) (what, remedy string, err error) {
	k, err := strangerOf(file)
	if k == nil {
		return "", "", err
	}
	return k.what, k.remedy, nil
}

func strangerOf(file string) (*stranger, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, peek)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return find(head[:n]), nil
}

// find is the stranger that bytes at the begin of a file show; nil: none.
func find(head []byte) *stranger {
	for _, k := range strangers() {
		if k.is(head) {
			return &k
		}
	}
	return nil
}

// foreign is the error of a file that is certainly no configuration.
func foreign(name string, src []byte) error {
	if k := find(src[:min(peek, len(src))]); k != nil && !k.maybe {
		return fmt.Errorf("%s is %s, and no configuration: %s", name, k.what, k.remedy)
	}
	return nil
}
