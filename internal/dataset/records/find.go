package records

import (
	"bytes"
	"fmt"
	"slices"
)

// minMain is how many records make a table: one is a document.
const minMain = 2

// maxResidue is how long a text may be beside the table of structuredContent to be
// shown; a longer one is named.
const maxResidue = 1000

// Find looks for records. If there are none, why says so in a few words for a model:
// "JSON without an array of objects".
func Find(in Input) (found Found, why string) {
	text, isText := onlyText(in.Structured)
	structured := &document{}
	if len(in.Structured) > 0 && !isText {
		d, err := read(in.Structured, "structuredContent", "$")
		if err == nil {
			structured = d
			if found, why = choose(d); why == "" {
				addTexts(&found, in)
				return found, ""
			}
		}
	}
	texts := slices.DeleteFunc(slices.Clone(in.Texts), func(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 })
	found, textWhy := findText(texts)
	if textWhy == "" {
		structured.tablesAsOthers()
		structured.add(&found)
		return found, ""
	}
	if isText && !bytes.Equal(bytes.TrimSpace(text), bytes.TrimSpace(join(texts))) {
		if found, why = findText([][]byte{text}); why == "" {
			addTexts(&found, in)
			return found, ""
		}
	}
	if len(texts) > 0 || why == "" {
		why = textWhy
	}
	return Found{}, why
}

// findText looks for records in the blocks of text.
func findText(texts [][]byte) (Found, string) {
	if len(texts) == 0 {
		return Found{}, "no text"
	}
	found, why := findJSON(texts)
	if why != noJSON {
		return found, why
	}
	return findPlain(join(texts))
}

// join puts blocks of text into one, without a copy where there is only one.
func join(texts [][]byte) []byte {
	if len(texts) == 1 {
		return texts[0]
	}
	return bytes.Join(texts, []byte("\n"))
}

// choose makes the largest table of the documents the main one.
func choose(docs ...*document) (found Found, why string) {
	var tables []Table
	for _, d := range docs {
		tables = append(tables, d.tables...)
	}
	if len(tables) == 0 {
		return found, "JSON without an array of objects"
	}
	main := slices.MaxFunc(tables, func(a, b Table) int {
		if a.Count != b.Count {
			return a.Count - b.Count
		}
		return len(a.Data) - len(b.Data)
	})
	if main.Count < minMain {
		return found, "JSON with single records only"
	}
	if why := main.limit(); why != "" {
		return found, why
	}
	found.Main = main
	for _, t := range tables {
		switch {
		case &t.Data[0] == &main.Data[0]:
		case t.Count >= MinSibling && t.limit() == "":
			found.Siblings = append(found.Siblings, t)
		default:
			found.Others = append(found.Others, t.part())
		}
	}
	for _, d := range docs {
		d.add(&found)
	}
	return found, ""
}

// limit says which limit the table exceeds, "" if none that shows before it is read.
func (t *Table) limit() string {
	switch {
	case t.Count > MaxRows:
		return fmt.Sprintf("%d records, more than %d", t.Count, MaxRows)
	case len(t.Data) > MaxBytes:
		return fmt.Sprintf("records of %d MB, more than %d", len(t.Data)>>20, MaxBytes>>20)
	}
	return ""
}

// part names a table that does not become one.
func (t *Table) part() Part { return Part{t.Path, "array of " + counted(t.Count, "object")} }

// tablesAsOthers names the tables of a document that another channel outdid.
func (d *document) tablesAsOthers() {
	for _, t := range d.tables {
		d.other(t.part())
	}
}

// addTexts keeps what the blocks of text say beside a table of structuredContent,
// unless they say the same.
func addTexts(found *Found, in Input) {
	if len(in.Texts) == found.Main.Count {
		same := true // a block a record
		for _, t := range in.Texts {
			same = same && isJSON(t)
		}
		if same {
			return
		}
	}
	for i, t := range in.Texts {
		t = bytes.TrimSpace(t)
		switch {
		case len(t) == 0, sameJSON(t, in.Structured), sameJSON(t, found.Main.Data):
		case len(t) <= maxResidue:
			found.addResidue(t)
		default:
			found.Others = append(found.Others, Part{fmt.Sprintf("text %d", i+1), fmt.Sprintf("text of %d bytes", len(t))})
		}
	}
}

// addResidue adds text from around a table.
func (f *Found) addResidue(text []byte) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return
	}
	if f.Residue != "" {
		f.Residue += "\n"
	}
	f.Residue += string(text)
}
