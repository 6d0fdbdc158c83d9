package hybrid

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/mem/addrmap"
)

// Unit is the size of a channel's access in bytes. A hit moves one or two units, a migration all units of a block.
const Unit = 64

// The tiers.
const (
	Fast = iota
	Slow
	NumTiers
)

// Class is the side of the chip that made a request.
type Class uint8

// The classes.
const (
	CPU Class = iota
	GPU
	numClasses
)

// Tier is one of the two memories as the controller sees it.
type Tier struct {
	Map      *addrmap.Map // places of a tier's addresses, which begin at 0
	Channels int
	Bytes    uint64 // for blocks; the remap table lies above those of the fast tier
	Device   uint64 // bytes the devices have; 0: enough
}

// Config is a hybrid memory: how it is organised and what its controller can hold. Times
// are clocks of the controller.
type Config struct {
	Mode  Mode
	Shape Shape
	Block int // bytes: a power of two, 64 to 2048
	Tiers [NumTiers]Tier

	Line   int // bytes of a line of the cache above
	Sector int // bytes of its sectors

	Banks      int // lookups per clock; neighbouring lines of the remap table belong to different banks
	Queue      int // requests that wait for a bank
	Lookup     int // clocks of the remap cache
	Remap      int // bytes of the remap cache
	RemapWays  int
	Entries    int  // lines of the remap table on their way to it
	Requests   int  // requests that the controller has accepted and not finished
	Registers  int  // transfers of blocks at once
	Buffers    int  // blocks of data for them: a transfer takes one, or two to swap or to write back
	Port       int  // accesses that wait for a channel
	WritesStay bool // write-backs of blocks in the slow tier go there, and no block moves for them
	SerialTag  bool
	Chained    bool // sets of one way are chained in groups (HAShCache)

	Classes []Class // by row of counters
	Apps    int     // number of applications; rows from there on count what is moved for them
}

// maxBlocks bounds the blocks of either tier: a block's number is 32 bits wide.
const maxBlocks = 1 << 31

// Validate is the error of a configuration that cannot work.
func (c *Config) Validate() error {
	if err := c.Shape.Check(); err != nil {
		return err
	}
	if err := c.validateMaps(); err != nil {
		return err
	}
	fast, slow := &c.Tiers[Fast], &c.Tiers[Slow]
	block := uint64(max(c.Block, 1))
	switch {
	case c.Mode != Cache && c.Mode != Flat:
		return fmt.Errorf("the mode is %s or %s, not %q", Cache, Flat, c.Mode)
	case c.Block < Unit || c.Block > 2048 || bits.OnesCount(uint(c.Block)) != 1:
		return fmt.Errorf("a block has 64, 128, 256, 512, 1024 or 2048 bytes, not %d", c.Block)
	case fast.Channels < 1 || slow.Channels < 1 || fast.Channels > 64 || slow.Channels > 64:
		return fmt.Errorf("the tiers have %d and %d channels: each has 1 to 64", fast.Channels, slow.Channels)
	case fast.Channels%c.Shape.Channels != 0:
		return fmt.Errorf("%d channels of the fast tier do not make %d superchannels", fast.Channels, c.Shape.Channels)
	case slow.Bytes < fast.Bytes:
		return fmt.Errorf("the slow tier has %d bytes, less than the fast one with %d", slow.Bytes, fast.Bytes)
	case fast.Bytes == 0 || fast.Bytes%(block*uint64(c.Shape.Ways)*uint64(fast.Channels)) != 0:
		return fmt.Errorf("%d bytes of the fast tier are not whole sets of %d blocks of %d bytes in each of %d "+
			"channels", fast.Bytes, c.Shape.Ways, c.Block, fast.Channels)
	case c.Shape.Page > 0 && fast.Bytes/(block*uint64(c.Shape.Ways))%(c.Shape.Page*uint64(c.Shape.Channels)) != 0:
		return fmt.Errorf("%d sets are no colors of %d, a page each, in each of %d channels: use smaller pages or a "+
			"larger fast tier", fast.Bytes/(block*uint64(c.Shape.Ways)), c.Shape.Page, c.Shape.Channels)
	case slow.Bytes%(fast.Bytes/uint64(c.Shape.Ways)) != 0:
		return fmt.Errorf("the slow tier has %d bytes: not as many in each set (a multiple of %d is)", slow.Bytes,
			fast.Bytes/uint64(c.Shape.Ways))
	case (fast.Bytes+slow.Bytes)/block > maxBlocks:
		return fmt.Errorf("%d blocks of %d bytes are more than %d", (fast.Bytes+slow.Bytes)/block, c.Block, maxBlocks)
	}
	spots := slow.Bytes/(fast.Bytes/uint64(c.Shape.Ways)) + uint64(c.Shape.Ways)
	if c.Mode == Flat && spots > 256 || spots > 1<<16 {
		return fmt.Errorf("a set has %d blocks: at most 256 in flat memory, and 65536 in a cache", spots)
	}
	l := newLayout(c)
	if need := fast.Bytes + l.tableBytes(); fast.Device > 0 && fast.Device < need {
		return fmt.Errorf("the devices of the fast tier have %d bytes: its %d bytes and a remap table of %d need more",
			fast.Device, fast.Bytes, l.tableBytes())
	}
	return c.validateSizes()
}

