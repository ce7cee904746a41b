package project

import "bytes"

// Levels of a log's lines, from the least.
const (
	levelNone = iota
	levelTrace
	levelDebug
	levelInfo
	level4xx // a web server's line with such a status
	levelWarn
	levelWords // no level, but words of a failure
	level5xx
	levelError
	levelFatal
	levels
)

// levelBad is the least level that counts as an error or warning.
const levelBad = level4xx

var levelNames = [levels]string{"no level", "TRACE", "DEBUG", "INFO", "HTTP 4xx", "WARN", "no level, failing", "HTTP 5xx", "ERROR", "FATAL"}

// level looks for a level near the beginning of a line, or anywhere in it behind
// a key, and returns it and from where to where it stands; 0 where it is part of
// the message. In a line with a time it may stand between commas.
func level(b []byte, timed bool) (lv, start, end int) {
	if lv, end := marker(b); lv != levelNone {
		return lv, 0, end
	}
	if lv, start, end := levelIn(b, timed); lv != levelNone {
		return lv, start, end
	}
	if lv, end := initial(b); timed && lv != levelNone {
		return lv, 0, end
	}
	if len(b) > 160 { // what is written as keys and values may end with it
		if i := bytes.LastIndex(b, []byte(" level=")); i >= 0 {
			if lv, start, end := levelIn(b[i:], timed); lv != levelNone {
				return lv, i + start, i + end
			}
		}
	}
	return levelNone, 0, 0
}

// levelIn is level for what is a word.
func levelIn(b []byte, timed bool) (lv, start, end int) {
	limit := min(len(b), 160)
	for i := 0; i < limit; {
		c := b[i]
		if !letter(c) {
			if c >= 0x80 {
				if lv, n := wide(b[i:]); lv != levelNone && (i == 0 || !letter(b[i-1])) {
					return lv, i, i + n
				}
			}
			i++
			continue
		}
		j := i
		for j < len(b) && letter(b[j]) {
			j++
		}
		cell := timed && i > 0 && (b[i-1] == ',' || b[i-1] == ';') && j < len(b) && b[j] == b[i-1]
		if j-i <= 11 && (i == 0 || opens(b[i-1]) || cell) && (j == len(b) || closes(b[j])) {
			if lv := levelWord(b[i:j]); lv != levelNone && (b[i] <= 'Z' && b[j-1] <= 'Z' || cell || framed(b, i, j)) {
				if outcome(b[i:j]) {
					return lv, 0, 0
				}
				return lv, i, j
			}
		}
		i = j
	}
	return levelNone, 0, 0
}

// initial returns the level that one letter stands for behind a line's time:
// Android writes 03-01 12:00:00.000 1234 5678 E Tag: message.
func initial(b []byte) (lv, end int) {
	i := 0
	for i < len(b) && i < 24 && (b[i] == ' ' || b[i] >= '0' && b[i] <= '9') {
		i++
	}
	if i < 2 || i+2 >= len(b) || b[i+1] != ' ' && b[i+1] != '/' && b[i+1] != '|' {
		return levelNone, 0
	}
	if letter(b[i+2]) || b[i+1] == '|' {
		return levelLetter(b[i]), i + 1
	}
	return levelNone, 0
}

