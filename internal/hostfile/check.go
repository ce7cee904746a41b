package hostfile

import "slices"

// check compares a file before and after an edit. A host may refuse its whole
// file for one bad entry, so that an edit that went wrong must never be written.
func check(before, after *document, ops []op) error {
	if err := sameRest(before, after, ops); err != nil {
		return err
	}
	last := map[string]op{} // an entry may go and come again
	for _, o := range ops {
		last[list(o.Path...).canon()] = o
	}
	for _, o := range last {
		if o.stands(after.root) != o.Add {
			return miscarried(before.path)
		}
	}
	return nil
}

// sameRest compares two forms of a file: but for what ops name, both must say
// the same.
func sameRest(x, y *document, ops []op) error {
	a, b := clone(x.root), clone(y.root)
	for _, o := range ops {
		without(a, o)
		without(b, o)
	}
	if a.canon() != b.canon() {
		return miscarried(x.path)
	}
	return nil
}

func miscarried(path string) error {
	return &Error{Path: path, Message: "the edit would change more than heddle's entries", Hint: "nothing was written; please report this"}
}

// stands reports whether the entry of o is there: just as o added it, or in
// whatever form if o removed it.
func (o op) stands(root *node) bool {
	n := root.get(o.Path...)
	ours := func(n *node) bool { return slices.Contains(o.Values, n.canon()) }
	switch {
	case n == nil:
		return false
	case o.Item:
		return slices.ContainsFunc(n.items, ours)
	}
	return !o.Add || ours(n)
}

func clone(n *node) *node {
	out := &node{kind: n.kind, text: n.text}
	for _, m := range n.members {
		out.members = append(out.members, member{key: m.key, value: clone(m.value)})
	}
	for _, item := range n.items {
		out.items = append(out.items, clone(item))
	}
	return out
}

// without takes the entry of o out of a tree, and what held it alone.
func without(root *node, o op) {
	if o.Item {
		if n := root.get(o.Path...); n != nil {
			n.items = slices.DeleteFunc(n.items, func(item *node) bool { return slices.Contains(o.Values, item.canon()) })
			prune(root, o.Path)
		}
		return
	}
	if holder := root.get(o.Path[:len(o.Path)-1]...); holder != nil {
		holder.members = slices.DeleteFunc(holder.members, func(m member) bool { return m.key == o.name() })
	}
	prune(root, o.Path[:len(o.Path)-1])
}

// prune removes the empty values along path, the deepest first.
func prune(root *node, path []string) {
	for ; len(path) > 0; path = path[:len(path)-1] {
		n := root.get(path...)
		if n != nil && len(n.members)+len(n.items) > 0 {
			return
		}
		if holder := root.get(path[:len(path)-1]...); holder != nil {
			holder.members = slices.DeleteFunc(holder.members, func(m member) bool { return m.key == path[len(path)-1] })
		}
	}
}
