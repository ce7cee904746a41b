package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// values reads the kinds of values that a configuration is made of.
type values struct{ *report }

// keys says how each key of a mapping is read.
type keys map[string]func(n *node, path string)

// section reads a mapping strictly: an unknown key is refused with the nearest
// known name. An empty value is an absent section.
func (d values) section(n *node, path string, known keys) {
	for _, f := range d.fields(n, path) {
		at := join(path, f.key)
		if read, ok := known[f.key]; ok {
			read(f.value, at)
			continue
		}
		d.unknown(f, at, slices.Collect(maps.Keys(known)))
	}
}

func (d values) unknown(f field, path string, names []string) {
	if near := nearest(f.key, names); near != "" {
		d.problem(f.at(), path, "unknown key; did you mean %q?", near)
		return
	}
	d.problem(f.at(), path, "unknown key")
}

// fields returns the keys of a mapping; none if n is empty or, after reporting
// it, something else.
func (d values) fields(n *node, path string) []field {
	if n.kind != kindMap && n.kind != kindNull && n.kind != kindBroken {
		d.problem(n, path, "must be a mapping, not %s", n.kind)
		return nil
	}
	return n.fields
}

// scalar returns the text of n if it is of the wanted kind, and reports it
// otherwise. The problem names kinds, never the value.
func (d values) scalar(n *node, path string, want kind) (string, bool) {
	if n.kind == want || n.kind == kindString && (want == kindDuration || want == kindSize) {
		return n.text, true
	}
	switch n.kind {
	case kindBroken:
	case kindNull:
		d.problem(n, path, "has no value; give one or remove the key")
	default:
		d.problem(n, path, "must be %s, not %s", want, n.kind)
	}
	return "", false
}

func (d values) boolean(n *node, path string, into *bool) {
	if s, ok := d.scalar(n, path, kindBool); ok {
		*into = strings.EqualFold(s, "true")
	}
}

// oneOf reads one of a few words.
func (d values) oneOf(n *node, path string, into *string, words ...string) {
	s, ok := d.scalar(n, path, kindString)
	if !ok {
		return
	}
	if !slices.Contains(words, s) {
		d.problem(n, path, "%q is not one of %s", s, strings.Join(words, ", "))
		return
	}
	*into = s
}

// integer reads a whole number within [least, most].
func (d values) integer(n *node, path string, into *int, least, most int) {
	s, ok := d.scalar(n, path, kindNumber)
	if !ok {
		return
	}
	v, err := strconv.Atoi(s)
	switch {
	case err != nil:
		d.problem(n, path, "%q is not a whole number", s)
	case v < least:
		d.problem(n, path, "%d is too small: the least is %d", v, least)
	case v > most:
		d.problem(n, path, "%d is too large: the most is %d", v, most)
	default:
		*into = v
	}
}

// duration reads a time like 90s, 5m or 90d, which must be positive.
func (d values) duration(n *node, path string, into *time.Duration) {
	if n.kind == kindNumber {
		d.problem(n, path, "%s has no unit", n.text)
		d.hint("write %ss for seconds; units are ms, s, m, h and d", n.text)
		return
	}
	s, ok := d.scalar(n, path, kindDuration)
	if !ok {
		return
	}
	v, err := parseDuration(s)
	switch {
	case err != nil:
		d.problem(n, path, "%q is not a duration", s)
		d.hint("write a number and a unit, like 500ms, 90s, 5m, 2h or 90d")
	case v <= 0:
		d.problem(n, path, "%q must be more than zero", s)
	default:
		*into = v
	}
}

// size reads a number of bytes within [least, most].
func (d values) size(n *node, path string, into *int64, least, most int64) {
	s := n.text
	if n.kind != kindNumber {
		var ok bool
		if s, ok = d.scalar(n, path, kindSize); !ok {
			return
		}
	}
	v, err := parseSize(s)
	switch {
	case err != nil:
		d.problem(n, path, "%q is not a size", s)
		d.hint("write a number of bytes, or a number and a unit, like 64MB or 64MiB")
	case v < least:
		d.problem(n, path, "%s is too small: the least is %d bytes", s, least)
	case v > most:
		d.problem(n, path, "%s is too large: the most is %d bytes", s, most)
	default:
		*into = v
	}
}

// strings reads a list of texts. A number or a boolean counts as the text that
// was written, because arguments like 8080 are rarely quoted.
func (d values) strings(n *node, path string) []*node {
	if n.kind == kindBroken {
		return nil
	}
	if n.kind != kindList {
		d.problem(n, path, "must be a list, not %s", n.kind)
		if n.kind == kindString {
			d.hint("write it in brackets, with a comma between the parts")
		}
		return nil
	}
	out := make([]*node, 0, len(n.items))
	for i, item := range n.items {
		if d.isText(item, fmt.Sprintf("%s[%d]", path, i)) {
			out = append(out, item)
		}
	}
	return out
}

// isText reports whether n can be passed to a process as text.
func (d values) isText(n *node, path string) bool {
	switch {
	case n.kind == kindBroken:
	case n.kind == kindNull:
		d.problem(n, path, "has no value; write \"\" for an empty text")
	case n.kind == kindList || n.kind == kindMap:
		d.problem(n, path, "must be text, not %s", n.kind)
	case strings.ContainsRune(n.text, 0):
		d.problem(n, path, "holds a NUL character, which no process can be given")
	default:
		return true
	}
	return false
}
