// Package exec runs compiled, unmodified CUDA programs as host programs. The program is a process of its own. Its
// calls come from the driver library of package cuda/shim over a socket. Its device memory lies in a file that both
// map.
//
// A reader must know three types. Program is the command line; it implements host.Program. session is one run of it:
// the process, the memory and the handles it has been given; a method of it answers each call. packet is a message.
//
// Nothing the program sends is trusted: handles, addresses and lengths are looked up and checked before use. While
// the program computes, no simulated time passes. While it waits, only the program stands still.
package exec

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/heddle-sim/heddle/host"
)

// Program is a program and its arguments.
type Program struct {
	Args []string // the program first
	Dir  string   // where it runs; "": here
	Env  []string // of the process; nil: that of heddle
	Shim string   // the folder with the driver library
	// Stdin, Stdout and Stderr belong to the program; nil: it reads nothing, and its output is dropped.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal leaves the program in the process group of heddle; a program that talks to a terminal needs that.
	Terminal bool

	code   atomic.Int32 // exit status of the last run
	memory atomic.Int64 // bytes that the last run holds
}

// Name is the program's file name.
func (p *Program) Name() string {
	if len(p.Args) == 0 {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(p.Args[0]), ".out")
}

// Status is the exit status of the last run, or 128 plus the signal that ended it.
func (p *Program) Status() int { return int(p.code.Load()) }

// Memory is the number of bytes that the last run holds now, of device memory and of the process itself.
func (p *Program) Memory() int64 { return p.memory.Load() }

// ended records the program's end as a check, which a status other than 0 does not pass.
func (p *Program) ended(c *host.Context, status int) error {
	p.code.Store(int32(status))
	k := host.Check{What: p.Name() + ": exit status", OK: status == 0, First: -1}
	if !k.OK {
		k.Msg = fmt.Sprintf("the program ended with status %d", status)
		if status > 128 {
			k.Msg = fmt.Sprintf("signal %d ended the program", status-128)
		}
	}
	c.DriverAPI().Note(k)
	return c.CheckErr()
}
