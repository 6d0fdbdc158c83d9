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

// slack is how many bytes beyond its limit a process may hold for a moment.
const slack = 64 << 20

// limitMemory cancels the context it returns when the process holds more than
// limit bytes: the run ends with a partial result instead of at the system's
// mercy. The collector works harder near the limit first. What does not stop, a native of the script language
// or a reference in the middle of a large array, ends with the process: when it holds a quarter more, two
// seconds later, or at once when that is more than slack. Then end is called, which must not return.
func limitMemory(ctx context.Context, limit int64, end func(error)) (context.Context, func()) {
	return limitMemoryOf(ctx, limit, func() int64 { return 0 }, end)
}

// limitMemoryOf is limitMemory with others, the bytes of other processes, which count, too.
func limitMemoryOf(ctx context.Context, limit int64, others func() int64, end func(error)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	old := debug.SetMemoryLimit(limit)
	over := make(chan struct{})
	go func() {
		var since time.Time // the context is cancelled
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			metrics.Read(sample)
			used := int64(sample[0].Value.Uint64()-sample[1].Value.Uint64()) + others()
			if used > limit+limit/16 && since.IsZero() {
				since = time.Now()
				cancel(fmt.Errorf("%w: %d MiB in use, the limit is %d MiB", errMemory, used>>20, limit>>20))
			}
			if used > limit+limit/4 && (used > limit+limit/4+slack || time.Since(since) > 2*time.Second) {
				end(fmt.Errorf("%w: %d MiB in use, the limit is %d MiB, and the program would not stop: "+
					"nothing is kept", errMemory, used>>20, limit>>20))
			}
		}
	}()
	return ctx, func() {
		close(over)
		cancel(nil)
		debug.SetMemoryLimit(old)
	}
}
