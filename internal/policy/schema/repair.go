package schema

import "strings"

// maxForms bounds the combinations of anyOf branches that a repair looks at.
const maxForms = 32

// maxUnwraps is how often text within text is parsed.
const maxUnwraps = 4

// edit replaces the bytes of one value.
type edit struct {
	start, end uint32
	text       string
}

// form is a list of rules that all apply to a value; a view is the forms that it
// may have, any of which may hold. A nil view knows nothing.
type (
	form []*rule
	view []form
)

// repairer finds text that stands where the schema wants the object or array that
// it holds. It never touches text where any form allows a string.
type repairer struct {
	e      *eval
	views  map[*rule]view
	parsed []string
	path   []string
}

// repair returns text with such values parsed, the rest byte for byte, and JSON
// pointers to what was parsed; names that the schema does not have are "*" there.
func repair(e *eval, root *rule) (string, []string) {
	if !mayRepair(e.t) {
		return "", nil
	}
	r := repairer{e: e, views: map[*rule]view{}}
	text := r.rewrite(e.t, r.expand(root), 0)
	return text, r.parsed
}

// mayRepair looks for text that starts as an object or array.
func mayRepair(t *tree) bool {
	for i := range t.nodes {
		nd := &t.nodes[i]
		if nd.typ == typeString && holdsContainer(t.text[nd.start+1:nd.end-1]) {
			return true
		}
	}
	return false
}

func holdsContainer(inside string) bool {
	s := strings.TrimLeft(inside, " \t\r\n")
	for strings.HasPrefix(s, `\n`) || strings.HasPrefix(s, `\t`) || strings.HasPrefix(s, `\r`) {
		s = strings.TrimLeft(s[2:], " \t\r\n")
	}
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || strings.HasPrefix(s, `\u`)
}

// rewrite returns the text of t with its repairs.
func (r *repairer) rewrite(t *tree, v view, unwraps int) string {
	var edits []edit
	r.walk(t, 0, v, unwraps, &edits)
	if len(edits) == 0 {
		return t.text
	}
	var b strings.Builder
	at := uint32(0)
	for _, e := range edits {
		b.WriteString(t.text[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(t.text[at:])
	return b.String()
}

func (r *repairer) walk(t *tree, n uint32, v view, unwraps int, edits *[]edit) {
	if v == nil || !r.e.step(len(v)) {
		return
	}
	switch nd := &t.nodes[n]; nd.typ {
	case typeString:
		if text, ok := r.unwrap(t, n, v, unwraps); ok {
			*edits = append(*edits, edit{nd.start, nd.end, text})
		}
	case typeObject:
		for c := t.first(n); c != 0; c = t.after(c) {
			name := t.key(c)
			sub, known := r.member(v, name)
			if !known {
				name = "*"
			}
			r.down(t, c, sub, name, unwraps, edits)
		}
	case typeArray:
		i := 0
		for c := t.first(n); c != 0; c = t.after(c) {
			r.down(t, c, r.item(v, i), itoa(i), unwraps, edits)
			i++
		}
	}
}

func (r *repairer) down(t *tree, c uint32, v view, name string, unwraps int, edits *[]edit) {
	r.path = append(r.path, pointerToken(name))
	r.walk(t, c, v, unwraps, edits)
	r.path = r.path[:len(r.path)-1]
}

// unwrap parses the string n if v wants what it holds.
func (r *repairer) unwrap(t *tree, n uint32, v view, unwraps int) (string, bool) {
	want := v.accepts()
	if unwraps >= maxUnwraps || want&typeString != 0 || want&(typeObject|typeArray) == 0 {
		return "", false
	}
	text := strings.Trim(t.str(n), " \t\r\n")
	if !r.e.step(len(text)/8) || !holdsContainer(text) {
		return "", false
	}
	var inner tree
	if inner.parse(text, maxDepth) != nil || inner.nodes[0].typ&want == 0 {
		return "", false
	}
	ptr := ""
	if len(r.path) > 0 {
		ptr = "/" + strings.Join(r.path, "/")
	}
	r.parsed = append(r.parsed, ptr)
	text = r.rewrite(&inner, v, unwraps+1)
	// Line breaks can only be white space here, and would break a frame that is one
	// line.
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(text), true
}

// accepts is the union over the forms of what all rules of a form accept.
func (v view) accepts() types {
	var any types
	for _, f := range v {
		t := typeAny
		for _, r := range f {
			t = intersect(t, r.ownTypes())
		}
		any |= t
	}
	return any
}

// expand returns the forms of r, nil if they are too many.
func (r *repairer) expand(root *rule) view {
	if v, ok := r.views[root]; ok {
		return v
	}
	v := view{form{root}}
	for _, list := range [][]*rule{root.refs, root.allOf} {
		for _, sub := range list {
			v = product(v, r.expand(sub))
		}
	}
	for _, list := range [][]*rule{root.anyOf, root.oneOf} {
		if len(list) == 0 {
			continue
		}
		var any view
		for _, sub := range list {
			w := r.expand(sub)
			if w == nil || len(any)+len(w) > maxForms {
				any = nil
				break
			}
			any = append(any, w...)
		}
		v = product(v, any)
	}
	r.views[root] = v
	return v
}

// product is every form of a together with every form of b.
func product(a, b view) view {
	if a == nil || b == nil || len(a)*len(b) > maxForms {
		return nil
	}
	out := make(view, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, append(x[:len(x):len(x)], y...))
		}
	}
	return out
}

// member returns the forms of an object's member, nil if some form says nothing
// about it, and whether the schema has its name.
func (r *repairer) member(v view, name string) (view, bool) {
	known := false
	sub := r.each(v, typeObject, func(f *rule, add func(*rule)) {
		if f.obj == nil {
			return
		}
		found := false
		if p := f.obj.props[name]; p != nil {
			add(p)
			found, known = true, true
		}
		for _, p := range f.obj.patterns {
			if r.e.match(p.re, name) {
				add(p.rule)
				found = true
			}
		}
		if !found && f.obj.additional != nil {
			add(f.obj.additional)
		}
	})
	return sub, known
}

// item returns the forms of an array's item.
func (r *repairer) item(v view, i int) view {
	return r.each(v, typeArray, func(f *rule, add func(*rule)) {
		switch {
		case f.arr == nil:
		case i < len(f.arr.prefix):
			add(f.arr.prefix[i])
		case f.arr.rest != nil:
			add(f.arr.rest)
		}
	})
}

// each gathers the forms of a child: for every form that can be of the type, the
// rules that find names.
func (r *repairer) each(v view, typ types, find func(f *rule, add func(*rule))) view {
	var out view
	for _, f := range v {
		if (view{f}).accepts()&typ == 0 {
			continue
		}
		child, any := view{form{}}, false
		for _, one := range f {
			find(one, func(sub *rule) {
				any = true
				child = product(child, r.expand(sub))
			})
		}
		if !any || child == nil || len(out)+len(child) > maxForms {
			return nil
		}
		out = append(out, child...)
	}
	return out
}
