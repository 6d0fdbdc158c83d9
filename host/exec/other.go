//go:build !linux || !amd64

package exec

import (
	"errors"

	"github.com/heddle-sim/heddle/host"
)

// Run implements host.Program.
func (p *Program) Run(*host.Context) error {
	return &host.Error{Err: errors.New("compiled CUDA programs run on Linux on x86-64 only")}
}
