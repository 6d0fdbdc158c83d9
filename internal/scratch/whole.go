package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteWhole writes a file that appears whole or not at all. If path is no regular file, such as a pipe or
// /dev/stdout, it writes to it directly. Errors name path, not the temporary file.
func WriteWhole(path string, body []byte) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return Unwritten(path, os.WriteFile(path, body, 0o644))
	}
	return Unwritten(path, writeBeside(path, body))
}

func writeBeside(path string, body []byte) error {
	t, err := File(filepath.Dir(path), "."+filepath.Base(path)+".writing-")
	if err != nil {
		return err
	}
	_, err = t.Write(body)
	err = errors.Join(err, t.Chmod(0o644), t.Sync(), t.Close()) // File makes it private
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return nil
}

// Unwritten is the error of a path that cannot be written: it gives the path and the system's message, without the
// name of the temporary file. nil stays nil.
func Unwritten(path string, err error) error {
	var p *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}
