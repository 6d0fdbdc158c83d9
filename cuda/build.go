package cuda

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/heddle-sim/heddle/cuda/fatbin"
	"github.com/heddle-sim/heddle/cuda/shim"
)

// build is one run of `heddle cc`: a folder with the headers and what is made on the way.
type build struct {
	c   *Compiler
	o   *Options
	dir string
	log io.Writer
	n   int // files made
}

func (c *Compiler) begin(o *Options, log io.Writer) (*build, error) {
	dir, err := os.MkdirTemp("", "heddle-cc-")
	if err != nil {
		return nil, err
	}
	b := &build{c: c, o: o, dir: dir, log: log}
	if err := unpack(dir); err != nil {
		b.end()
		return nil, err
	}
	b.withoutHeaders()
	return b, b.withoutOpenMP()
}

// withoutOpenMP drops -fopenmp where the compiler has no OpenMP: the host's code is then one thread.
func (b *build) withoutOpenMP() error {
	if !slices.Contains(b.o.host, openMP) {
		return nil
	}
	source := b.file(".c")
	if err := os.WriteFile(source, []byte("#include <omp.h>\n"), 0o600); err != nil {
		return err
	}
	if exec.Command(b.c.Path, openMP, source, "-shared", "-o", b.file(".so")).Run() == nil {
		return nil
	}
	is := func(f string) bool { return f == openMP }
	b.o.host, b.o.link = slices.DeleteFunc(b.o.host, is), slices.DeleteFunc(b.o.link, is)
	_, err := fmt.Fprintf(b.log, "heddle: note: clang %d has no OpenMP, so host code runs as one thread; install it, "+
		"such as by apt-get install libomp-%d-dev\n", b.c.Version, b.c.Version)
	return err
}

const openMP = "-fopenmp"

func (b *build) end() { _ = os.RemoveAll(b.dir) } // the system's folder of temporary files clears the rest

// file is a new file name.
func (b *build) file(end string) string {
	b.n++
	return filepath.Join(b.dir, fmt.Sprintf("part%d%s", b.n, end))
}

// clang runs the compiler on a source.
func (b *build) clang(ctx context.Context, source string, args []string) error {
	if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s", source)
	} else if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, b.c.Path, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if _, werr := b.log.Write(said.Bytes()); werr != nil {
		return werr
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Errorf("%s: clang %d does not compile it%s", source, b.c.Version, remedy(said.String()))
	}
	return err
}

var (
	opened  = regexp.MustCompile(`<<([ \t]+)<`)
	closed  = regexp.MustCompile(`>>([ \t]+)>`)
	aligned = regexp.MustCompile(`\b(__shared__[ \t]+)(alignas\((?:[^()]|\([^()]*\))*\)[ \t]*)`)
)

// launches gives the file to compile for a source: the source, or one in which what nvcc takes and clang does not is
// written as clang has it: "<< <" and ">> >" of launches, and alignas behind __shared__. Lines are those of the source.
func (b *build) launches(source string) (string, error) {
	text, err := os.ReadFile(source)
	if err != nil || !opened.Match(text) && !aligned.Match(text) {
		return source, nil // clang says what is wrong with a file that cannot be read
	}
	if opened.Match(text) {
		text = closed.ReplaceAll(opened.ReplaceAll(text, []byte("<<<$1")), []byte(">>>$1"))
	}
	text = aligned.ReplaceAll(text, []byte("$2$1"))
	made := b.file(".cu")
	return made, os.WriteFile(made, append(fmt.Appendf(nil, "#line 1 %q\n", source), text...), 0o600)
}

// ptx compiles the kernels of a source.
func (b *build) ptx(ctx context.Context, source string) ([]byte, error) {
	made := b.file(".ptx")
	if err := b.cuda(ctx, source, append(b.o.kernels(b.dir), "-S", "-o", made)); err != nil {
		return nil, err
	}
	return os.ReadFile(made)
}

