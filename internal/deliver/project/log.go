package project

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"heddle/internal/wire"
)

// template is one kind of line: what is the same in all of them, and the first
// one as an example.
type template struct {
	level, count, line int      // line is the number of the first
	also               []int    // of the next few
	example            []byte   // the first one, from its message on
	fixed              int      // how much of it is the message, and not of this one line alone
	stack              [][]byte // the lines that belong to the first one, some of them
	stacked            int      // how many there are
	slots              []slot
	codes              []code
	kinds              int // templates that were put together here
}

// logbook is what a log says.
type logbook struct {
	lines, events int
	levels        [levels]int
	from, to      []byte // the first and last time
	templates     []*template
	byHash        map[uint64]*template
	crowded       bool // so many templates that later ones are told apart less
	beyond        int  // events that got no template at all
	beyondBad     int  // of these, errors and warnings
}

// mostTemplates is from where on lines are told apart by coarse alone. At twice as
// many there are no more: a text in which all lines differ must not cost memory.
const mostTemplates = 2000

// event is a line of a log, taken apart.
type event struct {
	level      int
	at         []byte // its time
	message    []byte
	structured bool
	line       []byte // of a structured one
}

// readEvent takes a line apart.
func readEvent(line []byte) event {
	if len(line) > 1 && line[0] == '{' {
		if e := jsonEvent(line); e.structured {
			return e
		}
	}
	e := event{message: line}
	start, end, ok := stamp(line)
	if ok {
		e.at = line[start:end]
		e.message = line[end:]
	} else if at := accessTime(line); at != nil {
		e.at = at
		e.level = accessLevel(line)
		_, rest, _ := bytes.Cut(line, at) // who asked varies; what for does not
		e.message = bytes.TrimLeft(rest, "] ")
		return e
	}
	cut := ok
	if lv, n := level(e.message); lv != levelNone {
		e.level = lv
		if n > 0 && (letterless(e.message[:n]) || e.at != nil) {
			e.message = e.message[n:]
			cut = true
		}
	}
	if !ok && e.level != levelNone { // [ERROR] 2026-03-01 12:00:00 message
		if start, end, ok := stamp(bytes.TrimLeft(e.message, "] :|-")); ok {
			m := bytes.TrimLeft(e.message, "] :|-")
			e.at, e.message = m[start:end], m[end:]
		}
	}
	if cut {
		e.message = bytes.TrimLeft(e.message, " \t]|:>)-")
		for _, s := range [...]string{"】", "："} {
			e.message = bytes.TrimLeft(bytes.TrimPrefix(e.message, []byte(s)), " ")
		}
	}
	return e
}

// letterless reports whether b is at most a level word with its brackets.
func letterless(b []byte) bool { return len(b) <= 12 }

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

// jsonEvent reads a line that is a JSON object with a level or a message.
func jsonEvent(line []byte) event {
	e := event{line: line}
	var codes []byte
	err := wire.Members(line, func(key string, v json.RawMessage) bool {
		switch eventPart(key) {
		case partLevel:
			e.level = jsonLevel(v)
		case partMessage:
			if s, ok := wire.Unquote(v); ok && (e.message == nil || key == "msg" || key == "message") {
				e.message = []byte(s)
			}
		case partTime:
			e.at = bytes.Trim(v, `"`)
		case partCode:
			codes = append(append(append(append(codes, ' '), key...), '='), cell(v, 24)...)
		}
		return true
	})
	if len(codes) > 0 && e.message != nil { // what went wrong is said by both
		e.message = append(slices.Clip(e.message), codes...)
	}
	e.structured = err == nil && e.message != nil && (e.level != levelNone || e.at != nil)
	return e
}

// What a member of a structured line is.
const (
	partOther = iota
	partLevel
	partMessage
	partTime
	partCode
)

func eventPart(key string) int {
	switch key {
	case "level", "lvl", "severity", "levelname", "log.level", "loglevel":
		return partLevel
	case "msg", "message", "event", "error", "err":
		return partMessage
	case "time", "ts", "timestamp", "@timestamp", "date", "t":
		return partTime
	case "status", "code", "statusCode", "status_code", "errorCode", "error_code", "errno":
		return partCode
	}
	return partOther
}

