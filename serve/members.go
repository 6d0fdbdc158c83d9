package serve

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A result is some hundred kilobytes of JSON, of which the list wants one: decoding all of it ten thousand times
// would take minutes. So this finds the members of the outermost object by strings and brackets alone, and only those
// wanted are decoded.

var errJSON = errors.New("no JSON object")

// members calls each with the members of a JSON object in turn. Values that the caller does not decode have not been
// checked, except for their brackets and strings.
func members(text []byte, each func(name string, value []byte) error) error {
	i := blank(text, 0)
	if i >= len(text) || text[i] != '{' {
		return errJSON
	}
	i = blank(text, i+1)
	if i < len(text) && text[i] == '}' {
		return tail(text, i+1)
	}
	for {
		end := skipString(text, i)
		if end < 0 {
			return fmt.Errorf("byte %d: %w", i, errJSON)
		}
		var name string
		if err := json.Unmarshal(text[i:end], &name); err != nil {
			return err
		}
		i = blank(text, end)
		if i >= len(text) || text[i] != ':' {
			return fmt.Errorf("byte %d: %w", i, errJSON)
		}
		i = blank(text, i+1)
		if end = skipValue(text, i); end < 0 {
			return fmt.Errorf("member %s: %w", name, errJSON)
		}
		if err := each(name, text[i:end]); err != nil {
			return fmt.Errorf("member %s: %w", name, err)
		}
		i = blank(text, end)
		switch {
		case i < len(text) && text[i] == ',':
			i = blank(text, i+1)
		case i < len(text) && text[i] == '}':
			return tail(text, i+1)
		default:
			return fmt.Errorf("byte %d: %w", i, errJSON)
		}
	}
}

// tail checks that nothing follows.
func tail(text []byte, i int) error {
	if i = blank(text, i); i < len(text) {
		return fmt.Errorf("byte %d: something after the object", i)
	}
	return nil
}

func blank(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipString is the end of the string that begins at i; -1: there is none.
func skipString(text []byte, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// skipValue is the end of the value that begins at i; -1: there is none.
func skipValue(text []byte, i int) int {
	begun, level := i, 0
	for i < len(text) {
		switch text[i] {
		case '"':
			if i = skipString(text, i); i < 0 {
				return -1
			}
			if level == 0 {
				return i
			}
			continue
		case '{', '[':
			level++
		case '}', ']':
			if level == 0 { // of the object around a number or a word
				return ending(begun, i)
			}
			if level--; level == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if level == 0 {
				return ending(begun, i)
			}
		}
		i++
	}
	return -1
}

// ending is the end of a number or a word, which is not empty.
func ending(begun, end int) int {
	if end == begun {
		return -1
	}
	return end
}