// levelLetter returns the level that a letter stands for.
func levelLetter(c byte) int {
	switch c {
	case 'V', 'T':
		return levelTrace
	case 'D':
		return levelDebug
	case 'I':
		return levelInfo
	case 'W':
		return levelWarn
	case 'E':
		return levelError
	case 'F', 'C':
		return levelFatal
	}
	return levelNone
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func opens(c byte) bool {
	switch c {
	case ' ', '\t', '[', '(', '<', '|', '=', '"', ':', '{', '-', '>':
		return true
	}
	return false
}

func closes(c byte) bool {
	switch c {
	case ' ', '\t', ']', ')', '>', '|', ':', '"', ',', '}', '[', ';', '-', '!', '/':
		return true
	}
	return false
}

// framed reports whether a word in small letters stands where a level does:
// first in the line and before a colon, in brackets, behind level=.
func framed(b []byte, i, j int) bool {
	if j < len(b) && (b[j] == ']' || b[j] == '>') && i > 0 && (b[i-1] == '[' || b[i-1] == '<') {
		return true
	}
	if i > 0 && b[i-1] == '[' { // [error    ]
		if rest := bytes.TrimLeft(b[j:min(len(b), j+10)], " "); hasPrefix(rest, "]") {
			return true
		}
	}
	if i == 0 && j < len(b) && (b[j] == ':' || b[j] == '[') {
		return true
	}
	for _, key := range [...]string{"level=", `level="`, "lvl=", "severity=", `level":"`, `level": "`} {
		if n := len(key); i >= n && string(b[i-n:i]) == key {
			return true
		}
	}
	// file:line:column: error: message
	return i > 3 && b[i-1] == ' ' && b[i-2] == ':' && j < len(b) && b[j] == ':'
}

// levelWord returns the level that a word means, in any case.
func levelWord(w []byte) int {
	var buf [11]byte
	if len(w) > len(buf) || len(w) < 3 {
		return levelNone
	}
	for i, c := range w {
		buf[i] = c &^ 0x20
	}
	switch string(buf[:len(w)]) {
	case "TRACE", "TRCE", "VERBOSE", "FINEST", "FINER":
		return levelTrace
	case "DEBUG", "DBUG", "DBG", "FINE":
		return levelDebug
	case "INFO", "INF", "NOTICE", "INFORMATION", "LOG", "PASS", "PASSED", "SKIPPED":
		return levelInfo
	case "WARN", "WARNING", "WRN":
		return levelWarn
	case "ERROR", "ERR", "SEVERE", "FAIL", "FAILED", "FAILURE":
		return levelError
	case "FATAL", "CRITICAL", "CRIT", "PANIC", "ALERT", "EMERG", "EMERGENCY", "FTL":
		return levelFatal
	}
	return levelNone
}

// outcome reports whether a level's word is what a test came to, which belongs to
// the message.
func outcome(w []byte) bool {
	switch w[0] | 0x20 {
	case 'f':
		return w[2]|0x20 == 'i'
	case 'p':
		return w[2]|0x20 == 's'
	}
	return len(w) == 7 && w[0]|0x20 == 's' && w[1]|0x20 == 'k'
}

// wide returns the level that b begins with in Chinese or Japanese.
func wide(b []byte) (lv, n int) {
	for _, w := range [...]struct {
		text  string
		level int
	}{
		{"错误", levelError}, {"錯誤", levelError}, {"エラー", levelError}, {"异常", levelError}, {"严重", levelFatal}, {"致命", levelFatal},
		{"警告", levelWarn}, {"信息", levelInfo}, {"情報", levelInfo}, {"資訊", levelInfo}, {"调试", levelDebug}, {"デバッグ", levelDebug},
	} {
		if hasPrefix(b, w.text) && (len(b) == len(w.text) || closes(b[len(w.text)]) || bytes.HasPrefix(b[len(w.text):], []byte("：")) || bytes.HasPrefix(b[len(w.text):], []byte("】"))) {
			return w.level, len(w.text)
		}
	}
	return levelNone, 0
}

// marker returns the level of a line that a tool marks in its own way at its
// beginning: test runners, compilers, package managers, klog.
func marker(b []byte) (lv, end int) {
	if len(b) < 4 {
		return levelNone, 0
	}
	switch b[0] {
	case 'I', 'W', 'E', 'F': // klog: E0301 12:00:00.000000
		if len(b) > 10 && digits(b[1:]) == 4 && b[5] == ' ' && digits(b[6:]) == 2 && b[8] == ':' {
			return map[byte]int{'I': levelInfo, 'W': levelWarn, 'E': levelError, 'F': levelFatal}[b[0]], 0
		}
		if b[0] == 'E' && hasPrefix(b, "E   ") { // pytest
			return levelError, 0
		}
	case ' ', '-', '\t', '#', '=', 'o', 'n', 'p', 't', 'P':
		return runner(b)
	}
	for _, m := range [...]struct {
		text  string
		level int
	}{{"✗", levelError}, {"✘", levelError}, {"✖", levelError}, {"×", levelError}, {"❌", levelError}, {"●", levelError}, {"⚠", levelWarn}, {"✓", levelInfo}, {"✔", levelInfo}} {
		if hasPrefix(b, m.text) {
			return m.level, 0
		}
	}
	return levelNone, 0
}

// runner is marker for what test runners and package managers write.
func runner(b []byte) (lv, end int) {
	t := bytes.TrimLeft(b, " \t")
	for _, m := range [...]struct {
		text  string
		level int
	}{
		{"--- FAIL", levelError}, {"--- PASS", levelInfo}, {"--- SKIP", levelInfo}, {"=== RUN", levelDebug}, {"ok  \t", levelInfo},
		{"npm ERR!", levelError}, {"npm error", levelError}, {"npm WARN", levelWarn}, {"npm warn", levelWarn}, {"npm notice", levelInfo},
		{"panic:", levelFatal}, {"thread '", levelNone}, {"not ok ", levelError}, {"ok ", levelNone},
	} {
		if hasPrefix(t, m.text) {
			return m.level, 0
		}
	}
	if hasPrefix(t, "test ") {
		for _, m := range [...]struct {
			text  string
			level int
		}{{"... ok", levelInfo}, {"... FAILED", levelError}, {"... ignored", levelInfo}} {
			if bytes.HasSuffix(t, []byte(m.text)) {
				return m.level, 0
			}
		}
	}
	return levelNone, 0
}

// bad reports whether a line without a level speaks of a failure. It looks at
// the beginnings of words only.
func bad(b []byte) bool {
	start := true
	for i := 0; i < len(b); i++ {
		c := b[i]
		if !letter(c) {
			if c >= 0xE5 && wideBad(b[i:]) {
				return true
			}
			start = true
			continue
		}
		if !start && (c >= 'a' || b[i-1] < 'a') {
			continue
		}
		start = false
		for _, w := range badWords[(c|0x20)-'a'] {
			if len(b)-i >= len(w) && bytes.EqualFold(b[i:i+len(w)], []byte(w)) {
				return true
			}
		}
	}
	return false
}

// badWords are the words of a failure, by their first letter.
var badWords = [26][]string{
	0:         {"aborted"},
	'c' - 'a': {"caused by", "cannot ", "could not"},
	'd' - 'a': {"denied"},
	'e' - 'a': {"error", "exception"},
	'f' - 'a': {"fail", "fatal"},
	'k' - 'a': {"killed"},
	'o' - 'a': {"out of memory"},
	'p' - 'a': {"panic"},
	'r' - 'a': {"refused"},
	's' - 'a': {"segfault", "segmentation fault"},
	't' - 'a': {"traceback", "timed out"},
	'u' - 'a': {"unable to", "uncaught", "unhandled"},
}

func wideBad(b []byte) bool {
	for _, w := range [...]string{"错误", "錯誤", "失败", "失敗", "异常", "例外", "エラー"} {
		if hasPrefix(b, w) {
			return true
		}
	}
	return false
}
