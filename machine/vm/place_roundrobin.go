package vm

// placeRoundRobin gives consecutive pages to consecutive groups (NUBA, section 4).
func placeRoundRobin(v *View) int { return v.Turn % len(v.Groups) }
