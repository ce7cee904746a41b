package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// collapseOver is the length beyond which the canonical form of an object or
// array is replaced by its hash. It keeps the work linear in the definition's
// size however deep it nests. Changing it changes every fingerprint.
const collapseOver = 64

// canonical writes values in a form that is equal for equal values: object
// members sorted by key, the last of equal keys alone, no white space, strings
// unescaped, numbers as they are spelled. Every text carries its length, so that
// no two values have the same form. The zero value is ready; it keeps its
// buffers from one definition to the next.
type canonical struct {
	buf, sorted []byte
	spans       []span
}

// span is where an object member lies in the canonical buffer.
type span struct {
	key        []byte
	start, end int
}

// fingerprint returns the hex SHA-256 of the definition's canonical form.
func (c *canonical) fingerprint(definition []byte) string {
	c.buf, c.spans = c.buf[:0], c.spans[:0]
	c.value(definition, skipSpace(definition, 0), 0)
	sum := sha256.Sum256(c.buf)
	return hex.EncodeToString(sum[:])
}

// value appends the value at b[i] and returns where it ends. Below maxDepth,
// bytes count as they are.
func (c *canonical) value(b []byte, i, depth int) int {
	end := i
	switch {
	case i >= len(b):
		return len(b)
	case depth > maxDepth:
		end, _ = skipValue(b, i)
		c.text('r', b[i:end])
	case b[i] == '"':
		end = skipString(b, i)
		c.text('"', unquote(b[i:end]))
	case b[i] == '{':
		end = c.object(b, i, depth)
	case b[i] == '[':
		end = c.array(b, i, depth)
	default:
		end = skipScalar(b, i)
		c.text('n', b[i:end])
	}
	return end
}

func (c *canonical) text(tag byte, text []byte) {
	c.buf = append(c.buf, tag)
	c.buf = binary.AppendUvarint(c.buf, uint64(len(text)))
	c.buf = append(c.buf, text...)
}

func (c *canonical) array(b []byte, i, depth int) int {
	start := len(c.buf)
	c.buf = append(c.buf, '[')
	for i = skipSpace(b, i+1); i < len(b) && b[i] != ']'; {
		i = skipComma(b, c.value(b, i, depth+1))
	}
	c.buf = append(c.buf, ']')
	c.collapse(start)
	return min(i+1, len(b))
}

func (c *canonical) object(b []byte, i, depth int) int {
	start, first := len(c.buf), len(c.spans)
	c.buf = append(c.buf, '{')
	for i = skipSpace(b, i+1); i < len(b) && b[i] == '"'; {
		keyEnd := skipString(b, i)
		s := span{key: unquote(b[i:keyEnd]), start: len(c.buf)}
		c.text('"', s.key)
		i = c.value(b, skipColon(b, keyEnd), depth+1)
		s.end = len(c.buf)
		c.spans = append(c.spans, s)
		i = skipComma(b, i)
	}
	c.sort(c.spans[first:])
	c.spans = c.spans[:first]
	c.buf = append(c.buf, '}')
	c.collapse(start)
	return min(i+1, len(b))
}

// sort brings the members at the end of the buffer into the order of their keys.
func (c *canonical) sort(spans []span) {
	if len(spans) < 2 {
		return
	}
	start := spans[0].start
	slices.SortStableFunc(spans, func(a, b span) int { return bytes.Compare(a.key, b.key) })
	c.sorted = c.sorted[:0]
	for i, s := range spans {
		if i+1 < len(spans) && bytes.Equal(s.key, spans[i+1].key) {
			continue
		}
		c.sorted = append(c.sorted, c.buf[s.start:s.end]...)
	}
	c.buf = append(c.buf[:start], c.sorted...)
}

func (c *canonical) collapse(start int) {
	if len(c.buf)-start <= collapseOver {
		return
	}
	sum := sha256.Sum256(c.buf[start:])
	c.buf = append(c.buf[:start], 'h')
	c.buf = append(c.buf, sum[:]...)
}
