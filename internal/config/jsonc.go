package config

import (
	"bytes"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxJSONDepth keeps the parser's recursion bounded; hosts' state files are
// deeper than configurations.
const maxJSONDepth = 500

// jsonReader turns hujson's tree into nodes.
type jsonReader struct {
	d     syntax
	data  []byte
	lines []int // the offset at which each line begins
	// only names the keys of the root whose values are wanted; nil is all. A host
	// may keep megabytes of its own state beside its servers.
	only map[string]bool
	// strict makes a duplicate key a problem; in a host's file the last one counts,
	// as it does for the host, and a warning says so.
	strict bool
}

// parseJSON returns the value of data, which may hold comments and trailing
// commas, or nil after reporting why it cannot be read.
func (d syntax) parseJSON(data []byte) (hujson.Value, bool) {
	if len(bytes.TrimSpace(data)) == 0 {
		d.problem(nil, "", "is empty")
		return hujson.Value{}, false
	}
	if off := deepJSON(data); off >= 0 {
		d.problem(placeAt(data, lineStarts(data), off), "", "is nested more than %d deep", maxJSONDepth)
		return hujson.Value{}, false
	}
	v, err := hujson.Parse(data)
	if err != nil {
		d.jsonError(err)
		return hujson.Value{}, false
	}
	return v, true
}

var hujsonPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)

// jsonError reports the parser's error without the literal that it may quote.
func (d syntax) jsonError(err error) {
	m := hujsonPlace.FindStringSubmatch(err.Error())
	if m == nil {
		d.problem(nil, "", "not valid JSON")
		return
	}
	line, _ := strconv.Atoi(m[1])
	col, _ := strconv.Atoi(m[2])
	msg := m[3]
	if i := strings.Index(msg, "invalid literal"); i >= 0 {
		msg = msg[:i] + "invalid literal"
	}
	d.problem(&node{line: line, col: col}, "", "not valid JSON: %s", msg)
}

// deepJSON returns the offset where nesting passes maxJSONDepth, -1 if it never
// does. Brackets in strings and comments do not count.
func deepJSON(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxJSONDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(data, i)
		}
	}
	return -1
}

// skipComment returns the offset of the last byte of the comment at i, or i if
// there is none.
func skipComment(data []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(data[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(data[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(data[i+2:], []byte(end))
	if n < 0 {
		return len(data)
	}
	return i + 2 + n + len(end) - 1
}

// lineStarts returns the offset at which each line of data begins.
func lineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// placeAt returns the place of a byte offset, given [lineStarts].
func placeAt(data []byte, lines []int, off int) *node {
	line := sort.SearchInts(lines, off+1)
	return &node{line: line, col: utf8.RuneCount(data[lines[line-1]:off]) + 1}
}

// node converts v, which stands at path.
func (r *jsonReader) node(v hujson.Value, path string) *node {
	out := placeAt(r.data, r.lines, v.StartOffset)
	switch value := v.Value.(type) {
	case *hujson.Object:
		r.object(out, value, path)
	case *hujson.Array:
		out.kind = kindList
		for i, item := range value.Elements {
			out.items = append(out.items, r.node(item, path+"["+strconv.Itoa(i)+"]"))
		}
	case hujson.Literal:
		out.text = value.String()
		switch value.Kind() {
		case 'n':
			out.kind, out.text = kindNull, ""
		case 't', 'f':
			out.kind = kindBool
		case '0':
			out.kind = kindNumber
		default:
			out.kind = kindString
		}
	}
	return out
}

func (r *jsonReader) object(out *node, obj *hujson.Object, path string) {
	out.kind = kindMap
	seen := map[string]int{}
	for _, m := range obj.Members {
		at := placeAt(r.data, r.lines, m.Name.StartOffset)
		f := field{key: m.Name.Value.(hujson.Literal).String(), line: at.line, col: at.col}
		if path == "" && r.only != nil && !r.only[f.key] {
			f.value = placeAt(r.data, r.lines, m.Value.StartOffset)
		} else {
			f.value = r.node(m.Value, join(path, f.key))
		}
		first, dup := seen[f.key]
		switch {
		case dup && r.strict:
			was := out.fields[first]
			r.d.problem(at, join(path, f.key), "duplicate key, first at %d:%d", was.line, was.col)
		case dup:
			r.d.warn(at, join(path, f.key), "duplicate key: the last one counts")
			out.fields[first] = f
		default:
			seen[f.key] = len(out.fields)
			out.fields = append(out.fields, f)
		}
	}
}