// details shows what else a structured line has, briefly.
func details(line []byte) []byte {
	var out []byte
	_ = wire.Members(line, func(key string, v json.RawMessage) bool {
		part := eventPart(key)
		if part == partOther || part == partMessage && key != "msg" && key != "message" {
			out = append(out, ' ')
			out = append(append(out, tidy(key, 40)...), '=')
			out = append(out, cell(v, 80)...)
		}
		return len(out) < 400
	})
	return out
}

// jsonLevel reads a level's name, or its number as pino and bunyan write it.
func jsonLevel(v []byte) int {
	if n, err := strconv.Atoi(string(v)); err == nil {
		if n < 10 || n > 60 {
			return levelNone
		}
		return [...]int{levelTrace, levelDebug, levelInfo, levelWarn, levelError, levelFatal}[n/10-1]
	}
	return levelWord(bytes.Trim(v, `"`))
}

// outlook is what a look at some lines says of a text.
type outlook struct {
	lines, stamped, leveled, indented int
	structured                        int // JSON with a level and a message
}

// survey looks at lines from all over text.
func survey(text []byte) outlook {
	const blocks, each = 5, 60
	var o outlook
	for k := range blocks {
		from := len(text) / blocks * k
		if k > 0 {
			i := bytes.IndexByte(text[from:], '\n')
			if i < 0 {
				break
			}
			from += i + 1
		}
		end := len(text) / blocks * (k + 1)
		for n := 0; n < each && from < end; n++ {
			line := text[from:]
			if i := bytes.IndexByte(line, '\n'); i >= 0 {
				line = line[:i]
			}
			from += len(line) + 1
			o.look(bytes.TrimSuffix(line, []byte("\r")))
		}
	}
	return o
}

func (o *outlook) look(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	o.lines++
	if line[0] == ' ' || line[0] == '\t' || hasPrefix(line, "at ") || hasPrefix(line, "Caused by") || hasPrefix(line, "...") {
		if lv, _ := marker(line); lv == levelNone {
			o.indented++
			return
		}
	}
	e := readEvent(line[:min(len(line), 4096)])
	if e.at != nil {
		o.stamped++
	}
	if e.level != levelNone {
		o.leveled++
		if e.structured {
			o.structured++
		}
	}
}

func (o outlook) outer() int { return max(1, o.lines-o.indented) }

// jsonLog reports whether half of the lines are a log's, written as JSON.
func (o outlook) jsonLog() bool { return o.structured >= 4 && o.structured*2 >= o.lines }

// hasLevels reports whether half of the lines have a level.
func (o outlook) hasLevels() bool { return o.leveled >= 4 && o.leveled*2 >= o.outer() }

// log reports whether the text looks like a log.
func (o outlook) log() bool {
	return o.lines >= 5 && (o.stamped*2 >= o.outer() && o.stamped >= 4 || o.leveled*4 >= o.outer() && o.leveled >= 6)
}

// read reads a log. stamped says that most of its lines have a time, so that
// one without belongs to the line before.
func (l *logbook) read(text []byte, stamped bool) {
	l.byHash = map[uint64]*template{}
	var (
		slots []slot
		now   event
		more  [][]byte
		extra int
		at    int
		first = true
		trace bool // within the stack of a goroutine, whose lines are not all indented
	)
	flush := func() {
		if !first {
			slots = l.add(now, more, extra, at, slots[:0])
		}
		more, extra = more[:0], 0
	}
	for line := range bytes.Lines(text) {
		l.lines++
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e := readEvent(line)
		if !first && (continues(line, e, stamped) || trace && e.at == nil && e.level == levelNone) {
			trace = trace || hasPrefix(line, "goroutine ")
			extra++
			if len(more) < 40 || !indentedLine(line) && len(more) < 80 {
				more = append(more, line)
			}
			continue
		}
		var own [][]byte
		if hasPrefix(now.message, "=== RUN") && e.level == levelError { // what a test said before it failed
			own = append(own, more...)
			more, extra = more[:0], 0
		}
		flush()
		more, extra = append(more, own...), len(own)
		now, at, first, trace = e, l.lines, false, false
	}
	flush()
}

