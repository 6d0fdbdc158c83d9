package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Replay has policy p, which e made, decide on samples written as a JSON array, in time
// order, and returns a plan for each. Nothing is fed back: every sample says what was held.
// Errors name the line of file.
func Replay(e *Entry, p Policy, file string, text []byte) ([]Plan, error) {
	r := &reader{file: file, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.DisallowUnknownFields()
	if t, err := r.dec.Token(); err != nil || t != json.Delim('[') {
		return nil, r.fail(0, "a JSON array of samples is expected")
	}
	plans := []Plan{}
	apps, last, instances := -1, uint64(0), -1
	for r.dec.More() {
		start := r.dec.InputOffset()
		s := p.NewSample()
		if err := r.dec.Decode(s); err != nil {
			return nil, r.decodeError(start, err)
		}
		c, names := look(s)
		switch {
		case c.Cycle < last:
			return nil, r.fail(start, "sample %d is of cycle %d and the one before of %d: samples are in order of time",
				len(plans)+1, c.Cycle, last)
		case apps >= 0 && len(names) != apps:
			return nil, r.fail(start, "sample %d has %d applications and the first has %d", len(plans)+1, len(names),
				apps)
		}
		err := check(e, s)
		if err == nil {
			err = checkVectors(s, &instances)
		}
		if err != nil {
			return nil, r.fail(start, "sample %d: %v", len(plans)+1, err)
		}
		apps, last = len(names), c.Cycle
		plans = append(plans, p.Decide(s))
	}
	if t, err := r.dec.Token(); err != nil || t != json.Delim(']') {
		return nil, r.fail(r.dec.InputOffset(), "the array of samples has no end")
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.fail(r.dec.InputOffset(), "something follows the array of samples")
	}
	return plans, nil
}

// look finds the clock of a sample and what its applications hold.
func look(sample any) (c Clock, held []*Held) {
	v := reflect.ValueOf(sample).Elem()
	c, _ = v.FieldByName("Clock").Interface().(Clock)
	apps := v.FieldByName("Apps")
	if !apps.IsValid() || apps.Kind() != reflect.Slice {
		return c, nil
	}
	for i := range apps.Len() {
		if h := apps.Index(i).FieldByName("Held"); h.IsValid() {
			held = append(held, h.Addr().Interface().(*Held))
		}
	}
	return c, held
}

// Checker is a sample that knows what of it makes no sense.
type Checker interface{ Check() error }

// mostSMs bounds what a sample may claim.
const mostSMs = 1 << 16

// check refuses what no machine can hold, more targets than the policy serves, and what the
// sample itself refuses.
func check(e *Entry, sample any) error {
	c, held := look(sample)
	targets := 0
	if own, ok := sample.(Checker); ok {
		if err := own.Check(); err != nil {
			return err
		}
	}
	if c.IdleSMs < 0 || c.GatedSMs < 0 {
		return fmt.Errorf("idle_sms and gated_sms cannot be negative")
	}
	names := map[string]bool{}
	for _, h := range held {
		switch {
		case h.Name == "":
			return fmt.Errorf("an application needs a name")
		case names[h.Name]:
			return fmt.Errorf("two applications are called %s", h.Name)
		case h.SMs < 0 || h.Groups < 0 || h.SMsArriving < 0 || h.SMsLeaving < 0 || h.QoS < 0:
			return fmt.Errorf("application %s: sms, groups and qos cannot be negative", h.Name)
		}
		if h.SMs > mostSMs || h.SMsArriving > mostSMs || c.IdleSMs > mostSMs || c.GatedSMs > mostSMs {
			return fmt.Errorf("application %s: no machine has more than %d SMs", h.Name, mostSMs)
		}
		names[h.Name] = true
		if h.QoS > 0 {
			targets++
		}
	}
	return e.CheckTargets(targets)
}

// CheckTargets refuses more applications with targets than the policy serves.
func (e *Entry) CheckTargets(n int) error {
	if e.Targets == 0 || n <= e.Targets {
		return nil
	}
	return fmt.Errorf("policy %s serves %d application with a target (qos) and there are %d: the others are its "+
		"batch tasks; spart and rollover serve several", e.Name, e.Targets, n)
}

// checkVectors refuses lists of applications, one element per instance, that are not of one
// length in all samples.
func checkVectors(sample any, length *int) error {
	apps := reflect.ValueOf(sample).Elem().FieldByName("Apps")
	if !apps.IsValid() || apps.Kind() != reflect.Slice {
		return nil
	}
	for i := range apps.Len() {
		for k := range apps.Index(i).NumField() {
			f := apps.Index(i).Field(k)
			if f.Type() != reflect.TypeFor[[]uint64]() {
				continue
			}
			if *length < 0 {
				*length = f.Len()
			}
			if f.Len() != *length {
				return fmt.Errorf("application %d: a list per SM has %d elements and another one %d", i+1, f.Len(),
					*length)
			}
		}
	}
	return nil
}

// reader decodes samples and knows where it is.
type reader struct {
	file string
	text []byte
	dec  *json.Decoder
}

// fail is an error at a byte of the file.
func (r *reader) fail(at int64, format string, args ...any) error {
	at = min(at, int64(len(r.text)))
	for at < int64(len(r.text)) && strings.IndexByte(" \t\r\n,", r.text[at]) >= 0 {
		at++
	}
	return fmt.Errorf("%s:%d: %s", r.file, 1+bytes.Count(r.text[:at], []byte("\n")), fmt.Sprintf(format, args...))
}

// decodeError names the place of an error of package json in the sample that begins at start.
func (r *reader) decodeError(start int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return r.fail(syntax.Offset-1, "not valid JSON: %v", err)
	case errors.As(err, &kind):
		field := strings.NewReplacer("Clock.", "", "Held.", "").Replace(kind.Field)
		return r.fail(start+kind.Offset-1, "%s is a %s; heddle inspect policies says what the policy reads (here %s)",
			field, kind.Value, kind.Type)
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		at := start
		if i := bytes.Index(r.text[start:], []byte(name)); i >= 0 {
			at += int64(i)
		}
		return r.fail(at, "unknown key %s in a sample; heddle inspect policies lists what the policy reads", name)
	}
	return r.fail(int64(len(r.text)), "%v", err)
}
