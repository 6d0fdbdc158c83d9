package slurm

import (
	"bufio"
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

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// Point is one simulation of a plan. Paths in its Spec are relative to the client's working directory.
type Point struct {
	Hash  string   `json:"hash"` // of the spec: the place of its result
	Label string   `json:"label"`
	Alone bool     `json:"alone,omitempty"`
	Spec  sim.Spec `json:"spec"`
}

// planHead is the first line of a plan file; a line per task of the array follows, which lists
// the task's points.
type planHead struct {
	Version int    `json:"version"`
	Code    string `json:"code"` // identity of the simulator (lab.Code)
	Tasks   int    `json:"tasks"`
}

const planVersion = 1

// encodePlan writes a plan. Its name is a digest of its text, so that a plan is never written
// twice with different contents.
func encodePlan(code string, tasks [][]Point) (name string, text []byte, err error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(planHead{planVersion, code, len(tasks)}); err != nil {
		return "", nil, err
	}
	for _, t := range tasks {
		if err := enc.Encode(t); err != nil {
			return "", nil, err
		}
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])[:16], b.Bytes(), nil
}

// readPlan calls each with the tasks of a plan in turn, until it returns false. Only lines for which wanted returns
// true are decoded.
func readPlan(file string, wanted func(task int) bool, each func(task int, points []Point) bool) (planHead, error) {
	var head planHead
	f, err := os.Open(file)
	if err != nil {
		return head, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &head)
	}
	if err != nil {
		return head, fmt.Errorf("%s: its first line: %w", file, err)
	}
	if head.Version != planVersion {
		return head, fmt.Errorf("%s: a plan of version %d, not %d", file, head.Version, planVersion)
	}
	for i := range head.Tasks {
		line, err := r.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return head, fmt.Errorf("%s: task %d: %w", file, i, err)
		}
		if !wanted(i) {
			continue
		}
		var points []Point
		if err := json.Unmarshal(line, &points); err != nil {
			return head, fmt.Errorf("%s: task %d: %w", file, i, err)
		}
		if !each(i, points) {
			return head, nil
		}
	}
	return head, nil
}

// pointOf is a task of a runner as a point of a plan.
func pointOf(t *lab.Task) (Point, error) {
	for i := range t.Job.Spec.Apps {
		if t.Job.Spec.Apps[i].Program != nil {
			return Point{}, fmt.Errorf("%s: application %s is written in Go and exists in this process alone; give it "+
				"a folder to simulate it on a cluster", t.Job.Label, t.Job.Spec.Apps[i].Name)
		}
		if t.Job.Spec.Apps[i].Exec != nil {
			return Point{}, fmt.Errorf("%s: application %s is a compiled program: record it (heddle exec --record), "+
				"and simulate the recording on a cluster", t.Job.Label, t.Job.Spec.Apps[i].Name)
		}
	}
	return Point{t.Hash, t.Job.Label, t.Alone, t.Job.Spec}, nil
}

// writeOnce makes a file, whole or not at all. All writers write the same.
func writeOnce(file string, text []byte, mode fs.FileMode) error {
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // nothing to remove once renamed
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// keepProgram copies this program beside the plans, so that the tasks of a plan run the simulator that planned them,
// even if another one is built meanwhile.
func keepProgram(dir string) (string, error) {
	text, err := os.ReadFile("/proc/self/exe") // the running program, even if its file was replaced
	if err != nil {
		var self string
		if self, err = os.Executable(); err == nil {
			text, err = os.ReadFile(self)
		}
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	file := filepath.Join(dir, "bin", hex.EncodeToString(sum[:])[:16], "heddle")
	return file, writeOnce(file, text, 0o755)
}
