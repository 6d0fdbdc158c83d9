package sim

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	hostlink "github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/residency"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/sheets"
)

// Unified makes managed memory move on demand: its pages come to the device when they are touched and leave when
// there is no room. Names and numbers that are left out have the dissertation's defaults.
type Unified struct {
	// Runtime is a set of policies by name (RuntimeNames); settings that are given separately override it.
	Runtime string `json:"runtime,omitempty"`
	All     bool   `json:"all,omitempty"` // memory that programs allocate on the device is managed, too
	// Capacity is the device memory for managed pages: bytes, megabytes of 2^20 bytes as in 14.05MB, rounded up to
	// whole pages, or a share of what is allocated as in 75% or 100/110; "": all there is.
	Capacity string `json:"capacity,omitempty"`
	// Oversubscription gives the same as allocated memory over capacity, as in 150%.
	Oversubscription string `json:"oversubscription,omitempty"`

	Prefetch     string `json:"prefetch,omitempty"`
	PrefetchOver string `json:"prefetch_over,omitempty"` // once memory has been too small; "": as Prefetch
	Evict        string `json:"evict,omitempty"`
	Migrate      string `json:"migrate,omitempty"`
	Ts           int    `json:"ts,omitempty"`
	P            int    `json:"p,omitempty"`
	Counters     string `json:"counters,omitempty"`    // all or remote accesses count
	Reserve      int    `json:"reserve,omitempty"`     // percent
	FreeBuffer   int    `json:"free_buffer,omitempty"` // percent
	WriteBack    string `json:"write_back,omitempty"`  // always or dirty
	// Smart has the runtime choose prefetcher, eviction and migration by itself.
	Smart bool `json:"smart,omitempty"`
	// Link is the scheduler of the link: fr-fcfs, rr, static or adaptive; High is, for static, the number of an
	// application, counted from 0. Preserve evicts that application's pages last. Faults says which faults the driver
	// handles first: those of the application that goes first on the link ("" or link), or of application High
	// (high).
	Link     string `json:"link,omitempty"`
	Faults   string `json:"faults,omitempty"`
	High     int    `json:"high,omitempty"`
	Preserve bool   `json:"preserve,omitempty"`
}

// On says whether the run uses it.
func (u *Unified) On() bool { return *u != Unified{} }

// Alone adapts the settings to an application that has the whole machine: it has the link for itself, and if the
// capacity is a share of the memory that several have allocated, it has all the memory.
func (u Unified) Alone() Unified {
	if !u.On() {
		return u
	}
	if _, share, err := u.capacity(); err == nil && share > 0 {
		u.Capacity, u.Oversubscription = "", ""
	}
	u.Link, u.Faults, u.High, u.Preserve = "", "", 0, false
	if !u.On() {
		u.Migrate = "first-touch" // the default, lest it be off
	}
	return u
}

