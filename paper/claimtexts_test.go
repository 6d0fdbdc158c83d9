package paper

import (
	"regexp"
	"strings"
	"testing"
)

// A claim is read alone, in the list of differences and on a page: its text is a whole sentence that names what it is
// about. "and than random" or "to 16" say nothing there.
func TestClaimsAreWholeSentences(t *testing.T) {
	fragment := regexp.MustCompile(`^([a-z(]|And |But )`)
	for _, name := range Names() {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]Claim{}
		for _, c := range s.claims {
			if fragment.MatchString(c.Text) || len(strings.Fields(c.Text)) < 4 {
				t.Errorf("%s: claim %s is no sentence by itself: %q", name, c.ID, c.Text)
			}
			if other, ok := seen[c.Text]; ok {
				t.Errorf("%s: claims %s and %s have the same text: %q", name, other.ID, c.ID, c.Text)
			}
			seen[c.Text] = c
		}
	}
}
