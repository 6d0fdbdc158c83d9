package cuda

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Options are an nvcc command line.
type Options struct {
	Sources []string // .cu files; for programs also C and C++ files, objects and archives
	Output  string   // -o
	PTX     bool     // --ptx
	Object  bool     // -c
	Device  bool     // -dlink: an object file that says how kernels are linked; Heddle links them when a program starts
	SM      int      // the highest of -arch and -gencode; 0: none given
	// Notes name the options of the command line that have no effect.
	Notes []string

	flags  []string // for clang, kernels and host code
	host   []string // for host code
	link   []string // for the linker
	refuse error    // a library that there is not
}

// defaultSM is what kernels are compiled for where nothing else is asked for, and the oldest there is.
const defaultSM = 70

// valued are options whose value may be the next word, with their use: a flag of clang for kernels and host
// code, one of the linker after link:, or nothing where they have no effect.
const valued = `-I -I|--include-path -I|-isystem -isystem|-D -D|--define-macro -D|-U -U|--undefine-macro -U|-include -include|
	--pre-include -include|-Xptxas|--ptxas-options|-ccbin|--compiler-bindir|-maxrregcount|--maxrregcount|-L link:-L|
	--library-path link:-L|-cudart|--cudart|-t|--threads|-x|--x|-code|--gpu-code|-MF|-MT|-MQ|-rdc|--relocatable-device-code|
	-diag-suppress|--diag-suppress|-Xcudafe|-Xfatbin|-Xnvlink|-odir|--output-directory`

// silent are flags that make no difference here.
const silent = ` -dw -G -lineinfo --generate-line-info --device-debug -m64 --machine=64 -w -v
	--verbose -MD -MMD -MP -M -res-usage --resource-usage --expt-relaxed-constexpr --expt-extended-lambda --extended-lambda
	-expt-relaxed-constexpr -expt-extended-lambda -extended-lambda -keep --keep
	-Wno-deprecated-gpu-targets -arch=native -cuda --restrict -restrict -extra-device-vectorization --no-align-double
	-link --link `

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
	return o, o.check()
}

// check says what a command line lacks.
func (o *Options) check() error {
	if len(o.Sources) == 0 {
		return fmt.Errorf("name a .cu file: heddle cc x.cu -o x")
	}
	for _, f := range o.Sources {
		if k := kindOf(f); k == "" || o.PTX && k != "cuda" {
			return fmt.Errorf("%s: its name does not say what it is; a source ends in .cu (of programs in .cpp, .c "+
				"or .o, too)", f)
		}
	}
	if o.Output != "" && len(o.Sources) > 1 && (o.PTX || o.Object) {
		return fmt.Errorf("-o %s names one file, there are %d sources: leave -o out, and each gets a file of its own",
			o.Output, len(o.Sources))
	}
	return o.refuse
}

// kindOf is what a file is by the end of its name: cuda, c, c++, object, or nothing known.
func kindOf(file string) string {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".cu":
		return "cuda"
	case ".cpp", ".cc", ".cxx", ".c++":
		return "c++"
	case ".c":
		return "c"
	case ".o", ".a", ".so", ".obj":
		return "object"
	}
	return ""
}

// option takes one option; next gives its value.
func (o *Options) option(a, name string, takes map[string]string, next func() (string, error)) error {
	if o.mode(a) {
		return nil
	}
	if done, err := o.forHost(a, name, next); done {
		return err
	}
	short := a[:min(2, len(a))]
	switch {
	case name == "-arch" || name == "--gpu-architecture" || name == "--gpu-name" ||
		name == "-gencode" || name == "--generate-code":
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
		if err == nil {
			o.give(to, v)
		}
		return err
	}
	if to, ok := takes[short]; ok && len(a) > 2 {
		o.give(to, a[2:])
		return nil
	}
	o.Notes = append(o.Notes, fmt.Sprintf("%s has no effect here", a))
	return nil
}

// mode takes what says how far the compilation goes.
func (o *Options) mode(a string) bool {
	switch a {
	case "--ptx", "-ptx":
		o.PTX = true
	case "-c", "--compile", "-dc", "--device-c":
		o.Object = true
	case "-dlink", "--device-link":
		o.Device = true
	default:
		return false
	}
	return true
}

// forHost takes an option for the host's compiler or linker.
func (o *Options) forHost(a, name string, next func() (string, error)) (bool, error) {
	short := a[:min(2, len(a))]
	switch {
	case name == "-Xcompiler" || name == "--compiler-options" || name == "-Xlinker" || name == "--linker-options":
		v, err := next()
		o.passed(name, v)
		return true, err
	case name == "-l" || name == "--library":
		v, err := next()
		o.library(v)
		return true, err
	case short == "-l" && a != "-link" && a != "-lineinfo":
		o.library(a[2:])
		return true, nil
	case a == "-g" || a == "--debug" || a == "-pg" || a == openMP || a == "-pthread":
		o.passed("-Xcompiler", strings.Replace(a, "--debug", "-g", 1))
		return true, nil
	case a == "-fPIC" || a == "-shared" || a == "--shared" || a == "-s":
		o.passed("-Xcompiler", strings.Replace(a, "--shared", "-shared", 1))
		return true, nil
	case name == "-O" || name == "--optimize":
		v, err := next()
		o.host = append(o.host, "-O"+v)
		return true, err
	case short == "-O":
		o.host = append(o.host, a) // kernels are always optimised, as nvcc does
		return true, nil
	}
	return false, nil
}

