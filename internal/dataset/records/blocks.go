package records

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// pair is a line "key: value" of a record.
type pair struct {
	key   string
	value []byte // nil is null
}

// recordTable makes a table of records, with a column a key in the order in which the
// keys came. It is none if fewer than nine of ten have the same keys.
func recordTable(records [][]pair) (t Table, ok bool) {
	columns, header := map[string]int{}, []string{}
	alike, most := map[string]int{}, 0
	same := ""
	for n, r := range records {
		if n == 0 || !slices.EqualFunc(r, records[n-1], func(a, b pair) bool { return a.key == b.key }) {
			keys := make([]string, len(r))
			for i, p := range r {
				if _, known := columns[p.key]; !known {
					columns[p.key] = len(header)
					header = append(header, p.key)
				}
				keys[i] = p.key
			}
			slices.Sort(keys)
			if len(slices.Compact(slices.Clone(keys))) < len(keys) {
				return t, false
			}
			same = strings.Join(keys, "\n")
		}
		alike[same]++
		most = max(most, alike[same])
	}
	if len(records) < minText || most*10 < len(records)*9 || len(header) < 2 {
		return t, false
	}
	var w cellWriter
	w.header(header)
	cells := make([][]byte, len(header))
	for _, r := range records {
		clear(cells)
		for _, p := range r {
			cells[columns[p.key]] = p.value
		}
		w.row(cells...)
	}
	return w.table(sourceBlocks), true
}

// numberLine starts a numbered record, with its first pair or with its title.
var numberLine = regexp.MustCompile(`^\s*(?:#{1,4} )?#?(\d{1,6})[.):]\s+(\S.*)$`)

// maxKey is how many bytes a key may have; what is longer is a sentence.
const maxKey = 60

// pairIn reads a line as "key: value", which may be an item of a list and have its key
// in bold.
func pairIn(text []byte) (p pair, ok bool) {
	text = bytes.TrimLeft(text, " \t")
	if bytes.HasPrefix(text, []byte("- ")) || bytes.HasPrefix(text, []byte("* ")) {
		text = text[2:]
	}
	key, value, found := bytes.Cut(text, []byte(":"))
	if !found || len(key) > maxKey {
		return p, false
	}
	if bold, isBold := bytes.CutPrefix(key, []byte("**")); isBold {
		if key = bytes.TrimSuffix(bold, []byte("**")); len(key) == len(bold) {
			value, isBold = bytes.CutPrefix(value, []byte("**"))
		}
		if !isBold {
			return p, false
		}
	}
	if len(value) > 0 && value[0] != ' ' && value[0] != '\t' {
		return p, false
	}
	key = bytes.TrimRight(key, " \t")
	return pair{string(key), emptyNull(bytes.TrimLeft(value, " \t"))}, isKey(key)
}

// isKey reports whether text may be a key: it starts with a letter, and has no more
// than what names have.
func isKey(text []byte) bool {
	for i, r := range string(text) {
		switch {
		case r == '_', unicode.IsLetter(r):
		case i == 0 || !unicode.IsDigit(r) && !strings.ContainsRune(" ./()#-", r):
			return false
		}
	}
	return len(text) > 0
}

// blocks finds records that are blocks of "key: value" lines, separated by empty lines
// or numbered from 1.
func blocks(p *page) (m match, ok bool) {
	if m, ok = numberedBlocks(p); ok {
		return m, true
	}
	return separateBlocks(p)
}

// separator reports whether a line is between two blocks.
func (l line) separator() bool {
	t := bytes.TrimSpace(l.text)
	return len(t) == 0 || len(t) >= 3 && len(bytes.Trim(t, "-=")) == 0
}

// maxPairs is how many lines a block may have.
const maxPairs = 200

// paragraph is lines without an empty one, and what they say as a record.
type paragraph struct {
	from, to int
	pairs    []pair // nil if it is none
}

