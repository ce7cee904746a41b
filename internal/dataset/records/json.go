package records

import (
	"bytes"
	"fmt"

	"heddle/internal/wire"
)

// noJSON is why nothing was found where the text is not JSON at all.
const noJSON = "no JSON"

// block is JSON in a block of text.
type block struct {
	doc    *document // of one value
	single bool      // it is one object, and nothing else
	data   []byte    // the JSON
	around [][]byte  // the text before and after it
}

// findJSON looks for tables in JSON in the blocks of text; why is noJSON if they
// are another kind of text.
func findJSON(texts [][]byte) (found Found, why string) {
	var blocks []block
	var docs []*document
	var around, records [][]byte
	for i, text := range texts {
		root := "$"
		if i > 0 {
			root = fmt.Sprintf("$%d", i+1)
		}
		b, ok := jsonIn(text, root)
		if !ok {
			around = append(around, text)
			continue
		}
		blocks = append(blocks, b)
		docs = append(docs, b.doc)
		around = append(around, b.around...)
		if b.single {
			records = append(records, b.data)
		}
	}
	if size(around) > size(texts)-size(around) {
		return found, noJSON
	}
	if len(records) >= minMain && len(records) > longest(docs) {
		found = Found{Main: Table{
			Form: FormLines, Path: "$", Source: "text", Count: len(records), Data: join(records),
		}}
		why = found.Main.limit()
		for _, b := range blocks {
			if !b.single {
				b.doc.tablesAsOthers()
				b.doc.add(&found)
			}
		}
	} else {
		found, why = choose(docs...)
	}
	for _, text := range around {
		found.addResidue(text)
	}
	return found, why
}

func size(texts [][]byte) (n int) {
	for _, t := range texts {
		n += len(bytes.TrimSpace(t))
	}
	return n
}

// longest is how many records the longest table of the documents has.
func longest(docs []*document) (n int) {
	for _, d := range docs {
		for _, t := range d.tables {
			n = max(n, t.Count)
		}
	}
	return n
}

// jsonIn finds JSON in a text: all of it, in a fence, or after some prose.
func jsonIn(text []byte, root string) (block, bool) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if b, ok := jsonAt(text, root); ok && len(b.around) == 0 {
		return b, true
	}
	if b, ok := fenced(text, root); ok {
		return b, true
	}
	return amidProse(text, root)
}

// jsonAt reads the JSON that the text starts with: a value, or objects one after the
// other.
func jsonAt(text []byte, root string) (b block, ok bool) {
	s := scanner{b: text}
	start := s.space(0)
	if c := s.at(start); c != '{' && c != '[' {
		return b, false
	}
	if d, err := read(text, "text", root); err == nil {
		return block{doc: d, single: s.at(start) == '{', data: bytes.TrimSpace(text)}, true
	}
	n, end := 0, start
	for i := start; n == 0 || s.at(start) == '{' && s.at(i) == '{'; n++ {
		next, err := s.value(i)
		if err != nil {
			break
		}
		end = next
		i = s.space(next)
	}
	if n == 0 {
		return b, false
	}
	data := text[start:end:end]
	if rest := text[end:]; len(bytes.TrimSpace(rest)) > 0 {
		if s.at(start) == '{' && bytes.Contains(rest, []byte("\n{")) {
			return block{}, false // a record in between is malformed
		}
		b.around = [][]byte{rest}
	}
	b.data = data
	if n == 1 {
		b.single = s.at(start) == '{'
		b.doc, _ = read(data, "text", root) // it was just scanned
		return b, true
	}
	b.doc = &document{tables: []Table{{Form: FormLines, Path: root, Source: "text", Count: n, Data: data}}}
	return b, true
}

// fenced finds the largest JSON in a Markdown fence.
func fenced(text []byte, root string) (best block, ok bool) {
	fence := []byte("```")
	for from := 0; ; {
		open := bytes.Index(text[from:], fence)
		if open < 0 {
			return best, ok
		}
		open += from
		line := bytes.IndexByte(text[open:], '\n')
		if line < 0 {
			return best, ok
		}
		start := open + line + 1
		length := bytes.Index(text[start:], fence)
		if length < 0 {
			return best, ok
		}
		end := start + length
		from = end + len(fence)
		b, isJSON := jsonAt(text[start:end], root)
		if isJSON && len(b.around) == 0 && len(b.data) > len(best.data) {
			b.around = [][]byte{text[:open], text[from:]}
			b.single = false
			best, ok = b, true
		}
	}
}

// maxStarts is how many lines of a text are tried as the start of JSON.
const maxStarts = 8

// amidProse finds JSON that starts on a line of its own and has prose before or after.
func amidProse(text []byte, root string) (block, bool) {
	tried := 0
	for at := 0; at < len(text) && tried < maxStarts; {
		if c := text[at]; c == '{' || c == '[' {
			tried++
			if b, ok := jsonAt(text[at:], root); ok && 2*len(b.data) >= len(text) {
				b.around = append([][]byte{text[:at]}, b.around...)
				b.single = false
				return b, c == '[' || tried == 1
			}
		}
		line := bytes.IndexByte(text[at:], '\n')
		if line < 0 {
			break
		}
		at += line + 1
	}
	return block{}, false
}

func isJSON(b []byte) bool {
	s := scanner{b: b}
	c := s.at(s.space(0))
	return (c == '{' || c == '[') && wire.Valid(b)
}

// sameJSON reports whether two texts are the same JSON but for white space and escapes.
func sameJSON(a, b []byte) bool {
	if !isJSON(a) {
		return false
	}
	x, y := scanner{b: a}, scanner{b: b}
	i, j := x.space(0), y.space(0)
	for i < len(a) && j < len(b) && a[i] == b[j] {
		if a[i] != '"' {
			i, j = x.space(i+1), y.space(j+1)
			continue
		}
		m, _, err1 := x.text(i + 1)
		n, _, err2 := y.text(j + 1)
		if err1 != nil || err2 != nil || !sameText(a[i:m], b[j:n]) {
			return false
		}
		i, j = x.space(m), y.space(n)
	}
	return i == len(a) && j == len(b)
}

// sameText compares two string literals.
func sameText(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, _ := wire.Text(a)
	y, _ := wire.Text(b)
	return bytes.Equal(x, y)
}
