package capture

import (
	"strconv"
	"strings"
)

// nameMost is how long the part of a ref before its number may be.
const nameMost = 48

// refName makes the part of a ref before its number of a tool's name: what SQL
// takes without quotes.
func refName(tool string) string {
	var b strings.Builder
	said := false
	for _, r := range strings.ToLower(tool) {
		if b.Len() == nameMost {
			break
		}
		letter := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		switch {
		case !letter:
			r = '_'
		case b.Len() == 0 && r <= '9':
			b.WriteString("t_")
		}
		said = said || letter
		b.WriteByte(byte(r))
	}
	if !said { // a name of another script, or none
		return "result"
	}
	return b.String()
}

// ref is the inverse of splitRef.
func ref(name string, number int64) string { return name + "_" + strconv.FormatInt(number, 10) }

// splitRef returns the parts of what may be a ref. Names may end in numbers, so
// the last underscore counts.
func splitRef(ref string) (name string, number int64, ok bool) {
	i := strings.LastIndexByte(ref, '_')
	if i <= 0 {
		return "", 0, false
	}
	number, err := strconv.ParseInt(ref[i+1:], 10, 64)
	if err != nil || number < 1 || ref[i+1] == '0' || ref[i+1] == '+' {
		return "", 0, false
	}
	return ref[:i], number, true
}

// cleanRef forgives what models put around a name.
func cleanRef(ref string) string { return strings.ToLower(strings.Trim(ref, " \t\r\n\"'`")) }
