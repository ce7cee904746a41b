package daemon

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// alive reports whether the process that wrote a state is still the one of that
// number: numbers are used again, so a process that began after the state did is
// another.
func alive(pid int, started time.Time) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	up, err := os.ReadFile("/proc/uptime")
	if len(f) < 20 || err != nil {
		return true
	}
	const ticksPerSecond = 100 // USER_HZ, the same on every Linux that Go runs on
	ticks, _ := strconv.ParseFloat(f[19], 64)
	uptime, _ := strconv.ParseFloat(strings.Fields(string(up))[0], 64)
	age := time.Duration((uptime - ticks/ticksPerSecond) * float64(time.Second))
	return f[0] != "Z" && time.Since(started) < age+5*time.Second
}
