package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// ptx runs `heddle ptx ARGS` and returns what it prints.
func ptx(args ...string) (string, error) {
	var out bytes.Buffer
	c := ptxCmd()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}

const vecAdd = "../../ptx/emulate/testdata/calib/vec_add.ptx"

func TestPTXRun(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "c.bin")
	out, err := ptx("run", vecAdd, "--grid", "2", "--block", "128", "--arg", "buf:f32:200:arange", "--arg",
		"buf:f32:200:0.5",
		"--arg", "buf:f32:200", "--arg", "s32:200", "--dump", "2="+dump)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, "arg 2 f32[200]: [0.5,1.5,2.5,3.5,4.5,5.5,6.5,7.5]") {
		t.Errorf("%s", out)
	}
	data, err := os.ReadFile(dump)
	if err != nil || len(data) != 800 {
		t.Fatalf("dump of %d bytes, %v", len(data), err)
	}
	// the dump is an input like any other
	out, err = ptx("run", vecAdd, "--block", "256", "--arg", "buf:f32:200:@"+dump, "--arg", "buf:f32:200:@"+dump,
		"--arg", "buf:f32:200", "--arg", "s32:200", "--json", "--show", "2")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), ""),
		`"arg":2,"type":"f32","count":200,"first":[1,3]`) {
		t.Errorf("%s %v", out, err)
	}
}

func TestPTXCheckAndAnalyze(t *testing.T) {
	out, err := ptx("check", vecAdd)
	if err != nil || !strings.Contains(out, "vec_add") || !strings.Contains(out, "u64 u64 u64 u32") {
		t.Errorf("%s %v", out, err)
	}
	out, err = ptx("analyze", vecAdd)
	if err != nil || !strings.Contains(out, "reconverges at line") || !strings.Contains(out, "ld.global.f32") {
		t.Errorf("%s %v", out, err)
	}
}

