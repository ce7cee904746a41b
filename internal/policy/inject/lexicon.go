package inject

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/internal/policy/inject/normal"
)

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// entry is a word or a phrase of a lexicon.
type entry struct {
	text   string // folded; a space is any gap
	means  concepts
	bound  bool // ends where a word ends
	stem   bool // may go on to the end of the word
	line   bool // begins a line
	within bool // stands within a word: @
}

// readLexicon reads all languages. Words that are given twice have both meanings.
func readLexicon() ([]entry, error) {
	files, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		return nil, err
	}
	means := map[string]concepts{}
	for _, f := range files {
		b, err := lexiconFiles.ReadFile("lexicon/" + f.Name())
		if err != nil {
			return nil, err
		}
		for n, line := range strings.Split(string(b), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			name, list, ok := strings.Cut(line, ": ")
			concept := conceptNames[name]
			if !ok || concept == 0 {
				return nil, fmt.Errorf("lexicon/%s:%d: no concept %q", f.Name(), n+1, name)
			}
			for _, w := range strings.Split(list, ", ") {
				for _, w := range spellings(f.Name(), w) {
					means[w] |= concept
				}
			}
		}
	}
	entries := make([]entry, 0, len(means))
	for w, c := range means {
		e, err := newEntry(w, c)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.text, b.text) })
	return entries, nil
}

// spellings returns how a word of a file may be written.
func spellings(file, w string) []string {
	out := []string{w}
	if file == "zh.txt" {
		if t := traditional(w); t != w {
			out = append(out, t)
		}
	}
	for i, w := range out {
		out[i] = normal.Normalise(w).Folded
	}
	return out
}

func newEntry(w string, means concepts) (entry, error) {
	if means&marker != 0 {
		return entry{text: w, means: means}, nil
	}
	e := entry{means: means, line: means&turn != 0, within: w == "@"}
	text, stem := strings.CutSuffix(w, "*")
	e.text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), " ")
	if e.text == "" {
		return e, fmt.Errorf("lexicon: %q is no word", w)
	}
	last, _ := utf8.DecodeLastRuneInString(e.text)
	e.bound = bounded(last) && !stem
	e.stem = bounded(last) && stem
	return e, nil
}
