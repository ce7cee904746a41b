package schema

import "unicode/utf8"

// Steps that one check may take: enough for any sane schema, and a fraction of a
// second.
const (
	baseSteps    = 500_000
	stepsPerNode = 200
)

// eval is one check of one tree.
type eval struct {
	t    *tree
	left int
	// spent says that the budget or a pattern's time ran out: verdicts are void.
	spent bool
}

func newEval(t *tree) *eval {
	return &eval{t: t, left: baseSteps + stepsPerNode*len(t.nodes)}
}

// step pays for work. It returns false once the budget is gone.
func (e *eval) step(cost int) bool {
	if e.left -= cost; e.left < 0 {
		e.spent = true
	}
	return !e.spent
}

// marks are the children of one value that some keyword has evaluated, for
// unevaluatedProperties and unevaluatedItems. A nil *marks takes none.
type marks struct{ seen map[uint32]struct{} }

func (m *marks) add(c uint32) {
	if m == nil {
		return
	}
	if m.seen == nil {
		m.seen = map[uint32]struct{}{}
	}
	m.seen[c] = struct{}{}
}

func (m *marks) merge(o *marks) {
	if m == nil || o == nil {
		return
	}
	for c := range o.seen {
		m.add(c)
	}
}

// fork returns marks for a subschema that may fail.
func (m *marks) fork() *marks {
	if m == nil {
		return nil
	}
	return &marks{}
}

// check says whether the value n fits r. With a report it goes on after the first
// fault and notes each; without one it stops there and allocates next to nothing.
// up receives what was evaluated.
func (e *eval) check(r *rule, n uint32, up *marks, rep *report) bool {
	if r.always {
		return true
	}
	if !e.step(1) || rep.full() {
		return false
	}
	if r.never {
		rep.never()
		return false
	}
	if r.types != 0 && !e.hasType(n, r.types) {
		rep.types(e, r.types, n)
		return false
	}
	if r.enum != nil && !e.inEnum(n, r.enum) {
		rep.enum(e, r.enum, n)
		return false
	}
	m := up
	unevaled := r.obj != nil && r.obj.unevaled != nil || r.arr != nil && r.arr.unevaled != nil
	if unevaled {
		m = &marks{}
	}
	ok := e.all(r.refs, n, m, rep)
	if !ok && rep == nil {
		return false
	}
	ok = e.own(r, n, m, rep) && ok
	if !ok && rep == nil {
		return false
	}
	ok = e.combined(r, n, m, rep) && ok
	if unevaled {
		if !ok && rep == nil {
			return false
		}
		ok = e.unevaluated(r, n, m, rep) && ok
		up.merge(m)
	}
	return ok
}

// all checks n against every rule of a list.
func (e *eval) all(rules []*rule, n uint32, m *marks, rep *report) bool {
	ok := true
	for _, sub := range rules {
		if !e.check(sub, n, m, rep) {
			if rep == nil {
				return false
			}
			ok = false
		}
	}
	return ok
}

// own checks the keywords that belong to the type of n.
func (e *eval) own(r *rule, n uint32, m *marks, rep *report) bool {
	switch e.t.nodes[n].typ {
	case typeObject:
		return r.obj == nil || e.object(r.obj, n, m, rep)
	case typeArray:
		return r.arr == nil || e.array(r.arr, n, m, rep)
	case typeString:
		return r.str == nil || e.str(r.str, n, rep)
	case typeNumber:
		return r.num == nil || e.number(r.num, n, rep)
	}
	return true
}

func (e *eval) hasType(n uint32, want types) bool {
	typ := e.t.nodes[n].typ
	if typ&want != 0 {
		return true
	}
	return typ == typeNumber && want&typeInteger != 0 && isInteger(e.t.raw(n))
}

func (e *eval) inEnum(n uint32, en *enum) bool {
	nd := &e.t.nodes[n]
	if nd.typ&en.types == 0 {
		return false
	}
	if nd.typ == typeString && en.strings != nil {
		_, ok := en.strings[e.t.str(n)]
		return ok
	}
	for _, v := range en.values {
		if !e.step(1 + int(nd.n)) {
			return false
		}
		if e.t.equal(n, v) {
			return true
		}
	}
	return false
}

// combined checks the keywords that apply other schemas to the same value.
func (e *eval) combined(r *rule, n uint32, m *marks, rep *report) bool {
	ok := e.all(r.allOf, n, m, rep)
	if !ok && rep == nil {
		return false
	}
	if r.not != nil && e.check(r.not, n, nil, nil) {
		rep.not()
		ok = false
	}
	if len(r.anyOf) > 0 {
		ok = e.anyOf(r, n, m, rep) && ok
	}
	if len(r.oneOf) > 0 {
		ok = e.oneOf(r, n, m, rep) && ok
	}
	if r.cond != nil {
		ok = e.condition(r, n, m, rep) && ok
	}
	return ok
}

