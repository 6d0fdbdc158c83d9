package scratch

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteWhole writes a file that appears whole or not at all. Errors name the path.
func WriteWhole(path string, body []byte) error {
	t, err := File(filepath.Dir(path), "."+filepath.Base(path)+".writing-")
	if err != nil {
		return err
	}
	_, err = t.Write(body)
	err = errors.Join(err, t.Chmod(0o644), t.Close()) // File makes it private
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return nil
}