// options are the machine's options for unified memory; nil if the run does not ask for it.
func (u *Unified) options(seed uint64) (*residency.UnifiedOptions, error) {
	if !u.On() {
		return nil, nil
	}
	set, err := runtimeByName(u.Runtime)
	if err != nil {
		return nil, err
	}
	o := &residency.UnifiedOptions{Options: uvm.Options{
		Prefetch: u.Prefetch, PrefetchOver: u.PrefetchOver, Evict: u.Evict, Migrate: u.Migrate, Ts: u.Ts, P: u.P,
		Counters: u.Counters,
		Reserve:  u.Reserve, FreeBuffer: u.FreeBuffer, CleanDropped: u.WriteBack == "dirty", Smart: u.Smart, Seed: seed,
	}}
	if !u.Smart {
		o.Prefetch, o.Evict = either(u.Prefetch, set.prefetch), either(u.Evict, set.evict)
		o.Migrate = either(u.Migrate, "first-touch")
	}
	o.FaultsOnLink, o.Public, o.Throttle, o.HostStays = set.public, set.public, set.throttle, set.hostStays
	o.Together = set.public && u.Smart
	o.Arbiter, o.High, o.FaultsHigh, o.Preserve = u.Link, u.High, u.Faults == "high", u.Preserve
	if u.Link != "" && !slices.Contains(hostlink.ArbiterNames(), u.Link) {
		return nil, fmt.Errorf("memory.unified.link is %s, not %q", strings.Join(hostlink.ArbiterNames(), ", "), u.Link)
	}
	if u.Faults != "" && u.Faults != "link" && u.Faults != "high" {
		return nil, fmt.Errorf("memory.unified.faults is link or high, not %q", u.Faults)
	}
	if u.High < 0 || u.High > 0 && u.Link != "static" && !o.FaultsHigh {
		return nil, fmt.Errorf("memory.unified.high %d: it names the application that goes first with link: static "+
			"or faults: high", u.High)
	}
	if u.Preserve && u.Link != "static" && u.Link != "adaptive" {
		return nil, errors.New("memory.unified.preserve needs an application that goes first on the link: use link: " +
			"adaptive or static")
	}
	if o.Ts == 0 {
		o.Ts = defaultTs
	}
	if o.P == 0 {
		o.P = 8 // Table 2
	}
	if u.WriteBack != "" && u.WriteBack != "always" && u.WriteBack != "dirty" {
		return nil, fmt.Errorf("memory.unified.write_back is always or dirty, not %q", u.WriteBack)
	}
	if o.Capacity, o.Share, err = u.capacity(); err != nil {
		return nil, err
	}
	check := o.Options
	check.Capacity = max(check.Capacity, uvm.PageSize)
	if _, err := uvm.New(check); err != nil {
		return nil, fmt.Errorf("memory.unified: %w", err)
	}
	return o, nil
}

// defaultTs is the static threshold of Table 2.
const defaultTs = 8

// runtimeSet is a runtime by name: policies that belong together, and how faults are handled.
type runtimeSet struct {
	name, prefetch, evict string
	public                bool // as the dissertation's public simulator where that differs from the text
	throttle              bool // pages that host and device take from each other
	hostStays             bool // pages whose preferred location is the host never migrate
	what                  string
}

func runtimeSets() []runtimeSet {
	return []runtimeSet{
		{name: "dissertation", prefetch: "tbn", evict: "lru2m", what: "NVIDIA's runtime as Ganguly describes it"},
		{
			name: "driver-today", prefetch: "driver-today", evict: "driver-today", throttle: true, hostStays: true,
			what: "NVIDIA open-gpu-kernel-modules 595.45.04",
		},
		{
			name: "uvmsmart-compat", prefetch: "tbn", evict: "lru2m", public: true,
			what: "the dissertation's public simulator where it differs from the text",
		},
	}
}

// RuntimeNames are the names of the sets of policies; the first is the default.
func RuntimeNames() (names []string) {
	for _, s := range runtimeSets() {
		names = append(names, s.name)
	}
	return names
}

func runtimeByName(name string) (runtimeSet, error) {
	sets := runtimeSets()
	for _, s := range sets {
		if s.name == name || name == "" && s.name == sets[0].name {
			return s, nil
		}
	}
	return runtimeSet{}, fmt.Errorf("memory.unified.runtime is %s, not %q", strings.Join(RuntimeNames(), ", "),
		name)
}

// either is the name, or the other one if it is empty.
func either(name, other string) string {
	if name == "" {
		return other
	}
	return name
}

// capacity is the device memory for managed pages in bytes, or as a share of what is allocated; 0 and 0: all there is.
func (u *Unified) capacity() (bytes int64, share float64, err error) {
	if u.Oversubscription == "" {
		return parseCapacity(u.Capacity)
	}
	if u.Capacity != "" {
		return 0, 0, errors.New("memory.unified: capacity and oversubscription say the same: leave one of them out")
	}
	n, ok := strings.CutSuffix(u.Oversubscription, "%")
	over, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
	if err != nil || !ok || !(over >= 100) || over > 1e6 {
		return 0, 0, fmt.Errorf("memory.unified.oversubscription %q: want allocated memory divided by device "+
			"memory, 100%% or more, as in 150%%", u.Oversubscription)
	}
	return 0, 100 / over, nil
}

