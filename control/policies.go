package control

// All lists every policy, by name: a line each.
func All() []Entry {
	return []Entry{
		cdSearchEntry(),
		hydrogenEntry(),
		observeEntry(),
		rolloverEntry(),
		smqosEntry(),
		spartEntry(),
		ugpuEntry(),
		ugpuQoSEntry(),
	}
}
