package silicon

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readTable reads a table whose first line names its columns, and hands each other line to one. Errors name the file
// and the line.
func readTable(name string, in io.Reader, columns []string, one func(line int, cells []string) error) error {
	c := csv.NewReader(in)
	c.FieldsPerRecord = len(columns)
	head := strings.Join(columns, ",")
	for first := true; ; first = false {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("%s:%d: %w: a row has the %d cells %s", name, wrong.Line, wrong.Err, len(columns), head)
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := c.FieldPos(0)
		if first {
			if !slices.Equal(cells, columns) {
				return fmt.Errorf("%s:%d: the first line names the columns: %s", name, line, head)
			}
			continue
		}
		if err := one(line, cells); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
}

// once remembers in which line a name was, and refuses it a second time. What is the name in words.
type once map[string]int

func (o once) take(name, what string, line int) error {
	if l := o[name]; l != 0 {
		return fmt.Errorf("%s is there already, in line %d: rename one of them", what, l)
	}
	o[name] = line
	return nil
}

// errNoRows is the error of a file without any.
func errNoRows(name string) error {
	return fmt.Errorf("%s: no rows: the file is damaged, take it from the repository", name)
}
