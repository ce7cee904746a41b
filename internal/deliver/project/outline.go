package project

import (
	"fmt"
	"strings"
)

// named is the depth to which an outline has every key, if its budget allows.
const named = 3

// json projects the JSON value v. around is the text that it was found in.
func (in Input) json(v, around []byte) Projection {
	s := shapeOf(v)
	s.settle()
	path, rows := s.records(len(v))
	usual := OutlineBudget
	if rows != nil {
		usual = Budget
	}
	p := in.page(usual)
	kind := KindOutline
	if rows == nil {
		p.addf("JSON %s, %d bytes", s.what(), len(v))
	} else {
		kind = KindRecords
		p.addf("JSON, %d bytes: %s is an array of %s", len(v), path, count(rows.total, "record"))
	}
	if len(around) > 0 {
		p.quote("around it: ", around, 200)
	}
	left := p.tokens - 8
	if rows != nil {
		left = p.tokens * 3 / 5
	}
	lines, note := s.outline(left, p.bytes*3/4)
	if rows != nil && note != allNamed && note != allButMaps { // rather fewer rows than columns without a name
		lines, note = s.outline(p.tokens*17/20, p.bytes*3/4)
	}
	for _, l := range lines {
		if !p.add(l) {
			note = outlineCut
			break
		}
	}
	if note == outlineCut {
		p.add("… " + note + " here")
	}
	if rows != nil {
		shown := p.rows(rows.columns(), rows.sample, rows.total)
		note = fmt.Sprintf("%s, %s; %s", count(rows.total, "record"), shown, note)
	}
	return Projection{Kind: kind, Text: p.b.String(), Note: note}
}

// quote adds what stands around a value, on one line.
func (p *page) quote(label string, text []byte, limit int) {
	if t := strings.Join(strings.Fields(string(text[:min(len(text), 4*limit)])), " "); t != "" {
		p.add(label + show([]byte(t), limit))
	}
}

// what says what kind of value s is, in a word or two.
func (s *shape) what() string {
	switch s.main() {
	case kindObject:
		if s.each != nil {
			return "object with " + count(s.keys, "key")
		}
		return "object with " + count(len(s.fields), "key")
	case kindArray:
		return s.array("array")
	}
	return "value"
}

// allNamed is what an outline says of itself that leaves out no key.
const allNamed = "all keys named"

// allButMaps is the same of one with maps, of whose keys a few are shown.
const allButMaps = "all keys named but those of maps, which are counted"

// outlineCut is what it says when not even that fits.
const outlineCut = "the outline is cut"

// outliner writes one outline.
type outliner struct {
	depth  int // to which keys are named
	chars  int // of a string; 0 lists the names of scalars alone
	tokens int // left
	bytes  int
	spare  int // tokens for levels below depth, where they fit
	lines  []string
	hidden int // keys that are not named
	over   bool
}

// outline returns the richest outline that fits, and what it leaves out.
func (s *shape) outline(tokens, size int) ([]string, string) {
	try := func(depth, chars, spare int) *outliner {
		o := &outliner{depth: depth, chars: chars, tokens: tokens - spare, bytes: size, spare: spare}
		o.inside(s, 1, "")
		return o
	}
	best := (*outliner)(nil)
	for _, c := range []struct{ depth, chars int }{{deepest, 120}, {deepest, 60}, {8, 50}, {6, 50}, {5, 40}, {4, 40}, {named, 40}, {named, 20}, {named, 8}, {named, 0}, {2, 0}, {1, 0}} {
		if best = try(c.depth, c.chars, 0); !best.over {
			if rich := try(c.depth, c.chars, best.tokens); !rich.over && best.hidden > 0 {
				best = rich
			}
			break
		}
	}
	note := allNamed
	if s.hasMap() {
		note = allButMaps
	}
	if best.over {
		note = outlineCut
	} else if best.hidden > 0 {
		note = fmt.Sprintf("all keys named to depth %d, %d below left out", best.depth, best.hidden)
	}
	return best.lines, note
}

// hasMap reports whether anything below is a map of ids.
func (s *shape) hasMap() bool {
	if s == nil {
		return false
	}
	if s.each != nil || s.items.hasMap() {
		return true
	}
	for _, f := range s.fields {
		if f.value.hasMap() {
			return true
		}
	}
	return false
}

// emit adds a line. An outline that is over its bounds keeps what fits.
func (o *outliner) emit(line string) {
	if o.over {
		return
	}
	o.tokens -= cost(line)
	o.bytes -= len(line) + 1
	if o.tokens < 0 || o.bytes < 0 {
		o.over = true
		return
	}
	o.lines = append(o.lines, line)
}

// below returns the shape in which the fields under s are: that of an array's
// items, of a map's values, or s itself.
func (s *shape) below() *shape {
	for {
		switch {
		case s.each != nil:
			s = s.each
		case len(s.fields) == 0 && s.items != nil:
			s = s.items
		default:
			return s
		}
	}
}

// inside writes the fields of s, which are at depth.
func (o *outliner) inside(s *shape, depth int, indent string) {
	if s.each != nil || len(s.fields) == 0 && s.items != nil {
		if depth == 1 && s.each != nil {
			o.emit(indent + s.asMap())
		}
		s = s.below()
	}
	objects := s.kinds[kindObject]
	var plain []string
	for _, f := range s.fields {
		if o.over {
			return
		}
		v := f.value
		name := keyName(f.key)
		if v.n < objects {
			name += "?"
		}
		if o.chars == 0 && len(v.below().fields) == 0 && v.each == nil {
			plain = append(plain, name+" "+v.types())
			continue
		}
		line := indent + name + v.describe(o.chars)
		if v.n < objects {
			line += fmt.Sprintf(" (in %d of %d)", v.n, objects)
		}
		o.deeper(v, depth+1, line, indent+" ")
	}
	for len(plain) > 0 { // in lines that are not cut
		n, size := 0, 0
		for n < len(plain) && (n == 0 || size+len(plain[n]) < maxLine/2) {
			size += len(plain[n]) + 2
			n++
		}
		o.emit(indent + strings.Join(plain[:n], ", "))
		plain = plain[n:]
	}
}

// deeper writes line and what is in v, as far as the depth goes.
func (o *outliner) deeper(v *shape, depth int, line, indent string) {
	n := len(v.below().fields)
	if n == 0 || depth <= o.depth {
		o.emit(line)
		if n > 0 {
			o.inside(v, depth, indent)
		}
		return
	}
	if o.spare > 0 && !o.over {
		sub := &outliner{depth: depth, chars: o.chars, tokens: o.spare, bytes: o.bytes}
		sub.emit(line)
		sub.inside(v, depth, indent)
		if !sub.over {
			o.lines = append(o.lines, sub.lines...)
			// What the line itself costs is in the first pass's sum already.
			o.spare = sub.tokens
			o.bytes = sub.bytes
			o.hidden += sub.hidden
			return
		}
	}
	o.hidden += n
	o.emit(fmt.Sprintf("%s {%s}", line, count(n, "key")))
}

// keyName shows a key as it is written, quoted where it could be misread.
func keyName(key []byte) string {
	if len(key) == 0 || strings.ContainsAny(string(key), " :?=,\t{}") {
		return `"` + show(key, 80) + `"`
	}
	return show(key, 80)
}
