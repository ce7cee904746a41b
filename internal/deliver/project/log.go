package project

import (
	"bytes"
	"slices"
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
			more, extra = now.headline(more, extra)
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
		if !first && (trace && e.at == nil && e.level == levelNone || continues(line, e, stamped) && !(stands(line) && now.ends(line))) {
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

// stands reports whether a line without a time speaks of a failure of its own: it
// is not indented and begins as what the system or a runtime says at the end of a
// process, or names an exception or a failure.
func stands(line []byte) bool {
	return !indentedLine(line) && (crash(line) || exception(line) || bad(line))
}

// crash reports whether a line says that a process ended.
func crash(line []byte) bool {
	for _, s := range [...]string{"Segmentation fault", "Killed", "Aborted", "Bus error", "Illegal instruction", "Floating point exception",
		"Exception in thread", "Unhandled exception", "Uncaught ", "Out of memory", "java.lang.OutOfMemoryError", "panic:", "fatal error:", "terminate called"} {
		if hasPrefix(line, s) {
			return true
		}
	}
	return bytes.Contains(line, []byte("(core dumped)"))
}

// ends reports whether line, which speaks of a failure, is no more part of e: e
// is harmless, or line says that a process ended.
func (e event) ends(line []byte) bool {
	switch {
	case crash(line):
		return !hasPrefix(line, "panic:") && !hasPrefix(line, "fatal error:") || e.level < levelBad
	case e.level == levelNone:
		return !bad(e.message) && !hasPrefix(e.message, "Traceback")
	}
	return e.level < levelBad
}

// headline makes the message of an event out of the lines below it where its own
// line says nothing: it names a component alone, or announces a stack.
func (e *event) headline(more [][]byte, extra int) ([][]byte, int) {
	if len(more) == 0 || e.structured {
		return more, extra
	}
	if hasPrefix(e.message, "Traceback") {
		for i := len(more) - 1; i >= 0; i-- { // what was raised in the end
			if exception(more[i]) {
				e.message = more[i]
				break
			}
		}
		return more, extra
	}
	below := bytes.TrimSpace(more[0])
	if (e.at == nil && e.level == levelNone) || !componentOnly(e.message) || frame(below) || exception(below) {
		return more, extra
	}
	e.message = append(append(slices.Clip(e.message), ' '), below...)
	return more[1:], extra - 1
}

// componentOnly reports whether a message is none yet: nothing, or the name of a
// component, as in "fail: Hosting.Lifetime[7]".
func componentOnly(m []byte) bool {
	if i := bytes.Index(m, []byte(": ")); i > 0 && i < 8 {
		m = m[i+2:]
	}
	m = bytes.TrimSpace(m)
	if i := bytes.IndexByte(m, '['); i > 0 && bytes.HasSuffix(m, []byte("]")) && digits(m[i+1:]) == len(m)-i-2 {
		return bytes.IndexByte(m, ' ') < 0
	}
	return len(m) == 0
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
	if e.level == levelNone && (bad(e.message) || exception(e.message) || crash(e.message) || telling(more)) {
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