// validateMaps makes sure that the units of the fast tier's addresses go round its channels:
// that is how ways name them.
func (c *Config) validateMaps() error {
	for tier := range c.Tiers {
		if b := c.Tiers[tier].Map.Block(); b%Unit != 0 {
			return fmt.Errorf("the address map of a tier has places of %d bytes, not of whole accesses of %d", b, Unit)
		}
	}
	fast := &c.Tiers[Fast]
	for i := range uint64(8 * fast.Channels) {
		if got := fast.Map.Channel(i * Unit); got != int(i)%fast.Channels {
			return fmt.Errorf("the fast tier's map puts address %d into channel %d: its channel bits must be the "+
				"lowest ones above %d bytes", i*Unit, got, Unit)
		}
	}
	return nil
}

func (c *Config) validateSizes() error {
	if c.Line < Unit || c.Line > 8*Unit || c.Sector < 1 || c.Line%c.Sector != 0 || c.Line/c.Sector > 8 {
		return fmt.Errorf("lines of %d bytes with sectors of %d: 64 to 512 bytes with up to 8 sectors work", c.Line,
			c.Sector)
	}
	lines := c.Remap / Unit
	if c.RemapWays < 1 || lines < c.RemapWays || lines%c.RemapWays != 0 {
		return fmt.Errorf("a remap cache of %d bytes has no sets of %d ways", c.Remap, c.RemapWays)
	}
	if sets := c.Tiers[Fast].Bytes / uint64(c.Block); c.Chained && (c.Shape.Ways != 1 || c.Mode != Cache ||
		sets%chainGroup != 0) {
		return fmt.Errorf("sets can be chained in a cache, by %d, where they have one way: not %d sets of %d ways of "+
			"%s memory", chainGroup, sets/uint64(c.Shape.Ways), c.Shape.Ways, c.Mode)
	}
	for _, f := range []struct {
		name    string
		n, most int
	}{
		{"banks", c.Banks, 64},
		{"queue", c.Queue, 4096},
		{"lookup", c.Lookup, 1000},
		{"entries", c.Entries, 4096},
		{"requests", c.Requests, 1 << 16},
		{"registers", c.Registers, 4096},
		{"port", c.Port, 4096},
		{"apps", c.Apps, 128},
	} {
		if f.n < 1 || f.n > f.most {
			return fmt.Errorf("%s is %d: 1 to %d", f.name, f.n, f.most)
		}
	}
	switch {
	case c.Buffers < 2:
		return fmt.Errorf("buffers is %d: a transfer can need two", c.Buffers)
	case c.Port < 4:
		return fmt.Errorf("port is %d: a look-up can send four accesses to a channel", c.Port)
	}
	return nil
}