// give adds a flag of clang or the linker with its value.
func (o *Options) give(to, v string) {
	if l, ok := strings.CutPrefix(to, "link:"); ok {
		o.link = append(o.link, l+v)
	} else if to != "" {
		o.flags = append(o.flags, to, v)
	}
}

// passed takes what is meant for the host's compiler or linker.
func (o *Options) passed(name, v string) {
	for _, w := range strings.Split(v, ",") {
		w = strings.Trim(w, "\"' ")
		switch {
		case w == "":
		case strings.Contains(name, "inker"):
			o.link = append(o.link, "-Wl,"+w)
		case strings.HasPrefix(w, "-l"):
			o.library(w[2:])
		case strings.HasPrefix(w, "-L") || strings.HasPrefix(w, "-Wl"):
			o.link = append(o.link, w)
		case w == openMP || w == "-pthread" || w == "-shared" || w == "-s" || w == "-pg" || w == "-rdynamic":
			o.host, o.link = append(o.host, w), append(o.link, w)
		default:
			o.host = append(o.host, w)
		}
	}
}

// library takes a library that the program is linked to.
func (o *Options) library(name string) {
	switch {
	case strings.HasPrefix(name, "cudart") || name == "cudadevrt" || name == "cuda" || name == "nvToolsExt":
		// they are always there
	case toolkitLibrary.MatchString(name):
		o.refuse = fmt.Errorf("-l%s is a library of the CUDA toolkit, which Heddle does not have: such libraries are "+
			"machine code for NVIDIA's GPUs. Replace its calls by kernels of your own", name)
	default:
		o.link = append(o.link, "-l"+name)
	}
}

// toolkitLibrary are the names of NVIDIA's libraries for the host.
var toolkitLibrary = regexp.MustCompile(`^(cublas|cufft|cusparse|cusolver|cudnn|curand|npp|nvjpeg|nvrtc|nccl|cutensor)`)

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
			fmt.Sprintf("sm_%d: kernels are compiled for sm_%d, the oldest that Heddle supports", o.SM, defaultSM))
	}
	return nil
}

// Target is the file that a source is compiled to.
func (o *Options) Target(source string) string {
	if o.Output != "" {
		return o.Output
	}
	base := filepath.Base(source)
	end := ".ptx"
	if o.Object {
		end = ".o"
	}
	return strings.TrimSuffix(base, filepath.Ext(base)) + end
}

// arch is the architecture that kernels are compiled for.
func (o *Options) sm() int { return max(o.SM, defaultSM) }

// common are the flags for kernels and their host code, with the headers in dir.
func (o *Options) common(dir string) []string {
	include := filepath.Join(dir, "include")
	list := []string{
		"-x", "cuda", fmt.Sprintf("--cuda-gpu-arch=sm_%d", o.sm()), "-nocudainc", "-nocudalib",
		"-Xclang", "-target-sdk-version=12.3", "-Wno-unknown-cuda-version",
		"-Wno-reserved-user-defined-literal", "-std=c++17",
		"-fno-ident", "-fdebug-compilation-dir=.", "-ffile-prefix-map=" + include + "=heddle",
		"-include", "stdlib.h", "-include", filepath.Join(include, "cuda_runtime.h"),
	}
	return append(append(list, o.flags...), "-isystem", include, "-idirafter", filepath.Join(include, "fallback"))
}

// kernels is the command line for the kernels of a source.
func (o *Options) kernels(dir string) []string {
	ptx := 80
	if o.sm() >= 100 {
		ptx = 87
	}
	return append(o.common(dir), "--cuda-device-only", fmt.Sprintf("--cuda-feature=+ptx%d", ptx), "-O2",
		"-gline-tables-only")
}

// program is the command line for the host code of a source whose kernels are in the file fat.
func (o *Options) program(dir, fat string) []string {
	// Signed numbers wrap around, as they do where nvcc asks its host compiler for no optimisation.
	list := append(o.common(dir), "--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fat, "-O2",
		"-fwrapv", "-c")
	return append(list, o.host...)
}

// plain is the command line for a C or C++ source.
func (o *Options) plain(dir, kind string) []string {
	list := []string{"-x", kind, "-O2", "-fwrapv", "-c"}
	for i := 0; i < len(o.flags); i++ {
		if f := o.flags[i]; kind == "c" && strings.HasPrefix(f, "-std=c++") || strings.HasPrefix(f, "-fgpu") {
			continue
		}
		list = append(list, o.flags[i])
	}
	include := filepath.Join(dir, "include")
	return append(append(list, o.host...), "-isystem", include, "-idirafter", filepath.Join(include, "fallback"))
}