// mostMegabytes is the greatest capacity in megabytes: a million.
const mostMegabytes = 1e6

// parseCapacity reads bytes, KB, MB or GB (of 2^10 bytes each, as KiB, MiB and GiB are), a share of what is allocated
// (75%, 100/110), or nothing.
func parseCapacity(text string) (bytes int64, share float64, err error) {
	bad := fmt.Errorf("memory.unified.capacity %q: want bytes (a multiple of 64 KB), KB, MB or GB, as in 14.05MB, or "+
		"a share of the allocated memory above 0 %%, as in 75%% or 100/110", text)
	if text == "" {
		return 0, 0, nil
	}
	if m := regexp.MustCompile(`^([0-9.]+) *([KMG])i?B$`).FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseFloat(m[1], 64)
		n *= map[string]float64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[m[2]]
		if err != nil || !(n > 0) || n > mostMegabytes*(1<<20) {
			return 0, 0, bad
		}
		if bytes = int64(n); bytes < uvm.PageSize {
			return 0, 0, fmt.Errorf("memory.unified.capacity %q holds no page of %d bytes: give 4KB or more",
				text, uvm.PageSize)
		}
		return (bytes + uvm.PageSize - 1) &^ (uvm.PageSize - 1), 0, nil
	}
	if n, ok := strings.CutSuffix(text, "%"); ok {
		share, err = strconv.ParseFloat(strings.TrimSpace(n), 64)
		share /= 100
	} else if a, b, ok := strings.Cut(text, "/"); ok {
		var x, y uint64
		if x, err = strconv.ParseUint(a, 10, 32); err == nil {
			y, err = strconv.ParseUint(b, 10, 32)
		}
		if y > 0 {
			share = float64(x) / float64(y)
		}
	} else {
		bytes, err = strconv.ParseInt(text, 10, 64)
		if err != nil || bytes < uvm.BlockSize || bytes%uvm.BlockSize != 0 {
			return 0, 0, bad
		}
		return bytes, 0, nil
	}
	if err != nil || !(share > 0) || share > 1e6 {
		return 0, 0, bad
	}
	if percent, ok := strings.CutSuffix(text, "%"); ok && share > 1 {
		return 0, 0, fmt.Errorf("memory.unified.capacity %[1]q is more than the allocated memory. If the data shall "+
			"be %[1]s of the memory, write oversubscription: %[1]s (the same as capacity: 100/%[2]s); if memory shall "+
			"never be too small, leave capacity out", text, strings.TrimSpace(percent))
	}
	return 0, share, nil
}

// check names the settings that machine m lacks for it.
func (u *Unified) check(m *sheets.Machine) error {
	if !u.On() {
		return nil
	}
	if err := unifiedHost(m); err != nil {
		return err
	}
	_, err := u.options(0)
	return err
}

// Valid is an error if no machine could accept the settings; nil: some machine may.
func (u Unified) Valid() error {
	_, err := u.options(0)
	return err
}

// unifiedHost is the error of a machine that cannot have unified memory, with all that would have to be set;
// nil when it can.
func unifiedHost(m *sheets.Machine) error {
	var lacks []string
	l := &Lacks{}
	need := func(path, what, value string) {
		if l.Path == "" {
			l.Path = path
		}
		lacks, l.Set = append(lacks, what), append(l.Set, path+"="+value)
	}
	if !m.VM.Enabled {
		need("vm.enabled", "does not translate addresses (vm.enabled)", "true")
	}
	if m.VM.Page != uvm.PageSize {
		need("vm.page", fmt.Sprintf("has pages of %d bytes (vm.page), but managed memory moves in pages of %d",
			m.VM.Page, uvm.PageSize), fmt.Sprint(uvm.PageSize))
	}
	if m.UVM.Buffer == 0 {
		return &Lacks{"uvm.buffer", fmt.Sprintf("memory.unified: machine %s has no buffer for faults "+
			"(uvm.buffer): use "+
			"machine uvm", m.Name), nil}
	}
	if lacks == nil {
		return nil
	}
	l.Msg = fmt.Sprintf("memory.unified: machine %s %s. Write set: {%s} (on the command line --set %s), or use "+
		"machine uvm", m.Name, strings.Join(lacks, ", and "), strings.ReplaceAll(strings.Join(l.Set, ", "), "=", ": "),
		strings.Join(l.Set, " --set "))
	return l
}

