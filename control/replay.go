package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Replay lets policy p, which e made, decide on samples written as a JSON array in order of time, and returns a plan
// for each. The plans have no effect on later samples: each sample says what the applications held. Errors name the
// line of file.
func Replay(e *Entry, p Policy, file string, text []byte) ([]Plan, error) {
	r := &reader{file: file, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.DisallowUnknownFields()
	if t, err := r.dec.Token(); err != nil || t != json.Delim('[') {
		return nil, r.fail(0, "a JSON array of samples is expected")
	}
	plans := []Plan{}
	check := checker{entry: e, instances: -1}
	for r.dec.More() {
		start := r.dec.InputOffset()
		s := p.NewSample()
		if err := r.dec.Decode(s); err != nil {
			return nil, r.decodeError(start, err)
		}
		err := check.keys(bytes.TrimLeft(text[start:r.dec.InputOffset()], ", \t\r\n"))
		if err == nil {
			err = check.sample(s)
		}
		if err != nil {
			return nil, r.fail(start, "sample %d%v", len(plans)+1, err)
		}
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

// look finds the clock of a sample and the shares of its applications.
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
	case errors.As(err, &kind) && kind.Field == "":
		return r.fail(start+kind.Offset-1, "a sample is an object in braces, not a %s", kind.Value)
	case errors.As(err, &kind):
		parts := slices.DeleteFunc(strings.Split(kind.Field, "."), func(part string) bool {
			return part != strings.ToLower(part) // an embedded type of ours, not a key
		})
		field := strings.Join(parts, ".")
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
