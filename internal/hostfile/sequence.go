package hostfile

import (
	"bytes"
	"slices"
)

// style is how a file is laid out.
type style struct {
	// newline ends lines; "" if the whole file is one line.
	newline string
	// unit is one step of indentation.
	unit string
	// space follows colons and commas.
	space string
}

// styleOf reads the layout off a file. Only the first step of indentation
// counts: deeper ones may be aligned.
func styleOf(data []byte, root *node) style {
	s := style{unit: "  ", space: " "}
	body := bytes.TrimSpace(bytes.TrimPrefix(data, []byte(bom)))
	if i := bytes.IndexByte(body, '\n'); i >= 0 {
		s.newline = "\n"
		if i > 0 && body[i-1] == '\r' {
			s.newline = "\r\n"
		}
	}
	for _, m := range root.members {
		if indent, own := indentation(data, m.start); own && indent != "" {
			s.unit = indent
			break
		}
	}
	if s.newline == "" && len(root.members) > 0 && bytes.Contains(body, []byte(`":`)) && !bytes.Contains(body, []byte(`": `)) {
		s.space = ""
	}
	return s
}

// indentation returns the blanks at the start of the line of off, and whether
// nothing else is before it.
func indentation(data []byte, off int) (string, bool) {
	start := bytes.LastIndexByte(data[:off], '\n') + 1
	if start == 0 && bytes.HasPrefix(data, []byte(bom)) {
		start = len(bom)
	}
	line := data[start:off]
	blank := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	return string(blank), len(blank) == len(line) && bytes.IndexByte(data[:off], '\n') >= 0
}

// sequence is a list of things between brackets with commas: an object, a list,
// or a table of TOML in one line.
type sequence struct {
	data []byte
	// open and end are the offsets of the brackets.
	open, end int
	// items are from the first to after the last byte of each, keys included.
	items []span
	// comment returns the offset after the comment at i, or i.
	comment func(data []byte, i int) int
	style   style
	// base is the indentation of the line that the first bracket is on.
	base string
}

type span struct{ start, end int }

// splice is one change of bytes.
type splice struct {
	span
	text string
}

// apply makes all splices at once; they must not overlap.
func apply(data []byte, splices ...splice) []byte {
	slices.SortStableFunc(splices, func(a, b splice) int { return a.start - b.start })
	var out []byte
	at := 0
	for _, s := range splices {
		out = append(append(out, data[at:s.start]...), s.text...)
		at = s.end
	}
	return append(out, data[at:]...)
}

// token returns the offset of the next byte from i that is neither blank nor in
// a comment.
func (s sequence) token(i int) int {
	for i < len(s.data) {
		if next := s.comment(s.data, i); next > i {
			i = next
			continue
		}
		if !isBlank(s.data[i]) && s.data[i] != '\n' {
			return i
		}
		i++
	}
	return i
}

