package exec

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/mem"
)

// window is the file in which device memory lies, and the staging area of copies behind it. The program has it, too,
// and can change its bytes but not its size.
type window struct {
	file *os.File
	mem  []byte
}

func newWindow() (*window, error) {
	fd, err := unix.MemfdCreate("heddle", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("no file for device memory: memfd_create: %w", err)
	}
	w := &window{file: os.NewFile(uintptr(fd), "device memory")}
	if err := unix.Ftruncate(fd, shim.FileBytes); err != nil {
		return nil, w.failed("ftruncate", err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return nil, w.failed("fcntl", err)
	}
	w.mem, err = unix.Mmap(fd, 0, shim.FileBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, w.failed("mmap (is virtual memory limited, as by ulimit -v?)", err)
	}
	return w, nil
}

func (w *window) failed(call string, err error) error {
	return fmt.Errorf("no file for device memory: %s: %w", call, joined(err, w.file.Close()))
}

// Bytes implements mem.Backing.
func (w *window) Bytes(base uint64, n int64) ([]byte, error) {
	off := base - mem.DefaultBase
	if base < mem.DefaultBase || off > shim.WindowBytes || n > int64(shim.WindowBytes-off) {
		return nil, fmt.Errorf("addresses used up: %d bytes at 0x%x do not fit in the %d bytes from 0x%x on", n, base,
			int64(shim.WindowBytes), uint64(mem.DefaultBase))
	}
	return w.mem[off : int64(off)+n : int64(off)+n], nil
}

// Release implements mem.Backing: whole pages go back to the system.
func (w *window) Release(base uint64, n int64) {
	from := (int64(base-mem.DefaultBase) + page - 1) &^ (page - 1)
	to := (int64(base-mem.DefaultBase) + n) &^ (page - 1)
	if from < to { // a page that does not go back costs memory, and is never used again
		_ = unix.Fallocate(int(w.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
	}
}

// staged is the first n bytes of the staging area.
func (w *window) staged(n int64) []byte { return w.mem[shim.Staging : shim.Staging+n] }

// used is the bytes of the file that exist.
func (w *window) used() int64 {
	var st unix.Stat_t
	if unix.Fstat(int(w.file.Fd()), &st) != nil {
		return 0
	}
	return st.Blocks * 512
}

func (w *window) close() error {
	return joined(unix.Munmap(w.mem), w.file.Close())
}

const page = 4096
