package control

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Checker is a sample that can find its own contradictions.
type Checker interface{ Check() error }

// The greatest numbers of a sample. Beyond 2^53 JSON's numbers are not exact, and a policy adds up those of many
// periods.
const (
	mostSMs    = 1 << 16
	mostGroups = 1 << 16
	mostCounts = 1 << 53
)

// MostIPC is more thread instructions per core cycle than any GPU issues: a target above it is a typing error.
const MostIPC = 1e6

// checker refuses samples of a file that no run could have written. Its errors continue "sample 3".
type checker struct {
	entry     *Entry
	last      Clock
	names     []string // of the applications, those of the first sample
	instances int      // elements of lists per SM; below 0: there was none yet
}

// keys refuses a sample that lacks a key that the policy needs.
func (c *checker) keys(text []byte) error {
	var own map[string]json.RawMessage
	if len(c.entry.Needs) == 0 || json.Unmarshal(text, &own) != nil {
		return nil
	}
	var apps []map[string]json.RawMessage
	if err := json.Unmarshal(own["apps"], &apps); len(own["apps"]) > 0 && err != nil {
		return nil // decoding the sample has told
	}
	for _, key := range c.entry.Needs {
		in, ofApp := strings.CutPrefix(key, "apps.")
		if !ofApp && !given(own, key) {
			return fmt.Errorf(" has no %s, which policy %s decides by", key, c.entry.Name)
		}
		for i, a := range apps {
			if ofApp && !given(a, in) {
				return fmt.Errorf(": application %d has no %s, which policy %s decides by", i+1, in, c.entry.Name)
			}
		}
	}
	return nil
}

// given says that an object has a key, and not null.
func given(object map[string]json.RawMessage, key string) bool {
	v, ok := object[key]
	return ok && string(v) != "null"
}

