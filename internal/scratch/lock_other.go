//go:build !unix

package scratch

import (
	"errors"
	"os"
)

// lock is not available here: nothing that another process left is cleared.
func lock(*os.File) error { return errors.ErrUnsupported }
