package control

// All lists every policy, by name: a line each.
func All() []Entry {
	return []Entry{
		cdSearchEntry(),
		mdrEntry(),
		observeEntry(),
		rolloverEntry(),
		smqosEntry(),
		spartEntry(),
		ugpuEntry(),
		ugpuQoSEntry(),
	}
}
