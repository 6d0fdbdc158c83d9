package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// command runs one of Slurm's programs with text on its standard input.
type command func(ctx context.Context, stdin, name string, args ...string) (stdout string, err error)

// system runs the programs of this computer.
func system(ctx context.Context, stdin, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin = strings.NewReader(stdin)
	c.Env = append(os.Environ(), "LC_ALL=C", "SLURM_TIME_FORMAT=standard")
	var out, told bytes.Buffer
	c.Stdout, c.Stderr = &out, &told
	err := c.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w; --on slurm works on a computer that can submit jobs", err)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(told.String()))
	}
	return out.String(), nil
}

// entry is squeue's row of one task of an array.
type entry struct {
	job    int // of the array
	index  int // of the task in it
	state  string
	reason string
	node   string
	plan   string // of the job's name
	offset int    // of the array in the plan
}

// task is its position in the plan.
func (e *entry) task() int { return e.offset + e.index }

// name is the name for messages.
func (e *entry) name() string { return fmt.Sprintf("%d_%d", e.job, e.index) }

// The name of a job says what it does: namePrefix, its plan, the position of its first task there.
const namePrefix = "heddle-"

func jobName(plan string, offset int) string { return namePrefix + plan + "-" + strconv.Itoa(offset) }

// queueFormat has the name last, because the names of other people's jobs may contain anything.
const queueFormat = "%F|%K|%T|%N|%r|%j"

// queue lists the tasks of heddle that Slurm knows, ended ones included as long as it remembers them.
func queue(ctx context.Context, run command) ([]entry, error) {
	out, err := run(ctx, "", "squeue", "--noheader", "--array", "--states=all", "--user="+strconv.Itoa(os.Getuid()),
		"--format="+queueFormat)
	if err != nil {
		return nil, err
	}
	return parseQueue(out), nil
}

// parseQueue reads what squeue printed. Lines that are not of jobs of heddle are left out.
func parseQueue(text string) (out []entry) {
	for line := range strings.Lines(text) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", 6)
		if len(f) != 6 {
			continue
		}
		rest, ok := strings.CutPrefix(f[5], namePrefix)
		plan, offset, two := strings.Cut(rest, "-")
		e := entry{state: f[2], node: f[3], reason: f[4], plan: plan}
		var errs [3]error
		e.job, errs[0] = strconv.Atoi(f[0])
		e.index, errs[1] = strconv.Atoi(f[1])
		e.offset, errs[2] = strconv.Atoi(offset)
		if ok && two && errors.Join(errs[:]...) == nil && e.index >= 0 && e.offset >= 0 && isPlan(plan) {
			out = append(out, e)
		}
	}
	return out
}

// isPlan says that a text can be the name of a plan, and so a part of a path.
func isPlan(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// The states from which a task does not come back (squeue(1), JOB STATE CODES). Every other one,
// known or not, is taken for alive: a task that is believed to be dead might be done twice.
func ended(state string) bool {
	switch state {
	case "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
		"REVOKED", "TIMEOUT":
		return true
	}
	return false
}

// submit hands an array to Slurm and returns its number.
func submit(ctx context.Context, run command, script string, args []string) (int, error) {
	out, err := run(ctx, script, "sbatch", args...)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(out), ";") // a cluster's name may follow
	job, err := strconv.Atoi(first)
	if err != nil {
		return 0, fmt.Errorf("sbatch answered %q: expected a job number", out)
	}
	return job, nil
}

// defaultArray is Slurm's own bound on the tasks of an array (slurm.conf(5), MaxArraySize: 1001,
// of which the largest index is one less).
const defaultArray = 1000

// maxArray asks how many tasks an array may have.
func maxArray(ctx context.Context, run command) int {
	out, err := run(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return defaultArray
	}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) != "MaxArraySize" {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n > 1 {
			return n - 1
		}
	}
	return defaultArray
}

// quote makes one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// script is the text of a job: each task of the array does its line of the plan.
func script(o *Options, program, plan, store string, offset int) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, line := range o.Setup {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "exec %s slurm-task %s $((%d + SLURM_ARRAY_TASK_ID)) --cache %s --jobs %d\n", quote(program),
		quote(plan), offset, quote(store), o.CPUs)
	return b.String()
}
