package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServe starts the command, looks at what it shows of a finished sweep, and ends it.
func TestServe(t *testing.T) {
	b := newBench(t)
	b.do(exitOK, "sweep", "small.yaml", "--cache", "store")
	b.do(exitOK, "run", "run.yaml", "--cache", "store", "--out", "results/one")
	b.do(exitInput, "serve", "nowhere", "--cache", "store")
	b.do(exitInput, "serve", "--cache", "stroe")
	b.do(exitInput, "serve", "--cache", "store", "--listen", "7077")
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		c := exec.Command(b.heddle, "serve", "results", "--cache", "store", "--listen", listen)
		c.Dir = b.dir
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		b.look(strings.TrimSpace(address), listen != "127.0.0.1:0")
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// look asks a server at an address, with a token in it or not.
func (b *bench) look(address string, token bool) {
	b.t.Helper()
	base, secret, has := strings.Cut(address, "?token=")
	if has != token || token && len(secret) < 20 {
		b.t.Fatalf("the address is %s", address)
	}
	get := func(path string, bearer string) (int, []byte) {
		req, err := http.NewRequest(http.MethodGet, base+path, nil)
		if err != nil {
			b.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+bearer)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			b.t.Fatal(err)
		}
		return resp.StatusCode, text
	}
	if code, _ := get("api/live", "guess"); token != (code == http.StatusUnauthorized) {
		b.t.Errorf("%s without its token: %d", base, code)
	}
	var list struct{ Total, Pending int }
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		_, text := get("api/results", secret)
		if err := json.Unmarshal(text, &list); err != nil {
			b.t.Fatalf("%v: %s", err, text)
		}
		if list.Total == 3 && list.Pending == 0 { // two points and the run
			break
		}
		if time.Since(begun) > time.Minute {
			b.t.Fatalf("%s", text)
		}
	}
	var now struct {
		Processes []struct {
			Kind, Title    string
			Ended          bool
			Todo, Finished int
		}
	}
	_, text := get("api/live", secret)
	if err := json.Unmarshal(text, &now); err != nil || len(now.Processes) != 1 || now.Processes[0].Kind != "sweep" ||
		!now.Processes[0].Ended || now.Processes[0].Finished != 2 {
		b.t.Errorf("%v %s", err, text)
	}
}
