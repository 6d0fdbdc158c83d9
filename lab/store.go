package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/heddle-sim/heddle"
	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/sim"
)

// Store is a directory of results, each under the hash of its spec and of the
// simulator that made it. Entries are written to a temporary file and renamed, so
// a killed process leaves either the whole entry or none.
type Store struct {
	dir  string
	code string // identity of the simulator
}

// entry is the layout of a file of the store.
type entry struct {
	Version int             `json:"version"`
	Key     string          `json:"key"`
	Code    string          `json:"code,omitempty"` // of the simulator; older entries lack it
	Sum     string          `json:"sum"`            // sha256 of Result, so that a damaged file is noticed
	Result  json.RawMessage `json:"result"`
}

const entryVersion = 2

// kept is the part of a result that the store holds: all of result.json and the decisions, which give the reasons of
// allocations. Epochs, timeline and profile describe a single run in detail and are left out.
type kept struct {
	*sim.Result
	Decisions []sim.Decision `json:"decisions,omitempty"`
}

// tempPrefix begins the names of files being written.
const tempPrefix = ".writing-"

// OpenStore opens the store in dir, making the directory. code identifies the
// simulator: results of another one are never returned (see Code).
func OpenStore(dir, code string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("result store: %w", err)
	}
	s := &Store{dir: dir, code: code}
	s.sweep()
	return s, nil
}

// DefaultDir is the folder for results if the user names none.
func DefaultDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("result store: %w; give --cache DIR or --no-cache", err)
	}
	return filepath.Join(base, "heddle"), nil
}

// Code identifies the running simulator: the text of every package a result depends on, as compiled (tests excepted),
// the libraries those packages import, the Go version and the processor kind. Any change of these gives another key,
// so no stale result is ever used; a change of the command line, of reports or of studies gives the same key, so
// hours of results survive it. A new policy changes no key either: the spec hash of a run covers only the policies
// that govern it (runfile.Hash).
func Code() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOARCH)
	var all []byte
	err := fs.WalkDir(heddle.Sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if name, ok := strings.CutPrefix(path, "control/"); ok && control.IsPolicyFile(name) {
			return nil // files of single policies: the spec hash of runs under them has these
		}
		text, err := heddle.Sources.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
		all = append(all, text...)
		return err
	})
	if err != nil {
		return "", err
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if bytes.Contains(all, []byte(`"`+d.Path)) {
				fmt.Fprintln(h, d.Path, d.Version, d.Sum)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sweep removes what killed writers left behind. Young files may belong to a
// running process.
func (s *Store) sweep() {
	old := time.Now().Add(-time.Hour)
	left, err := filepath.Glob(filepath.Join(s.dir, "*", tempPrefix+"*"))
	if err != nil {
		return // only a malformed pattern, and this one is not
	}
	for _, f := range left {
		if st, err := os.Stat(f); err == nil && st.ModTime().Before(old) {
			os.Remove(f) // if it cannot go, it does no harm
		}
	}
}

func (s *Store) path(spec string) (key, file string) {
	sum := sha256.Sum256([]byte(s.code + "\n" + spec))
	key = hex.EncodeToString(sum[:])
	return key, filepath.Join(s.dir, key[:2], key+".json")
}

// ErrDamaged is the kind of error Get gives for an entry that cannot be used.
var ErrDamaged = errors.New("damaged entry")

// Get returns the result kept for a spec hash, nil if there is none. An unreadable
// or damaged entry is an error (ErrDamaged): warn, recompute and Put again.
func (s *Store) Get(spec string) (*sim.Result, error) {
	key, file := s.path(spec)
	text, err := readPlain(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	e, err := readEntry(file, key, text)
	if err != nil {
		return nil, err
	}
	r, err := e.decode(file)
	if err != nil {
		return nil, err
	}
	if r.Version != sim.ResultVersion || r.SpecHash != spec || !r.Complete {
		return nil, fmt.Errorf("%w: %s holds another result", ErrDamaged, file)
	}
	return r, nil
}

// readPlain reads a plain file: a store may lie in a shared folder, and opening a pipe there would
// wait for ever.
func readPlain(file string) ([]byte, error) {
	st, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a plain file", file)
	}
	return os.ReadFile(file)
}

// readEntry checks what a file of the store holds. The result is the last member (Put), and is found by that: its
// checksum says whether it is whole, sooner than a parser.
func readEntry(file, key string, text []byte) (*entry, error) {
	head, result, found := bytes.Cut(bytes.TrimSuffix(text, []byte("}")), []byte(`"result":`))
	if !found {
		return nil, fmt.Errorf("%w: %s holds no result", ErrDamaged, file)
	}
	e := entry{Result: result}
	if err := json.Unmarshal(append(bytes.TrimSuffix(bytes.Clone(head), []byte(",")), '}'), &e); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, file, err)
	}
	sum := sha256.Sum256(e.Result)
	if e.Version != entryVersion || e.Key != key || e.Sum != hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("%w: %s: version %d, or key or checksum do not match", ErrDamaged, file, e.Version)
	}
	return &e, nil
}

func (e *entry) decode(file string) (*sim.Result, error) {
	k := kept{Result: &sim.Result{}}
	if err := json.Unmarshal(e.Result, &k); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, file, err)
	}
	k.Result.Decisions = k.Decisions
	return k.Result, nil
}

// Has says whether there is an entry for a spec hash, whole or damaged.
func (s *Store) Has(spec string) bool {
	_, file := s.path(spec)
	_, err := os.Stat(file)
	return err == nil
}

// Look makes a network file system ask its server for the entry of a spec hash, so that the next Get does not answer
// from an old cached listing.
func (s *Store) Look(spec string) {
	_, file := s.path(spec)
	for _, dir := range []string{s.dir, filepath.Dir(file), filepath.Dir(s.failedFile(spec))} {
		_, _ = os.ReadDir(dir) // the answer does not matter: Get looks itself
	}
}

// Put keeps a complete result under its SpecHash.
func (s *Store) Put(r *sim.Result) error {
	if !r.Complete || r.SpecHash == "" {
		return fmt.Errorf("result store: only complete results with a spec hash are kept")
	}
	key, file := s.path(r.SpecHash)
	text, err := json.Marshal(kept{Result: r, Decisions: r.Decisions})
	if err != nil {
		return fmt.Errorf("result store: %w", err)
	}
	sum := sha256.Sum256(text)
	out, err := json.Marshal(entry{
		Version: entryVersion, Key: key, Code: s.code, Sum: hex.EncodeToString(sum[:]), Result: text,
	})
	if err != nil {
		return fmt.Errorf("result store: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = writeAtomic(file, out)
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err // the name is the store's matter
	}
	if err != nil {
		return fmt.Errorf("result store %s: %w", s.dir, err)
	}
	return nil
}

// writeAtomic makes file hold exactly text, or leaves it as it was.
func writeAtomic(file string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), tempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // nothing to remove once renamed
	_, err = io.Copy(tmp, bytes.NewReader(text))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// Dir is the directory of the store.
func (s *Store) Dir() string { return s.dir }

// Entries counts the results in the store.
func (s *Store) Entries() (int, error) {
	files, err := filepath.Glob(filepath.Join(s.dir, "??", "*.json"))
	n := 0
	for _, f := range files {
		if !strings.HasPrefix(filepath.Base(f), tempPrefix) {
			n++
		}
	}
	return n, err
}
