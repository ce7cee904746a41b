package search

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	//go:embed verbs.txt
	verbGroups string
	//go:embed short.txt
	shortForms string
	//go:embed chinese.txt
	chineseWords string
)

// lexicon is what the package knows of words. It is immutable.
type lexicon struct {
	verbs   map[string][]string   // by term: what tool authors swap it with
	short   map[string][]string   // by term: what it is short or long for
	chinese map[string][][]string // by Chinese word: terms, each with those that stand for the same
	longest int                   // Chinese word, in characters
}

// readLexicon reads the word lists for an index whose terms are made by signals.
func readLexicon(signals Signals) *lexicon {
	l := &lexicon{verbs: map[string][]string{}, short: map[string][]string{}, chinese: map[string][][]string{}}
	for words := range lines(verbGroups) {
		group := signals.all(words)
		for _, t := range group {
			l.verbs[t] = append(l.verbs[t], group...)
		}
	}
	for words := range lines(shortForms) {
		group := signals.all(words)
		for _, long := range group[1:] {
			l.short[group[0]] = append(l.short[group[0]], long)
			l.short[long] = append(l.short[long], group[0])
		}
	}
	for line := range lines(chineseWords) {
		chinese, english, _ := strings.Cut(line, ":")
		var terms [][]string
		for w := range strings.FieldsSeq(english) {
			if same := signals.all(strings.ReplaceAll(w, "/", " ")); len(same) > 0 {
				terms = append(terms, same)
			}
		}
		for w := range strings.FieldsSeq(chinese) {
			l.chinese[w] = terms
			l.longest = max(l.longest, utf8.RuneCountInString(w))
		}
	}
	return l
}

// lines yields the lines of a word list that hold words.
func lines(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(list) {
			line = strings.TrimSpace(line)
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// all returns the terms of words apart by spaces, each once.
func (s Signals) all(words string) []string {
	var terms []string
	for w := range strings.FieldsSeq(words) {
		if t := s.term(w); t != "" && !slices.Contains(terms, t) {
			terms = append(terms, t)
		}
	}
	return terms
}
