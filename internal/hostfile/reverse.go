package hostfile

import (
	"fmt"
	"slices"
)

// undoAll reverses ops, the last first.
func undoAll(d *document, ops []op, force bool) (*document, error) {
	for len(ops) > 0 {
		n := len(ops) - 1
		holder := ops[n].holder()
		for n > 0 && !ops[n].Add && !ops[n-1].Add && slices.Equal(ops[n-1].holder(), holder) {
			n--
		}
		undo := func(d *document) (*document, error) {
			var err error
			for _, o := range slices.Backward(ops[n:]) {
				if d, err = d.undo(o, force); err != nil {
					return nil, err
				}
			}
			return d, nil
		}
		var err error
		if ops[n].Add {
			d, err = undo(d)
		} else {
			d, err = d.within(holder, undo)
		}
		if err != nil {
			return nil, err
		}
		ops = ops[:n]
	}
	return d, nil
}

// undo reverses o. If force is not set it refuses to take out what is not as
// heddle wrote it, and to put back what is there in another form.
func (d *document) undo(o op, force bool) (*document, error) {
	switch {
	case !o.Add:
		return d.restore(o, force)
	case o.Item:
		return d.dropItem(o)
	}
	n := d.get(o.Path)
	if n == nil || !slices.Contains(o.Values, n.canon()) {
		if !force {
			return nil, ours(d.path, o)
		}
		if n == nil {
			return d, nil
		}
	}
	out, _, err := d.remove(o.Path)
	if err != nil {
		return nil, err
	}
	return out.dropEmpty(o.holder(), o.Made)
}

func ours(path string, o op) error {
	return &Error{Path: path, Message: fmt.Sprintf("the entry %q is not as heddle left it", o.name()), Err: ErrOurs}
}

// dropItem takes a string out of a list. One that is gone is no loss.
func (d *document) dropItem(o op) (*document, error) {
	n := d.get(o.Path)
	if n == nil || n.kind != array {
		return d, nil
	}
	i := slices.IndexFunc(n.items, func(item *node) bool { return slices.Contains(o.Values, item.canon()) })
	if i < 0 {
		return d, nil
	}
	out, err := d.splice(d.sequence(n).remove(i))
	if err != nil {
		return nil, err
	}
	return out.dropEmpty(o.Path, o.Made)
}

// dropEmpty removes the last of the containers at path that heddle made, if
// nobody put anything else into them.
func (d *document) dropEmpty(path []string, made int) (*document, error) {
	for ; made > 0 && len(path) > 0; made-- {
		n := d.get(path)
		if n == nil || len(n.members) > 0 || len(n.items) > 0 {
			break
		}
		out, _, err := d.remove(path)
		if err != nil {
			return nil, err
		}
		d, path = out, path[:len(path)-1]
	}
	return d, nil
}

// restore puts back what o removed, where it was if its neighbour is still
// there.
func (d *document) restore(o op, force bool) (*document, error) {
	if n := d.get(o.Path); n != nil {
		if force || slices.Contains(o.Values, n.canon()) {
			return d, nil
		}
		return nil, &Error{Path: d.path, Err: ErrOurs, Message: fmt.Sprintf("the entry %q, which heddle took out, is there again with other contents", o.name())}
	}
	holder, n, err := d.container(o.holder(), object)
	if err != nil {
		return nil, err
	}
	if d.format == tomlFormat {
		return d.restoreTOML(o, holder)
	}
	if n < len(o.Path)-1 { // somebody removed what held it
		v, err := parseJSON(d.path, []byte("{"+o.Raw+"}"))
		if err != nil {
			return nil, err
		}
		out, _, err := d.add(o.Path, v.members[0].value)
		return out, err
	}
	i := len(holder.members)
	if o.After == "" {
		i = 0
	} else if after := holder.last(o.After); after >= 0 {
		i = after + 1
	}
	return d.splice(d.sequence(holder).insertBehind(i, o.Lead, func(string) string { return o.Raw }))
}
