package upstream

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// goodbye is the line that lets the watchdog go: everything has ended in good
// order.
const goodbye = "bye"

// Watchdog waits until its input ends, which happens when the heddle that holds
// the other end has ended in any way, and kills what that heddle left behind:
// the process groups it was told of and all processes marked with its run id.
// It returns when nothing is left.
func Watchdog(in io.Reader, run string) {
	ignoreSignals()
	groups := map[int]bool{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if lines.Text() == goodbye {
			return
		}
		sign, num, ok := cutSign(lines.Text())
		if pid, err := strconv.Atoi(num); err == nil && ok && pid > 1 {
			if sign == '+' {
				groups[pid] = true
			} else {
				delete(groups, pid)
			}
		}
	}
	killRun(groups, run+".")
}

func cutSign(s string) (byte, string, bool) {
	if s = strings.TrimSpace(s); len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, "", false
	}
	return s[0], s[1:], true
}