func indentedLine(b []byte) bool { return len(b) > 0 && (b[0] == ' ' || b[0] == '\t') }

// continues reports whether a line belongs to the one before.
func continues(line []byte, e event, stamped bool) bool {
	if e.at != nil || e.structured {
		return false
	}
	if indentedLine(line) {
		lv, _ := marker(line)
		return lv == levelNone
	}
	if hasPrefix(line, "Caused by") || hasPrefix(line, "Traceback") || hasPrefix(line, "at ") || hasPrefix(line, "goroutine ") || hasPrefix(line, "...") || line[0] == '}' || line[0] == ')' {
		return true
	}
	if stamped {
		return e.level == levelNone || exception(line)
	}
	return e.level == levelNone && exception(line)
}

// exception reports whether a line names one: java.lang.IllegalStateException: text.
func exception(line []byte) bool {
	i := 0
	for i < len(line) && (alnum(line[i]) || line[i] == '.' || line[i] == '_' || line[i] == '$') {
		i++
	}
	name := line[:i]
	if i < len(line) && line[i] != ':' && line[i] != ' ' {
		return false
	}
	return bytes.HasSuffix(name, []byte("Exception")) || bytes.HasSuffix(name, []byte("Error")) && len(name) > 5 || bytes.HasSuffix(name, []byte("Warning")) && len(name) > 7
}

// add counts an event under its template.
func (l *logbook) add(e event, more [][]byte, extra, at int, slots []slot) []slot {
	l.events++
	if e.at != nil {
		if l.from == nil {
			l.from = e.at
		}
		l.to = e.at
	}
	if e.level == levelNone && (bad(e.message) || telling(more)) {
		e.level = levelWords
	}
	l.levels[e.level]++
	h, slots := l.hash(e, more, slots)
	t := l.byHash[h]
	if t == nil && len(l.templates) >= 2*mostTemplates {
		l.beyond++
		if e.level >= levelBad {
			l.beyondBad++
		}
		return slots
	}
	if t == nil {
		t = &template{level: e.level, line: at, example: e.message, fixed: len(e.message), stacked: extra, kinds: 1, slots: append([]slot(nil), slots...)}
		if e.structured {
			t.example = append(t.example[:t.fixed:t.fixed], details(e.line)...)
		}
		t.stack = append(t.stack, more...)
		if t.level >= levelBad {
			t.codes = codesIn(t.example[:t.fixed], t.slots)
		}
		l.byHash[h] = t
		l.templates = append(l.templates, t)
		l.crowded = l.crowded || len(l.templates) >= mostTemplates
	} else {
		t.compare(e.message, slots)
		if len(t.also) < 4 {
			t.also = append(t.also, at)
		}
	}
	t.count++
	return slots
}

// telling reports whether one of the lines that belong to another names an
// exception.
func telling(more [][]byte) bool {
	for _, m := range more {
		if exception(m) || hasPrefix(m, "Traceback") {
			return true
		}
	}
	return false
}

// hash tells templates apart: by level, message and the exceptions below.
func (l *logbook) hash(e event, more [][]byte, slots []slot) (uint64, []slot) {
	var h uint64
	if l.crowded {
		h = coarse(e.message)
		slots = slots[:0]
	} else {
		h, slots = mask(e.message[:min(len(e.message), 2048)], slots)
	}
	h = h*31 + uint64(e.level)
	n := len(slots)
	for _, m := range more {
		if e.level >= levelBad && (exception(m) || hasPrefix(m, "Caused by") || hasPrefix(m, "E   ")) {
			var x uint64
			x, slots = mask(m[:min(len(m), 300)], slots)
			h = h*31 + x
		}
	}
	return h, slots[:n]
}

// compare notes which slots of t another line fills otherwise.
func (t *template) compare(line []byte, slots []slot) {
	for i := range t.codes {
		if c := &t.codes[i]; c.slot < len(slots) {
			c.add(line[slots[c.slot].start:slots[c.slot].end], 1)
		}
	}
	for i := range t.slots {
		s := &t.slots[i]
		if s.varied {
			continue
		}
		if i >= len(slots) || !bytes.Equal(t.example[s.start:s.end], line[slots[i].start:slots[i].end]) {
			s.varied = true
		}
	}
}