func (e *eval) anyOf(r *rule, n uint32, m *marks, rep *report) bool {
	found := false
	for _, sub := range r.anyOf {
		f := m.fork()
		if e.check(sub, n, f, nil) {
			found = true
			if m == nil {
				return true
			}
			m.merge(f)
		}
	}
	if !found {
		rep.branches(e, "anyOf", r.anyOf, n)
	}
	return found
}

func (e *eval) oneOf(r *rule, n uint32, m *marks, rep *report) bool {
	found := 0
	for _, sub := range r.oneOf {
		f := m.fork()
		if e.check(sub, n, f, nil) {
			if found++; found > 1 {
				rep.add("oneOf", "fits more than one of "+itoa(len(r.oneOf))+" forms, but must fit exactly one")
				return false
			}
			m.merge(f)
		}
	}
	if found == 0 {
		rep.branches(e, "oneOf", r.oneOf, n)
	}
	return found == 1
}

func (e *eval) condition(r *rule, n uint32, m *marks, rep *report) bool {
	f := m.fork()
	if e.check(r.cond, n, f, nil) {
		m.merge(f)
		return r.then == nil || e.check(r.then, n, m, rep)
	}
	return r.otherwise == nil || e.check(r.otherwise, n, m, rep)
}

func (e *eval) object(o *objectRule, n uint32, m *marks, rep *report) bool {
	ok := e.objectShape(o, n, rep)
	if !ok && rep == nil {
		return false
	}
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		if !e.member(o, c, m, rep) {
			if rep == nil {
				return false
			}
			ok = false
		}
	}
	for _, d := range o.dependents {
		if e.t.member(n, d.on) == 0 {
			continue
		}
		if !e.missing(d.required, n, "dependentRequired", rep) ||
			d.rule != nil && !e.check(d.rule, n, m, rep) {
			ok = false
		}
	}
	return ok
}

// objectShape checks which members there are.
func (e *eval) objectShape(o *objectRule, n uint32, rep *report) bool {
	count, ok := int(e.t.nodes[n].n), e.missing(o.required, n, "required", rep)
	if o.min != nil && count < *o.min {
		rep.add("minProperties", "needs at least "+plural(*o.min, "property", "properties"))
		ok = false
	}
	if o.max != nil && count > *o.max {
		rep.add("maxProperties", "must have at most "+plural(*o.max, "property", "properties"))
		ok = false
	}
	if o.additional != nil && o.additional.never && (rep != nil || ok) {
		ok = e.noStrangers(o, n, rep) && ok
	}
	return ok
}

// missing checks that n has all the names. It looks each up, or makes a set where
// that would be quadratic.
func (e *eval) missing(names []string, n uint32, keyword string, rep *report) bool {
	if len(names) == 0 {
		return true
	}
	e.step(len(names))
	ok := true
	var set map[string]struct{}
	if len(names) > 8 && e.t.nodes[n].n > 8 {
		set = make(map[string]struct{}, e.t.nodes[n].n)
		for c := e.t.first(n); c != 0; c = e.t.after(c) {
			set[e.t.key(c)] = struct{}{}
		}
	}
	for _, name := range names {
		_, has := set[name]
		if !has && set == nil {
			has = e.t.member(n, name) != 0
		}
		if has {
			continue
		}
		if rep == nil {
			return false
		}
		rep.missing(keyword, name)
		ok = false
	}
	return ok
}

// noStrangers is additionalProperties: false, reported once for the object.
func (e *eval) noStrangers(o *objectRule, n uint32, rep *report) bool {
	var strange []string
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		if name := e.t.key(c); o.props[name] == nil && !e.inPatterns(o, name) {
			if rep == nil {
				return false
			}
			strange = append(strange, name)
		}
	}
	if len(strange) > 0 {
		rep.strangers(o, strange)
	}
	return len(strange) == 0
}

func (e *eval) inPatterns(o *objectRule, name string) bool {
	for _, p := range o.patterns {
		if e.match(p.re, name) {
			return true
		}
	}
	return false
}

// member checks one member of an object.
func (e *eval) member(o *objectRule, c uint32, m *marks, rep *report) bool {
	if !e.step(1) {
		return false
	}
	name := e.t.key(c)
	ok, known := true, false
	if sub := o.props[name]; sub != nil {
		known = true
		rep.push(name)
		ok = e.check(sub, c, nil, rep)
		rep.pop()
	}
	for _, p := range o.patterns {
		if e.match(p.re, name) {
			rep.hide(o.props[name] != nil, name)
			ok = e.check(p.rule, c, nil, rep) && ok
			rep.pop()
			known = true
		}
	}
	if !known && o.additional != nil && !o.additional.never {
		known = true
		rep.hide(false, name)
		ok = e.check(o.additional, c, nil, rep) && ok
		rep.pop()
	}
	if known {
		m.add(c)
	}
	if o.propNames != nil && !e.checkName(o.propNames, name) {
		rep.propName(o.propNames)
		ok = false
	}
	return ok
}

