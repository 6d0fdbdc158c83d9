package main

import (
	"io"
	"os"
	"path/filepath"
)

// openInput opens a file that a flag names; - is standard input. name is what errors call it.
func openInput(file string, stdin io.Reader) (name string, in io.ReadCloser, err error) {
	if file == "-" {
		return "standard input", io.NopCloser(stdin), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", nil, err
	}
	return filepath.ToSlash(file), f, nil
}
