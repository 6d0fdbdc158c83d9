package mem

// Fetch is what a cache asks of the memory below it: sectors of a line, to be brought or,
// where Tag is negative, to be written. Tag is the asker's own token, the line's index in
// its tag array; a write needs no answer with -1, and is reported as taken with less.
type Fetch struct {
	Line    uint64 // physical address of the line
	Tag     int32
	Slice   int16 // the asker
	Sectors uint8
	Tenant  TenantID
}