// object compiles a source to an object file in the build's folder.
func (b *build) object(ctx context.Context, source string) (string, error) {
	made := b.file(".o")
	kind := kindOf(source)
	if kind != "cuda" {
		return made, b.clang(ctx, source, append(b.o.plain(b.dir, kind), source, "-o", made))
	}
	text, err := b.ptx(ctx, source)
	if err != nil {
		return "", err
	}
	fat := b.file(".fatbin")
	if err := os.WriteFile(fat, fatbin.Write(text, b.o.sm()), 0o600); err != nil {
		return "", err
	}
	return made, b.cuda(ctx, source, append(b.o.program(b.dir, fat), "-o", made))
}

// cuda runs the compiler on a CUDA source.
func (b *build) cuda(ctx context.Context, source string, args []string) error {
	from, err := b.launches(source)
	if err != nil {
		return err
	}
	if from != source { // its own headers lie beside it
		args = append(args, "-iquote", filepath.Dir(source))
	}
	return b.clang(ctx, source, append(args, from))
}

// managedEnd compiles the end of the section of managed variables: it fills the section's last page, so that no
// other variable is in it, and says where the section lies.
func (b *build) managedEnd(ctx context.Context) (string, error) {
	source, made := b.file(".c"), b.file(".o")
	const text = `extern char __start_heddle_managed[];
void __cudaHeddleManaged(char *from, char *to);
static char end[4096] __attribute__((section("heddle_managed"), aligned(4096), used)) = {1};
__attribute__((constructor)) static void tell(void) { __cudaHeddleManaged(__start_heddle_managed, end); }
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	return made, b.clang(ctx, source, []string{"-x", "c", "-O2", "-fPIC", "-c", source, "-o", made})
}

// place moves bytes to their file, whole or not at all.
func place(text []byte, to string, mode os.FileMode) error {
	tmp := to + ".tmp"
	if err := os.WriteFile(tmp, text, mode); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// moved is place for a file of the build's.
func moved(from, to string, mode os.FileMode) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return place(text, to, mode)
}

// Objects compiles each source to an object file (-c).
func (c *Compiler) Objects(ctx context.Context, o *Options, log io.Writer) error {
	b, err := c.begin(o, log)
	if err != nil {
		return err
	}
	defer b.end()
	for _, s := range o.Sources {
		if kindOf(s) == "object" {
			return fmt.Errorf("%s is compiled already: leave it out, or -c", s)
		}
		made, err := b.object(ctx, s)
		if err == nil {
			err = moved(made, o.Target(s), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Link writes the object file of -dlink. It is empty, because kernels are linked when a program starts.
func (c *Compiler) Link(ctx context.Context, o *Options, log io.Writer) error {
	b, err := c.begin(o, log)
	if err != nil {
		return err
	}
	defer b.end()
	source, made := b.file(".c"), b.file(".o")
	if err := os.WriteFile(source, nil, 0o600); err != nil {
		return err
	}
	if err := b.clang(ctx, source, []string{"-x", "c", "-c", source, "-o", made}); err != nil {
		return err
	}
	return moved(made, cmp.Or(o.Output, "a_dlink.o"), 0o644)
}

// Program compiles and links a program, which calls the driver library in the folder lib.
func (c *Compiler) Program(ctx context.Context, o *Options, lib string, log io.Writer) error {
	b, err := c.begin(o, log)
	if err != nil {
		return err
	}
	defer b.end()
	var objects []string
	for _, s := range o.Sources {
		made := s
		if kindOf(s) != "object" {
			if made, err = b.object(ctx, s); err != nil {
				return err
			}
		}
		objects = append(objects, made)
	}
	end, err := b.managedEnd(ctx)
	if err != nil {
		return err
	}
	objects = append(objects, end)
	made := b.file(".out")
	args := append([]string{"--driver-mode=g++", "-o", made}, objects...)
	args = append(args, o.link...)
	for _, l := range shim.Linked() {
		args = append(args, filepath.Join(lib, l))
	}
	args = append(args, "-lm", "-lpthread", "-Wl,--enable-new-dtags", "-Wl,-rpath,"+lib)
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Path, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if _, werr := log.Write(said.Bytes()); werr != nil {
		return werr
	}
	if err != nil {
		return fmt.Errorf("the program cannot be linked: %w%s", err, unresolved(said.String()))
	}
	to := o.Output
	if to == "" {
		to = "a.out"
	}
	return moved(made, to, 0o755)
}
