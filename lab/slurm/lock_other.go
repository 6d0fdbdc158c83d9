//go:build !unix

package slurm

import (
	"errors"
	"os"
)

func lock(*os.File) error { return errors.ErrUnsupported }

func unlock(*os.File) error { return nil }
