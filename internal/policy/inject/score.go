package inject

import (
	"math/bits"
	"slices"
	"strings"

	"heddle/internal/policy/inject/normal"
)

// firing is a place where a rule holds.
type firing struct {
	family     family
	points     int
	start, end int // in the folded text
}

// firings adds to out where rules hold among the hits of s, in order.
func (e *engine) firings(s string, hits []hit, out []firing) []firing {
	for i := range hits {
		for m := uint64(hits[i].means); m != 0; m &= m - 1 {
			for p := range e.first[bits.TrailingZeros64(m)] {
				pat := &e.first[bits.TrailingZeros64(m)][p]
				points := pat.points
				if hits[i].means&pat.steps[0].want&(drop|reveal) != 0 {
					m := mood(s, hits, i)
					if m == denied {
						continue
					}
					if m == supposed {
						points = points * 3 / 10
					} else if m == commanded && pat.family <= extract {
						points += command
					}
				}
				tries := maxTries
				if end, ok := pat.match(s, hits, i, 1, &tries); ok {
					out = append(out, firing{pat.family, points, int(hits[i].start), end})
				}
			}
		}
	}
	return out
}

// negated reports whether "do not" stands right before hit i.
func negated(hits []hit, i int) bool {
	for j := i - 1; j >= 0 && hits[i].start-hits[j].start < 16; j-- {
		if hits[j].means&not != 0 && hits[j].end <= hits[i].start && hits[i].start-hits[j].end <= 2 {
			return true
		}
	}
	return false
}

// moods are what a verb says of what it names.
const (
	plain     = iota
	denied    // "do not ignore", or the word alone in quotation marks
	supposed  // "would ignore", "lets the user override", ignore_case
	commanded // "Ignore", "please ignore"
)

// command is what a rule gains where it begins with a command.
const command = 10

// mood returns the mood of the verb that is hit i.
func mood(s string, hits []hit, i int) int {
	h := hits[i]
	if negated(hits, i) || h.start > 0 && int(h.end) < len(s) && (s[h.start-1] == '\'' || s[h.start-1] == '"') && s[h.end] == s[h.start-1] {
		return denied
	}
	if int(h.end) < len(s) && s[h.end] == '_' {
		return supposed
	}
	before := strings.TrimRight(s[:h.start], " \n\t\r*_>#")
	if before == "" || strings.HasSuffix(before, `\n`) || strings.IndexByte(`.,:;!?"'()[]{}<-|/`+"`", before[len(before)-1]) >= 0 {
		return commanded
	}
	if hasSuffix(before, " please", " and", " then", " must", " should", " now", " just", " instead", " you to", " simply", "。", "、", "请", "並", "并") {
		return commanded
	}
	if hasSuffix(before, " would", " could", " might", " may", " can", " will", " not to", " users", " user", " cannot", " to not", "会", "可能", "可以", "n't", " option", " they", " who", " it") {
		return supposed
	}
	return plain
}

func hasSuffix(s string, words ...string) bool {
	for _, w := range words {
		if strings.HasSuffix(s, w) || s == strings.TrimSpace(w) {
			return true
		}
	}
	return false
}

// maxTries bounds the work of one rule at one place.
const maxTries = 100

// match reports whether the steps from n on hold behind hit i, and where they end.
func (p *pattern) match(s string, hits []hit, i, n int, tries *int) (int, bool) {
	if n == len(p.steps) {
		return int(hits[i].end), true
	}
	st := p.steps[n]
	from := int(hits[i].end)
	for j := i + 1; j < len(hits) && int(hits[j].start)-from <= st.gap; j++ {
		if *tries--; *tries < 0 {
			return 0, false
		}
		if hits[j].means&st.want&deeds != 0 && negated(hits, j) || int(hits[j].start) < from || hits[j].means&st.want == 0 || !st.cross && apart(s[from:hits[j].start]) {
			continue
		}
		if end, ok := p.match(s, hits, j, n+1, tries); ok {
			return end, true
		}
	}
	return 0, false
}

// deeds are what one may be told not to do.
const deeds = send | erase | pay | reveal | run | drop

