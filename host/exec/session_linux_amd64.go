package exec

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/mem"
)

// session is one run of a program.
type session struct {
	p    *Program
	c    *host.Context
	d    host.DriverAPI
	w    *window
	proc *process
	conn int // socket of the process that is served

	in, out []byte
	text    []byte // of printf, not yet sent
	said    map[string]bool
	calls   uint64
	call    shim.Call

	modules  []*module
	parts    []*part
	images   int // that the program has loaded
	textures int // and surfaces that it has made
	kernels  []*kernel
	streams  map[uint64]*stream
	events   map[uint64]*event
	gates    []*gate // host functions that have not run, in order
	next     uint64  // handle
	managed  managed
	// variables are the __managed__ ones, which the program touches itself. Their pages stay on the device.
	variables map[*mem.Region]bool
}

// mostSaid is how many different lines are printed for a program.
const mostSaid = 200

// Run implements host.Program: it starts the program and answers its calls until it ends.
func (p *Program) Run(c *host.Context) error {
	w, err := newWindow()
	if err != nil {
		return &host.Error{Err: err}
	}
	p.Stderr = oneAtATime(p.Stderr)
	s := &session{
		p: p, c: c, d: c.DriverAPI(), w: w, said: map[string]bool{}, in: make([]byte, shim.Header+shim.Payload+1),
	}
	s.reset()
	c.Space().BackBy(w)
	c.SetPrint(func(text string) { s.text = append(s.text, text...) })
	c.SetWhere(s.where)
	status, err := s.run()
	s.proc = nil
	if err := joined(err, c.Err()); err != nil {
		return joined(err, w.close())
	}
	p.code.Store(int32(status))
	end := c.Finish() // work that was launched and not waited for
	if end != nil && s.said[faultLine] {
		end = nil // the program got the error, and has ended in its own way
	}
	return joined(end, p.ended(c, status), w.close())
}

// faultLine marks that the program knows of the device's end.
const faultLine = "\x00fault"

// where is the position in the program, for messages.
func (s *session) where() string { return fmt.Sprintf("call %d", s.calls) }

// reset forgets the handles of a process.
func (s *session) reset() {
	s.modules, s.kernels, s.gates, s.parts, s.images, s.textures = nil, nil, nil, nil, 0, 0
	s.streams, s.events = map[uint64]*stream{}, map[uint64]*event{}
	s.managed, s.variables = managed{rights: map[uint64]int{}}, map[*mem.Region]bool{}
	s.next = 0x1000
}

// run is the process's life.
func (s *session) run() (int, error) {
	name := make([]byte, 16)
	if _, err := rand.Read(name); err != nil {
		return 0, err
	}
	socket := "@heddle-" + hex.EncodeToString(name)
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: socket, Net: "unixpacket"})
	if err != nil {
		return 0, &host.Error{Err: fmt.Errorf("no socket for the program: %w", err)}
	}
	defer l.Close() // nothing depends on it any more
	if s.proc, err = s.p.start(socket); err != nil {
		return 0, &host.Error{Err: err}
	}
	defer s.proc.kill()
	over := make(chan struct{})
	defer close(over)
	go func() { // ends the wait below
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-s.c.Done():
				_ = unix.Kill(s.proc.pid, unix.SIGKILL) // it may just have ended
				_ = l.Close()
				return
			case <-s.proc.ended:
				_ = l.Close()
				return
			case <-tick.C:
				s.p.memory.Store(s.w.used() + s.proc.resident())
			case <-over:
				return
			}
		}
	}()
	waiting := make(chan *net.UnixConn)
	go s.accept(l, waiting, over)
	for conn := range waiting { // until the program has ended, or must
		own, err := blocking(conn)
		if err == nil && sameUser(own) {
			err = s.serve(own)
		}
		if err = joined(err, unix.Close(own)); err != nil {
			return 0, err
		}
	}
	s.proc.kill()
	return s.proc.status(), nil
}

// patience is how long a process waits for another one's end before a line says so.
const patience = 3 * time.Second

// accept hands the connections of processes on, one after the other, until the socket is closed or the run is over.
func (s *session) accept(l *net.UnixListener, waiting chan<- *net.UnixConn, over <-chan struct{}) {
	defer close(waiting)
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		late := time.NewTimer(patience)
		for done := false; !done; {
			select {
			case waiting <- conn:
				done = true
			case <-late.C:
				s.tell("a second process of the program uses CUDA. It waits until the first one has ended, as heddle " +
					"exec runs one at a time. If the first one waits for it, too, stop the run: make each a tenant " +
					"of a run file")
			case <-over: // as in the two cases below, the process that waits is killed
				_ = conn.Close()
				return
			case <-s.proc.ended:
				_ = conn.Close()
				return
			case <-s.c.Done():
				_ = conn.Close()
				return
			}
		}
		late.Stop()
	}
}

