package host

import "testing"

// Data preparation must stay small beside the kernels: about a gigabyte per second.
func BenchmarkData(b *testing.B) {
	c, _ := newSlow()
	a, err := c.HostArray(F32, 1<<20, "a")
	if err != nil {
		b.Fatal(err)
	}
	e, err := c.HostArray(F32, 1<<20, "e")
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(a.Size())
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("fill", func() error { return a.Fill(1) })
	run("arange", func() error { return a.Arange(0, 1) })
	run("random", func() error { return a.Random(1, 0, 1) })
	run("sum", func() error { _, err := a.Sum(); return err })
	run("check", func() error { _, err := c.Check(a, e, Tolerance{Abs: 2}, "x"); c.checks = nil; return err })
	run("element", func() error { return a.SetAt(7, 1) })
}
