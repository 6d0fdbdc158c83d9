package main

import (
	"errors"
	"os"
	"path/filepath"
)

// writeNew writes a file in one piece: it has all of the text, or is what it was. What is no file, such as a pipe or
// /dev/stdout, is written to as it is.
func writeNew(path string, text []byte) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return os.WriteFile(path, text, 0o644)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".writing-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
