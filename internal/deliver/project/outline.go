package project

import (
	"fmt"
	"strings"
)

// named is the depth to which an outline has every key, if its budget allows.
const named = 3

// json projects a JSON document.
func (in Input) json(doc document) Projection {
	v := doc.value
	if lines, what, ok := logIn(doc); ok {
		return in.log(lines, survey(lines), what)
	}
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
		p.addf("JSON %s, %d bytes", s.what(), doc.size)
	} else {
		kind = KindRecords
		p.addf("JSON, %d bytes: %s is an array of %s", doc.size, path, rows.items.tally("record"))
	}
	p.quote("before it: ", doc.before, 200)
	p.quote("after it: ", doc.after, 200)
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
		shown := p.rows(rows)
		note = fmt.Sprintf("%s, %s; %s", rows.items.tally("record"), shown, note)
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

// mostNames is how many keys of those that are put together are shown at most.
const mostNames = 2000

// detail is how much an outline shows.
type detail struct {
	depth int // to which keys are named
	chars int // of a string; 0 lists the names of scalars alone
	names int // keys shown of those that are put together
	most  int // keys at one place that are shown; 0 is all
}

// steps are from the richest to what names every key to depth [named].
var steps = [...]detail{
	{deepest, 120, 3, 0}, {deepest, 60, 3, 0}, {8, 50, 3, 0}, {6, 50, 3, 0}, {5, 40, 3, 0}, {4, 40, 3, 0},
	{named, 40, 3, 0}, {named, 20, 3, 0}, {named, 8, 3, 0}, {named, 0, 3, 0},
}

// outliner writes one outline.
type outliner struct {
	detail
	tokens int // left
	bytes  int
	spare  int // tokens for levels below depth, where they fit
	lines  []string
	hidden int // keys below depth that are not named
	cut    int // keys to depth that are counted only
	joined int // keys that are put together with others
	// Of these, keys that are not named.
	nameless int
	over     bool
}

// outline returns the richest outline that fits, and what it leaves out.
func (s *shape) outline(tokens, size int) ([]string, string) {
	best := s.fit(tokens, size)
	note := allNamed
	switch {
	case best.over:
		return best.lines, outlineCut
	case best.joined > 0:
		note = fmt.Sprintf("%d keys put together by what they hold", best.joined)
		if best.nameless > 0 {
			note += fmt.Sprintf(", %d of them not named", best.nameless)
		}
	case best.hidden > 0:
		note = fmt.Sprintf("all keys named to depth %d, %d below left out", best.depth, best.hidden)
	case s.hasMap():
		note = allButMaps
	}
	if best.cut > 0 {
		note = fmt.Sprintf("%d keys to depth %d counted only, not named", best.cut, best.depth)
	}
	return best.lines, note
}

// fit returns the richest outline: with all keys, else with alike ones at one
// place put together, else with the first ones of each place.
func (s *shape) fit(tokens, size int) *outliner {
	try := func(s *shape, d detail) *outliner {
		o := &outliner{detail: d, tokens: tokens, bytes: size}
		if o.inside(s, 1, ""); o.over || o.hidden == 0 {
			return o
		}
		rich := &outliner{detail: d, tokens: tokens - o.tokens, bytes: size, spare: o.tokens}
		if rich.inside(s, 1, ""); rich.over {
			return o
		}
		return rich
	}
	at := s
	for _, by := range groupings {
		if by.few > 0 {
			same := false
			if at, same = s.grouped(by); same {
				continue
			}
		}
		for _, d := range steps {
			best := try(at, d)
			if best.over {
				continue
			}
			if best.joined == 0 {
				return best
			}
			for lo, hi := d.names, min(best.joined, mostNames)+1; hi-lo > 1; { // as many names as fit
				d.names = (lo + hi) / 2
				if more := try(at, d); more.over {
					hi = d.names
				} else {
					lo, best = d.names, more
				}
			}
			return best
		}
	}
	var best *outliner
	for _, depth := range []int{named, 2, 1} {
		for most := 128; most > 2; most -= (most + 3) / 4 {
			if best = try(at, detail{depth: depth, names: 3, most: most}); !best.over {
				return best
			}
		}
	}
	return best
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

// inside writes what is in s, whose fields are at depth.
func (o *outliner) inside(s *shape, depth int, indent string) {
	if depth == 1 && s.each != nil {
		o.emit(indent + s.asMap())
	}
	for { // down to what has fields
		if s.each != nil {
			if s = s.each; s.each != nil { // its parent's line says that it is a map, but not of what
				o.emit(indent + "(each)" + s.describe(o.chars))
				indent += " "
			}
		} else if len(s.fields) == 0 && s.items != nil {
			s = s.items
			o.others(s, indent)
		} else {
			break
		}
	}
	shown := s.fields
	if o.most > 0 && len(shown) > o.most {
		shown = shown[:o.most]
	}
	o.fields(s, shown, depth, indent)
	if rest := s.fields[len(shown):]; len(rest) > 0 && !o.over {
		all := field{}
		for _, f := range rest {
			all.join(f)
		}
		o.cut += len(all.names)
		o.emit(indent + "… " + all.name(max(3, o.most/2)) + " more")
	}
	if len(s.fields) > 0 && s.items != nil && len(s.items.below().fields) > 0 {
		o.deeper(s.items, depth, indent+"(in arrays): "+s.items.plural(true), indent+" ")
	}
}

// others says what stands between the objects of an array.
func (o *outliner) others(items *shape, indent string) {
	if !items.mixed() {
		return
	}
	rest := *items
	rest.n -= rest.kinds[kindObject]
	rest.kinds[kindObject] = 0
	o.emit(indent + fmt.Sprintf("(%d not objects)", rest.n) + rest.describe(o.chars))
}

// fields writes some of s's fields.
func (o *outliner) fields(s *shape, fields []field, depth int, indent string) {
	objects := s.kinds[kindObject]
	var plain []string
	for _, f := range fields {
		if o.over {
			return
		}
		o.joined += len(f.names)
		o.nameless += max(0, len(f.names)-o.names)
		v, name, in := f.value, f.name(o.names), ""
		if v.n < objects*max(1, len(f.names)) {
			name += "?"
			if f.names == nil {
				in = fmt.Sprintf(" (in %d of %d)", v.n, objects)
			}
		}
		if o.chars == 0 && v.leaf() {
			plain = append(plain, name+" "+v.types())
			o.further(f, indent)
			continue
		}
		o.deeper(v, depth+1, indent+name+v.describe(o.chars)+in, indent+" ")
		o.further(f, indent)
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

// further names the keys of f that were too many for its own line.
func (o *outliner) further(f field, indent string) {
	most := min(o.names, len(f.names))
	_, at := f.list(0, most)
	for at < most && !o.over {
		text, to := f.list(at, most)
		o.emit(indent + "{… also: " + text + "}")
		at = to
	}
}

// leaf reports whether there is nothing in s to be named.
func (s *shape) leaf() bool { return len(s.below().fields) == 0 && s.each == nil }

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
	for _, to := range []int{deepest, depth} {
		if o.spare <= 0 || o.over {
			break
		}
		sub := &outliner{detail: o.detail, tokens: o.spare, bytes: o.bytes}
		sub.depth = to
		sub.emit(line)
		if sub.inside(v, depth, indent); !sub.over {
			o.lines = append(o.lines, sub.lines...)
			// What the line itself costs is in the first pass's sum already.
			o.spare, o.bytes = sub.tokens, sub.bytes
			o.hidden, o.cut, o.joined = o.hidden+sub.hidden, o.cut+sub.cut, o.joined+sub.joined
			o.nameless += sub.nameless
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