// sample refuses samples that no machine can have, that do not follow the sample before, that have more targets than
// the policy serves, or that contradict themselves.
func (c *checker) sample(sample any) error {
	now, held := look(sample)
	targets := 0
	if own, ok := sample.(Checker); ok {
		if err := own.Check(); err != nil {
			return fmt.Errorf(": %w", err)
		}
	}
	if err := c.clock(now); err != nil {
		return err
	}
	names := []string{}
	for _, h := range held {
		if err := h.check(); err != nil {
			return err
		}
		if slices.Contains(names, h.Name) {
			return fmt.Errorf(": two applications are called %s", h.Name)
		}
		names = append(names, h.Name)
	}
	apps := reflect.ValueOf(sample).Elem().FieldByName("Apps")
	switch ofApps := apps.IsValid() && apps.Kind() == reflect.Slice; {
	case ofApps && apps.Len() == 0:
		return fmt.Errorf(" has no apps: policy %s decides for applications", c.entry.Name)
	case c.names != nil && len(names) != len(c.names):
		return fmt.Errorf(" has %d applications and the first has %d", len(names), len(c.names))
	case c.names != nil && !slices.Equal(names, c.names):
		return fmt.Errorf(" has the applications %s and the first has %s: every sample has the same applications in "+
			"the same order",
			strings.Join(names, ", "), strings.Join(c.names, ", "))
	case ofApps:
		for i := range apps.Len() {
			if err := c.counts(apps.Index(i), i); err != nil {
				return err
			}
			ofKernels, err := kernelTargets(apps.Index(i), i)
			if err != nil {
				return err
			}
			if ofKernels || i < len(held) && held[i].QoS > 0 {
				targets++
			}
		}
	}
	c.names, c.last = names, now
	if err := c.entry.CheckTargets(targets); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// kernelTargets says whether kernels of application i have targets, and refuses what no kernel can have.
func kernelTargets(app reflect.Value, i int) (some bool, err error) {
	f := app.FieldByName("Kernels")
	if !f.IsValid() {
		return false, nil
	}
	list, _ := f.Interface().([]TaskKernel)
	for n := range list {
		k := &list[n]
		switch {
		case k.QoS < 0 || k.QoS > MostIPC:
			return false, fmt.Errorf(": application %d: kernel %s: qos is %g thread instructions per core cycle: 0 "+
				"to %g", i+1, k.Name, k.QoS, MostIPC)
		case max(k.Insts, k.Cycles) > mostCounts:
			return false, fmt.Errorf(": application %d: kernel %s: insts and cycles are at most 2^53", i+1, k.Name)
		}
		some = some || k.QoS > 0
	}
	return some, nil
}

// clock checks when the sample was taken, and the SMs without an owner.
func (c *checker) clock(now Clock) error {
	switch {
	case now.Cycle < c.last.Cycle:
		return fmt.Errorf(" is at cycle %d and the one before at %d: samples must be in order of time", now.Cycle,
			c.last.Cycle)
	case now.Epoch < c.last.Epoch:
		return fmt.Errorf(" has epoch %d and the one before has %d: samples must be in order of time", now.Epoch,
			c.last.Epoch)
	case now.Epoch == 0 && slices.Contains(c.entry.Needs, "epoch"):
		return fmt.Errorf(": epoch 0: epochs are counted from 1")
	case now.IdleSMs < 0 || now.GatedSMs < 0 || now.SMsGating < 0:
		return fmt.Errorf(": idle_sms, gated_sms and sms_gating cannot be negative")
	case max(now.IdleSMs, now.GatedSMs, now.SMsGating) > mostSMs:
		return fmt.Errorf(": idle_sms, gated_sms, sms_gating: no machine has more than %d SMs", mostSMs)
	}
	return nil
}

// check refuses an application that no machine can have.
func (h *Held) check() error {
	switch {
	case h.Name == "":
		return fmt.Errorf(": an application needs a name")
	case h.SMs < 0 || h.Groups < 0 || h.SMsArriving < 0 || h.SMsLeaving < 0 || h.QoS < 0:
		return fmt.Errorf(": application %s: sms, groups and qos cannot be negative", h.Name)
	case h.QoS > MostIPC:
		return fmt.Errorf(": application %s: qos is %g thread instructions per core cycle: at most %g", h.Name, h.QoS,
			MostIPC)
	case h.SMs > mostSMs || h.SMsArriving > mostSMs:
		return fmt.Errorf(": application %s: no machine has more than %d SMs", h.Name, mostSMs)
	case h.Groups > mostGroups:
		return fmt.Errorf(": application %s: no machine has more than %d channel groups", h.Name, mostGroups)
	case h.SMsLeaving > h.SMs:
		return fmt.Errorf(": application %s: %d SMs are leaving it, and it has %d", h.Name, h.SMsLeaving, h.SMs)
	}
	return nil
}

// counts refuses counters beyond the exact numbers, and lists with one element per SM whose lengths differ between
// samples.
func (c *checker) counts(app reflect.Value, i int) error {
	for k := range app.NumField() {
		f, name := app.Field(k), app.Type().Field(k).Name
		if key, _, _ := strings.Cut(app.Type().Field(k).Tag.Get("json"), ","); key != "" {
			name = key
		}
		switch list, ok := f.Interface().([]uint64); {
		case f.Kind() == reflect.Struct: // embedded
			if err := c.counts(f, i); err != nil {
				return err
			}
		case f.Kind() == reflect.Uint64 && f.Uint() > mostCounts:
			return fmt.Errorf(": application %d: %s is %d, more than 2^53", i+1, name, f.Uint())
		case ok && len(list) > 0 && slices.Max(list) > mostCounts:
			return fmt.Errorf(": application %d: %s has %d, more than 2^53", i+1, name, slices.Max(list))
		case ok && c.instances >= 0 && len(list) != c.instances:
			return fmt.Errorf(": application %d: a list per SM has %d elements and another one %d", i+1, len(list),
				c.instances)
		case ok:
			c.instances = len(list)
		}
	}
	return nil
}

// CheckTargets returns an error if there are more applications with targets than the policy serves.
func (e *Entry) CheckTargets(n int) error {
	if e.Targets == 0 || n <= e.Targets {
		return nil
	}
	return fmt.Errorf("policy %s serves %d application with a target (qos) and there are %d: the others are its "+
		"batch tasks; spart and rollover serve several", e.Name, e.Targets, n)
}