// paragraphs splits a text at empty lines.
func (p *page) paragraphs() (all []paragraph) {
	var pairs []pair // of one; most are no records
	for i := 0; i < len(p.lines); {
		if p.lines[i].separator() {
			i++
			continue
		}
		b, good := paragraph{from: i}, true
		pairs = pairs[:0]
		for ; i < len(p.lines) && !p.lines[i].separator(); i++ {
			// What is indented more belongs to the line above: that is no flat record.
			if good = good && len(pairs) < maxPairs && indent(p.lines[i].text) == indent(p.lines[b.from].text); good {
				var pair pair
				pair, good = pairIn(p.lines[i].text)
				pairs = append(pairs, pair)
			}
		}
		if b.to = i; good && len(pairs) >= 2 {
			b.pairs = slices.Clone(pairs)
		}
		all = append(all, b)
	}
	return all
}

// usualKeys are those that most records have. What has none of them is no record.
// records is how many there are that might be.
func usualKeys(all []paragraph) (usual map[string]bool, records int) {
	count := map[string]int{}
	for _, b := range all {
		if b.pairs != nil {
			records++
		}
		for _, p := range b.pairs {
			count[p.key]++
		}
	}
	usual = map[string]bool{}
	for key, n := range count {
		usual[key] = 2*n > records
	}
	return usual, records
}

// separateBlocks finds blocks with empty lines between them. Paragraphs before the
// first and after the last record are text around the table; amidst them they are
// malformed.
func separateBlocks(p *page) (m match, ok bool) {
	all := p.paragraphs()
	usual, possible := usualKeys(all)
	isRecord := func(b paragraph) bool {
		return slices.ContainsFunc(b.pairs, func(p pair) bool { return usual[p.key] })
	}
	for len(all) > 0 && !isRecord(all[0]) {
		all = all[1:]
	}
	for len(all) > 0 && !isRecord(all[len(all)-1]) {
		all = all[:len(all)-1]
	}
	if len(all) == 0 || len(all)*10 < possible*9 {
		return m, false
	}
	records := make([][]pair, len(all))
	for i, b := range all {
		if !isRecord(b) {
			return m, false
		}
		records[i] = b.pairs
	}
	from, to := all[0].from, all[len(all)-1].to
	table, ok := recordTable(records)
	return match{table: table, from: from, to: to}, ok && p.few(from, to)
}

// emptyNull is the text, or nil if there is none.
func emptyNull(text []byte) []byte {
	if text = bytes.TrimRight(text, " \t"); len(text) == 0 {
		return nil
	}
	return text
}

// titleKey is the column of what stands beside a record's number.
const titleKey = "title"

// numberedBlocks finds records that are numbered from 1, each with lines below it that
// are indented, or are separated from the next number by an empty line.
func numberedBlocks(p *page) (m match, ok bool) {
	var records [][]pair
	from, to, below := 0, 0, 0
	for i, l := range p.lines {
		if f := numberLine.FindSubmatch(l.text); f != nil {
			if n, _ := strconv.Atoi(string(f[1])); n != len(records)+1 {
				return m, false
			}
			first := pair{titleKey, f[2]}
			if p, ok := pairIn(f[2]); ok && p.value != nil {
				first = p
			}
			if records = append(records, []pair{first}); len(records) == 1 {
				from = i
			}
			to = i + 1
			continue
		}
		if len(records) == 0 && i > maxAround {
			return m, false
		}
		if len(records) == 0 || l.blank() {
			continue
		}
		pair, isPair := pairIn(l.text)
		if len(records) == 1 && len(records[0]) == 1 {
			below = indent(l.text)
		}
		if !isPair || indent(l.text) != below || to < i && below == 0 {
			break // text after the last record, or else a number comes that has no place
		}
		last := len(records) - 1
		records[last] = append(records[last], pair)
		to = i + 1
	}
	for i, l := range p.lines[to:] {
		if i == 0 && !l.blank() || numberLine.Match(l.text) {
			return m, false
		}
	}
	table, ok := recordTable(records)
	return match{table: table, from: from, to: to}, ok && p.few(from, to)
}
