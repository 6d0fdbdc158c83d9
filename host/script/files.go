package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// statFile finds a regular file inside root.
func statFile(root *os.Root, name string) (fs.FileInfo, error) {
	if name == "" {
		return nil, errors.New("the file name is empty")
	}
	info, err := root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, outside(err, name, "a script reads files of its own folder only")
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return info, nil
}

// outside explains the refusal of a path that leaves a root. Package os has no
// exported error for it, so its text decides; the access is refused either way.
func outside(err error, name, rule string) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains(err.Error(), "escapes") {
		return fmt.Errorf("%s lies outside: %s", name, rule)
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", name, p.Err)
	}
	return err
}

// sized refuses a file whose size differs from the required one, if that is 0 or more; why is the reason for the
// message.
func (e *env) sized(name string, size int64, why string) error {
	info, err := statFile(e.root, name)
	if err == nil && size >= 0 && info.Size() != size {
		err = fmt.Errorf("%s has %d bytes, but %s has %d", name, info.Size(), why, size)
	}
	return err
}

// read is the bytes of a file of the program's folder that is sized so.
func (e *env) read(name string, size int64, why string) ([]byte, error) {
	if err := e.sized(name, size, why); err != nil {
		return nil, err
	}
	return e.root.ReadFile(filepath.FromSlash(name))
}

// open opens one.
func (e *env) open(name string, size int64, why string) (*os.File, error) {
	if err := e.sized(name, size, why); err != nil {
		return nil, err
	}
	return e.root.Open(filepath.FromSlash(name))
}

// save writes a file of the output directory: the whole of it or nothing.
func (e *env) save(name string, b []byte) error {
	const rule = "a script writes files of the output directory only"
	if e.p.opt.OutDir == "" {
		return fmt.Errorf("cannot write %s: there is no output directory; give one with --out DIR", name)
	}
	if name == "" || strings.HasSuffix(name, "/") {
		return fmt.Errorf("%q is not a file name", name)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return outside(fs.ErrInvalid, name, rule)
	}
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
		return fmt.Errorf("%q has a control character", name)
	}
	if e.p.opt.Taken != nil && e.p.opt.Taken(path.Clean(name)) {
		return fmt.Errorf("heddle itself writes %s into the result; give another name", name)
	}
	if err := os.MkdirAll(e.p.opt.OutDir, 0o777); err != nil {
		return err
	}
	out, err := os.OpenRoot(e.p.opt.OutDir)
	if err != nil {
		return err
	}
	defer out.Close()
	dir, base := path.Split(name)
	if dir != "" {
		if err := out.MkdirAll(filepath.FromSlash(strings.TrimSuffix(dir, "/")), 0o777); err != nil {
			return outside(err, name, rule)
		}
	}
	part := filepath.FromSlash(dir + "." + base + ".part")
	if err := out.WriteFile(part, b, 0o666); err != nil {
		return outside(err, name, rule)
	}
	if err := out.Rename(part, filepath.FromSlash(name)); err != nil {
		return outside(errors.Join(err, out.Remove(part)), name, rule)
	}
	return nil
}
