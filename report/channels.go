package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// ChannelsCSV writes a line per epoch: its end in core cycles, and the bytes each DRAM channel
// moved in it, those of a fast tier first.
func ChannelsCSV(w io.Writer, r *sim.Result) error {
	c := csv.NewWriter(w)
	head := []string{"cycle"}
	if len(r.Epochs) > 0 {
		fast := FastChannels(r)
		for k := range r.Epochs[0].ChannelBytes {
			if k < fast {
				head = append(head, fmt.Sprintf("fast_channel_%d_bytes", k))
			} else {
				head = append(head, fmt.Sprintf("channel_%d_bytes", k-fast))
			}
		}
	}
	if err := c.Write(head); err != nil {
		return err
	}
	for i := range r.Epochs {
		e := &r.Epochs[i]
		row := []string{strconv.FormatUint(e.Cycle, 10)}
		for _, n := range e.ChannelBytes {
			row = append(row, strconv.FormatUint(n, 10))
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// FastChannels is how many of a run's channels, the first ones, belong to the fast tier of its memory.
func FastChannels(r *sim.Result) int {
	m, _, err := sheets.FromEntries(r.Machine.Name, r.Machine.Numbers)
	if err != nil || !m.Memory.Given() {
		return 0
	}
	return m.Memory.Fast.Device.Channels
}

// readChannels takes what ChannelsCSV wrote, after the epochs.
func readChannels(text []byte, r *sim.Result) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	if len(rows) != len(r.Epochs)+1 {
		return fmt.Errorf("%d lines for %d epochs", len(rows), len(r.Epochs))
	}
	for i, row := range rows[1:] {
		e := &r.Epochs[i]
		if cycle, err := strconv.ParseUint(row[0], 10, 64); err != nil || cycle != e.Cycle {
			return fmt.Errorf("line %d is for cycle %s, the epoch for %d", i+2, row[0], e.Cycle)
		}
		for _, text := range row[1:] {
			n, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				return fmt.Errorf("line %d: %w", i+2, err)
			}
			e.ChannelBytes = append(e.ChannelBytes, n)
		}
	}
	return nil
}
