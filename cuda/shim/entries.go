package shim

import (
	_ "embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed entries.txt
var entriesText string

// Entry is a function of the driver API.
type Entry struct {
	Name  string // as the library exports it
	Base  string // without the version at its end
	Since int    // the version of CUDA that introduced it: 12040 is 12.4
}

var versioned = regexp.MustCompile(`_v[0-9]+$`)

// Entries are the functions of the driver API by name, those of one base from the oldest on.
func Entries() []Entry {
	var list []Entry
	for line := range strings.Lines(entriesText) {
		f := strings.Fields(line)
		if len(f) != 2 || f[0] == "#" {
			continue
		}
		since, err := strconv.Atoi(f[1])
		if err != nil {
			continue // TestEntries finds it
		}
		list = append(list, Entry{f[0], versioned.ReplaceAllString(f[0], ""), since})
	}
	slices.SortStableFunc(list, func(a, b Entry) int {
		if c := strings.Compare(a.Base, b.Base); c != 0 {
			return c
		}
		return a.Since - b.Since
	})
	return list
}

// entriesSource is entries.c: each function of the driver API that the library does not have, as one that says so, and
// the table of cuGetProcAddress.
func entriesSource() string {
	var b strings.Builder
	b.WriteString("#include \"entries.h\"\n")
	list := Entries()
	for _, e := range list {
		stub(&b, e.Name)
	}
	b.WriteString("const struct entry heddle_entries[] = {\n")
	for _, e := range list {
		fmt.Fprintf(&b, "{\"%s\", %d, (void *)%s},\n", e.Base, e.Since, e.Name)
	}
	b.WriteString("{0, 0, 0}};\n")
	return b.String()
}

// stub is a function that is used where no other of its name is linked.
func stub(b *strings.Builder, name string) {
	fmt.Fprintf(b, "__attribute__((weak)) int %s(void) { return heddle_unsupported(\"%s\"); }\n", name, name)
}

var declared = regexp.MustCompile(`(?m)^cudaError_t (cuda\w+)\(`)

// runtimeStubs is stubs.c of the runtime libraries: what Heddle's headers declare and the libraries do not have.
func runtimeStubs(headers fs.FS) (string, error) {
	var b strings.Builder
	b.WriteString("#include \"entries.h\"\n")
	for _, name := range []string{
		"cuda_runtime_api.h", "heddle/graph_api.h", "heddle/graphics_api.h", "cuda_gl_interop.h",
	} {
		text, err := fs.ReadFile(headers, name)
		if err != nil {
			return "", err
		}
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			fmt.Fprintf(&b, "__attribute__((weak)) int %[1]s(void)\n"+
				"{ return heddle_runtime_error(heddle_unsupported(\"%[1]s\")); }\n", m[1])
		}
	}
	return b.String(), nil
}

// perThread are the functions that programs compiled with a default stream per thread call by another name: with _ptds
// at its end where they wait, _ptsz where they name a stream. Here both default streams are one.
const perThread = `ptds: cudaMemcpy cudaMemcpyToSymbol cudaMemcpyFromSymbol cudaMemcpy2D cudaMemcpy3D cudaMemset cudaMemset2D
	cudaMemset3D
	ptsz: cudaMemcpyAsync cudaMemcpyToSymbolAsync cudaMemcpyFromSymbolAsync cudaMemcpy2DAsync cudaMemcpy3DAsync
	cudaMemsetAsync cudaMemset2DAsync cudaMemset3DAsync cudaLaunchKernel cudaLaunchKernelExC cudaLaunchCooperativeKernel
	cudaLaunchHostFunc cudaEventRecord cudaEventRecordWithFlags cudaStreamSynchronize cudaStreamQuery cudaStreamWaitEvent
	cudaStreamAddCallback cudaStreamGetFlags cudaStreamGetPriority cudaStreamAttachMemAsync cudaMemPrefetchAsync
	cudaStreamBeginCapture cudaStreamEndCapture cudaStreamIsCapturing cudaGraphLaunch cudaMallocAsync cudaFreeAsync
	ptds: cuMemcpy cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoD_v2 cuMemcpy2D_v2 cuMemcpy3D_v2 cuMemsetD8_v2
	cuMemsetD16_v2 cuMemsetD32_v2
	ptsz: cuMemcpyAsync cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoDAsync_v2 cuMemcpy2DAsync_v2
	cuMemcpy3DAsync_v2 cuMemsetD8Async cuMemsetD16Async cuMemsetD32Async cuLaunchKernel cuLaunchKernelEx
	cuLaunchCooperativeKernel cuLaunchHostFunc cuEventRecord cuEventRecordWithFlags cuStreamSynchronize cuStreamQuery
	cuStreamWaitEvent cuStreamAddCallback cuStreamGetFlags cuStreamGetPriority cuMemPrefetchAsync cuStreamEndCapture
	cuStreamBeginCapture_v2 cuStreamIsCapturing cuGraphLaunch cuMemAllocAsync cuMemFreeAsync`

// firstNames are flags of the linker for the names without a version of functions that have had one since CUDA 11.0 at
// the latest. Most of those names were of another width of addresses, which no program has today.
func firstNames() []string {
	var flags []string
	seen := map[string]bool{}
	for _, e := range Entries() {
		if e.Name == e.Base {
			seen[e.Base] = true
		}
	}
	for _, e := range Entries() {
		if e.Since <= 11000 && !seen[e.Base] {
			flags = append(flags, "-Wl,--defsym="+e.Base+"="+e.Name)
			seen[e.Base] = true
		}
	}
	return flags
}

// perThreadNames are flags of the linker for the names of perThread that begin with prefix and a capital.
func perThreadNames(prefix string) []string {
	var flags []string
	end := ""
	for _, w := range strings.Fields(perThread) {
		if e, ok := strings.CutSuffix(w, ":"); ok {
			end = "_" + e
			continue
		}
		rest, ok := strings.CutPrefix(w, prefix)
		if ok && rest[0] >= 'A' && rest[0] <= 'Z' {
			flags = append(flags, "-Wl,--defsym="+w+end+"="+w)
		}
	}
	return flags
}
