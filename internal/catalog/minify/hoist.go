package minify

import (
	"fmt"
	"strings"
)

// refCost is what a reference costs, refBase what a name costs once, both in
// bytes of JSON that cost as many tokens.
const (
	refCost = 32
	refBase = 20
)

// hoist gives names to subschemas that stand in several places, where that makes
// the whole shorter. With apart, subschemas that differ in what is said of them
// alone count as one.
func hoist(root *value, d *dialect, apart bool) {
	h := &hoister{apart: apart, byText: map[string]*class{}, of: map[*value]*class{}}
	h.classify(root)
	h.count(root, true)
	for _, c := range h.order {
		c.chosen = c.worth()
	}
	// Again, with what is inside a name counted once.
	for _, c := range h.order {
		c.count, c.entered = 0, false
	}
	h.count(root, true)
	any := false
	for _, c := range h.order {
		c.chosen = c.chosen && c.worth()
		any = any || c.chosen
	}
	if !any {
		return
	}
	h.replace(root, d)
}

// class is all subschemas that are written alike.
type class struct {
	id      int
	size    int // bytes, with what is inside
	count   int
	fixed   bool // one of them is what a reference leads to or through
	chosen  bool
	entered bool
	name    string
	body    *value
}

func (c *class) worth() bool {
	return !c.fixed && c.count > 1 && (c.count-1)*c.size > c.count*refCost+refBase
}

type hoister struct {
	// apart leaves descriptions and defaults out of what is given a name: they then
	// stand beside the reference, where modern dialects read them.
	apart  bool
	byText map[string]*class
	of     map[*value]*class
	order  []*class
}

// classify finds the class of every subschema, from the inside out. A subschema is
// told by its own text and by the classes of those inside it, so that the work
// stays linear however deep it nests.
func (h *hoister) classify(v *value) *class {
	var key strings.Builder
	size := h.write(&key, v)
	text := key.String()
	c := h.byText[text]
	if c == nil {
		c = &class{id: len(h.order), size: size, body: v}
		h.byText[text] = c
		h.order = append(h.order, c)
	}
	c.fixed = c.fixed || v.pinned
	h.of[v] = c
	return c
}

// write writes what tells v from others. Data is written out, subschemas are
// named by their class.
func (h *hoister) write(b *strings.Builder, v *value) (size int) {
	if v.kind != '{' {
		raw := v.append(nil)
		b.Write(raw)
		return len(raw)
	}
	for _, m := range v.members {
		if h.aside(m) {
			continue
		}
		size += len(m.rawKey) + 2
		b.Write(m.rawKey)
		how := holder(m.key)
		switch {
		case how == holdsBag && m.v.kind == '{':
			b.WriteByte('{')
			for _, sub := range m.v.members {
				b.Write(sub.rawKey)
				size += len(sub.rawKey) + 2 + h.ref(b, sub.v)
			}
			b.WriteByte('}')
		case (how == holdsList || how == holdsOne) && m.v.kind == '[':
			b.WriteByte('[')
			for _, item := range m.v.items {
				size += 1 + h.ref(b, item)
			}
			b.WriteByte(']')
		case how == holdsOne:
			size += h.ref(b, m.v)
		default:
			raw := m.v.append(nil)
			b.Write(raw)
			size += len(raw)
		}
	}
	return size + 1
}

// aside reports whether a member may stand beside a reference to the rest.
func (h *hoister) aside(m *member) bool {
	return h.apart && (m.key == "description" || m.key == "default" || m.key == "title" || m.key == "deprecated")
}

func (h *hoister) ref(b *strings.Builder, v *value) int {
	c := h.classify(v)
	fmt.Fprintf(b, "\x00%d\x00", c.id)
	return c.size
}

// count counts how often each class would be written, with the inside of those
// that are chosen once.
func (h *hoister) count(v *value, top bool) {
	if v.kind != '{' {
		return
	}
	if c := h.of[v]; !top {
		c.count++
		if c.chosen && c.entered {
			return
		}
		c.entered = true
	}
	subschemas(v, func(_ string, _ *member, sub *value) { h.count(sub, false) })
}

// replace puts references in the place of what is chosen, and the schemas
// themselves among the root's definitions.
func (h *hoister) replace(root *value, d *dialect) {
	keyword := "$defs"
	if d.named && !d.modern || root.get("$defs") == nil && root.get("definitions") != nil {
		keyword = "definitions"
	}
	defs := root.get(keyword)
	if defs == nil {
		defs = &value{kind: '{'}
	} else if defs.kind != '{' {
		return
	}
	taken := map[string]bool{}
	for _, m := range defs.members {
		taken[m.key] = true
	}
	r := &replacer{h: h, keyword: keyword, taken: taken}
	r.walk(root)
	if root.get(keyword) == nil {
		root.add(quote(keyword), defs)
	}
	defs.members = append(defs.members, r.defs...)
}

type replacer struct {
	h       *hoister
	keyword string
	taken   map[string]bool
	defs    []*member
	next    int
}

// walk replaces what is chosen below v.
func (r *replacer) walk(v *value) {
	for _, m := range v.members {
		switch how := holder(m.key); {
		case (how == holdsList || how == holdsOne) && m.v.kind == '[':
			for i, item := range m.v.items {
				m.v.items[i] = r.put(item)
			}
		case how == holdsOne:
			m.v = r.put(m.v)
		case how == holdsBag:
			for _, sub := range m.v.members {
				sub.v = r.put(sub.v)
			}
		}
	}
}

// put returns what stands in the place of v.
func (r *replacer) put(v *value) *value {
	c := r.h.of[v]
	if v.kind != '{' || c == nil {
		return v
	}
	if !c.chosen {
		r.walk(v)
		return v
	}
	if c.name == "" {
		c.name = r.name()
		body := &value{kind: '{'}
		for _, m := range c.body.members {
			if !r.h.aside(m) {
				body.members = append(body.members, m)
			}
		}
		r.walk(body)
		r.defs = append(r.defs, &member{c.name, quote(c.name), body})
	}
	ref := &value{kind: '{'}
	ref.add([]byte(`"$ref"`), &value{kind: '"', raw: quote("#/" + r.keyword + "/" + c.name)})
	for _, m := range v.members {
		if r.h.aside(m) {
			ref.members = append(ref.members, m)
		}
	}
	return ref
}

// name returns a short name that no definition has: a, b, …, a1, ….
func (r *replacer) name() string {
	for {
		n := string(rune('a' + r.next%26))
		if r.next >= 26 {
			n += fmt.Sprint(r.next / 26)
		}
		r.next++
		if !r.taken[n] {
			return n
		}
	}
}
