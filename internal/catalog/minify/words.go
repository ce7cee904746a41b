package minify

import (
	"slices"
	"strings"
	"unicode"
)

// repeats reports whether a short text says no more than the words of names.
func repeats(text string, names ...string) bool {
	said := words(text)
	if len(said) == 0 || len(said) > 12 {
		return false
	}
	known := map[string]bool{}
	var short []string // such as repo, for repository
	for _, name := range names {
		for _, w := range words(name) {
			known[stem(w)] = true
			if w == "identifier" {
				known["id"] = true
			}
			if len(w) >= 3 {
				short = append(short, w)
			}
		}
	}
	if len(known) == 0 {
		return false
	}
	for _, w := range said {
		if !known[stem(w)] && !idle(w) && !slices.ContainsFunc(short, func(s string) bool { return strings.HasPrefix(w, s) }) {
			return false
		}
	}
	return true
}

// idle reports whether a word says nothing by itself.
func idle(word string) bool {
	switch word {
	case "the", "a", "an", "of", "for", "to", "this", "that", "is", "be", "in", "on", "its", "it", "your", "you", "which", "with", "from", "by", "and", "s",
		"parameter", "param", "field", "value", "property", "argument", "optional", "required", "given", "specified", "specify", "specifies", "provide",
		"used", "use", "set", "name", "associated", "whose", "where",
		"when", "was", "were", "at", "has", "been", "or", "unique", "identifier", "entity", "item", "object", "target", "resource", "path", "segment", "list", "details", "information",
		"indicates", "whether", "identifies", "represents", "defines", "defined", "collection", "array", "specific", "particular", "corresponding":
		return true
	}
	return false
}

// stem cuts a plural.
func stem(word string) string { return strings.TrimSuffix(word, "s") }

// words returns the words of a name or text in lower case; camelCase is two.
func words(text string) []string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	return strings.Fields(b.String())
}
