package project

import (
	"bytes"
	"fmt"
	"strings"

	"heddle/internal/wire"
)

// kindNames are how kinds of values are called.
var kindNames = [kinds]string{"null", "bool", "int", "float", "string", "array", "object"}

// describe says what is known of the values of s, behind the name of their key.
func (s *shape) describe(chars int) string {
	if s.n == 0 {
		return ": nothing"
	}
	scalars := s.n - s.kinds[kindArray] - s.kinds[kindObject]
	if s.n == 1 && scalars == 1 {
		return " = " + literal(s.first, max(chars, 8))
	}
	var parts []string
	if s.kinds[kindObject] > 0 {
		if s.each != nil {
			parts = append(parts, s.asMap())
		} else {
			parts = append(parts, s.times(kindObject, "object"))
		}
	}
	if s.kinds[kindArray] > 0 {
		parts = append(parts, s.times(kindArray, s.array("array")+s.firsts(chars)))
	}
	if scalars > s.kinds[kindNull] {
		parts = append(parts, s.values(chars))
	}
	if n := s.kinds[kindNull]; n == s.n {
		parts = append(parts, "null")
	} else if n > 0 {
		parts = append(parts, fmt.Sprintf("null ×%d", n))
	}
	return ": " + strings.Join(parts, " | ")
}

// times adds how many of the values are of kind, where they are of several.
func (s *shape) times(kind int, text string) string {
	if n := s.kinds[kind]; n+s.kinds[kindNull] < s.n {
		return fmt.Sprintf("%s ×%d", text, n)
	}
	return text
}

// asMap describes an object whose keys are data.
func (s *shape) asMap() string {
	text := fmt.Sprintf("map of %d %s", s.keys, s.each.plural(s.keys != 1))
	if n := s.kinds[kindObject]; n > 1 {
		text = fmt.Sprintf("maps, %d keys in all, of %s", s.keys, s.each.plural(true))
	}
	var keys []string
	for _, k := range s.some[:min(3, len(s.some))] {
		keys = append(keys, `"`+show(k, 40)+`"`)
	}
	text += ", keys " + strings.Join(keys, ", ")
	if s.keys > len(keys) {
		text += ", …"
	}
	if s.each.main() <= kindString && s.each.first != nil {
		text += " → " + s.each.values(24)
	}
	return text
}

// array describes arrays by length and items.
func (s *shape) array(word string) string {
	if s.items == nil { // deeper than shapes go
		return word
	}
	length := fmt.Sprint(s.shortest)
	if s.most > s.shortest {
		length += ".." + fmt.Sprint(s.most)
	}
	if s.items.n == 0 {
		return "empty " + word
	}
	if s.items.each != nil && s.items.n == s.items.kinds[kindObject] {
		return fmt.Sprintf("%s of %s: %s", word, length, s.items.asMap())
	}
	items := s.items.plural(s.most != 1)
	if s.n == 1 && s.items.mixed() {
		items = "items: " + s.items.tally("object")
	}
	return fmt.Sprintf("%s of %s %s", word, length, items)
}

// mixed reports whether there are objects and other values.
func (s *shape) mixed() bool { n := s.kinds[kindObject]; return n > 0 && n < s.n }

// tally counts values by their kinds, the objects first; object is the word for
// them where there is nothing else.
func (s *shape) tally(object string) string {
	if !s.mixed() {
		return count(s.n, object)
	}
	var list []string
	for k := kinds - 1; k >= 0; k-- {
		if n := s.kinds[k]; n > 0 {
			list = append(list, count(n, kindNames[k]))
		}
	}
	return strings.Join(list, ", ")
}

// plural says what many values are.
func (s *shape) plural(many bool) string {
	var names []string
	for k, n := range s.kinds {
		if n == 0 || k == kindNull && s.n > n {
			continue
		}
		name := kindNames[k]
		if k == kindObject && s.each != nil {
			name = "map"
		}
		if many && k != kindNull {
			name += "s"
		}
		if k == kindArray {
			name = s.array(name)
		}
		names = append(names, name)
	}
	return strings.Join(names, "/")
}

// types is the short form of describe: the kinds alone.
func (s *shape) types() string {
	var names []string
	for k, n := range s.kinds {
		if n == 0 {
			continue
		}
		name := kindNames[k]
		if k == kindArray && s.items != nil {
			name = s.items.types() + "[]"
		}
		names = append(names, name)
	}
	return strings.Join(names, "|")
}

