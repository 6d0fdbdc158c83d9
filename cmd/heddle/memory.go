package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// errMemory is the cause of a run that was stopped because it outgrew its limit.
var errMemory = errors.New("memory limit exceeded")

// parseBytes reads a size such as 512MiB, 4GiB or 1000000.
func parseBytes(s string) (int64, error) {
	number, unit := strings.TrimSpace(s), int64(1)
	for _, u := range []struct {
		suffix string
		bytes  int64
	}{
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"TiB", 1 << 40},
		{"kB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"TB", 1e12},
		{"B", 1},
	} {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x > 0) || x*float64(unit) > 1<<50 {
		return 0, fmt.Errorf("%q is not a size; write 4GiB or 512MiB", s)
	}
	return int64(x * float64(unit)), nil
}

// limitMemory cancels the context it returns when the process holds more than
// limit bytes: the run ends with a partial result instead of at the system's
// mercy. The collector works harder near the limit first.
func limitMemory(ctx context.Context, limit int64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	old := debug.SetMemoryLimit(limit)
	over := make(chan struct{})
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			metrics.Read(sample)
			if used := int64(sample[0].Value.Uint64() - sample[1].Value.Uint64()); used > limit+limit/16 {
				cancel(fmt.Errorf("%w: %d MiB in use, the limit is %d MiB", errMemory, used>>20, limit>>20))
				return
			}
		}
	}()
	return ctx, func() {
		close(over)
		cancel(nil)
		debug.SetMemoryLimit(old)
	}
}
