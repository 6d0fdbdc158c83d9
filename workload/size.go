package workload

import (
	"math"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Bytes is a size: a whole number of bytes, or a number and a unit (12 MiB).
type Bytes int64

// maxBytes bounds every size: 256 GiB, below the machine's own windows.
const maxBytes = 1 << 38

// units of sizes, in bytes.
var units = []struct {
	name string
	n    float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// FromNode implements yamldoc.FromNode.
func (b *Bytes) FromNode(n *yamldoc.Node) error {
	v, ok := 0.0, false
	switch n.Kind {
	case yamldoc.Int, yamldoc.Float:
		v, ok = n.Float, true
	case yamldoc.Text:
		for _, u := range units {
			if num, found := strings.CutSuffix(n.Raw, u.name); found {
				x, err := strconv.ParseFloat(strings.TrimSpace(num), 64)
				v, ok = x*u.n, err == nil
				break
			}
		}
	}
	if !ok {
		return n.Errorf("%q is not a size: write bytes or a number with B, KB, MB, GB, KiB, MiB or GiB, as in 12 MiB",
			n.Raw)
	}
	whole := math.Round(v) // 0.29 MB is not exact in binary
	if !(v >= 0 && v <= maxBytes) || math.Abs(v-whole) > 1e-3 {
		return n.Errorf("%s is not a whole number of bytes from 0 to 256 GiB", n.Raw)
	}
	*b = Bytes(whole)
	return nil
}
