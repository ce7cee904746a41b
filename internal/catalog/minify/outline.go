package minify

import (
	"encoding/json"
	"fmt"
	"strings"
)

// shownValues is how many values of a long enum an outline shows.
const shownValues = 10

// Outline returns a definition shortened to at most room bytes, whether it was
// minified or not: first long enums go, then what nests deepest, then what is said
// of properties, then the properties that come last. What was left out is counted
// in a $comment. It reports whether anything was. The result is for reading: it
// need not accept what the original does.
func Outline(raw json.RawMessage, room int) (short json.RawMessage, cut bool) {
	if len(raw) <= room {
		return raw, false
	}
	for step := range 16 {
		def := parse(raw)
		if def == nil {
			break
		}
		if text := def.get("description"); text != nil {
			shortenText(text)
		}
		if schema := def.get("inputSchema"); schema != nil {
			outline(schema, step, 0)
		}
		if out := def.append(nil); len(out) <= room {
			return out, true
		}
	}
	def := &value{kind: '{'}
	if whole := parse(raw); whole != nil {
		if name := whole.get("name"); name != nil && len(name.raw) < room/2 {
			def.add([]byte(`"name"`), name)
		}
	}
	def.add([]byte(`"$comment"`), &value{kind: '"', raw: quote("the definition is too large to show")})
	return def.append(nil), true
}

// outline takes more out of a schema the higher the step is.
func outline(v *value, step, depth int) {
	if v.kind != '{' {
		return
	}
	if most := 7 - step; step > 0 && depth > max(most, 1) {
		v.prune(fmt.Sprintf("%d nested properties are left out", len(properties(v))))
		return
	}
	if enum := v.get("enum"); enum != nil && len(enum.items) > 2*shownValues {
		v.comment(fmt.Sprintf("%d values in all, the first %d are shown", len(enum.items), shownValues))
		enum.items = enum.items[:shownValues]
	}
	if step > 6 && depth > 0 {
		v.remove("description")
	}
	if most := 1 << max(16-step, 0); step > 8 && len(properties(v)) > most {
		p := v.get("properties")
		v.comment(fmt.Sprintf("%d more properties are left out", len(p.members)-most))
		p.members = p.members[:most]
	}
	if step > 6 {
		v.remove("$defs")
		v.remove("definitions")
	}
	subschemas(v, func(_ string, _ *member, sub *value) { outline(sub, step, depth+1) })
}

func properties(v *value) []*member {
	if p := v.get("properties"); p != nil && p.kind == '{' {
		return p.members
	}
	return nil
}

// prune leaves of a schema what it is and what is said of it.
func (v *value) prune(note string) {
	kept := v.members[:0]
	for _, m := range v.members {
		if m.key == "type" || m.key == "description" || m.key == "$ref" {
			kept = append(kept, m)
		}
	}
	had := len(kept) < len(v.members)
	v.members = kept
	if had {
		v.comment(note)
	}
}

func (v *value) comment(text string) {
	v.remove("$comment")
	v.add([]byte(`"$comment"`), &value{kind: '"', raw: quote(text)})
}

// maxLine is how long an object may be, in bytes, that stands deep and on one line.
const maxLine = 2000

// Lines breaks JSON into lines at the members of its outer objects, so that no
// line is huge: an object is broken if it has over 100 bytes and stands at most
// three deep, or has over maxLine.
func Lines(raw json.RawMessage) []byte {
	v := parse(raw)
	if v == nil {
		return raw
	}
	return v.lines(nil, 0)
}

func (v *value) lines(b []byte, depth int) []byte {
	if v.kind != '{' {
		return v.append(b)
	}
	if whole := v.append(nil); len(whole) <= 100 || depth > 3 && len(whole) <= maxLine {
		return append(b, whole...)
	}
	b = append(b, '{')
	for i, m := range v.members {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = m.v.lines(append(append(b, m.rawKey...), ':'), depth+1)
	}
	return append(b, '}')
}

// Brief returns the start of a description on one line of at most n characters.
func Brief(text string, n int) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	short := ""
	if all := blocks(text); len(all) > 0 {
		short = trim(all[0].text, describedBy(nil))
	}
	if r := []rune(short); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return short
}

// shownText is how much of a long description an outline shows, in bytes.
const shownText = 1000

// shortenText cuts a long text.
func shortenText(v *value) {
	var text string
	if v.kind != '"' || len(v.raw) <= shownText || json.Unmarshal(v.raw, &text) != nil || len(text) <= shownText {
		return
	}
	v.raw = quote(strings.ToValidUTF8(text[:shownText], "") + "…")
}
