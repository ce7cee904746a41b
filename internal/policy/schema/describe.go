package schema

import "strings"

// accepts returns the types that r can accept, judged by its types, constants and
// combinators.
func (r *rule) accepts() types {
	return r.acceptsWithin(6)
}

func (r *rule) acceptsWithin(depth int) types {
	t := r.ownTypes()
	if depth == 0 {
		return t
	}
	for _, list := range [][]*rule{r.refs, r.allOf} {
		for _, sub := range list {
			t = intersect(t, sub.acceptsWithin(depth-1))
		}
	}
	for _, list := range [][]*rule{r.anyOf, r.oneOf} {
		if len(list) == 0 {
			continue
		}
		var any types
		for _, sub := range list {
			any |= sub.acceptsWithin(depth - 1)
		}
		t = intersect(t, any)
	}
	return t
}

// ownTypes looks at r alone.
func (r *rule) ownTypes() types {
	if r.never {
		return 0
	}
	t := r.types
	if t == 0 {
		t = typeAny
	}
	if r.enum != nil {
		t = intersect(t, r.enum.types)
	}
	return t
}

// intersect knows that an integer is a number.
func intersect(a, b types) types {
	t := a & b
	if a&typeNumber != 0 && b&typeInteger != 0 || b&typeNumber != 0 && a&typeInteger != 0 {
		t |= typeInteger
	}
	return t
}

// describe says in a few words what r wants.
func describe(r *rule) string { return clip(describeWithin(r, 3), 80) }

func describeWithin(r *rule, depth int) string {
	switch {
	case r.never:
		return "nothing"
	case r.enum != nil:
		return show(r.enum, "")
	case depth == 0:
		return r.accepts().String()
	case r.types == 0 && r.obj == nil && len(r.refs) == 1:
		return describeWithin(r.refs[0], depth-1)
	case r.types == 0 && r.obj == nil && len(r.anyOf)+len(r.oneOf) > 0:
		var all []string
		for _, sub := range append(r.anyOf[:len(r.anyOf):len(r.anyOf)], r.oneOf...) {
			all = append(all, describeWithin(sub, depth-1))
		}
		return strings.Join(all, " or ")
	case r.obj != nil && r.accepts()&typeObject != 0:
		return describeObject(r.obj)
	case r.types == typeArray && r.arr != nil && r.arr.rest != nil && !r.arr.rest.always:
		return "array of " + describeWithin(r.arr.rest, depth-1)
	case r.str != nil && r.str.pattern != nil:
		return "string matching " + r.str.pattern.String()
	}
	t := r.accepts()
	if t == typeAny {
		return "any value"
	}
	return t.String()
}

func describeObject(o *objectRule) string {
	switch {
	case len(o.required) > 0:
		var tags []string
		for _, name := range o.required {
			tag := name
			if sub := o.props[name]; sub != nil && sub.enum != nil && len(sub.enum.values) == 1 {
				tag += " " + show(sub.enum, "")
			}
			tags = append(tags, tag)
		}
		return "object with " + joinSome(tags, 60)
	case len(o.names) > 0:
		return "object of " + joinSome(o.names, 60)
	}
	return "object"
}
