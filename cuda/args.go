package cuda

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Options are an nvcc command line.
type Options struct {
	Sources []string
	Output  string // -o
	PTX     bool   // --ptx
	SM      int    // of -arch and -gencode the highest; 0: none given
	// Notes say what of the command line has no effect.
	Notes []string

	flags []string // for clang
}

// defaultSM is what kernels are compiled for where nothing else is asked for, and the oldest there is.
const defaultSM = 70

// valued are options whose value may be the next word, with what becomes of them: a flag of clang, or
// "" where they have no effect on PTX.
const valued = `-I -I|--include-path -I|-isystem -isystem|-D -D|--define-macro -D|-U -U|--undefine-macro -U|-include -include|
	--pre-include -include|-Xcompiler|--compiler-options|-Xptxas|--ptxas-options|-Xlinker|--linker-options|-ccbin|
	--compiler-bindir|-maxrregcount|--maxrregcount|-l|--library|-L|--library-path|-cudart|--cudart|-t|--threads|
	-x|--x|-code|--gpu-code|-MF|-MT|-rdc|--relocatable-device-code|-odir|--output-directory|-diag-suppress|-Xfatbin|-Xnvlink`

// silent are flags that make no difference to PTX.
const silent = ` -c -dc -dw -g -G -lineinfo --generate-line-info --device-debug --debug -m64 --machine=64 -w -Wall -Wextra -v
	--verbose -MD -MMD -MP -M -res-usage --resource-usage --expt-relaxed-constexpr --expt-extended-lambda --extended-lambda
	-expt-relaxed-constexpr -expt-extended-lambda -extended-lambda -fPIC -fopenmp -s -shared --compile -pg -keep --keep
	-Wno-deprecated-gpu-targets -arch=native --device-c -cuda --restrict -restrict -extra-device-vectorization `

// Parse reads a command line.
func Parse(args []string) (*Options, error) {
	o := &Options{}
	takes := map[string]string{}
	for _, e := range strings.Split(valued, "|") {
		f := strings.Fields(e)
		takes[f[0]] = ""
		if len(f) > 1 {
			takes[f[0]] = f[1]
		}
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, glued := strings.Cut(a, "=")
		next := func() (string, error) {
			if glued {
				return value, nil
			}
			if i++; i >= len(args) {
				return "", fmt.Errorf("%s needs a value after it", name)
			}
			return args[i], nil
		}
		if !strings.HasPrefix(a, "-") {
			o.Sources = append(o.Sources, a)
			continue
		}
		if strings.Contains(silent, " "+a+" ") || strings.Contains(silent, "\t"+a+" ") || strings.HasPrefix(a, "-W") {
			continue
		}
		if err := o.option(a, name, takes, next); err != nil {
			return nil, err
		}
	}
	if len(o.Sources) == 0 {
		return nil, fmt.Errorf("name a .cu file: heddle cc --ptx x.cu")
	}
	if o.Output != "" && len(o.Sources) > 1 {
		return nil, fmt.Errorf("-o %s names one file, there are %d sources: leave -o out, and each gets a .ptx",
			o.Output, len(o.Sources))
	}
	return o, nil
}

// option takes one option; next gives its value.
func (o *Options) option(a, name string, takes map[string]string, next func() (string, error)) error {
	short := a[:min(2, len(a))]
	switch {
	case a == "--ptx" || a == "-ptx":
		o.PTX = true
		return nil
	case name == "-arch" || name == "--gpu-architecture" || name == "-gencode" || name == "--generate-code":
		v, err := next()
		if err == nil {
			err = o.arch(v)
		}
		return err
	case name == "-o" || name == "--output-file":
		v, err := next()
		o.Output = v
		return err
	case name == "-std" || name == "--std":
		v, err := next()
		o.flags = append(o.flags, "-std="+v)
		return err
	case name == "-O" || name == "--optimize", short == "-O":
		return nil // kernels are always optimised, as nvcc does
	case a == "-use_fast_math" || a == "--use_fast_math":
		o.flags = append(o.flags, "-ffast-math", "-fgpu-approx-transcendentals", "-fgpu-flush-denormals-to-zero")
		return nil
	case name == "-fmad" || name == "--fmad":
		v, err := next()
		if v == "false" {
			o.flags = append(o.flags, "-ffp-contract=off")
		}
		return err
	case name == "-ftz" || name == "--ftz" || strings.Contains(name, "prec-"):
		v, err := next()
		if strings.Contains(name, "ftz") && v == "true" {
			o.flags = append(o.flags, "-fgpu-flush-denormals-to-zero")
		}
		return err
	}
	if to, ok := takes[name]; ok {
		v, err := next()
		if to != "" && err == nil {
			o.flags = append(o.flags, to, v)
		}
		return err
	}
	if to, ok := takes[short]; ok && len(a) > 2 {
		if to != "" {
			o.flags = append(o.flags, to, a[2:])
		}
		return nil
	}
	o.Notes = append(o.Notes, fmt.Sprintf("%s has no effect here", a))
	return nil
}

// arch keeps the highest architecture that a value of -arch or -gencode names.
func (o *Options) arch(v string) error {
	found := v == "native" || strings.HasPrefix(v, "all")
	for _, w := range strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(",=[]\"' ", r) }) {
		digits, ok := strings.CutPrefix(w, "sm_")
		if !ok {
			digits, ok = strings.CutPrefix(w, "compute_")
		}
		n, err := strconv.Atoi(strings.TrimRight(digits, "af"))
		if ok && err == nil {
			o.SM, found = max(o.SM, n), true
		}
	}
	if !found {
		return fmt.Errorf("%q names no architecture: sm_70, compute_80 or arch=compute_80,code=sm_80", v)
	}
	if o.SM != 0 && o.SM < defaultSM {
		o.Notes = append(o.Notes,
			fmt.Sprintf("sm_%d: kernels are compiled for sm_%d, the oldest there is here", o.SM, defaultSM))
	}
	return nil
}

// Target is the file that a source is compiled to.
func (o *Options) Target(source string) string {
	if o.Output != "" {
		return o.Output
	}
	base := filepath.Base(source)
	return strings.TrimSuffix(base, filepath.Ext(base)) + ".ptx"
}

// clang is the command line for clang, with the headers in dir.
func (o *Options) clang(dir string) []string {
	sm, ptx := max(o.SM, defaultSM), 80
	if sm >= 100 {
		ptx = 87
	}
	std := "-std=c++17"
	include := filepath.Join(dir, "include")
	list := []string{
		"-x", "cuda", "--cuda-device-only", fmt.Sprintf("--cuda-gpu-arch=sm_%d", sm),
		fmt.Sprintf("--cuda-feature=+ptx%d", ptx),
		"-nocudainc", "-nocudalib", "-Xclang", "-target-sdk-version=12.3", "-Wno-unknown-cuda-version", std, "-O2",
		"-gline-tables-only", "-fno-ident", "-fdebug-compilation-dir=.", "-ffile-prefix-map=" + include + "=heddle",
		"-include", "stdlib.h", "-include", filepath.Join(include, "cuda_runtime.h"),
	}
	return append(append(list, o.flags...), "-isystem", include)
}
