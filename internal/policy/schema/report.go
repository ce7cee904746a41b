package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"heddle"
)

// Bounds on what a refusal says.
const (
	maxViolations = 8
	maxMessage    = 200
	maxNear       = 5
)

// report collects violations during a check. All methods do nothing on nil, which
// is a check for the verdict alone.
//
// What it writes comes from the schema. Names that only the arguments have do not
// appear: below such a name the path stays at the object that holds it.
type report struct {
	violations []heddle.Violation
	path       []string
	hidden     int // steps below a name that the schema does not have
}

func (p *report) full() bool { return p != nil && len(p.violations) >= maxViolations }

func (p *report) push(name string) {
	switch {
	case p == nil:
	case p.hidden > 0:
		p.hidden++
	default:
		p.path = append(p.path, pointerToken(name))
	}
}

func (p *report) pushIndex(i int) {
	if p != nil {
		p.push(itoa(i))
	}
}

func (p *report) pop() {
	switch {
	case p == nil:
	case p.hidden > 0:
		p.hidden--
	default:
		p.path = p.path[:len(p.path)-1]
	}
}

// hide is push for a name that may be the caller's own.
func (p *report) hide(known bool, name string) {
	switch {
	case p == nil:
	case known:
		p.push(name)
	default:
		p.hidden++
	}
}

// add notes a violation at the current path.
func (p *report) add(keyword, msg string) { p.addAt("", keyword, msg) }

func (p *report) addAt(name, keyword, msg string) {
	if p == nil || p.full() {
		return
	}
	path := p.path
	if p.hidden > 0 {
		msg = "one of its entries: " + msg
		if name != "" {
			msg += " " + quote(name)
		}
	} else if name != "" {
		path = append(path[:len(path):len(path)], pointerToken(name))
	}
	v := heddle.Violation{Keyword: keyword, Message: clip(oneLine(msg), maxMessage)}
	if len(path) > 0 {
		v.Path = "/" + strings.Join(path, "/")
	}
	if !slices.Contains(p.violations, v) {
		p.violations = append(p.violations, v)
	}
}

// bound notes a number that is out of bounds. It returns false.
func (p *report) bound(keyword, msg string, b *bound) bool {
	if p != nil {
		p.add(keyword, msg+b.shown)
	}
	return false
}

func (p *report) never() { p.add("false", "is not allowed") }
func (p *report) not()   { p.add("not", "has a form that is not allowed") }

// missing notes a property that must be there; r is its schema, nil if it has
// none.
func (p *report) missing(keyword, name string, r *rule) {
	msg := "required property is missing"
	if r != nil {
		msg += " (" + describe(r) + ")"
	}
	p.addAt(name, keyword, msg)
}

func (p *report) propName(r *rule) {
	if p == nil {
		return
	}
	p.add("propertyNames", "every property name must be "+describe(r))
}

func (p *report) unevaluated(t types) {
	if t == typeArray {
		p.add("unevaluatedItems", "has items that are not allowed")
		return
	}
	p.add("unevaluatedProperties", "has properties that are not allowed")
}

// strangers is for properties that the schema does not have. Their names are the
// caller's; what is allowed is listed, nearest first.
func (p *report) strangers(o *objectRule, strange []string) {
	msg := "has a property that is not allowed"
	if len(strange) > 1 {
		msg = "has " + itoa(len(strange)) + " properties that are not allowed"
	}
	if len(o.names) == 0 && len(o.patterns) == 0 {
		p.add("additionalProperties", msg+"; it takes none")
		return
	}
	if len(o.names) == 0 {
		p.add("additionalProperties", msg)
		return
	}
	p.add("additionalProperties", msg+"; allowed: "+joinSome(nearest(o.names, strange), maxMessage-len(msg)-11))
}

// types is for a value of the wrong type.
func (p *report) types(e *eval, want types, n uint32) {
	if p == nil {
		return
	}
	msg := "must be " + want.String()
	if h := hint(e, want, n); h != "" {
		msg += ": " + h
	}
	p.add("type", msg)
}

// hint says what to send instead, where the mistake is a usual one.
func hint(e *eval, want types, n uint32) string {
	switch got := e.t.nodes[n].typ; {
	case got == typeString && want&typeObject != 0:
		return "send a JSON object, not text"
	case got == typeString && want&typeArray != 0:
		return "send a JSON array, not text"
	case got == typeString && want&(typeInteger|typeNumber) != 0:
		return "send a number, not text"
	case got == typeString && want&typeBoolean != 0:
		return "send true or false, not text"
	case got == typeNumber && want&typeInteger != 0:
		return "send a number without a fraction"
	case got == typeNull:
		return "not null; leave an optional property out"
	case want&typeArray != 0:
		return "send a list, even for one value"
	case want&typeString != 0 && got&(typeNumber|typeBoolean) != 0:
		return "send it as text, in quotes"
	case want&typeString != 0:
		return "send text"
	}
	return ""
}

