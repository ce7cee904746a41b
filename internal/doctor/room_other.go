//go:build !linux && !darwin

package doctor

// room is not known on other systems.
func room(string) (free uint64, known bool) { return 0, false }
