package slurm

import (
	"fmt"
	"os"
)

// fileLock keeps clients of one store from submitting at the same time. The system releases it when the process dies.
type fileLock struct{ file *os.File }

func openLock(name string) (*fileLock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	return &fileLock{f}, err
}

// take waits for the lock; an error where the file system has none.
func (l *fileLock) take() (held bool, err error) {
	if err := lock(l.file); err != nil {
		return false, fmt.Errorf("%s cannot be locked: %w", l.file.Name(), err)
	}
	return true, nil
}

func (l *fileLock) release() { _ = unlock(l.file) } // at worst it is released with the file

func (l *fileLock) close() { _ = l.file.Close() } // nothing was written
