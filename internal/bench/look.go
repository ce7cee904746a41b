package bench

import (
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
)

// look finds the answer in a text as a careful reader would, without knowing it.
// seen is all that was read before; the heading of a table may stand there.
func (g *goal) look(text, seen string) (string, bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], g.firstWord())
		if i < 0 {
			return "", false
		}
		i += at
		at = i + 1
		if g.form != nil {
			if answer, ok := g.near(text, i); ok {
				return answer, true
			}
			continue
		}
		if answer, ok := g.member(text, i); ok {
			return answer, true
		}
		if answer, ok := g.cell(text, i, seen); ok {
			return answer, true
		}
	}
}

// firstWord is the first of the words, which are apart by commas.
func (g *goal) firstWord() string {
	first, _, _ := strings.Cut(g.words, ",")
	return first
}

// has reports whether text has all the words.
func (g *goal) has(text string) bool {
	for w := range strings.SplitSeq(g.words, ",") {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// nearLines is how many lines from that of the words on belong to them, where the
// goal does not say.
const nearLines = 5

// near looks for the form of the answer on the line of the words and on those that
// follow.
func (g *goal) near(text string, i int) (string, bool) {
	start, end := strings.LastIndexByte(text[:i], '\n')+1, len(text)
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		end = i + n
	}
	for range max(nearLines, g.lines) {
		if m := g.form.FindStringSubmatch(text[start:end]); m != nil {
			return m[1], true
		}
		if end == len(text) {
			break
		}
		if n := strings.IndexByte(text[end+1:], '\n'); n >= 0 {
			end += 1 + n
		} else {
			end = len(text)
		}
	}
	return "", false
}

// member looks for the field in the innermost JSON object around i that has it, up
// to two levels up. An object of which only a part is seen ends there.
func (g *goal) member(text string, i int) (string, bool) {
	value := regexp.MustCompile(`"` + regexp.QuoteMeta(g.field) + `"\s*:\s*("(?:[^"\\]|\\.)*"|-?[\d.]+|true|false|null)`)
	for levels := 0; levels < 2; levels++ {
		start, end, ok := around(text, i)
		if !ok {
			return "", false
		}
		if m := value.FindStringSubmatch(text[start:end]); m != nil {
			return strings.Trim(m[1], `"`), true
		}
		if i = start - 1; i < 0 {
			break
		}
	}
	return "", false
}

// around returns the braces around i. Braces in strings do not occur in the data.
func around(text string, i int) (start, end int, ok bool) {
	depth := 0
	for start = i; ; start-- {
		if start < 0 {
			return 0, 0, false
		}
		if text[start] == '}' && start < i {
			depth++
		} else if text[start] == '{' {
			if depth == 0 {
				break
			}
			depth--
		}
	}
	depth = 0
	for end = start; end < len(text); end++ {
		switch text[end] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return start, end + 1, true
			}
		}
	}
	return start, len(text), true
}

// cell looks for the field's column in the row around i.
func (g *goal) cell(text string, i int, seen string) (string, bool) {
	start, end := strings.LastIndexByte(text[:i], '\n')+1, len(text)
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		end = i + n
	}
	row := cells(text[start:end])
	if !g.has(text[start:end]) {
		return "", false
	}
	for line := range strings.Lines(seen) {
		if !strings.Contains(line, g.field) {
			continue
		}
		head := cells(line)
		for k, name := range head {
			if name == g.field && len(head) == len(row) && len(row) > 2 {
				return row[k], true
			}
		}
	}
	return "", false
}

// cells splits a row at tabs, commas or wide spaces.
func cells(line string) []string {
	line = strings.TrimRight(line, "\r\n ")
	if strings.Contains(line, "\t") {
		return strings.Split(line, "\t")
	}
	if wide := regexp.MustCompile(` {2,}`).Split(line, -1); len(wide) > 2 {
		return wide
	}
	row, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		return nil
	}
	return row
}

// sum answers a question about all rows from the whole text.
func (g *goal) sum(text string) string {
	total := 0
	for _, m := range g.form.FindAllStringSubmatch(text, -1) {
		if len(m) == 1 {
			total++
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return ""
		}
		total += n
	}
	return strconv.Itoa(total)
}
