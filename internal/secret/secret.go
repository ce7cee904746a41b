// Package secret finds credentials in text and in JSON, and masks them.
//
// It knows three kinds. A credential of a provider has a form of its own: a prefix, an
// alphabet, a length (rules.go, shape.go, forms.go). A keyed one is told by the name
// before it: password = …, "api_key": "…", --token … (keyname.go says what names mean,
// keyed.go finds what stands behind them, value.go judges it). The rest stands in a
// place: the password of a URL, a block of PEM, a line of /etc/shadow. What looks random
// is no secret for that reason alone: results are full of digests and identifiers.
//
// A scan is one pass of an Aho–Corasick automaton; all else happens near its hits
// (scan.go), and costs a bounded number of steps each. Placeholders are left alone, also
// the one that masking leaves behind.
//
// The package never keeps, logs or returns a value: a [Finding] is a place. It cannot
// know a secret without form or name; those of the configuration are known by value, and
// masked by who knows them. Start at [Find] and [FindJSON].
package secret

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"
)

// Redacted stands in place of each secret that was masked.
const Redacted = "[redacted]"

// Finding is a place where a secret is. It does not hold the secret.
type Finding struct {
	// Rule says what it was found by: the name of a provider or of a form.
	Rule string
	// Start and End are the place of the secret in the bytes that were searched.
	Start, End int
	// Pointer is the JSON pointer of the text that it is in, "" in free text.
	Pointer string

	// quotes is how deep in strings the JSON is whose number this is, and 1 where it is
	// in none; 0 for what has its quotes.
	quotes int
}

// mask is what stands in place of the finding: a number becomes a string.
func (f *Finding) mask() string {
	if f.quotes == 0 {
		return Redacted
	}
	quote := `"`
	for range f.quotes - 1 {
		quote = strings.ReplaceAll(strings.ReplaceAll(quote, `\`, `\\`), `"`, `\"`)
	}
	return quote + Redacted + quote
}

// Find returns the secrets in free text: prose, code, logs, errors, settings. They are
// in order and do not overlap.
func Find(text string) []Finding {
	return find(text, 0)
}

// FindValue returns the secrets in text that is the value of something called name: a
// variable, a header, a member. The name counts as in `name = text`.
func FindValue(name, text string) []Finding {
	s := scan{text: text}
	s.run()
	s.value(keyLevel(name), 0, len(text), exact)
	return s.sorted()
}

// Mask returns the text with [Redacted] in place of each secret, and the text itself
// where there is none.
func Mask(text string) string {
	if nested(text) {
		if out, found := MaskJSON(unsafe.Slice(unsafe.StringData(text), len(text))); len(found) > 0 {
			text = string(out)
		}
	}
	for range rounds {
		found := Find(text)
		if len(found) == 0 {
			break
		}
		text = replace(text, found)
	}
	return text
}

// rounds bounds how often masking looks again. What a secret was glued to may be told
// as one only once it stands alone; after the second round nothing is left but in
// texts made for it.
const rounds = 4

func replace(text string, found []Finding) string {
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start])
		b.WriteString(f.mask())
		at = f.End
	}
	b.WriteString(text[at:])
	return b.String()
}

// merge sorts findings and joins those that overlap. The rule of the longer one stays.
func merge(found []Finding) []Finding {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := found[:1]
	for _, f := range found[1:] {
		last := &out[len(out)-1]
		if f.Start >= last.End {
			out = append(out, f)
			continue
		}
		if f.End-f.Start > last.End-last.Start {
			last.Rule = f.Rule
		}
		last.End = max(last.End, f.End)
	}
	return out
}
