package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"heddle/internal/figures"
)

// table is text in columns for people: words to the left, numbers to the right.
type table struct {
	head []string
	// words is how many columns from the first on are words.
	words int
	rows  [][]string
	// bars are drawn behind the rows where there is room for them, under barHead;
	// nil for none.
	bars    []int64
	barHead string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

const (
	leastBar = 8
	mostBar  = 40
)

// write prints the table; width is that of the terminal, 0 if there is none, and
// then there are no bars.
func (t *table) write(w io.Writer, width int) {
	wide := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	total := 0
	for _, n := range wide {
		total += n + 2
	}
	room := min(width-total-1, mostBar)
	head, most := t.head, int64(0)
	if t.bars == nil || room < leastBar {
		room = 0
	} else {
		head = append(head[:len(head):len(head)], t.barHead)
		wide = append(wide, -1) // as long as it is
	}
	for _, n := range t.bars {
		most = max(most, n)
	}
	t.line(w, head, wide)
	for i, row := range t.rows {
		if room > 0 {
			row = append(row[:len(row):len(row)], bar(t.bars[i], most, room))
		}
		t.line(w, row, wide)
	}
}

func (t *table) line(w io.Writer, cells []string, wide []int) {
	var b strings.Builder
	for i, c := range cells {
		pad := strings.Repeat(" ", max(0, wide[i]-utf8.RuneCountInString(c)))
		if i > 0 {
			b.WriteString("  ")
		}
		if i < t.words {
			b.WriteString(c + pad)
		} else {
			b.WriteString(pad + c)
		}
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}

// bar draws n of most on so many columns, to an eighth of one. What is there at all
// shows.
func bar(n, most int64, columns int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	eighths := max(1, int(float64(n)/float64(most)*float64(8*columns)+0.5))
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return out
}

// width returns how many columns the terminal has that w is; 0 if it is none.
func width(w io.Writer) int {
	f := fileOf(w)
	if f == nil || !isTerminal(f) {
		return 0
	}
	if n := columns(f); n > 0 {
		return n
	}
	return 80
}

func thousands(n int64) string { return figures.Thousands(n) }

// many is a number of things, as [count] for numbers that may be large.
func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(n) + " " + noun + "s"
}

// millis writes a time in milliseconds with about three digits.
func millis(ms float64) string {
	switch {
	case ms >= 100:
		return thousands(int64(ms + 0.5))
	case ms >= 10:
		return strconv.FormatFloat(ms, 'f', 1, 64)
	}
	return strconv.FormatFloat(ms, 'f', 2, 64)
}
