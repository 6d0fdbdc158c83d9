package paper

import "testing"

func TestShippedStudies(t *testing.T) {
	for _, n := range Names() {
		if _, err := Load(n); err != nil {
			t.Error(err)
		}
	}
}
