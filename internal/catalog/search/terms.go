package search

import "strings"

// Terms returns the terms of a text in order: lower case, stemmed, without stop
// words, Chinese, Japanese and Korean as pairs of neighbouring characters.
// Identifiers that differ in spelling alone (createIssue, create-issues) have
// the same terms.
func Terms(text string) []string {
	var terms []string
	one := func(term string) {
		if term != "" {
			terms = append(terms, term)
		}
	}
	runs(text, func(run string, class int) {
		if class == unspaced {
			bigrams(run, one)
			return
		}
		parts := parts(run)
		if len(parts) == 0 {
			parts = []string{run}
		}
		for _, p := range parts {
			one(All.term(p))
		}
	})
	return terms
}

// maxStem is the longest word, in bytes, that is stemmed; a longer one is no word.
const maxStem = 40

// term normalises a word; "" for a stop word.
func (s Signals) term(w string) string {
	w = strings.ToLower(w)
	if isStop(w) {
		return ""
	}
	if s&Stems == 0 || len(w) > maxStem {
		return w
	}
	return stem(w)
}

// isStop reports whether w is a word that says nothing about a tool.
func isStop(w string) bool {
	switch w {
	case "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
		"could", "did", "do", "does", "e", "each", "etc", "for", "from", "g", "had", "has", "have", "how", "i", "if",
		"in", "into", "is", "it", "its", "let", "like", "may", "me", "my", "need", "no", "not", "of", "on", "one",
		"only", "or", "our", "out", "please", "s", "should", "so", "some", "something", "such", "t", "than", "that",
		"the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "tool", "tools", "up", "us",
		"use", "used", "uses", "using", "want", "was", "we", "were", "what", "when", "where", "which", "who", "will",
		"with", "would", "you", "your":
		return true
	}
	return false
}
