package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Options are what a user asks of Slurm, by flags or in a profile file. The cluster chooses for an empty field.
type Options struct {
	Partition  string   `yaml:"partition"`
	Time       string   `yaml:"time"`   // of a task, as sbatch has it: 90, 1:30:00, 2-12
	Memory     string   `yaml:"memory"` // of a task, as sbatch has it: 4G
	Account    string   `yaml:"account"`
	QOS        string   `yaml:"qos"`
	Constraint string   `yaml:"constraint"`
	CPUs       int      `yaml:"cpus"`   // of a task, and simulations at once in it; 0: 1
	Points     int      `yaml:"points"` // simulations of a task, one after the other; 0: DefaultPoints
	Setup      []string `yaml:"setup"`  // lines of shell before heddle, such as module load
	Sbatch     []string `yaml:"sbatch"` // further options of sbatch, one each
}

// DefaultPoints is the default number of simulations of a task: enough that Slurm's second or so of
// overhead does not matter, few enough that a lost task loses little.
const DefaultPoints = 4

// ReadOptions reads a profile file. Its errors name the line.
func ReadOptions(file string) (o Options, err error) {
	src, err := yamldoc.ReadFile(file)
	if err != nil {
		return o, err
	}
	root, err := yamldoc.Parse(file, src)
	if err != nil {
		return o, err
	}
	return o, yamldoc.Decode(root, "a profile for Slurm", &o)
}

// Check reports wrong options and sets the defaults of this package.
func (o *Options) Check() error {
	if o.CPUs == 0 {
		o.CPUs = 1
	}
	if o.Points == 0 {
		o.Points = DefaultPoints
	}
	if o.CPUs < 1 || o.Points < 1 {
		return fmt.Errorf("cpus %d, points %d of a task: each must be at least 1", o.CPUs, o.Points)
	}
	for _, s := range o.Sbatch {
		if !strings.HasPrefix(s, "-") || strings.ContainsAny(s, "\n\x00") {
			return fmt.Errorf("sbatch: %q is not an option; write --name=value", s)
		}
		name, _, _ := strings.Cut(s, "=")
		for _, own := range []string{"--array", "-a", "--job-name", "-J", "--chdir", "-D", "--wrap", "--parsable"} {
			if name == own {
				return fmt.Errorf("sbatch: %s is set by heddle itself", name)
			}
		}
	}
	return nil
}

// arguments are those of sbatch for an array of n tasks.
func (o *Options) arguments(name, log, dir string, n int) []string {
	out := []string{
		"--parsable", "--requeue", "--open-mode=append", "--nodes=1", "--ntasks=1",
		"--cpus-per-task=" + strconv.Itoa(o.CPUs), "--job-name=" + name, "--array=0-" + strconv.Itoa(n-1),
		"--chdir=" + dir, "--output=" + log, "--error=" + log,
	}
	for _, f := range []struct{ name, value string }{
		{"partition", o.Partition},
		{"time", o.Time},
		{"mem", o.Memory},
		{"account", o.Account},
		{"qos", o.QOS},
		{"constraint", o.Constraint},
	} {
		if f.value != "" {
			out = append(out, "--"+f.name+"="+f.value)
		}
	}
	return append(out, o.Sbatch...)
}