// serve answers the calls of one process.
func (s *session) serve(conn int) error {
	s.conn = conn
	for {
		p, err := s.receive()
		if err != nil {
			return s.leave(err)
		}
		if err := s.answer(&p); err != nil {
			return s.leave(err)
		}
	}
}

// leave frees what a process leaves behind. That the connection ends is no error.
func (s *session) leave(err error) error {
	var gone unix.Errno
	if !errors.Is(err, io.EOF) && !errors.As(err, &gone) && !errors.Is(err, errBad) {
		return err
	}
	if errors.Is(err, errBad) {
		s.say("%v", err)
	}
	for _, g := range s.gates { // their functions are gone
		g.gate.Open()
	}
	s.gates = nil
	if s.c.Err() == nil && s.c.Finish() == nil {
		for _, r := range append([]*mem.Region{}, s.c.Space().Regions()...) {
			if r.Kind == mem.Symbol || r.Data == nil {
				continue
			}
			if a, err := s.d.At(r.Base, r.Len()); err == nil {
				if err := s.c.Free(a); err != nil {
					return err
				}
			}
		}
	}
	s.reset()
	return nil
}

var errBad = errors.New("an unknown message")

// soon looks for a packet for a short time, as a program that calls often sends its next one within microseconds, and a
// thread that sleeps takes longer than that to wake up. The error is EAGAIN if there is none.
func (s *session) soon() (int, error) {
	const short = 30 * time.Microsecond
	for begin := time.Now(); ; {
		n, _, err := unix.Recvfrom(s.conn, s.in, unix.MSG_DONTWAIT)
		if err != unix.EAGAIN || time.Since(begin) > short {
			return n, err
		}
	}
}

// receive takes one packet.
func (s *session) receive() (packet, error) {
	n, err := s.soon()
	for errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		n, err = unix.Read(s.conn, s.in)
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return packet{}, err
	}
	p, err := decode(s.in[:n])
	if err != nil {
		return p, fmt.Errorf("%w: %w", errBad, err)
	}
	return p, nil
}

// push sends a packet.
func (s *session) push(kind shim.Push, p packet) error {
	p.kind = int32(kind)
	s.out = p.encode(s.out[:0])
	if kind == shim.Answer && s.call == shim.Hello && p.status == 0 {
		return unix.Sendmsg(s.conn, s.out, unix.UnixRights(int(s.w.file.Fd())), nil, unix.MSG_NOSIGNAL)
	}
	err := unix.Sendto(s.conn, s.out, unix.MSG_NOSIGNAL, nil)
	for err == unix.EINTR {
		err = unix.Sendto(s.conn, s.out, unix.MSG_NOSIGNAL, nil)
	}
	return err
}

// answer does what a call asks for.
func (s *session) answer(p *packet) error {
	s.call = shim.Call(p.kind)
	s.calls++
	var reply packet
	f := handler(s.call)
	if f == nil {
		reply.status = invalidValue
	} else {
		a := call{s: s, v: p.v, data: p.data}
		reply.status = f(&a)
		if a.broken != nil {
			return a.broken
		}
		reply.v, reply.data = a.v, a.out
	}
	if s.c.Err() != nil {
		return s.c.Err()
	}
	if s.call != shim.Touch { // the program may be within a function of its C library
		for len(s.text) > 0 {
			n := min(len(s.text), shim.Payload)
			if err := s.push(shim.Text, packet{data: s.text[:n]}); err != nil {
				return err
			}
			s.text = s.text[n:]
		}
		s.text = s.text[:0]
	}
	return s.push(shim.Answer, reply)
}

// say tells the program's user something, once.
func (s *session) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if s.said[line] || len(s.said) > mostSaid {
		return
	}
	s.said[line] = true
	s.tell(line)
}

// tell prints a line for the program's user.
func (s *session) tell(line string) {
	to := s.p.Stderr
	if to == nil {
		return
	}
	if f, ok := to.(*os.File); ok && f == nil {
		return
	}
	fmt.Fprintf(to, "heddle: %s\n", line)
}
