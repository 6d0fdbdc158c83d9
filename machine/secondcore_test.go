package machine

import "testing"

// A panic of the memory side reaches whoever called Run, and the goroutine ends.
func TestOtherCorePanics(t *testing.T) {
	o := &secondCore{work: func(now, _ uint64) bool {
		if now == 3 {
			panic("channel on fire")
		}
		return now%2 == 0
	}}
	for now := range uint64(3) {
		o.begin(now, 0)
		if more := o.wait(); more != (now%2 == 0) {
			t.Errorf("cycle %d: wait gave %v", now, more)
		}
	}
	defer o.stop()
	defer func() {
		if p := recover(); p != "channel on fire" {
			t.Errorf("recovered %v", p)
		}
	}()
	o.begin(3, 0)
	o.wait()
	t.Error("no panic")
}

// The goroutine ends with stop and another begins when it is needed again.
func TestOtherCoreStops(t *testing.T) {
	n := 0
	o := &secondCore{work: func(_, _ uint64) bool { n++; return false }}
	o.stop()
	for range 100 {
		for now := range uint64(5) {
			o.begin(now, 0)
			o.wait()
		}
		o.stop()
		o.stop()
	}
	if n != 500 {
		t.Errorf("%d cycles, want 500", n)
	}
}
