package runfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/trace/accelsim"
	"github.com/heddle-sim/heddle/trace/record"
)

// maxAppBytes bounds the bytes of an application folder that are read for its hash.
const maxAppBytes = 1 << 30

// Hash is the identity of a simulation: the resolved spec, every number of the
// resolved machine, the contents of the application folders and the text of the policies
// that govern it. Where files lie
// does not matter.
func Hash(spec *sim.Spec, m *sheets.Machine) (_ string, err error) {
	s := *spec
	s.Machine, s.Set = "", nil // the resolved machine stands for both
	s.Apps = append([]sim.App(nil), spec.Apps...)
	for i := range s.Apps {
		a := &s.Apps[i]
		if a.CPU != nil {
			c := *a.CPU
			if c.Trace, err = trace(c.Trace); err != nil {
				return "", fmt.Errorf("application %s: %w", a.Name, err)
			}
			a.CPU = &c
			continue
		}
		if a.Exec != nil {
			if a.Path, err = trace(executable(a)); err != nil {
				return "", fmt.Errorf("application %s: %w", a.Name, err)
			}
			continue
		}
		if a.Path, err = Contents(a.Path); err != nil {
			return "", fmt.Errorf("application %s: %w", a.Name, err)
		}
	}
	plain := *m
	plain.Description = ""
	var policies []string
	for _, g := range s.Sharing.Governed() {
		d, err := digest(g.Policy)
		if err != nil {
			return "", err
		}
		policies = append(policies, d)
	}
	text, err := json.Marshal(struct {
		Version  int
		Machine  *sheets.Machine
		Spec     sim.Spec
		Policies []string
	}{sim.ResultVersion, &plain, s, policies})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// executable is the file of a compiled program.
func executable(a *sim.App) string {
	name := a.Exec[0]
	if !strings.Contains(name, "/") {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		return name
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.Path, name)
}

// trace is the identity of a trace of a CPU program or of an executable, however long; "" of none.
func trace(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// digest is the identity of a policy by name.
func digest(policy string) (string, error) {
	e, err := control.Find(policy)
	if err != nil {
		return "", err
	}
	return e.Digest()
}

// Contents is the hash of all regular files below a folder, by relative name, or
// the identity of a recording or a trace.
func Contents(dir string) (string, error) {
	if is, err := record.Is(dir); err != nil {
		return "", err
	} else if is {
		return record.Identity(dir)
	}
	if list, ok := accelsim.Find(dir); ok {
		return accelsim.Identity(list)
	}
	h := sha256.New()
	var total int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		n, err := addFile(h, path, filepath.ToSlash(rel))
		if total += n; total > maxAppBytes {
			return fmt.Errorf("%s holds more than %d bytes", dir, int64(maxAppBytes))
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// addFile hashes a file's name, size and bytes.
func addFile(h hash.Hash, path, name string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%q %d\n", name, st.Size())
	n, err := io.Copy(h, io.LimitReader(f, maxAppBytes+1))
	if err == nil && n != st.Size() {
		err = fmt.Errorf("%s changed while it was read", path)
	}
	return n, err
}
