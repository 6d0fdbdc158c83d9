package residency

import "github.com/heddle-sim/heddle/mem"

// Span is an action that takes time: the handling of a batch of faults, or a transfer.
type Span struct {
	Kind       SpanKind
	Start, End uint64       // core cycles
	N          int          // faults, or pages of 4 KB
	Tenant     mem.TenantID // of the first fault, or of the pages
}

// SpanKind is the kind of a Span.
type SpanKind uint8

// The kinds of spans.
const (
	FaultBatch SpanKind = iota
	ToDevice
	ToHost
)

// spanLog keeps spans, if it is on.
type spanLog struct {
	on   bool
	list []Span
}

func (l *spanLog) add(k SpanKind, start, end uint64, n int, tenant mem.TenantID) {
	if l.on {
		l.list = append(l.list, Span{k, start, end, n, tenant})
	}
}
