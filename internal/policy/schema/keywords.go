package schema

import "unicode/utf8"

// object checks the keywords of objects.
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
		if !e.missing(o, d.required, n, "dependentRequired", rep) ||
			d.rule != nil && !e.check(d.rule, n, m, rep) {
			ok = false
		}
	}
	return ok
}

// objectShape checks which members there are.
func (e *eval) objectShape(o *objectRule, n uint32, rep *report) bool {
	count, ok := int(e.t.nodes[n].n), e.missing(o, o.required, n, "required", rep)
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
func (e *eval) missing(o *objectRule, names []string, n uint32, keyword string, rep *report) bool {
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
		rep.missing(keyword, name, o.props[name])
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

// array checks the keywords of arrays.
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

// str checks the keywords of strings.
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

// number checks the keywords of numbers.
func (e *eval) number(r *numberRule, n uint32, rep *report) bool {
	text, ok := e.t.raw(n), true
	if r.min != nil && r.min.cmp(text) < 0 {
		ok = rep.bound("minimum", "must be at least ", r.min)
	}
	if r.max != nil && r.max.cmp(text) > 0 {
		ok = rep.bound("maximum", "must be at most ", r.max)
	}
	if r.above != nil && r.above.cmp(text) <= 0 {
		ok = rep.bound("exclusiveMinimum", "must be greater than ", r.above)
	}
	if r.below != nil && r.below.cmp(text) >= 0 {
		ok = rep.bound("exclusiveMaximum", "must be less than ", r.below)
	}
	if r.multiple != nil && !r.multiple.divides(text) {
		ok = rep.bound("multipleOf", "must be a multiple of ", r.multiple)
	}
	return ok
}