// TestPTXRuntime: what a kernel prints appears, malloc has a heap, and 32-bit modules take
// buffers.
func TestPTXRuntime(t *testing.T) {
	out, err := ptx("run", "../../host/script/testdata/runtime.ptx", "--block", "2", "--arg", "u64:16", "--arg",
		"buf:u32:1")
	if err != nil || !strings.Contains(out, "t0=0 t1=1 ") || !strings.Contains(out, "u32[1]: [0]") {
		t.Errorf("%s %v", out, err)
	}
	short := filepath.Join(t.TempDir(), "short.ptx")
	if err := os.WriteFile(short, []byte(".version 2.3\n.target sm_20\n.address_size 32\n.entry k(.param .u32 p) {\n"+
		".reg .u32 %a; ld.param.u32 %a, [p]; st.global.u32 [%a], 7; exit; }"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err = ptx("run", short, "--block", "1", "--arg", "buf:u32:1")
	if err != nil || !strings.Contains(out, "u32[1]: [7]") {
		t.Errorf("%s %v", out, err)
	}
}

func TestPTXProblems(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.ptx")
	if err := os.WriteFile(bad, []byte(".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n frob.u32 1;\n"+
		".reg .b64 %rd<2>;\n mbarrier.inval.b64 [%rd1];\n mbarrier.inval.b64 [%rd1];\n"+
		"wgmma.fence.sync.aligned;\nret; }"),
		0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ptx("check", bad)
	for _, want := range []string{
		":5: frob.u32 is not an instruction", ":7: mbarrier", ":8: mbarrier", ":9: wgmma",
		"not supported yet: mbarrier (2), wgmma (1)",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	out, err := ptx("features")
	if err != nil || !strings.Contains(out, "wgmma ") || !strings.Contains(out, "not supported yet") {
		t.Errorf("%s %v", out, err)
	}
}

// TestPTXUnsupported: whatever else a form is said to lack, that of a feature that is not supported yet is
// reported as that, and so by name.
func TestPTXUnsupported(t *testing.T) {
	for _, f := range parse.Features() {
		for _, form := range f.Forms {
			if f.Supported || form[0] == '.' || form[0] == '%' {
				continue
			}
			if words := strings.Split(form, "."); parse.Slip(words[0], words[1:]) != "" {
				form += ".u32" // it lacks a type
			}
			for _, operands := range []string{"", " %r1", " %r1, [%r1], 7", " [%r1], %r1, %r1, %r1"} {
				file := filepath.Join(t.TempDir(), "form.ptx")
				text := ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n.reg .b32 %r<2>;\n" + form +
					operands + ";\nret; }"
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				_, err := ptx("check", file)
				if err == nil || !strings.Contains(err.Error(), "not supported yet: "+f.Name) {
					t.Errorf("%s%s: %v", form, operands, err)
				}
			}
		}
	}
}

func TestPTXBadInput(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.ptx")
	if err := os.WriteFile(bad, []byte(".version 7.0\n.target sm_70\n.address_size 64\n.entry k() {\n frob.u32 1;\n}"),
		0o644); err != nil {
		t.Fatal(err)
	}
	four := []string{"--arg", "buf:f32:4", "--arg", "buf:f32:4", "--arg", "buf:f32:4", "--arg", "s32:4"}
	for want, args := range map[string][]string{
		"bad.ptx:5: frob.u32":     {"check", vecAdd, bad},
		"there is no nowhere.ptx": {"check", "nowhere.ptx"},
		"takes 4 arguments":       {"run", vecAdd},
		"no kernel":               append([]string{"run", vecAdd, "--kernel", "other"}, four...),
		"more than three":         append([]string{"run", vecAdd, "--grid", "1,2,3,4"}, four...),
		"it must be 1":            append([]string{"run", vecAdd, "--grid", "0"}, four...),
		"parameter 3": {
			"run", vecAdd, "--arg", "buf:f32:4", "--arg", "buf:f32:4", "--arg", "buf:f32:4",
			"--arg", "u64:4",
		},
		"is not a type": {
			"run", vecAdd, "--arg", "buf:q7:4", "--arg", "buf:f32:4", "--arg", "buf:f32:4",
			"--arg", "s32:4",
		},
		"is not a count": {
			"run", vecAdd, "--arg", "buf:f32:0", "--arg", "buf:f32:4", "--arg", "buf:f32:4",
			"--arg", "s32:4",
		},
		"is not zero, arange": {
			"run", vecAdd, "--arg", "buf:f32:4:maybe", "--arg", "buf:f32:4", "--arg",
			"buf:f32:4", "--arg", "s32:4",
		},
		"where argument I is a bu": append([]string{"run", vecAdd, "--dump", "3=x"}, four...),
	} {
		_, err := ptx(args...)
		var own *status
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &own) && own.code != exitInput {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	// a fault of the program has the status it has under heddle run
	_, err := ptx("run", vecAdd, "--arg", "buf:f32:4", "--arg", "buf:f32:4", "--arg", "buf:f32:4", "--arg", "s32:4000",
		"--block", "1024")
	var own *status
	if !errors.As(err, &own) || own.code != exitInput || !strings.Contains(err.Error(), "not allocated") {
		t.Errorf("%v", err)
	}
}

func TestPTXAnalyzeReadOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ro.ptx")
	out, err := ptx("analyze", vecAdd, "--json", "--kernel", "vec_add", "-o", file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kernels []struct {
			Name   string
			Params []struct {
				Index                  int
				Name, Why              string
				Pointer, Read, Written bool
				ReadOnly               bool `json:"read_only"`
			}
			Loads    int
			ReadOnly int `json:"loads_read_only"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Kernels) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	k := got.Kernels[0]
	if k.Name != "vec_add" || len(k.Params) != 4 || k.Loads != 2 || k.ReadOnly != 2 {
		t.Fatalf("%+v", k)
	}
	for i, p := range k.Params {
		if p.Index != i || p.Pointer != (i < 3) || p.Read != (i < 2) || p.Written != (i == 2) ||
			p.ReadOnly != (i < 2) || !strings.HasPrefix(p.Why, vecAdd+":") {
			t.Errorf("%+v", p)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "ld.global.nc.f32") != 2 {
		t.Errorf("%v\n%s", err, text)
	}
	again, err := ptx("analyze", file)
	if err != nil || !strings.Contains(again, "kernel vec_add: 2 of 2 global loads are read-only") {
		t.Errorf("%v\n%s", err, again)
	}
}

// Bad input is named with file and line.
func TestPTXAnalyzeRefuses(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.ptx")
	if err := os.WriteFile(bad, []byte(".version 7.0\n.target sm_70\nrubbish\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"analyze", bad}, bad + ":3: "},
		{[]string{"analyze", vecAdd, "--kernel", "nothing"}, "no kernel nothing: the module has vec_add"},
	} {
		if _, err := ptx(c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}
