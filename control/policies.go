package control

// All lists every policy, by name: a line each.
func All() []Entry {
	return []Entry{
		cdSearchEntry(),
		hydrogenEntry(),
		mdrEntry(),
		observeEntry(),
		rolloverEntry(),
		smqosEntry(),
		spartEntry(),
		ugpuEntry(),
		ugpuQoSEntry(),
	}
}