// checkName checks a member's name as the string that it is.
func (e *eval) checkName(r *rule, name string) bool {
	var t tree
	if t.parse(quote(name), maxDepth) != nil {
		return false
	}
	sub := eval{t: &t, left: e.left}
	ok := sub.check(r, 0, nil, nil)
	e.left, e.spent = sub.left, e.spent || sub.spent
	return ok
}

func (e *eval) array(a *arrayRule, n uint32, m *marks, rep *report) bool {
	count, ok := int(e.t.nodes[n].n), true
	if a.min != nil && count < *a.min {
		rep.add("minItems", "needs at least "+plural(*a.min, "item", "items"))
		ok = false
	}
	if a.max != nil && count > *a.max {
		rep.add("maxItems", "must have at most "+plural(*a.max, "item", "items"))
		ok = false
	}
	if a.unique && ok && !e.unique(n) {
		rep.add("uniqueItems", "must not hold the same item twice")
		ok = false
	}
	if !ok && rep == nil {
		return false
	}
	if len(a.prefix) > 0 || a.rest != nil {
		ok = e.items(a, n, m, rep) && ok
	}
	if a.contains != nil {
		ok = e.contains(a, n, m, rep) && ok
	}
	return ok
}

func (e *eval) items(a *arrayRule, n uint32, m *marks, rep *report) bool {
	ok, i := true, 0
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		r := a.rest
		if i < len(a.prefix) {
			r = a.prefix[i]
		}
		if r != nil {
			m.add(c)
			rep.pushIndex(i)
			fits := e.check(r, c, nil, rep)
			rep.pop()
			if !fits {
				if rep == nil {
					return false
				}
				ok = false
			}
		}
		i++
	}
	return ok
}

func (e *eval) contains(a *arrayRule, n uint32, m *marks, rep *report) bool {
	count := 0
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		if e.check(a.contains, c, nil, nil) {
			count++
			if a.containsMarks {
				m.add(c)
			}
		}
	}
	ok := true
	if count < a.minContains {
		rep.add("contains", "needs at least "+plural(a.minContains, "item", "items")+" that is "+describe(a.contains))
		ok = false
	}
	if a.maxContains != nil && count > *a.maxContains {
		rep.add("maxContains", "must have at most "+plural(*a.maxContains, "item", "items")+" that is "+describe(a.contains))
		ok = false
	}
	return ok
}

func (e *eval) unevaluated(r *rule, n uint32, m *marks, rep *report) bool {
	var sub *rule
	switch e.t.nodes[n].typ {
	case typeObject:
		if r.obj != nil {
			sub = r.obj.unevaled
		}
	case typeArray:
		if r.arr != nil {
			sub = r.arr.unevaled
		}
	}
	if sub == nil {
		return true
	}
	ok := true
	for c := e.t.first(n); c != 0; c = e.t.after(c) {
		if _, done := m.seen[c]; done {
			continue
		}
		if !e.check(sub, c, nil, nil) {
			rep.unevaluated(e.t.nodes[n].typ)
			return false
		}
		m.add(c)
	}
	return ok
}

func (e *eval) str(s *stringRule, n uint32, rep *report) bool {
	text := e.t.str(n)
	e.step(len(text) / 64)
	ok := true
	if s.min != nil || s.max != nil {
		count := utf8.RuneCountInString(text)
		if s.min != nil && count < *s.min {
			rep.add("minLength", "needs at least "+plural(*s.min, "character", "characters"))
			ok = false
		}
		if s.max != nil && count > *s.max {
			rep.add("maxLength", "must have at most "+plural(*s.max, "character", "characters"))
			ok = false
		}
	}
	if s.pattern != nil && (ok || rep != nil) && !e.match(s.pattern, text) {
		rep.add("pattern", "must match the pattern "+s.pattern.String())
		ok = false
	}
	return ok
}

// match runs a pattern. One that takes too long spends the whole check: a list of
// such strings must not take as many timeouts.
func (e *eval) match(p *Pattern, s string) bool {
	if !e.step(4 + len(s)/8) {
		return false
	}
	ok, err := p.Match(s)
	if err != nil {
		e.spent = true
	}
	return ok
}

func (e *eval) number(r *numberRule, n uint32, rep *report) bool {
	text, ok := e.t.raw(n), true
	fail := func(keyword, msg string, b *bound) {
		rep.add(keyword, msg+b.shown)
		ok = false
	}
	if r.min != nil && r.min.cmp(text) < 0 {
		fail("minimum", "must be at least ", r.min)
	}
	if r.max != nil && r.max.cmp(text) > 0 {
		fail("maximum", "must be at most ", r.max)
	}
	if r.above != nil && r.above.cmp(text) <= 0 {
		fail("exclusiveMinimum", "must be greater than ", r.above)
	}
	if r.below != nil && r.below.cmp(text) >= 0 {
		fail("exclusiveMaximum", "must be less than ", r.below)
	}
	if r.multiple != nil && !r.multiple.divides(text) {
		fail("multipleOf", "must be a multiple of ", r.multiple)
	}
	return ok
}
