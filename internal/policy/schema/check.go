package schema

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
