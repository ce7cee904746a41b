package hostfile

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// maxDepth keeps the parser's recursion bounded.
const maxDepth = 500

// parseJSON reads JSON that may have comments and trailing commas.
func parseJSON(path string, data []byte) (*node, error) {
	body := bytes.TrimPrefix(data, []byte(bom))
	shift := len(data) - len(body)
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, &Error{Path: path, Message: "is empty, which is no JSON", Hint: "write {} into it, or remove it"}
	}
	if off := tooDeep(body); off >= 0 {
		return nil, at(path, data, shift+off, "is nested more than "+strconv.Itoa(maxDepth)+" deep", "")
	}
	v, err := hujson.Parse(body)
	if err != nil {
		return nil, jsonError(path, data, err)
	}
	root := jsonNode(v, shift)
	if root.kind != object {
		return nil, at(path, data, root.start, "must be an object, not "+string(root.kind), "")
	}
	return root, nil
}

var hujsonPlace = regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)

// jsonError drops the literal that the parser may quote.
func jsonError(path string, data []byte, err error) error {
	e := &Error{Path: path, Message: "is not valid JSON", Hint: "correct it by hand; heddle does not touch a file that it cannot read"}
	m := hujsonPlace.FindStringSubmatch(err.Error())
	if m == nil {
		return e
	}
	e.Line, _ = strconv.Atoi(m[1])
	e.Column, _ = strconv.Atoi(m[2])
	msg, _, quoted := strings.Cut(m[3], "invalid literal")
	if quoted {
		msg += "invalid literal"
	}
	e.Message += ": " + msg
	e.Excerpt = excerpt(data, e.Line, e.Column)
	return e
}

// tooDeep returns the offset where nesting passes maxDepth, -1 if it never does.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); {
		if next := jsonComment(data, i); next > i {
			i = next
			continue
		}
		switch data[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
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
		}
		i++
	}
	return -1
}

// jsonComment returns the offset after the comment at i, or i if there is none.
// The line end after a comment is not part of it.
func jsonComment(data []byte, i int) int {
	var end string
	switch {
	case bytes.HasPrefix(data[i:], []byte("//")):
		return lineOf(data, i)
	case bytes.HasPrefix(data[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	if n := bytes.Index(data[i+2:], []byte(end)); n >= 0 {
		return i + 2 + n + len(end)
	}
	return len(data)
}

// lineOf returns the end of the line of i, before what ends it.
func lineOf(data []byte, i int) int {
	n := bytes.IndexByte(data[i:], '\n')
	if n < 0 {
		return len(data)
	}
	if n > 0 && data[i+n-1] == '\r' {
		n--
	}
	return i + n
}

// jsonNode converts v, whose offsets count from shift.
func jsonNode(v hujson.Value, shift int) *node {
	n := &node{start: shift + v.StartOffset, end: shift + v.EndOffset}
	switch value := v.Value.(type) {
	case *hujson.Object:
		n.kind = object
		for _, m := range value.Members {
			key := m.Name.Value.(hujson.Literal).String()
			n.members = append(n.members, member{key, shift + m.Name.StartOffset, jsonNode(m.Value, shift)})
		}
	case *hujson.Array:
		n.kind = array
		for _, item := range value.Elements {
			n.items = append(n.items, jsonNode(item, shift))
		}
	case hujson.Literal:
		if n.kind, n.text = scalar, string(value); value.Kind() == '"' {
			n.kind, n.text = str, value.String()
		}
	}
	return n
}

// jsonText writes n as JSON. Objects take a line a member, lists one line; in a
// file that is one line everything does.
func jsonText(n *node, indent string, s style) string {
	switch n.kind {
	case object:
		if len(n.members) == 0 {
			return "{}"
		}
		open, sep, end := "{", ","+s.space, "}"
		if s.newline != "" {
			inner := s.newline + indent + s.unit
			open, sep, end = "{"+inner, ","+inner, s.newline+indent+"}"
		}
		parts := make([]string, len(n.members))
		for i, m := range n.members {
			parts[i] = quote(m.key) + ":" + s.space + jsonText(m.value, indent+s.unit, s)
		}
		return open + strings.Join(parts, sep) + end
	case array:
		parts := make([]string, len(n.items))
		for i, item := range n.items {
			parts[i] = jsonText(item, indent, s)
		}
		return "[" + strings.Join(parts, ","+s.space) + "]"
	case str:
		return quote(n.text)
	}
	return n.text
}
