package minify

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// block is a sentence, or a line with the list or table that it introduces.
type block struct {
	text  string
	items []string
}

// blocks cuts a text at the ends of sentences and lines. Lines that were broken
// for their length alone are put together, and code between fences goes.
func blocks(text string) []block {
	var out []block
	fenced, list := false, false
	last := "" // the line before
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.Join(strings.Fields(line), " ")
		before := last
		last = line
		if strings.HasPrefix(line, "```") && (fenced || closes(lines[i+1:])) {
			fenced = !fenced
			last = ""
			continue
		}
		if fenced {
			last = before
			continue
		}
		n := len(out) - 1
		switch {
		case line == "" || rule.MatchString(line):
			last = ""
			if n >= 0 && list && len(out[n].items) > 0 || before == "" {
				list = false
			}
		case list && bullet(line):
			out[n].items = append(out[n].items, plain(line))
		case n >= 0 && continues(before, line) && len(out[n].text) < maxJoined:
			if list && len(out[n].items) > 0 {
				out[n].items[len(out[n].items)-1] += " " + line
				break
			}
			all := split(out[n].text + " " + line)
			out[n].text = all[0]
			for _, s := range all[1:] {
				out = append(out, block{text: s})
			}
			list = opensList(line)
		default:
			list = opensList(line) || row(line)
			for _, s := range split(plain(line)) {
				out = append(out, block{text: s})
			}
		}
	}
	return out
}

// maxJoined is how long a sentence of several lines may get.
const maxJoined = 2000

// closes reports whether a fence ends in the lines.
func closes(lines []string) bool {
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			return true
		}
	}
	return false
}

// rule is a line that only draws, or only opens or closes an element.
var rule = regexp.MustCompile(`^([-=*_|: ]+|</?[\w-]+>)$`)

func opensList(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "*_"), ":") }

// continues reports whether a line goes on with the sentence of the line before.
func continues(before, line string) bool {
	if before == "" || bullet(line) || row(before) || strings.HasPrefix(before, "#") || strings.HasPrefix(line, "#") {
		return false
	}
	if strings.ContainsAny(before[len(before)-1:], ".!?:;") || label.MatchString(line) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(r) || len(before) >= 60
}

// label begins a line that documents one parameter.
var label = regexp.MustCompile("^[`*\"]*[\\w.-]+[`*\"]*( ?\\([^)]*\\))?[`*\"]*(:| [-–—] )")

// bullet reports whether a line is an item of a list, or a row of a table.
func bullet(line string) bool {
	if row(line) {
		return true
	}
	if strings.HasPrefix(line, "**") {
		return false
	}
	r, n := utf8.DecodeRuneInString(line)
	return strings.ContainsRune("-*•–+", r) || unicode.IsDigit(r) && strings.ContainsAny(line[n:min(len(line), n+2)], ".)")
}

func row(line string) bool { return strings.HasPrefix(line, "|") && strings.Count(line, "|") > 2 }

// plain takes the marks of headings and emphasis from a line.
func plain(line string) string {
	line = strings.TrimLeft(line, "# ")
	return strings.ReplaceAll(line, "**", "")
}

// split cuts a line at the ends of its sentences.
func split(line string) []string {
	var out []string
	start := 0
	depth := 0 // of brackets: what they hold belongs to its sentence
	for i, r := range line {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '.', '!', '?', '。', '！', '？':
			end := i + utf8.RuneLen(r)
			if depth == 0 && endsSentence(line, start, i, end) {
				out = append(out, strings.TrimSpace(line[start:end]))
				start = end
			}
		}
	}
	if rest := strings.TrimSpace(line[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// endsSentence reports whether the mark at line[at:end] ends the sentence that
// began at start.
func endsSentence(line string, start, at, end int) bool {
	if line[at] >= utf8.RuneSelf { // full-width marks
		return true
	}
	rest := line[end:]
	if rest == "" {
		return true
	}
	if rest[0] != ' ' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	if unicode.IsLower(next) {
		return false
	}
	word := line[start:at]
	word = word[strings.LastIndexByte(word, ' ')+1:]
	switch strings.ToLower(strings.TrimLeft(word, "(")) {
	case "e.g", "i.e", "etc", "vs", "approx", "cf", "ex", "no", "incl", "resp":
		return false
	}
	return true
}