// String lists types as "string or integer".
func (t types) String() string {
	if t&typeNumber != 0 {
		t &^= typeInteger
	}
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	// null comes first in the bits and last in a sentence.
	if len(names) > 1 && names[0] == "null" {
		names = append(names[1:], "null")
	}
	return strings.Join(names, " or ")
}

// enum is for a value that is not on the list.
func (p *report) enum(e *eval, en *enum, n uint32) {
	if p == nil {
		return
	}
	if got := e.t.nodes[n].typ; got&en.types == 0 && len(en.values) > 0 {
		if h := hint(e, en.types, n); h != "" && en.types != typeAny {
			p.add(en.keyword, "must be "+show(en, "")+": "+h)
			return
		}
	}
	near := ""
	if e.t.nodes[n].typ == typeString {
		near = e.t.str(n)
	}
	p.add(en.keyword, "must be "+show(en, near))
}

// show lists an enum: whole when it is short, else its size and the values nearest
// to the one sent.
func show(en *enum, near string) string {
	texts := make([]string, 0, len(en.values))
	for _, v := range en.values {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	if len(texts) < len(en.values) { // not only strings: as they come
		texts = texts[:0]
		for _, v := range en.values[:min(len(en.values), maxNear)] {
			b, _ := json.Marshal(v)
			texts = append(texts, clip(string(b), 40))
		}
	} else {
		texts = quoted(nearest(texts, []string{near})[:min(len(texts), maxNear)])
	}
	switch {
	case len(en.values) == 0:
		return "absent: no value is allowed"
	case len(en.values) == 1:
		return texts[0]
	case len(en.values) <= maxNear:
		return "one of " + joinSome(texts, 120)
	}
	return "one of " + itoa(len(en.values)) + " values, e.g. " + joinSome(texts, 120)
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = quote(clip(s, 40))
	}
	return out
}

// joinSome joins as many as fit in n bytes.
func joinSome(names []string, n int) string {
	var b strings.Builder
	for i, name := range names {
		more := ", and " + itoa(len(names)-i) + " more"
		if i > 0 && b.Len()+len(name)+2+len(more) > n {
			b.WriteString(more)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	return b.String()
}

// nearest sorts names by their edit distance to the nearest of what was sent.
func nearest(names, sent []string) []string {
	const most = 20_000 // comparisons
	if len(sent) > 4 {
		sent = sent[:4]
	}
	type scored struct {
		name string
		d    int
	}
	all := make([]scored, len(names))
	for i, name := range names {
		all[i] = scored{name, 1 << 20}
		for _, s := range sent {
			if s != "" && i*len(sent) < most {
				all[i].d = min(all[i].d, distance(name, s))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(a.d, b.d) })
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s.name
	}
	return out
}

// distance is Levenshtein's over at most 48 lower-cased bytes of each.
func distance(a, b string) int {
	const most = 48
	a, b = strings.ToLower(a[:min(len(a), most)]), strings.ToLower(b[:min(len(b), most)])
	var buf [2*most + 2]int // lower case may be longer: bounded below
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	row := buf[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diag
			if a[i] != b[j] {
				d = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

// branches explains why n fits none of several forms. If only one of them can be
// meant, what that one finds is said instead.
func (p *report) branches(e *eval, keyword string, forms []*rule, n uint32) {
	if p == nil {
		return
	}
	typ := e.t.nodes[n].typ
	var fit []*rule
	var want types
	for _, r := range forms {
		t := r.accepts()
		want |= t
		if t&typ != 0 || typ == typeNumber && t&typeInteger != 0 {
			fit = append(fit, r)
		}
	}
	if len(fit) == 0 && want != 0 {
		p.types(e, want, n)
		return
	}
	if len(fit) > 1 {
		fit = slices.DeleteFunc(fit, func(r *rule) bool { return e.tagDiffers(r, n) })
	}
	if len(fit) == 1 {
		before := len(p.violations)
		e.check(fit[0], n, nil, p)
		if len(p.violations) > before || e.spent {
			return
		}
	}
	descs := make([]string, 0, len(forms))
	for _, r := range forms {
		if d := describe(r); !slices.Contains(descs, d) {
			descs = append(descs, d)
		}
	}
	p.add(keyword, "must be one of these: "+strings.Join(descs, "; or "))
}

// tagDiffers says that n has a member whose value is not the constant that r
// demands there, as unions with a tag have.
func (e *eval) tagDiffers(r *rule, n uint32) bool {
	for len(r.refs) == 1 && r.obj == nil {
		r = r.refs[0]
	}
	if r.obj == nil || e.t.nodes[n].typ != typeObject {
		return false
	}
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		if sub := r.obj.props[e.t.key(c)]; sub != nil && sub.enum != nil && !e.inEnum(c, sub.enum) {
			return true
		}
	}
	return false
}
