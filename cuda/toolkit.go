package cuda

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/cuda/shim"
)

// Release is the version of CUDA whose names the headers have, as nvcc --version prints it.
const Release = "Cuda compilation tools, release 12.3, V12.3.107"

// Toolkit returns a folder that build files accept as the CUDA toolkit: bin/nvcc is `heddle cc` of the program self,
// include has the headers, lib64 the driver library in the folder lib. The folder lies beside lib and is made on
// first use.
func Toolkit(lib, self string) (string, error) {
	id := sha256.Sum256([]byte(lib + "\x00" + self))
	to := filepath.Join(filepath.Dir(lib), "toolkit-"+hex.EncodeToString(id[:])[:16])
	if _, err := os.Stat(filepath.Join(to, "bin", "nvcc")); err == nil {
		return to, nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(lib), "toolkit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp) // a rest of it does no harm
	made := filepath.Join(tmp, "toolkit")
	if err := fillToolkit(made, lib, self); err != nil {
		return "", err
	}
	if err := os.Rename(made, to); err != nil {
		if _, there := os.Stat(to); there != nil { // another process was faster otherwise
			return "", err
		}
	}
	return to, nil
}

func fillToolkit(to, lib, self string) error {
	for _, d := range []string{"bin", "lib64"} {
		if err := os.MkdirAll(filepath.Join(to, d), 0o755); err != nil {
			return err
		}
	}
	if err := unpack(to); err != nil {
		return err
	}
	// A shell's single quotes take everything but a single quote.
	quoted := "'" + strings.ReplaceAll(self, "'", `'\''`) + "'"
	nvcc := "#!/bin/sh\n# nvcc, as far as heddle cc has it\nexec " + quoted + " cc \"$@\"\n"
	if err := os.WriteFile(filepath.Join(to, "bin", "nvcc"), []byte(nvcc), 0o755); err != nil {
		return err
	}
	for _, l := range shim.Linked() {
		name, _, _ := strings.Cut(l, ".so")
		for _, n := range []string{name + ".so", l} {
			if err := os.Symlink(filepath.Join(lib, l), filepath.Join(to, "lib64", n)); err != nil {
				return err
			}
		}
	}
	if err := os.Symlink("lib64", filepath.Join(to, "lib")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "version.json"),
		[]byte("{\"cuda\": {\"name\": \"Heddle's CUDA headers\", \"version\": \"12.3.107\"}}\n"), 0o644)
}

// withoutHeaders drops the folders of -I that have these headers, which each compilation brings along.
func (b *build) withoutHeaders() {
	var kept []string
	for i := 0; i < len(b.o.flags); i++ {
		f := b.o.flags[i]
		if (f == "-I" || f == "-isystem") && i+1 < len(b.o.flags) {
			if _, err := os.Stat(filepath.Join(b.o.flags[i+1], "heddle", "device.h")); err == nil {
				i++
				continue
			}
		}
		kept = append(kept, f)
	}
	b.o.flags = kept
}