// apart reports whether s, which is between two words, keeps them apart: a sentence, a
// paragraph or an item ends in it, or it is code.
func apart(s string) bool {
	for i := range len(s) {
		next := byte(' ')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch s[i] {
		case '=', ';', '{', '}', '|':
			return true
		case '(':
			if i > 0 && bounded(rune(s[i-1])) { // a call
				return true
			}
		case '"':
			if next == ',' || next == ':' { // the next member of an object
				return true
			}
		case '.', '!', '?':
			if i+1 < len(s) && (next == ' ' || next == '\n') {
				return true
			}
		case '\n':
			if strings.IndexByte("\n0123456789-*#<[\"'", next) >= 0 {
				return true
			}
		case 0xe3:
			if strings.HasPrefix(s[i:], "。") {
				return true
			}
		}
	}
	return false
}

// window is how many bytes of a text are judged together: what is farther apart
// does not add up.
const window = 600

// verdict is the strongest family of a window that reached the threshold.
type verdict struct {
	family     family
	start, end int
	points     int
}

// judge returns what of the firings reaches the threshold.
func judge(f []firing, threshold int) []verdict {
	var out []verdict
	for i := 0; i < len(f); i++ {
		var best [families]firing
		strong, hints := 0, 0
		for j := i; j < len(f) && f[j].start-f[i].start <= window && j-i < maxFirings; j++ {
			if b := &best[f[j].family]; f[j].points > b.points {
				*b = f[j]
			}
		}
		for _, b := range best {
			if b.points > hint {
				strong += b.points
			} else {
				hints += b.points
			}
		}
		sum := strong + min(hints, maxHints)
		if sum < threshold {
			continue
		}
		top := best[0]
		for _, b := range best[1:] {
			if b.points > top.points {
				top = b
			}
		}
		out = append(out, verdict{top.family, top.start, top.end, sum})
		for i+1 < len(f) && f[i+1].start-f[i].start <= window && f[i+1].start < top.end+window {
			i++
		}
	}
	return out
}

const (
	hint       = 20 // points that say nothing by themselves
	maxHints   = 30 // what hints add up to at most
	maxFirings = 256
)

// weigh changes the points of firings by where they stand in s, which begins at byte
// from of the folded text.
func weigh(t *normal.Text, from int, s string, hits []hit, f []firing) {
	for i := range f {
		about := discussed(hits, f[i].start, f[i].end)
		switch {
		case within(t.Hidden, from+f[i].start, from+f[i].end):
			f[i].points = f[i].points * 16 / 10
		case about >= 2 && quoted(s, f[i].start, f[i].end):
			f[i].points = f[i].points * 3 / 10
		case about >= 4:
			f[i].points = f[i].points * 4 / 10
		}
	}
}

func within(spans []normal.Span, start, end int) bool {
	for _, s := range spans {
		if start < s.End && s.Start < end {
			return true
		}
	}
	return false
}

// around is how far from an instruction a word tells that it is discussed.
const around = 400

// discussed weighs the words near a place that tell that attacks are discussed.
func discussed(hits []hit, start, end int) int {
	n, _ := slices.BinarySearchFunc(hits, start-around, func(h hit, at int) int { return int(h.start) - at })
	sum := 0
	for ; n < len(hits) && int(hits[n].start) < end+around; n++ {
		if int(hits[n].start) >= start && int(hits[n].end) <= end {
			continue
		}
		if hits[n].means&suspect != 0 {
			sum += 2
		} else if hits[n].means&quoting != 0 && start-int(hits[n].end) < 80 && int(hits[n].end) <= start {
			sum++
		}
		if hits[n].means&threat != 0 {
			sum++
		}
	}
	return sum
}

// quoted reports whether a place is within quotation marks: on its line an odd number
// stands before it, and one behind it.
func quoted(s string, start, end int) bool {
	const reach = 300
	before := s[max(0, start-reach):start]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after := s[end:min(len(s), end+reach)]
	for _, q := range [...]byte{'"', '`'} {
		open := strings.LastIndexByte(before, q)
		if strings.Count(before, string(q))%2 == 1 && strings.IndexByte(after, q) >= 0 && !structural(before[:open]) {
			return true
		}
	}
	return false
}

// structural reports whether a quotation mark behind s begins a value of an object or a
// list rather than a quotation.
func structural(s string) bool {
	s = strings.TrimRight(s, " ")
	return strings.HasSuffix(s, `":`) || strings.HasSuffix(s, "[") || strings.HasSuffix(s, "{") || strings.HasSuffix(s, `",`)
}
