package capture

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle"
)

const (
	queryMost = 256 // runes
	wordsMost = 16
)

// query is what is looked for, folded.
type query struct {
	// phrases are the query as a whole: as it stands, and, if that is another, with
	// the escapes of JSON decoded. As the text is decoded too, one finds what a
	// reader of the value types and the other what was copied from the raw text.
	phrases [][]byte
	// words are its parts; nil if they are no other than the phrase.
	words [][]byte
}

// parse folds a query and takes it apart.
func parse(text string, f *folder) (query, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return query{}, badQuery("The query is empty: give words of what you look for, or leave query out to read page by page.")
	case utf8.RuneCountInString(text) > queryMost:
		return query{}, badQuery("The query is over 256 characters: give a few words of what you look for.")
	}
	json := f.json
	defer func() { f.json = json }()
	f.json = true
	decoded := bytes.TrimSpace(bytes.Clone(f.fold([]byte(text))))
	// As it stands: a backslash is one.
	plain := folder{}
	asIs := plain.fold([]byte(text))
	q := query{phrases: [][]byte{bytes.Clone(asIs)}}
	if len(decoded) > 0 && !bytes.Equal(decoded, asIs) {
		q.phrases = append(q.phrases, decoded)
	}
	q.words = words(string(decoded))
	if len(q.words) == 1 && string(q.words[0]) == string(q.phrases[0]) {
		q.words = nil
	}
	return q, nil
}

func badQuery(public string) error {
	return &heddle.Error{Kind: heddle.KindInvalidQuery, Op: "capture.search", Public: public}
}

// script is how words are told apart.
type script int8

const (
	none   script = iota // between words
	spaced               // words have something between them
	dense                // Chinese and Hiragana: no spaces, so pairs of runes stand for words
	kana                 // Katakana: a run is a word
)

func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return spaced
		}
		return none
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return kana
	case unicode.In(r, unicode.Han, unicode.Hiragana):
		return dense
	case unicode.In(r, unicode.L, unicode.N, unicode.M):
		return spaced
	}
	return none
}

// words returns the different words of a folded query, at most wordsMost. Single
// letters and digits of spaced scripts are left out if there is anything else.
func words(text string) [][]byte {
	var all, single [][]byte
	add := func(list *[][]byte, w string) {
		if !slices.ContainsFunc(*list, func(o []byte) bool { return string(o) == w }) {
			*list = append(*list, []byte(w))
		}
	}
	flush := func(run string, s script) {
		n := utf8.RuneCountInString(run)
		switch {
		case n == 0 || s == none:
		case s == dense && n > 2:
			for rest := run; utf8.RuneCountInString(rest) >= 2; {
				_, first := utf8.DecodeRuneInString(rest)
				_, second := utf8.DecodeRuneInString(rest[first:])
				add(&all, rest[:first+second])
				rest = rest[first:]
			}
		case n == 1 && s == spaced:
			add(&single, run)
		default:
			add(&all, run)
		}
	}
	start, now := 0, none
	for i, r := range text {
		if s := scriptOf(r); s != now {
			flush(text[start:i], now)
			start, now = i, s
		}
	}
	flush(text[start:], now)
	if len(all) == 0 {
		all = single
	}
	return all[:min(len(all), wordsMost)]
}
