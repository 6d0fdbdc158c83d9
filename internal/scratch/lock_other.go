//go:build !unix

package scratch

import (
	"errors"
	"os"
)

// lock is not to be had: nothing that another process left is cleared.
func lock(*os.File) error { return errors.ErrUnsupported }