// lineEnd returns the end of the line of i if only blanks and comments are
// before it, i moved to the next token if not.
func (s sequence) lineEnd(i int) (int, bool) {
	for i < s.end {
		if next := s.comment(s.data, i); next > i {
			i = next
			continue
		}
		switch {
		case s.data[i] == '\n', s.data[i] == '\r' && s.data[i+1] == '\n':
			return i, true
		case !isBlank(s.data[i]):
			return i, false
		}
		i++
	}
	return i, false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// comma returns the offset of the comma after item i, -1 if there is none.
func (s sequence) comma(i int) int {
	if off := s.token(s.items[i].end); off < len(s.data) && s.data[off] == ',' {
		return off
	}
	return -1
}

// remove takes out item i, one comma, and the line if nothing else is on it.
// Comments stay: they are not part of the item.
func (s sequence) remove(i int) []byte {
	cut := s.items[i]
	other := span{-1, -1} // the comma, where it is not next to the item
	if comma := s.comma(i); comma >= 0 {
		other = span{comma, comma + 1}
		if len(bytes.TrimSpace(s.data[cut.end:comma])) == 0 {
			cut.end, other.start = comma+1, -1
		}
	} else if i > 0 {
		comma := s.comma(i - 1)
		other = span{comma, comma + 1}
		if blank := s.data[comma+1 : cut.start]; len(bytes.TrimSpace(blank)) == 0 && bytes.IndexByte(blank, '\n') < 0 {
			cut.start, other.start = comma, -1
		}
	}
	splices := []splice{{span: s.tidy(cut)}}
	if other.start >= 0 {
		splices = append(splices, splice{span: other})
	}
	return apply(s.data, splices...)
}

// tidy widens what is cut to the line if nothing else is on it, and else over
// the blanks that would be left.
func (s sequence) tidy(cut span) span {
	left, right := cut.start, cut.end
	for left > s.open+1 && isBlank(s.data[left-1]) {
		left--
	}
	for right < s.end && isBlank(s.data[right]) {
		right++
	}
	starts, ends := s.data[left-1] == '\n', s.data[right] == '\n'
	switch {
	case starts && ends:
		return span{left, right + 1}
	case starts:
		return span{cut.start, right}
	case ends:
		if s.data[right-1] == '\r' && right > cut.end {
			right--
		}
		return span{left, right}
	case right == s.end:
		return span{cut.start, cut.end}
	}
	return span{cut.start, right}
}

// insert puts an item at index i; write gets the indentation of the item's line.
func (s sequence) insert(i int, write func(indent string) string) []byte {
	switch {
	case len(s.items) == 0:
		return s.insertFirst(write)
	case i >= len(s.items):
		return s.insertLast(write)
	}
	indent, lines := s.layout()
	next := s.items[i].start
	if !lines {
		return apply(s.data, splice{span{next, next}, write(indent) + "," + s.style.space})
	}
	if end, ok := s.lineEnd(s.gap(i)); ok && end < next {
		return apply(s.data, splice{span{end, end}, s.style.newline + indent + write(indent) + ","})
	}
	return apply(s.data, splice{span{next, next}, write(indent) + "," + s.style.newline + indent})
}

// insertBehind is insert behind the comments that stood before the item once, if
// they are still there.
func (s sequence) insertBehind(i int, comments string, write func(indent string) string) []byte {
	if i < len(s.items) && comments != "" {
		from, next := s.gap(i), s.items[i].start
		if off := bytes.Index(s.data[from:next], []byte(comments)); off >= 0 {
			at := from + off + len(comments)
			indent, lines := s.layout()
			if !lines && !bytes.HasPrefix(bytes.TrimLeft(s.data[at:next], " \t\r"), []byte("\n")) {
				return apply(s.data, splice{span{at, at}, s.style.space + write(indent) + ","})
			}
			return apply(s.data, splice{span{at, at}, s.style.newline + indent + write(indent) + ","})
		}
	}
	return s.insert(i, write)
}

// gap returns where what stands before item i begins: behind the bracket or the
// comma before.
func (s sequence) gap(i int) int {
	if i == 0 {
		return s.open + 1
	}
	return s.comma(i-1) + 1
}

// layout returns the indentation of items, and whether they have lines of their
// own.
func (s sequence) layout() (string, bool) {
	for _, item := range s.items {
		if indent, own := indentation(s.data, item.start); own {
			return indent, true
		}
	}
	return s.base, false
}

func (s sequence) insertFirst(write func(string) string) []byte {
	inner := s.data[s.open+1 : s.end]
	indent := s.base + s.style.unit
	if s.style.newline == "" {
		at := s.open + 1 + len(bytes.TrimRight(inner, " \t"))
		return apply(s.data, splice{span{at, at}, write(s.base)})
	}
	at := s.open + 1 + len(bytes.TrimRight(inner, " \t\r\n"))
	item := s.style.newline + indent + write(indent)
	if bytes.IndexByte(s.data[at:s.end], '\n') >= 0 { // the bracket has its line already
		return apply(s.data, splice{span{at, at}, item})
	}
	return apply(s.data, splice{span{at, s.end}, item + s.style.newline + s.base})
}

func (s sequence) insertLast(write func(string) string) []byte {
	indent, lines := s.layout()
	last := len(s.items) - 1
	comma := s.comma(last)
	trailing := ""
	var splices []splice
	from := comma + 1
	if comma >= 0 {
		trailing = ","
	} else {
		from = s.items[last].end
		splices = append(splices, splice{span{from, from}, ","})
	}
	if !lines {
		return apply(s.data, append(splices, splice{span{from, from}, s.style.space + write(indent) + trailing})...)
	}
	at := from + len(bytes.TrimRight(s.data[from:s.end], " \t\r\n"))
	return apply(s.data, append(splices, splice{span{at, at}, s.style.newline + indent + write(indent) + trailing})...)
}

// sequence returns the object or list n of a JSON file.
func (d *document) sequence(n *node) sequence {
	out := sequence{data: d.data, open: n.start, end: n.end - 1, comment: jsonComment, style: d.style, base: d.base}
	if n != d.root || d.prefix == nil {
		out.base, _ = indentation(d.data, n.start)
	}
	for _, m := range n.members {
		out.items = append(out.items, span{m.start, m.value.end})
	}
	for _, item := range n.items {
		out.items = append(out.items, span{item.start, item.end})
	}
	return out
}

// tomlSequence is a table of TOML in one line.
func tomlSequence(data []byte, n *node) sequence {
	comment := func(data []byte, i int) int {
		if data[i] != '#' {
			return i
		}
		return lineOf(data, i)
	}
	out := sequence{data: data, open: n.start, end: n.end - 1, comment: comment, style: style{space: " "}}
	for _, m := range n.members {
		out.items = append(out.items, span{m.start, m.value.end})
	}
	return out
}
