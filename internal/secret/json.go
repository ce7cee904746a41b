package secret

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"heddle/internal/walk"
)

// FindJSON returns the secrets in all texts of a JSON value: strings, names of members,
// numbers that stand under the name of a secret. A string that is JSON itself is searched
// as such. Start and End are places in raw; those of a number are all of it. Of bytes
// that are no JSON value it returns what it finds in them as text.
func FindJSON(raw []byte) []Finding {
	text := view(raw)
	found, ok := findJSON(text, 0)
	if !ok {
		return Find(text)
	}
	return found
}

// MaskJSON returns raw with [Redacted] in place of each secret, and the findings. All
// else keeps its bytes. A number becomes a string. raw itself comes back where nothing
// was found; it is never changed.
func MaskJSON(raw []byte) ([]byte, []Finding) {
	all := FindJSON(raw)
	out := raw
	for found, n := all, 0; len(found) > 0 && n < rounds; n++ {
		out = []byte(replace(view(out), found))
		found = FindJSON(out)
	}
	return out, all
}

// view returns b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// object is what is known of an object while its members are read.
type object struct {
	label   string // what a member says that the value of another one is
	value   span   // that other one, if it came first
	key     bool   // a JSON Web Key
	secret  bool   // a Kubernetes Secret
	private []span // members that would make a Web Key a private one
}

type span struct {
	start, end int
	text       string
	pointer    string
}

// reader searches the texts of one JSON value.
type reader struct {
	raw     string
	depth   int
	live    []int // where it is worth reading; what was passed is cut off
	names   map[string]level
	objects []object
	found   []Finding
}

func findJSON(raw string, depth int) (found []Finding, valid bool) {
	r := reader{raw: raw, depth: depth, live: suspicious(raw)}
	if len(r.live) == 0 {
		return nil, true
	}
	b := unsafe.Slice(unsafe.StringData(raw), len(raw))
	if walk.Texts(b, r.text) != nil {
		return nil, false
	}
	for i := range r.objects {
		r.leave(&r.objects[i])
	}
	return merge(r.found), true
}

// text takes the next text of the value.
func (r *reader) text(t *walk.Text) bool {
	for len(r.live) > 0 && r.live[0] < t.Start {
		r.live = r.live[1:]
	}
	live := len(r.live) > 0 && r.live[0] < t.End
	o := r.object(t)
	if t.Kind == walk.Name {
		if live {
			r.name(t)
		}
		return true
	}
	l := r.names[t.Name]
	if t.Kind == walk.Number {
		if l != none && numberFits(l, t.Value) {
			r.found = append(r.found, Finding{Rule: "keyed", Start: t.Start, End: t.End, Pointer: pointer(t), quotes: 1})
		}
		return true
	}
	r.member(o, t, live)
	if live || l != none {
		r.search(t, l)
	}
	return true
}

// object returns the object that the text is a member of, a fresh one if it is the first.
func (r *reader) object(t *walk.Text) *object {
	d := t.Depth()
	for len(r.objects) <= d {
		r.objects = append(r.objects, object{})
	}
	if t.Kind == walk.Name && opens(r.raw, t.Start) {
		for i := d; i < len(r.objects); i++ {
			r.leave(&r.objects[i])
		}
		r.objects = append(r.objects[:d], object{})
	}
	return &r.objects[d]
}

// opens reports whether an object opens before i.
func opens(raw string, i int) bool {
	for i--; i >= 0 && strings.IndexByte(" \t\r\n", raw[i]) >= 0; i-- {
	}
	return i >= 0 && raw[i] == '{'
}

// name takes a name that looked like a secret's, or like a secret.
func (r *reader) name(t *walk.Text) {
	if l := keyLevel(t.Value); l != none && l != query {
		if r.names == nil {
			r.names = map[string]level{}
		}
		r.names[strings.Clone(t.Value)] = l
	}
	if len(t.Value) >= 12 {
		r.search(t, none)
	}
}

// labels are the members that say what the value beside them is.
var (
	labels = set("name key field header variable var parameter param env id Name Key")
	values = set("value val Value content data plaintext secretValue")
)

// member notes what a string says of its object, or of what stands beside it.
func (r *reader) member(o *object, t *walk.Text, live bool) {
	switch {
	case live && labels[t.Name] && o.label == "":
		if l := keyLevel(t.Value); l != none {
			o.label = strings.Clone(t.Value)
			if o.value.end > 0 {
				r.judge(o.value, l)
			}
		}
	case values[t.Name]:
		if o.label != "" {
			r.judge(r.span(t), keyLevel(o.label))
		} else if len(r.live) > 0 && r.live[0] < t.End+longest {
			o.value = r.span(t)
		}
	case t.Name == "kty":
		o.key = true
	case t.Name == "kind" && t.Value == "Secret":
		o.secret = true
	case len(t.Name) <= 2 && privateMembers[t.Name] && len(t.Value) >= 20:
		o.private = append(o.private, r.span(t))
	}
	if d := t.Depth(); d >= 2 && r.objects[d-1].secret && !strings.HasPrefix(t.Value, "LS0tLS1CRUdJTiBDRVJU") {
		if p := pointer(t); strings.Contains(p, "/data/") || strings.Contains(p, "/stringData/") {
			r.judge(r.span(t), password)
		}
	}
}

