// Package scratch makes temporary files and directories that are renamed to their final name when they are complete.
// What a killed process left behind is removed when another process makes such a file or directory in the same place.
// A reader must know one type: Dir, a directory that belongs to this process.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Dir is a directory that belongs to this process until it is removed or released.
type Dir struct {
	path string
	lock *os.File // of the directory itself; the system lets it go when the process dies
}

// young is the age below which a directory without a lock may have one soon.
const young = time.Minute

// Make makes a directory in parent ("": the system's place for temporary files), whose name begins with prefix.
// Before, it removes directories of that name whose processes have ended.
func Make(parent, prefix string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	clear(parent, func(e os.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), prefix) })
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	_ = lock(f) // a file system without locks: the directory may be cleared when it is old, but never now
	return &Dir{path, f}, nil
}

// Path is where files go.
func (d *Dir) Path() string { return d.path }

// Release gives up the directory, which may have been renamed.
func (d *Dir) Release() error { return d.lock.Close() }

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error { return errors.Join(os.RemoveAll(d.path), d.Release()) }

// File makes a file in parent, whose name is prefix and a number. Before, it removes files of that name whose
// processes have ended. A caller that closes the file before it has renamed it must remove it.
func File(parent, prefix string) (*os.File, error) {
	clear(parent, func(e os.DirEntry) bool {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		return ok && e.Type().IsRegular() && rest != "" && strings.Trim(rest, "0123456789") == ""
	})
	f, err := os.CreateTemp(parent, prefix+"*")
	if err != nil {
		return nil, err
	}
	_ = lock(f)
	return f, nil
}

// clear removes what killed processes have left. It does what it can: what cannot be removed does no harm.
func clear(parent string, ours func(e os.DirEntry) bool) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !ours(e) || time.Since(info.ModTime()) < young {
			continue
		}
		path := filepath.Join(parent, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if lock(f) == nil {
			_ = os.RemoveAll(path)
		}
		_ = f.Close()
	}
}
