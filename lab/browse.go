package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// The contents of a store can be read without the specs of the runs: results of every simulator, and failures.

// EntryFolders and FailedFolders are patterns of folders in a store: those with results, and those with failures.
const (
	EntryFolders  = "[0-9a-f][0-9a-f]"
	FailedFolders = failedDir
)

// ReadEntry reads a file with a result from a store: the text of the result, checked against its checksum, and the
// identity of the simulator that made it ("" in old entries). Its errors wrap ErrDamaged.
func ReadEntry(file string) (result []byte, code string, err error) {
	text, err := readPlain(file)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	e, err := readEntry(file, strings.TrimSuffix(filepath.Base(file), ".json"), text)
	if err != nil {
		return nil, "", err
	}
	return e.Result, e.Code, nil
}

// DecodeEntry makes a result from the text that ReadEntry returns.
func DecodeEntry(file string, text []byte) (*sim.Result, error) {
	r, err := (&entry{Result: text}).decode(file)
	if err == nil && r.Version != sim.ResultVersion {
		err = fmt.Errorf("%w: %s has version %d of the layout, this heddle reads version %d", ErrDamaged, file,
			r.Version, sim.ResultVersion)
	}
	return r, err
}

// ReadFailed reads a file with a failure from a store. Its errors wrap ErrDamaged.
func ReadFailed(file string) (*Failed, error) {
	text, err := readPlain(file)
	if err == nil {
		var f Failed
		if err = json.Unmarshal(text, &f); err == nil && f.SpecHash != "" {
			return &f, nil
		}
		err = errors.Join(err, errors.New("no failure"))
	}
	return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, file, err)
}