// values describes scalars: their kinds, range and how many differ.
func (s *shape) values(chars int) string {
	if s.seen == nil || s.seen.n == 1 {
		if s.n-s.kinds[kindNull] > 1 {
			return "always " + literal(s.first, max(chars, 8))
		}
		return literal(s.first, max(chars, 8))
	}
	var names []string
	for k := kindBool; k <= kindString; k++ {
		if s.kinds[k] > 0 && !(k == kindInt && s.kinds[kindFloat] > 0) {
			names = append(names, kindNames[k])
		}
	}
	text := strings.Join(names, "|")
	if s.lo != nil {
		text += " " + show(s.lo, 40)
		if !bytes.Equal(s.lo, s.hi) {
			text += ".." + show(s.hi, 40)
		}
		if s.kinds[kindString]+s.kinds[kindBool] == 0 {
			return text
		}
	}
	return text + s.examples(chars)
}

// examples lists values: all with their counts where they are few.
func (s *shape) examples(chars int) string {
	d := s.seen
	chars = min(chars, 40)
	var list []string
	few := d.slots == nil && d.n <= fewValues && s.kinds[kindString]+s.kinds[kindBool] > d.n
	for i, v := range d.values {
		if chars < 12 {
			break
		}
		if few {
			list = append(list, fmt.Sprintf("%s ×%d", literal(v, chars), d.counts[i]))
		} else if i < 2 {
			list = append(list, literal(v, chars))
		}
	}
	if few && chars >= 12 {
		return ": " + strings.Join(list, ", ")
	}
	n := fmt.Sprint(d.n)
	if d.over {
		n = "over " + n
	}
	if len(list) == 0 {
		return fmt.Sprintf(", %s distinct", n)
	}
	return fmt.Sprintf(", %s distinct: %s, …", n, strings.Join(list, ", "))
}

// untyped is values behind a word that says the types.
func (s *shape) untyped(chars int) string {
	text := s.values(chars)
	end := strings.IndexAny(text, " ,:")
	if s.seen == nil || s.seen.n == 1 || end < 0 {
		return ": " + text
	}
	return text[end:]
}

// firsts shows the first items of an array of scalars.
func (s *shape) firsts(chars int) string {
	if s.items == nil {
		return ""
	}
	if chars == 0 || s.items.n == 0 || s.items.main() > kindString || s.n > 1 && s.items.seen != nil && s.items.seen.n > 1 {
		if chars > 0 && s.items.n > 0 && s.items.main() <= kindString {
			return s.items.untyped(min(chars, 24))
		}
		return ""
	}
	var list []string
	for _, v := range s.sample[:min(3, len(s.sample))] {
		if v[0] == '{' || v[0] == '[' {
			return ""
		}
		list = append(list, literal(v, min(chars, 40)))
	}
	text := ": " + strings.Join(list, ", ")
	if s.items.n > len(list) {
		text += ", …"
	}
	return text
}

// literal shows a scalar as written; of a long string the beginning and its
// length.
func literal(lit []byte, chars int) string {
	if len(lit) == 0 {
		return "nothing"
	}
	if lit[0] != '"' {
		if len(lit) > 200 { // no number that anybody computes with
			return fmt.Sprintf("%s… (%d digits)", lit[:40], len(lit))
		}
		return string(lit)
	}
	n := stringChars(lit)
	if n <= chars+12 && len(lit) < 400 {
		if strings.IndexByte(string(lit), 0x7f) < 0 && !strings.Contains(string(lit), `\u`) {
			return show(lit, len(lit))
		}
	}
	part := lit
	if len(part) > 8*chars+16 {
		part = part[:8*chars+16]
		for k := 1; k <= 12; k++ { // no half of an escape
			if part[len(part)-k] == '\\' {
				part = part[:len(part)-k]
				break
			}
		}
		for len(part) > 1 && part[len(part)-1] == '\\' {
			part = part[:len(part)-1]
		}
		part = append(append([]byte{}, part...), '"')
	}
	text, ok := wire.Unquote(part)
	if !ok {
		return fmt.Sprintf("string of %d chars", n)
	}
	text = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, `"`, `\"`).Replace(text)
	runes := []rune(text)
	if n <= chars+12 {
		return `"` + show([]byte(text), maxLine/4) + `"`
	}
	return fmt.Sprintf(`"%s…" (%d chars)`, show([]byte(string(runes[:min(chars, len(runes))])), chars), n)
}

// stringChars counts the characters that a string literal stands for.
func stringChars(lit []byte) int {
	n := 0
	for i := 1; i < len(lit)-1; {
		switch c := lit[i]; {
		case c == '\\' && lit[i+1] == 'u':
			i += 6
			if i+1 < len(lit) && lit[i] == '\\' && lit[i+1] == 'u' && (lit[i-4] == 'd' || lit[i-4] == 'D') && lit[i-3] >= '8' {
				i += 6 // the second half of one character
			}
		case c == '\\':
			i += 2
		default:
			for i++; i < len(lit)-1 && lit[i]&0xC0 == 0x80; i++ {
			}
		}
		n++
	}
	return n
}