var privateMembers = set("d p q dp dq qi k")

func (r *reader) span(t *walk.Text) span {
	return span{start: t.Start, end: t.End, text: strings.Clone(t.Value), pointer: pointer(t)}
}

// pointer names the place of a text. Of one that is nested beyond all use it has no name:
// it would be longer than the text.
func pointer(t *walk.Text) string {
	if t.Depth() > 200 {
		return ""
	}
	return t.Pointer()
}

// judge searches a string as the value of a name of this level.
func (r *reader) judge(v span, l level) {
	s := scan{text: v.text}
	s.value(l, 0, len(v.text), exact)
	r.place(s.found, v)
}

// leave ends an object: only now it is known what it was.
func (r *reader) leave(o *object) {
	if !o.key {
		return
	}
	for _, v := range o.private {
		if url64.all(v.text) {
			r.found = append(r.found, Finding{Rule: "private-jwk", Start: v.start + 1, End: v.end - 1, Pointer: v.pointer})
		}
	}
}

// search looks into a string or a name.
func (r *reader) search(t *walk.Text, l level) {
	var found []Finding
	if t.Kind == walk.String && r.depth < deepest && l == none && nested(t.Value) {
		if inner, ok := findJSON(t.Value, r.depth+1); ok {
			for i := range inner {
				if inner[i].quotes > 0 {
					inner[i].quotes++
				}
			}
			r.place(inner, span{start: t.Start, end: t.End, text: t.Value, pointer: pointer(t)})
			return
		}
	}
	s := scan{text: t.Value}
	s.run()
	s.value(l, 0, len(t.Value), exact)
	if found = s.sorted(); len(found) > 0 {
		r.place(found, span{start: t.Start, end: t.End, text: t.Value, pointer: pointer(t)})
	}
}

// nested reports whether a text looks like JSON.
func nested(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) > 8 && (text[0] == '{' && text[len(text)-1] == '}' || text[0] == '[' && text[len(text)-1] == ']')
}

// place moves findings from the text of a literal to the bytes of the value.
func (r *reader) place(found []Finding, v span) {
	if len(found) == 0 {
		return
	}
	lit := r.raw[v.start+1 : v.end-1]
	at := func(i int) int { return i }
	if lit != v.text {
		text, places := unescaped(lit)
		if text != v.text { // cannot be: both undo the same escapes
			r.found = append(r.found, Finding{Rule: found[0].Rule, Start: v.start + 1, End: v.end - 1, Pointer: v.pointer})
			return
		}
		at = func(i int) int { return places[i] }
	}
	for _, f := range found {
		r.found = append(r.found, Finding{Rule: f.Rule, Start: v.start + 1 + at(f.Start), End: v.start + 1 + at(f.End), Pointer: v.pointer, quotes: f.quotes})
	}
}

// unescaped undoes the escapes of a JSON literal without its quotes. at[i] is where
// the i-th byte of the result comes from, and the last one the end.
func unescaped(lit string) (string, []int) {
	b := make([]byte, 0, len(lit))
	at := make([]int, 0, len(lit)+1)
	for i := 0; i < len(lit); {
		r, n := utf8.DecodeRuneInString(lit[i:])
		if r == '\\' {
			r, n = unescape(lit[i:])
		}
		b = utf8.AppendRune(b, r)
		for len(at) < len(b) {
			at = append(at, i)
		}
		i += n
	}
	return string(b), append(at, len(lit))
}

// unescape returns what the valid escape at the start of a text stands for.
func unescape(text string) (rune, int) {
	if text[1] != 'u' {
		if n := strings.IndexByte(`bfnrt`, text[1]); n >= 0 {
			return rune("\b\f\n\r\t"[n]), 2
		}
		return rune(text[1]), 2
	}
	unit := func(i int) rune {
		n, _ := strconv.ParseUint(text[i:i+4], 16, 16)
		return rune(n)
	}
	r := unit(2)
	if utf16.IsSurrogate(r) {
		if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
			if pair := utf16.DecodeRune(r, unit(8)); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// numberFits reports whether a number may be the secret that its name says.
func numberFits(l level, v string) bool {
	if !digit.all(v) {
		return false
	}
	switch l {
	case password, phrase, pin:
		return len(v) >= 4
	case token, session:
		return len(v) >= 12 && !strings.HasPrefix(v, "1")
	case card:
		return luhn(v)
	}
	return false
}
