package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/lab/characterise"
)

func TestCharacterise(t *testing.T) {
	command := func(args ...string) (code int, stdout, stderr string) {
		var out, err bytes.Buffer
		code = heddle(append([]string{"characterise"}, args...), &out, &err)
		return code, out.String(), err.String()
	}
	code, text, msg := command("../../apps/micro/triad", "../../apps/parboil-like/cp", "--jobs", "2", "--json")
	var list []characterise.Profile
	if err := json.Unmarshal([]byte(text), &list); code != exitOK || err != nil || len(list) != 2 ||
		list[1].App != "parboil-like/cp" || list[1].Traffic == nil {
		t.Fatalf("status %d, %v, %s\n%s", code, err, msg, text)
	}
	file := filepath.Join(t.TempDir(), "profiles.json")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, doc, msg := command("--from", file, "--markdown")
	if code != exitOK || !strings.Contains(doc, "| parboil-like/cp |") || !strings.Contains(doc, "Preset `tiny`") {
		t.Errorf("status %d, %s\n%s", code, msg, doc)
	}
	dir := filepath.Join(t.TempDir(), "figures")
	profiles := "../../apps/profiles/"
	if code, _, msg := command("--from", profiles+"standard.json,"+profiles+"paper.json,"+profiles+"slices.json",
		"--figures", dir, "--json"); code != exitOK {
		t.Errorf("status %d, %s", code, msg)
	}
	for _, name := range []string{"sharing.svg", "compute.svg", "memory.svg"} {
		drawn, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		if kept, err := os.ReadFile(filepath.Join("../../apps/figures", name)); err != nil ||
			!bytes.Equal(drawn, kept) {
			t.Errorf("apps/figures/%s is not what heddle characterise --figures draws of apps/profiles: run "+
				"apps/characterise.sh (%v)", name, err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--from", file, "--figures", dir}, exitInput, "nothing to draw"},
		{[]string{"../../apps/none/such"}, exitInput, "none/such"},
		{[]string{"../../apps/micro"}, exitInput, "is not an application: give a folder with app.star"},
		{[]string{"--apps", "testdata"}, exitInput, "no application under testdata"},
		{[]string{"../../apps/micro/triad", "--jobs", "0"}, exitInput, "--jobs 0"},
		{[]string{"../../apps/micro/triad", "--machine", "nothing"}, exitInput, "nothing"},
		{[]string{"../../apps/micro/triad", "--from", file}, exitInput, "name no applications"},
		{[]string{"--from", "main.go"}, exitInput, "--json has printed"},
		{[]string{"--json", "--markdown"}, exitInput, "json markdown"},
	} {
		if code, _, msg := command(c.args...); code != c.code || !strings.Contains(msg, c.want) {
			t.Errorf("%v: status %d, %q; want %d and %q", c.args, code, msg, c.code, c.want)
		}
	}
}
