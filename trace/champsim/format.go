package champsim

import (
	"encoding/binary"
	"fmt"
)

// Format is how the records of a trace are laid out.
type Format string

// The formats.
const (
	Auto             Format = ""           // as the content shows
	ChampSimFormat   Format = "champsim"   // Bytes a record
	CloudSuiteFormat Format = "cloudsuite" // CloudSuiteBytes a record
)

// bytes of a record.
func (f Format) bytes() int {
	if f == CloudSuiteFormat {
		return CloudSuiteBytes
	}
	return Bytes
}

// Check is an error if there is no such format.
func (f Format) Check() error {
	switch f {
	case Auto, ChampSimFormat, CloudSuiteFormat:
		return nil
	}
	return fmt.Errorf("format is %q: champsim (%d bytes a record), cloudsuite (%d), or nothing where the content "+
		"shows it", string(f), Bytes, CloudSuiteBytes)
}

// errNoFormat asks for what the content does not show.
var errNoFormat = fmt.Errorf("the content does not show whether it has ChampSim's records of %d bytes or CloudSuite's "+
	"of %d: say format: champsim or format: cloudsuite beside trace", Bytes, CloudSuiteBytes)

// layout tells the formats apart by the first piece of a trace and the bytes of the whole (0: not known), and
// refuses one that is said to be what it is not.
func layout(b []byte, size int64, said Format) (Format, error) {
	shown := shownBy(b)
	switch {
	case said == Auto && shown != Auto:
		return shown, nil
	case said != Auto && shown != Auto && said != shown:
		return Auto, fmt.Errorf("format is %s (%d bytes a record), and the trace has records of %d bytes: say format: "+
			"%s, or nothing", said, said.bytes(), shown.bytes(), shown)
	case said != Auto:
		return said, nil
	}
	small, large := size%Bytes == 0, size%CloudSuiteBytes == 0
	switch {
	case size == 0 || small && large:
		return Auto, errNoFormat
	case large:
		return CloudSuiteFormat, nil
	}
	return ChampSimFormat, nil // or cut off, which its end says
}

// shownBy is the format that a trace certainly has, Auto where it could be either. Read in the wrong layout, two
// records of three have an address or nothing where the instruction pointer stands.
func shownBy(b []byte) Format {
	if len(b) < CloudSuiteBytes {
		return Auto
	}
	small, large := look(b, Bytes), look(b, CloudSuiteBytes)
	for _, c := range [...]struct {
		small, large, most, least float64
	}{
		{small.near, large.near, 0.75, 0.25},
		{small.sound, large.sound, 0.95, 0.75},
	} {
		switch {
		case c.small >= c.most && c.large <= c.least:
			return ChampSimFormat
		case c.large >= c.most && c.small <= c.least:
			return CloudSuiteFormat
		}
	}
	return Auto
}

// signs are what records look like in a layout, as shares of them.
type signs struct {
	sound float64 // an instruction pointer, is_branch and branch_taken 0 or 1, and none taken that is no branch
	near  float64 // of those that are no branches: the next one stands at most 15 bytes behind, an instruction's length
}

// look reads records of a number of bytes.
func look(b []byte, bytes int) signs {
	records, sound, pairs, near := 0, 0, 0, 0
	var before uint64 // where the record before stands; 0: none does
	branch := true    // the record before is a branch, or there is none
	for ; len(b) >= bytes; b = b[bytes:] {
		ip := binary.LittleEndian.Uint64(b)
		ok := ip != 0 && b[8] <= 1 && b[9] <= b[8]
		records++
		if ok {
			sound++
		}
		if !branch {
			pairs++
			if ok && before != 0 && ip-before <= 15 {
				near++
			}
		}
		before, branch = ip, ok && b[8] == 1
		if !ok {
			before = 0
		}
	}
	return signs{sound: share(sound, records), near: share(near, pairs)}
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}
