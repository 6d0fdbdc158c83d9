package mem

import (
	"strings"
	"testing"
)

// Regions never overlap, gaps are not mapped, and what is freed can be had again.
func TestSpace(t *testing.T) {
	s := NewSpace(4096)
	a, err := s.Alloc(100, Device, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Alloc(300, Managed, "b")
	if err != nil {
		t.Fatal(err)
	}
	if a.Base != DefaultBase || b.Base != DefaultBase+Align || b.Base%Align != 0 {
		t.Errorf("bases 0x%x and 0x%x", a.Base, b.Base)
	}
	if s.Find(a.Base+99) != a || s.Find(a.Base+100) != nil || s.Find(b.Base-1) != nil || s.Find(b.End()) != nil ||
		s.Find(0) != nil {
		t.Error("the bytes between allocations are mapped, or those within are not")
	}
	if got := s.Nearest(a.Base + 6); !strings.HasPrefix(got, "byte 6 of device a ") {
		t.Errorf("inside: %q", got)
	}
	if got := s.Nearest(a.Base + 100); !strings.Contains(got, "1 bytes past the end of device a") {
		t.Errorf("nearest: %s", got)
	}
	for _, c := range []struct {
		n    int64
		k    Kind
		want string
	}{
		{4000, Device, "out of device memory: 4000 bytes asked, 100 of 4096 in use"},
		{1 << 40, Host, "out of memory"},
		{1 << 40, Device, "out of device memory"},
		{0, Device, "must be positive"},
	} {
		if _, err := s.Alloc(c.n, c.k, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d bytes of %s: %v, want %q", c.n, c.k, err, c.want)
		}
	}
	if _, err := s.Alloc(8192, Managed, ""); err != nil {
		t.Errorf("managed memory may exceed the device's: %v", err)
	}
	s.Hold(13_000)
	if _, err := s.Alloc(5000, Host, ""); err == nil ||
		!strings.Contains(err.Error(), "5000 bytes asked, 8592 in use; the application may hold 13000 in all") {
		t.Errorf("more than the computer is to hold: %v", err)
	}
	if err := s.Free(a.Base); err != nil {
		t.Fatal(err)
	}
	if err := s.Free(a.Base); err == nil {
		t.Error("freed twice")
	}
	if _, err := s.Alloc(4096, Device, ""); err != nil {
		t.Errorf("after the free: %v", err)
	}
}
