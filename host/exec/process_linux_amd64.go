package exec

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/heddle-sim/heddle/cuda/shim"
)

func joined(errs ...error) error { return errors.Join(errs...) }

// process is the program as the system runs it.
type process struct {
	pid   int
	group bool
	ended chan struct{} // closed when it has ended
	state *os.ProcessState
	err   error
}

const noRandomize = 0x0040000 // ADDR_NO_RANDOMIZE of personality(2)

// start begins the program. The thread that does lives as long as the program, which dies with it, and so with heddle.
func (p *Program) start(socket string) (*process, error) {
	path, preload, err := p.find()
	if err != nil {
		return nil, err
	}
	cmd := &osexec.Cmd{Path: path, Args: p.Args, Dir: p.Dir, Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr}
	cmd.Env = p.environment(socket, preload)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: !p.Terminal}
	pr := &process{group: !p.Terminal, ended: make(chan struct{})}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: a child dies with the thread that started it
		defer close(pr.ended)
		old, _, errno := syscall.RawSyscall(syscall.SYS_PERSONALITY, 0xffffffff, 0, 0)
		if errno == 0 { // without it addresses differ from run to run, and nothing else
			_, _, _ = syscall.RawSyscall(syscall.SYS_PERSONALITY, old|noRandomize, 0, 0)
		}
		if err := cmd.Start(); err != nil {
			begun <- fmt.Errorf("%s cannot be started: %w", p.Args[0], err)
			return
		}
		pr.pid = cmd.Process.Pid
		begun <- nil
		pr.err = cmd.Wait()
		pr.state = cmd.ProcessState
	}()
	return pr, <-begun
}

// kill ends the program and what it has started.
func (pr *process) kill() {
	select {
	case <-pr.ended:
	default:
		_ = unix.Kill(pr.pid, unix.SIGKILL) // it may just have ended
	}
	if pr.group {
		_ = unix.Kill(-pr.pid, unix.SIGKILL) // no process may be left
	}
	<-pr.ended
}

// status is the exit status, 128 more than the signal.
func (pr *process) status() int {
	ws, ok := pr.state.Sys().(syscall.WaitStatus)
	if ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return pr.state.ExitCode()
}

// resident is the memory of the process that is its own, in bytes.
func (pr *process) resident() int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pr.pid) + "/statm")
	f := strings.Fields(string(b))
	if err != nil || len(f) < 3 {
		return 0
	}
	all, err1 := strconv.ParseInt(f[1], 10, 64)
	shared, err2 := strconv.ParseInt(f[2], 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return (all - shared) * int64(os.Getpagesize())
}

// find looks for the program as a shell does, and says which libraries must come first.
func (p *Program) find() (path string, preload []string, err error) {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "", nil, errors.New("no program is named: heddle exec -- ./program arguments")
	}
	path = p.Args[0]
	switch {
	case !strings.Contains(path, "/"):
		if path, err = osexec.LookPath(path); err != nil {
			return "", nil, fmt.Errorf("%s: no such program", p.Args[0])
		}
	case p.Dir != "" && !filepath.IsAbs(path):
		path = filepath.Join(p.Dir, path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	st, err := os.Stat(path)
	if err != nil || st.IsDir() || st.Mode()&0o111 == 0 {
		return "", nil, fmt.Errorf("%s: no such program, or it is not executable", p.Args[0])
	}
	if st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		return "", nil, fmt.Errorf("%s runs as another user (setuid), and the system keeps Heddle's library out of "+
			"such programs: copy it, which clears that", p.Args[0])
	}
	preload, err = libraries(path, p.Args[0])
	return path, preload, err
}

// libraries are those of the shim that an executable needs; a script needs none itself.
func libraries(path, name string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, script(path, name)
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		return nil, fmt.Errorf("%s is a program for %s; heddle exec runs those for x86-64", name,
			strings.TrimPrefix(f.Machine.String(), "EM_"))
	}
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return nil, fmt.Errorf("%s is linked statically, so that Heddle's library cannot take CUDA's place: link it "+
			"without -static", name)
	}
	need, err := f.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	list := []string{shim.Libraries()[0]}
	for _, n := range need {
		if strings.HasPrefix(n, "libcudart.so.") && !slices.Contains(shim.Libraries(), n) {
			return nil, fmt.Errorf("%s needs %s; Heddle has %s: compile it for CUDA 11 or 12", name, n,
				strings.Join(shim.Libraries()[1:], " and "))
		}
		if slices.Contains(shim.Libraries()[1:], n) {
			list = append(list, n)
		}
	}
	if len(list) == 1 && f.Section(".nv_fatbin") != nil && !slices.Contains(need, shim.Libraries()[0]) {
		return nil, fmt.Errorf("%s contains CUDA's runtime library (nvcc's default), whose place Heddle cannot take: "+
			"compile it with heddle cc, or with nvcc -cudart shared", name)
	}
	return list, nil
}

// script says whether a file that is no ELF file is a script.
func script(path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err == nil && bytes.Equal(head, []byte("#!")) {
		return nil
	}
	return fmt.Errorf("%s is neither an ELF executable nor a script with #! in its first line", name)
}

// environment is that of heddle with the libraries in front.
func (p *Program) environment(socket string, preload []string) (env []string) {
	from := p.Env
	if from == nil {
		from = os.Environ()
	}
	path, before := p.Shim, ""
	for _, e := range from {
		k, v, _ := strings.Cut(e, "=")
		switch {
		case k == "LD_LIBRARY_PATH" && v != "":
			path += ":" + v
		case k == "LD_PRELOAD":
			before = v
		case k != "HEDDLE_SOCKET" && k != "LD_LIBRARY_PATH":
			env = append(env, e)
		}
	}
	var list []string
	for _, l := range preload {
		list = append(list, filepath.Join(p.Shim, l))
	}
	if before != "" {
		list = append(list, before)
	}
	if len(list) > 0 {
		env = append(env, "LD_PRELOAD="+strings.Join(list, ":"))
	}
	return append(env, "LD_LIBRARY_PATH="+path, "HEDDLE_SOCKET="+socket)
}

// sameUser says whether a process of this user is at the other end.
func sameUser(socket int) bool {
	cred, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	return err == nil && cred.Uid == uint32(os.Getuid())
}

// blocking is a connection as a socket that a thread waits at: an answer is sooner there than through the poller.
func blocking(c *net.UnixConn) (int, error) {
	f, err := c.File()
	if err = joined(err, c.Close()); err != nil {
		return -1, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err = joined(err, f.Close()); err != nil {
		return -1, err
	}
	return fd, unix.SetNonblock(fd, false)
}
