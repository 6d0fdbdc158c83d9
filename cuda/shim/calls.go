package shim

import (
	"fmt"
	"strings"
)

// Call is the number of a call that a program makes; the names stand in calls.h as CALL_....
type Call int32

// The calls. Package exec says, where it answers each, what v holds on the way in and out.
const (
	Hello Call = iota + 1
	Done
	Attributes
	Module
	ModuleEnd
	Function
	SetAttribute
	Global
	Occupancy
	Launch
	Allocate
	Free
	Pointer
	Memory
	Copy
	Fill
	Prefetch
	Advise
	Touch
	Sync
	SyncAll
	Reset
	SetLimit
	GetLimit
	Stream
	StreamEnd
	StreamQuery
	StreamWait
	StreamFlags
	Event
	EventEnd
	EventRecord
	EventQuery
	EventSync
	EventTime
	Host
	Register
	Unregister
	Image
	ImageEnd
	ImageBind
	NumCalls
)

// callNames are the calls as C and messages write them, from Hello on.
const callNames = `HELLO DONE ATTRIBUTES MODULE MODULE_END FUNCTION SET_ATTRIBUTE GLOBAL OCCUPANCY LAUNCH ALLOCATE FREE
	POINTER MEMORY COPY FILL PREFETCH ADVISE TOUCH SYNC SYNC_ALL RESET SET_LIMIT GET_LIMIT STREAM STREAM_END STREAM_QUERY
	STREAM_WAIT STREAM_FLAGS EVENT EVENT_END EVENT_RECORD EVENT_QUERY EVENT_SYNC EVENT_TIME HOST REGISTER UNREGISTER
	IMAGE IMAGE_END IMAGE_BIND`

// String is the name of a call in messages.
func (c Call) String() string {
	names := strings.Fields(callNames)
	if c < 1 || int(c) > len(names) {
		return fmt.Sprintf("call %d", int32(c))
	}
	return strings.ToLower(strings.ReplaceAll(names[c-1], "_", " "))
}

// Push is what heddle sends while a program waits for an answer.
type Push int32

// The pushes: an answer, text for standard output, a change of the window, a function of the host to run.
const (
	Answer Push = iota + 1
	Text
	Protect
	HostCall
)

const (
	// Protocol is the version of the packets; heddle refuses a library with another one.
	Protocol = 2
	// Values is the number of 64-bit values of a packet.
	Values = 8
	// Payload is the most bytes that follow a packet's values.
	Payload = 32768
	// Header is the size of a packet before the payload.
	Header = 16 + 8*Values

	// WindowBytes is the number of addresses, from mem.DefaultBase on, that belong to the machine's memory; the file
	// behind it has the byte of an address at address - mem.DefaultBase.
	WindowBytes = 1 << 40
	// Staging is the place in the file for the bytes of copies from and to the program's own memory.
	Staging = WindowBytes
	// StagingBytes is the most bytes of one such copy.
	StagingBytes = 64 << 30
	// Staged stands for an address in the staging area.
	Staged = 1
	// FileBytes is the size of the whole file, most of which is never touched.
	FileBytes = Staging + StagingBytes
	// Joint stands between the PTX texts of one image that the program has made with the linker (cuLink...).
	Joint = "\n//heddle: the next text\n"
	// DriverVersion is the version of CUDA whose calls the library offers.
	DriverVersion = 12080
)

// callsHeader is calls.h.
func callsHeader(window uint64) string {
	var b strings.Builder
	fmt.Fprintln(&b, "#pragma once")
	for i, n := range strings.Fields(callNames) {
		fmt.Fprintf(&b, "#define CALL_%s %d\n", n, i+1)
	}
	for i, n := range strings.Fields("ANSWER TEXT PROTECT HOST_CALL") {
		fmt.Fprintf(&b, "#define PUSH_%s %d\n", n, i+1)
	}
	fmt.Fprintf(&b, "#define HEDDLE_PROTOCOL %d\n#define HEDDLE_WINDOW %#xull\n#define HEDDLE_WINDOW_BYTES %dull\n",
		Protocol, window, int64(WindowBytes))
	fmt.Fprintf(&b, "#define HEDDLE_STAGING %dull\n#define HEDDLE_STAGING_BYTES %dull\n#define HEDDLE_STAGED %d\n",
		int64(Staging), int64(StagingBytes), Staged)
	fmt.Fprintf(&b, "#define HEDDLE_JOINT %q\n", Joint)
	fmt.Fprintf(&b, "#define HEDDLE_DRIVER_VERSION %d\n", DriverVersion)
	return b.String()
}
