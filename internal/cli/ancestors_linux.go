package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"heddle/internal/config"
)

// farthest is how many processes up are looked at.
const farthest = 64

// heddlesAbove returns the command lines of the heddles that this process is below of, as
// far as they may be read. What starts heddle and has it in its own command line, such as
// timeout, is none.
func heddlesAbove() [][]string {
	var out [][]string
	own, ownErr := os.Stat("/proc/self/exe")
	for pid, i := os.Getppid(), 0; pid > 1 && i < farthest; i++ {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			break
		}
		args := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		exe, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
		if ownErr == nil && err == nil && os.SameFile(own, exe) || config.IsHeddle(args[0], nil) {
			out = append(out, args)
		}
		if pid = parentOf(pid); pid == 0 {
			break
		}
	}
	return out
}

// parentOf returns the parent of a process; 0 if that is not known. The name before it in
// the file is in brackets, and may have some itself.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}
