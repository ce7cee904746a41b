package project

import "bytes"

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
	}
	if e.structured && (e.level != levelNone || e.known) {
		o.structured++
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
