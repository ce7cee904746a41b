package inject

import (
	"strings"
)

// negated reports whether "do not" stands right before hit i.
func negated(hits []hit, i int) bool {
	for j := i - 1; j >= 0 && hits[i].start-hits[j].start < 16; j-- {
		if hits[j].means&not != 0 && hits[j].end <= hits[i].start && hits[i].start-hits[j].end <= 2 {
			return true
		}
	}
	return false
}

// mode is what a verb says of what it names.
type mode int

const (
	unknown mode = iota
	plain
	denied    // "do not ignore", or the word alone in quotation marks
	supposed  // "would ignore", "lets the user override", ignore_case
	commanded // "Ignore", "please ignore"
)

// command is what a rule gains where it begins with a command.
const command = 10

// mood returns the mood of the verb that is hit i.
func mood(s string, hits []hit, i int) mode {
	h := hits[i]
	if negated(hits, i) || h.start > 0 && int(h.end) < len(s) && (s[h.start-1] == '\'' || s[h.start-1] == '"') && s[h.end] == s[h.start-1] {
		return denied
	}
	if int(h.end) < len(s) && s[h.end] == '_' {
		return supposed
	}
	const reach = 40
	before := strings.TrimRight(s[max(0, int(h.start)-reach):h.start], " \n\t\r*_>#")
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
