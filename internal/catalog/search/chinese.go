package search

import (
	"strings"
	"unicode/utf8"
)

// unspaced asks for the words of a text without spaces: for each pair of
// characters that the index knows, and for what its Chinese words mean in
// English. A text that is neither says that nothing answers it.
func (r *reader) unspaced(run string) {
	known := false
	bigrams(run, func(pair string) {
		if r.x.find(pair) >= 0 {
			r.ask(pair)
			known = true
		}
	})
	if r.x.signals&Chinese == 0 {
		return
	}
	r.x.words.cut(run, func(w string, means [][]string) {
		for _, same := range means {
			r.translated(same)
		}
		if means == nil && !known {
			r.ask(w)
		}
	})
}

// translated asks for one meaning of a Chinese word, by the English terms that
// stand for it. It is as much of the query as the most common of them.
func (r *reader) translated(same []string) {
	a := r.ask(same[0])
	if a == nil {
		return
	}
	a.add(r.x, same[1:], chineseRate)
	for _, m := range a.by {
		a.mass = min(a.mass, r.x.idf(m.term))
	}
}

// fillers are characters of Chinese that say nothing about a tool.
const fillers = "的了我你他她它们把被在是请帮给用一这那个和与及或到从为对向中里上下有并且让将以及吧吗呢想要能会可就都也还某些所后前进行出来去"

// cut yields the Chinese words of a text, the longest first at each place, with
// what they mean; what is between them has no meaning, and fillers are left out.
func (l *lexicon) cut(text string, yield func(w string, means [][]string)) {
	between := ""
	flush := func() {
		if between != "" {
			yield(between, nil)
		}
		between = ""
	}
	for text != "" {
		w, means := l.first(text)
		_, size := utf8.DecodeRuneInString(text)
		switch {
		case w != "":
			flush()
			yield(w, means)
			size = len(w)
		case strings.Contains(fillers, text[:size]):
			flush()
		default:
			between += text[:size]
		}
		text = text[size:]
	}
	flush()
}

// first returns the longest Chinese word that a text starts with; "" if it
// starts with none.
func (l *lexicon) first(text string) (w string, means [][]string) {
	end := 0
	for range l.longest {
		if end == len(text) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
		if m, ok := l.chinese[text[:end]]; ok {
			w, means = text[:end], m
		}
	}
	return w, means
}
