package main

import (
	"bytes"
	"crypto/rand"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var withSlurm = flag.Bool("slurm", false, "try --on slurm on a real Slurm, started by the test (two minutes)")

// testCluster is a Slurm of the test's own on this computer: munge with a key and a socket of its
// own, a controller and two node daemons.
type testCluster struct {
	t     *testing.T
	dir   string // short: sockets lie in it
	conf  string
	nodes map[string]*exec.Cmd
}

// startCluster starts one; the test is skipped where it is not asked for or not installed.
func startCluster(t *testing.T) *testCluster {
	t.Helper()
	if !*withSlurm {
		t.Skip("a real Slurm takes two minutes: go test ./cmd/heddle -run TestSlurm -slurm, as .ci/run slurm does")
	}
	for _, p := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%v: apt-get install -y slurmctld slurmd slurm-client munge; --on slurm is NOT TRIED on a real "+
				"cluster", err)
		}
	}
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &testCluster{t: t, dir: dir, conf: filepath.Join(dir, "slurm.conf"), nodes: map[string]*exec.Cmd{}}
	c.configure()
	t.Setenv("SLURM_CONF", c.conf)
	in := func(name string) string { return filepath.Join(dir, name) }
	c.daemon("munged", "-F", "-f", "--key-file="+in("munge.key"), "--socket="+in("munge.sock"),
		"--pid-file="+in("munged.pid"), "--log-file="+in("munged.log"), "--seed-file="+in("munge.seed"))
	c.until("munge", 20*time.Second, func() bool { _, err := os.Stat(in("munge.sock")); return err == nil })
	c.daemon("slurmctld", "-D", "-c")
	t.Cleanup(func() { // first of all, so that the daemons can still end what runs
		_ = exec.Command("scancel", "--user="+strconv.Itoa(os.Getuid())).Run()
		c.until("an empty queue", 30*time.Second, func() bool { return len(c.tasks("")) == 0 })
	})
	for _, n := range []string{"n1", "n2"} {
		c.node(n)
	}
	c.until("two idle nodes", time.Minute, c.idle)
	return c
}

// idle says that both nodes are there and have nothing to do.
func (c *testCluster) idle() bool { return strings.Count(c.output("sinfo", "-hNo", "%t"), "idle") == 2 }

// configure writes key and configuration.
func (c *testCluster) configure() {
	key := make([]byte, 1024)
	if _, err := rand.Read(key); err != nil {
		c.t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		c.t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		c.t.Fatal(err)
	}
	var ports []any
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			c.t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	conf := strings.NewReplacer("DIR", c.dir, "HOST", host, "USER", me.Username).Replace(fmt.Sprintf(`
ClusterName=heddle
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=%d
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
AuthInfo=socket=DIR/munge.sock
CredType=cred/munge
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/%%n
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/%%n.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=1
SlurmdTimeout=6
KillWait=2
ReturnToService=2
NodeName=n1 NodeHostname=HOST NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=500
NodeName=n2 NodeHostname=HOST NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=500
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`, ports...))
	for name, text := range map[string][]byte{"munge.key": key, "slurm.conf": []byte(conf)} {
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "n1", "n2"} {
		if err := os.Mkdir(filepath.Join(c.dir, name), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}

// daemon starts a program that ends with the test.
func (c *testCluster) daemon(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // slurmstepd inherits the pipes
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be dead already
		_ = cmd.Wait()
		if c.t.Failed() {
			c.t.Logf("%s: %s", name, &out)
		}
	})
	return cmd
}

// node starts the daemon of a node.
func (c *testCluster) node(name string) { c.nodes[name] = c.daemon("slurmd", "-D", "-N", name) }

// kill kills a node: its daemon, and all that runs on it.
func (c *testCluster) kill(node string) {
	c.t.Helper()
	if err := c.nodes[node].Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	for _, task := range c.tasks(node) {
		if parent := parentOf(task); parent > 1 { // slurmstepd first, so that nobody tells how the task ended
			_ = sysKill(parent)
		}
		_ = sysKill(task)
	}
}

func sysKill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// tasks are the processes of heddle that this cluster runs on a node ("": on any).
func (c *testCluster) tasks(node string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err != nil {
			continue // it is no more
		}
		vars := "\x00" + string(env)
		if !strings.Contains(vars, "\x00SLURM_CONF="+c.conf+"\x00") ||
			!strings.Contains(vars, "\x00SLURMD_NODENAME="+node) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf is the process that started another; 0: not known.
func parentOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(rest)
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

// output is what a program prints.
func (c *testCluster) output(name string, args ...string) string {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// until waits for something to come true.
func (c *testCluster) until(what string, limit time.Duration, is func() bool) {
	c.t.Helper()
	for begun := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > limit {
			c.t.Fatalf("no %s within %v; %s\n%s", what, limit, c.output("sinfo", "-N"), c.output("squeue", "-r"))
		}
	}
}
