package hostfile

import (
	"cmp"
	"strconv"

	"heddle/internal/config"
)

// plainName returns name as heddle.yml allows it. What has no letter or digit becomes
// "server".
func plainName(name string) string { return cmp.Or(config.Normalise(name), "server") }

// freeName returns name, with the host's behind it if it is taken, and then with
// the first number that makes it free.
func freeName(name, host string, taken func(string) bool) string {
	free := func(s string) bool { return !taken(s) && !config.Reserved(s) }
	if free(name) {
		return name
	}
	if s := config.CutName(name, config.MaxName-len(host)-1) + "-" + host; free(s) {
		return s
	}
	for i := 2; ; i++ {
		suffix := "-" + strconv.Itoa(i)
		if s := config.CutName(name, config.MaxName-len(suffix)) + suffix; free(s) {
			return s
		}
	}
}
