package project

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// apart returns for each of texts where it begins to differ from what is most
// like it, but for what varies in all: cut before that, both would look the same.
func apart(texts [][]byte) []int {
	forms := make([]form, len(texts))
	order := make([]int, len(texts))
	for i, t := range texts {
		forms[i], order[i] = formOf(t), i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(forms[a].text, forms[b].text) })
	at := make([]int, len(texts))
	for k := 1; k < len(order); k++ {
		i, j := order[k-1], order[k]
		n := len(prefix(forms[i].text, forms[j].text))
		if n == len(forms[i].text) && n == len(forms[j].text) {
			continue // nothing tells them apart
		}
		at[i], at[j] = max(at[i], forms[i].at(n)), max(at[j], forms[j].at(n))
	}
	for i, t := range texts { // from the word's beginning, or the character's
		for n := 0; at[i] > 0 && n < 20 && alnum(t[at[i]-1]); n++ {
			at[i]--
		}
		for at[i] > 0 && at[i] < len(t) && !utf8.RuneStart(t[at[i]]) {
			at[i]--
		}
	}
	return at
}

// form is a text in which one byte stands for what varies.
type form struct {
	text  []byte
	slots []slot
}

func formOf(text []byte) form {
	var f form
	text = text[:min(len(text), 2048)]
	_, f.slots = mask(text, nil)
	from := int32(0)
	for _, s := range f.slots {
		f.text = append(append(f.text, text[from:s.start]...), 0)
		from = s.end
	}
	f.text = append(f.text, text[from:]...)
	return f
}

// at returns where in the text the n-th byte of its form is.
func (f form) at(n int) int {
	for _, s := range f.slots {
		if int(s.start) >= n {
			break
		}
		n += int(s.end-s.start) - 1
	}
	return n
}

// prefix returns what a and b begin with.
func prefix(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// cutApart shows each of texts in at most that many characters, such that those
// that differ look different: where the beginning and what tells a text apart from
// its nearest are not enough, what tells it apart from those that look like it.
func cutApart(texts [][]byte, chars int) []string {
	out := make([]string, len(texts))
	all := make([]int, len(texts))
	for i := range texts {
		all[i] = i
	}
	const rounds = 3
	groups := [][]int{all}
	for range rounds {
		for _, g := range groups {
			some := make([][]byte, len(g))
			for k, i := range g {
				some[k] = texts[i]
			}
			for k, at := range apart(some) {
				out[g[k]] = around(some[k], chars, at)
			}
		}
		if groups = lookalikes(out); len(groups) == 0 {
			break
		}
	}
	return out
}

// lookalikes returns the indexes of texts that are the same but for what varies
// and how much was cut, group by group.
func lookalikes(texts []string) (groups [][]int) {
	at := map[string][]int{}
	keys := make([]string, len(texts))
	for i, t := range texts {
		keys[i] = string(formOf([]byte(t)).text)
		at[keys[i]] = append(at[keys[i]], i)
	}
	for i := range texts {
		if g := at[keys[i]]; len(g) > 1 && g[0] == i {
			groups = append(groups, g)
		}
	}
	return groups
}

// around shows at most chars characters of text: its beginning, and what begins at
// the byte that tells it apart where that would be cut off. In little room there
// is no beginning.
func around(text []byte, chars, at int) string {
	least := min(24, chars*2/3) // characters of what tells it apart
	if utf8.RuneCount(text) <= chars || utf8.RuneCount(text[:at])+least <= chars {
		return show(text, chars)
	}
	if chars < 30 {
		return "…" + show(text[at:], chars)
	}
	head, _, _ := strings.Cut(show(text, chars/3), "… (+")
	return head + "… " + show(text[at:], chars-chars/3)
}
