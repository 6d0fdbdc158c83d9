package yamldoc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignFiles reads as a configuration what is none: the message says what it is and what to do, whatever its name
// and its length; a comment in a configuration is no source code.
func TestForeignFiles(t *testing.T) {
	long := strings.Repeat("0010 ffffffff 1 R0 S2R 0 0 0\n", MaxBytes/20)
	for name, c := range map[string]struct{ content, want string }{
		"kernel-1.traceg": {"-kernel name = k\n-kernel id = 1\n" + long, "one kernel of an Accel-Sim trace"},
		"short.traceg":    {"-kernel name = k\n-kernel id = 1\n", "kernelslist.g"},
		"champ.config":    {strings.Repeat("\x01\x00\x40\x00", MaxBytes), "cpu: {trace: FILE}"},
		"champ.yaml":      {strings.Repeat("\x01\x00\x40\x00", 100), "a binary file"},
		"packed.yaml":     {"\xfd7zXZ\x00\x01", "a packed file"},
		"long.yaml":       {strings.Repeat("# long\n", MaxBytes/4), "longer than"},
		"good.config":     {"-gpgpu_n_clusters 4\n#include nothing\n.version\n", ""},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFile(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v; want %q", name, err, c.want)
		}
	}
}