// UnifiedNeeds are the settings, path=value, by which unified memory works on a machine; nil: it does as it is, or no
// setting helps.
func UnifiedNeeds(m *sheets.Machine) []string {
	var l *Lacks
	if errors.As(unifiedHost(m), &l) {
		return l.Set
	}
	return nil
}

// unified is the unified memory that the run asks for; nil: none.
func (r *run) unified() (*residency.UnifiedOptions, error) {
	o, err := r.spec.Sharing.Memory.Unified.options(r.spec.Seed)
	if o != nil {
		o.Spans, o.Accesses = r.spec.Timeline, r.spec.Touches && r.spec.Epoch > 0
	}
	return o, err
}

// managed describes the use of managed allocations.
func (r *run) managed() (out []ManagedAllocation) {
	for _, h := range r.gpu.Unified.Heat() {
		out = append(out, ManagedAllocation{
			Tenant: r.apps[h.Tenant].spec.Name, Bytes: h.Bytes, Reads: h.Reads, Writes: h.Writes, Remote: h.Remote,
			Migrated: h.Migrated, Again: h.Again, Left: h.Left,
		})
	}
	return out
}

// unifiedSpans puts faults and transfers of unified memory on the timeline.
func (r *run) unifiedSpans() {
	tracks := [...]string{
		residency.FaultBatch: "unified memory/driver", residency.ToDevice: "unified memory/to the device",
		residency.ToHost: "unified memory/to the host",
	}
	for _, s := range r.gpu.Unified.Spans() {
		name := fmt.Sprintf("%d KB", s.N*uvm.PageSize>>10)
		if s.Kind == residency.FaultBatch {
			name = fmt.Sprintf("%d faults", s.N)
		}
		r.span(tracks[s.Kind], name, s.Start, s.End, int(s.Tenant))
	}
}

// SetUnified sets one field of Unified by its name in a run file.
func (u *Unified) SetUnified(name, value string) (err error) {
	number := map[string]*int{
		"ts": &u.Ts, "p": &u.P, "reserve": &u.Reserve, "high": &u.High,
		"free_buffer": &u.FreeBuffer,
	}
	flag := map[string]*bool{"all": &u.All, "smart": &u.Smart, "preserve": &u.Preserve}
	text := map[string]*string{
		"capacity": &u.Capacity, "oversubscription": &u.Oversubscription, "prefetch": &u.Prefetch,
		"prefetch_over": &u.PrefetchOver, "evict": &u.Evict,
		"migrate": &u.Migrate, "runtime": &u.Runtime, "write_back": &u.WriteBack, "link": &u.Link,
		"faults": &u.Faults, "counters": &u.Counters,
	}
	switch {
	case flag[name] != nil:
		*flag[name], err = strconv.ParseBool(value)
	case number[name] != nil:
		if *number[name], err = strconv.Atoi(value); err == nil && (name == "ts" || name == "p") {
			err = uvm.CheckThreshold(name, *number[name]) // 0 stands for one that a run leaves out
		}
	case text[name] != nil:
		*text[name] = value
	default:
		names := slices.Concat(slices.Collect(maps.Keys(number)), slices.Collect(maps.Keys(flag)),
			slices.Collect(maps.Keys(text)))
		slices.Sort(names)
		return fmt.Errorf("unknown key; memory.unified has %s", strings.Join(names, ", "))
	}
	return err
}
