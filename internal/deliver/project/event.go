package project

import "bytes"

// event is a line of a log, taken apart.
type event struct {
	level      int
	at         []byte // its time
	message    []byte
	structured bool
	known      bool   // structured, and as only a log is, whatever its level
	line       []byte // of a structured one
}

// readEvent takes a line apart.
func readEvent(line []byte) event {
	if len(line) > 1 && line[0] == '{' {
		if e := jsonEvent(line); e.structured {
			return e
		}
	}
	return plainEvent(line)
}

// plainEvent takes a line apart that is not JSON.
func plainEvent(line []byte) event {
	if e, ok := datedEvent(line); ok {
		return e
	}
	e := event{message: line}
	rest, lead := leading(line) // E|2026-03-01 12:00:00|message
	start, end, ok := stamp(rest)
	if ok {
		e.at = rest[start:end]
		e.message = rest[end:]
		if start > 0 && rest[start-1] == '"' {
			e.message = bytes.TrimPrefix(e.message, []byte(`"`))
		}
		if lead != levelNone {
			e.level = lead
		}
	} else if at := accessTime(line); at != nil {
		e.at = at
		e.level = accessLevel(line)
		_, rest, _ := bytes.Cut(line, at) // who asked varies; what for does not
		e.message = bytes.TrimLeft(rest, "] ")
		return e
	}
	cut := ok
	if lead == levelNone || !ok {
		cut = e.cutLevel() || cut
	}
	if !ok && e.level != levelNone { // [ERROR] 2026-03-01 12:00:00 message
		if start, end, ok := stamp(bytes.TrimLeft(e.message, "] :|-")); ok {
			m := bytes.TrimLeft(e.message, "] :|-")
			e.at, e.message = m[start:end], m[end:]
		}
	}
	if cut {
		e.message = bytes.TrimLeft(e.message, " \t]|:>)-,;")
		for _, s := range [...]string{"】", "："} {
			e.message = bytes.TrimLeft(bytes.TrimPrefix(e.message, []byte(s)), " ")
		}
	}
	return e
}

// cutLevel reads the level of e's message and takes it off, with what stands
// before it, if that is no more than a header: a host, a thread, a component.
func (e *event) cutLevel() bool {
	m := e.message
	lv, from, to := level(m, e.at != nil)
	if lv == levelNone {
		return false
	}
	e.level = lv
	if to == 0 || e.at == nil && to > shortHeader {
		return false
	}
	key := keyed(m[:from])
	if key < from && m[from-1] == '"' && to < len(m) && m[to] == '"' {
		to++
	}
	before := bytes.TrimRight(m[:key], " \t[(|<-")
	after := bytes.TrimLeft(m[to:], " \t]|:>)-")
	switch {
	case header(before) && len(after) > 0:
		e.message = m[to:]
	case key < from: // message level=error more=1
		e.message = bytes.TrimSpace(join(before, after))
	case len(after) == 0: // message [ERROR]
		e.message = before
	default: // the level is a word of the message
		return false
	}
	return true
}

// join puts a space between what stood before and after what was taken out.
func join(before, after []byte) []byte {
	if len(before) == 0 || len(after) == 0 {
		return append(before[:len(before):len(before)], after...)
	}
	return append(append(before[:len(before):len(before)], ' '), after...)
}

// shortHeader is how far in a line without a time a level may end that is not
// one of the message's words.
const shortHeader = 12

// header reports whether what stands before a level is not the message: at most
// a few words, no msg=.
func header(b []byte) bool {
	if bytes.Contains(b, []byte("msg=")) || bytes.Contains(b, []byte("message=")) {
		return false
	}
	words := 0
	for _, w := range bytes.Fields(b) {
		plain := len(w) > 1
		for _, c := range w {
			plain = plain && letter(c)
		}
		if plain {
			words++
		}
	}
	return words < 3 && len(b) <= 120
}

// keyed returns where the key begins whose value follows b, as in level=error;
// the end of b if there is none.
func keyed(b []byte) int {
	for _, key := range [...]string{"level=", "lvl=", "severity=", "loglevel="} {
		for _, open := range [...]string{"", `"`} {
			if bytes.HasSuffix(b, []byte(key+open)) {
				return len(b) - len(key) - len(open)
			}
		}
	}
	return len(b)
}

// leading returns what follows a line's first letter where that is a level and a
// bar, as in E|2026-03-01 12:00:00|message, or the line and no level.
func leading(line []byte) (rest []byte, lv int) {
	if len(line) > 8 && (line[1] == '|' || line[1] == ';' || line[1] == ',') {
		if lv := levelLetter(line[0]); lv != levelNone {
			return line[2:], lv
		}
	}
	return line, levelNone
}

// datedEvent reads 2026-03-01;ERROR;message, whose date alone is no time of a log:
// tables have those, but not a level behind it.
func datedEvent(line []byte) (e event, ok bool) {
	n := 0
	for n < len(line) && n < 11 && (line[n] >= '0' && line[n] <= '9' || line[n] == '-' || line[n] == '.' || line[n] == '/') {
		n++
	}
	if n < 8 || n > 10 || n+1 >= len(line) || line[n] != ';' && line[n] != ',' && line[n] != '|' {
		return event{}, false
	}
	word, message, found := bytes.Cut(line[n+1:], line[n:n+1])
	word = bytes.TrimSpace(word)
	if lv := levelWord(word); found && lv != levelNone && !outcome(word) && digits(line) < 5 {
		return event{level: lv, at: line[:n], message: bytes.TrimSpace(message)}, true
	}
	return event{}, false
}

// accessTime returns the time of a web server's line: [01/Mar/2026:12:00:00 +0000].
func accessTime(line []byte) []byte {
	i := bytes.IndexByte(line[:min(len(line), 100)], '[')
	if i <= 0 || len(line) < i+28 {
		return nil
	}
	if n := stampAt(line[i+1:]); n > 15 && line[i+3] == '/' {
		return line[i+1 : i+1+n]
	}
	return nil
}

// accessLevel makes a level of the status in a web server's line.
func accessLevel(line []byte) int {
	i := bytes.Index(line, []byte(`" `))
	if i < 0 || len(line) < i+5 || digits(line[i+2:]) != 3 {
		return levelNone
	}
	switch line[i+2] {
	case '5':
		return level5xx
	case '4':
		return level4xx
	}
	return levelInfo
}
