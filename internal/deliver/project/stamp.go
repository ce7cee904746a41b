package project

// stamp returns where a line's time is, when it begins with one, maybe in
// brackets or behind a short key. A date alone is none: tables have those.
func stamp(b []byte) (start, end int, ok bool) {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '[' || b[i] == '(' || b[i] == '"') {
		i++
	}
	if i > 8 {
		return 0, 0, false
	}
	for _, key := range [...]string{"ts=", "time=", "timestamp=", "t=", "at=", "date="} {
		if hasPrefix(b[i:], key) {
			if i += len(key); i < len(b) && b[i] == '"' {
				i++
			}
			break
		}
	}
	if i+4 < len(b) && b[i] == '<' { // a syslog priority and maybe a version
		j := i + 1 + digits(b[i+1:])
		if j > i+1 && j < len(b) && b[j] == '>' {
			i = j + 1
			if i+1 < len(b) && b[i+1] == ' ' && digits(b[i:]) == 1 {
				i += 2
			}
		}
	}
	if n := stampAt(b[i:]); n > 0 {
		return i, i + n, true
	}
	if i > 0 && b[i-1] == '[' || i > 1 && b[i-1] == ' ' && b[0] == '[' { // seconds since the kernel's start: [   12.345678]
		if n := digits(b[i:]); n > 0 && n < 8 && i+n+7 < len(b) && b[i+n] == '.' && digits(b[i+n+1:]) == 6 && b[i+n+7] == ']' {
			return i, i + n + 7, true
		}
	}
	if n := digits(b); n > 0 && n < 8 && len(b) > n+20 && b[n] == ':' && letter(b[n+1]) && b[n+2] == ' ' { // Redis: 1234:M 30 Nov 2026 12:00:01.123 # message
		if at := n + 3; stampAt(b[at:]) > 0 {
			return at, at + stampAt(b[at:]), true
		}
	}
	return 0, 0, false
}

// stampAt returns the length of the time that b begins with, or 0.
func stampAt(b []byte) int {
	if len(b) < 5 {
		return 0
	}
	switch n := digits(b); {
	case n == 4: // 2026-03-01T12:00:00.000Z, 2026/03/01 12:00:00,123, 2026年3月1日 12:00
		return afterYear(b)
	case n == 10 && len(b) > 10 && (b[10] == '.' || b[10] == ' ') || n == 13 && len(b) > 13 && b[13] == ' ':
		if n == 10 && b[10] == '.' {
			return 11 + digits(b[11:])
		}
		return n
	case n == 2 && b[2] == ':':
		return clock(b)
	case n == 2 && len(b) > 14 && b[2] == '-' && digits(b[3:]) == 2 && b[5] == ' ' && clock(b[6:]) > 0: // 03-01 12:00:00.000
		return 6 + clock(b[6:])
	case n > 0 && n < 3 && len(b) > n+14 && b[n] == ' ' && month(b[n+1:]) && b[n+4] == ' ' && digits(b[n+5:]) == 4: // 1 Mar 2026 12:00:00
		if c := clock(b[min(len(b), n+10):]); c > 0 {
			return n + 10 + c
		}
		return 0
	case n == 2 && len(b) > 12 && (b[2] == '/' || b[2] == '-' || b[2] == '.'): // 01/Mar/2026:12:00:00 +0000, 01-03-2026 12:00
		return afterDay(b)
	case n > 0:
		return 0
	}
	return byName(b)
}

// byName reads times that begin with the name of a month or day.
func byName(b []byte) int {
	switch {
	case len(b) > 18 && b[3] == ' ' && month(b[4:]) && b[0] >= 'A' && b[0] <= 'Z': // Sun Mar  1 12:00:00 2026
		if n := byName(b[4:]); n > 0 {
			n += 4
			if n+5 <= len(b) && b[n] == ' ' && digits(b[n+1:]) == 4 {
				n += 5
			}
			return n
		}
	case month(b) && b[3] == ' ': // Mar  1 12:00:00
		i := 4
		for i < len(b) && b[i] == ' ' {
			i++
		}
		d := digits(b[i:])
		if d == 0 || d > 2 || i+d >= len(b) || b[i+d] != ' ' {
			return 0
		}
		if n := clock(b[i+d+1:]); n > 0 {
			return i + d + 1 + n
		}
	}
	return 0
}

func afterYear(b []byte) int {
	i := 4
	for range 2 { // month and day
		sep := 0
		switch {
		case i < len(b) && (b[i] == '-' || b[i] == '/' || b[i] == '.'):
			sep = 1
		case hasPrefix(b[i:], "年"), hasPrefix(b[i:], "月"):
			sep = 3
		}
		n := 0
		if sep > 0 {
			n = digits(b[i+sep:])
		}
		if n == 0 || n > 2 {
			return 0
		}
		i += sep + n
	}
	if hasPrefix(b[i:], "日") {
		i += 3
	}
	if i >= len(b) || b[i] != ' ' && b[i] != 'T' && b[i] != '-' && b[i] != '_' {
		return 0
	}
	if n := clock(b[i+1:]); n > 0 {
		return i + 1 + n
	}
	return 0
}

func afterDay(b []byte) int {
	i := 3
	if month(b[i:]) {
		i += 3
	} else if n := digits(b[i:]); n == 2 {
		i += 2
	} else {
		return 0
	}
	if i >= len(b) || b[i] != b[2] || digits(b[i+1:]) != 4 {
		return 0
	}
	if i += 5; i >= len(b) || b[i] != ':' && b[i] != ' ' {
		return 0
	}
	n := clock(b[i+1:])
	if n == 0 {
		return 0
	}
	return i + 1 + n
}

// clock returns the length of a time of day with its fraction and zone.
func clock(b []byte) int {
	if digits(b) != 2 || len(b) < 5 || b[2] != ':' || digits(b[3:]) != 2 {
		return 0
	}
	i := 5
	if i+2 < len(b) && b[i] == ':' && digits(b[i+1:]) == 2 {
		i += 3
	}
	if i+1 < len(b) && (b[i] == '.' || b[i] == ',') {
		if n := digits(b[i+1:]); n > 0 {
			i += 1 + n
		}
	}
	switch {
	case i < len(b) && b[i] == 'Z':
		i++
	case i+2 < len(b) && (b[i] == '+' || b[i] == '-') && digits(b[i+1:]) >= 2:
		i += 1 + digits(b[i+1:])
		if i+2 < len(b) && b[i] == ':' && digits(b[i+1:]) == 2 {
			i += 3
		}
	case i+5 < len(b) && b[i] == ' ' && (b[i+1] == '+' || b[i+1] == '-') && digits(b[i+2:]) == 4:
		i += 6
	case hasPrefix(b[i:], " UTC"):
		i += 4
	}
	return i
}

func month(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	switch string(b[:3]) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec":
		return true
	}
	return false
}

// digits counts the digits that b begins with.
func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
