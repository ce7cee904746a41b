package estimate

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"heddle/internal/tokens"
)

var fit = flag.Bool("fit", false, "fit the costs on half of the corpus and write costs.go")

// TestFit measures what pieces cost and writes the averages. It uses every second
// result of the corpus and the words of the catalogs, never what the bar is
// checked on.
// kindWeight is what a word of a kind counts for: the results have far more words.
const kindWeight = 5

func TestFit(t *testing.T) {
	if !*fit {
		t.Skip("writes costs.go; run with -fit")
	}
	var texts []string
	for i, s := range corpus(t) {
		if i%2 == 0 {
			texts = append(texts, parts(t, s.Raw)...)
		}
	}
	for _, line := range gzLines(t, "../../catalog/minify/testdata/catalogs.jsonl.gz") {
		texts = append(texts, string(line[:min(len(line), 60000)]))
	}
	f := fitter{t: t, count: counter(t), cached: map[string]int{}, highs: map[run]int{}}
	rare = f.rare(texts)
	joins, pages, pairs = f.joins()
	f.number()
	for _, s := range texts {
		f.text([]byte(s))
	}
	for _, k := range kindsOf(t, "tuning") {
		f.once = map[string]bool{}
		f.text([]byte(strings.Join(k.Parts, "\n")))
	}
	f.write()
}

type mean struct{ sum, n float64 }

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

// toward returns the mean, as if prior had been seen weight times as well.
func (m mean) toward(prior, weight float64) float64 { return (m.sum + prior*weight) / (m.n + weight) }

type fitter struct {
	t       *testing.T
	count   *tokens.Counter
	cached  map[string]int
	words   [tongues * odds * shapes * leads * (longest + 1)]mean
	runs    [len(runs)]mean
	long    mean // letters beyond the longest
	escapes mean
	highs   map[run]int
	once    map[string]bool // pieces of a kind that were added, whose names repeat
}

func (f *fitter) tokens(s string) float64 {
	n, ok := f.cached[s]
	if !ok {
		n = f.count.Count(s)
		f.cached[s] = n
	}
	return float64(n)
}

// rare finds the pairs of letters that words of one token seldom have.
func (f *fitter) rare(texts []string) (out [32]uint64) {
	pairs := map[[2]byte]float64{}
	total := 0.0
	for _, s := range texts {
		b := []byte(s)
		var m meter
		for i := 0; i < len(b); {
			n, _ := m.piece(b, i)
			w := strings.ToLower(strings.TrimLeft(string(b[i:i+n]), " _\"./-("))
			i += n
			if len(w) < 4 || w[0] < 'a' || w[0] > 'z' || f.tokens(w) > 1 {
				continue
			}
			for k := 1; k < len(w) && w[k] >= 'a' && w[k] <= 'z'; k++ {
				pairs[[2]byte{w[k-1] & 31, w[k] & 31}]++
				total++
			}
		}
	}
	for a := range byte(27) {
		for b := range byte(27) {
			if a > 0 && b > 0 {
				for _, share := range []float64{0.0016, 0.0006, 0.00015} {
					if pairs[[2]byte{a, b}] < total*share {
						out[a] += 1 << (2 * b)
					}
				}
			}
		}
	}
	return out
}

// number makes piece return the number of its cell in place of its cost.
func (f *fitter) number() {
	for i := range words {
		words[i] = uint16(i)
	}
	for i := range runs {
		runs[i] = uint16(i)
	}
}

// text adds the pieces of b.
func (f *fitter) text(b []byte) {
	var m meter
	for i := 0; i < len(b); {
		n, cell := m.piece(b, i)
		p := b[i : i+n]
		i += n
		f.piece(string(p), cell, m.slavonic > 0)
	}
}

func (f *fitter) piece(p string, cell int, slavonic bool) {
	last, first := p[len(p)-1], p[0]
	switch k := kinds[last]; {
	case slices.ContainsFunc([]byte(p), func(c byte) bool { return kinds[c] == isHigh }):
		f.high(p, slavonic)
	case first == '\\' && len(p) > 1 && (kinds[p[1]] == isLower || kinds[p[1]] == isUpper):
		if strings.HasPrefix(p, `\n`) {
			f.escapes.add(f.tokens(p) - f.tokens(p[2:]+" "))
		}
	case k == isLower || k == isUpper:
		letters := len(p)
		if k := kinds[first]; k != isLower && k != isUpper {
			letters--
		}
		if letters > longest {
			f.long.add(f.tokens(p) / float64(letters))
		} else {
			switch {
			case f.once == nil:
				f.words[cell].add(f.tokens(p))
			case !f.once[p]:
				f.once[p] = true
				for range kindWeight {
					f.words[cell].add(f.tokens(p))
				}
			}
		}
	case strings.ContainsFunc(p, func(r rune) bool { return kinds[r] == isOther }):
		if len(strings.Trim(p, " \r\n")) <= longestRun && (len(p) < 4 || strings.Trim(p, " \r\n"+string(p[len(p)/2])) != "") {
			f.runs[cell].add(f.tokens(p))
		}
	}
}

// run is what [high] returns in one piece.
type run struct {
	script, lead int
	text         string
}

// high notes a run of runes beyond ASCII.
func (f *fitter) high(p string, slavonic bool) {
	r, size := utf8.DecodeRuneInString(p)
	lead := leadNone
	if r < utf8.RuneSelf && kinds[r] == isSpace {
		lead = leadSpace
	} else if r < utf8.RuneSelf && kinds[r] == isOther {
		lead = leadMark
	}
	if lead != leadNone {
		r, _ = utf8.DecodeRuneInString(p[size:])
	}
	script := scriptOf(r)
	if script == scriptCyrillic && slavonic {
		script = scriptSlavonic
	}
	f.highs[run{script, lead, p}]++
}

// cells returns how often each cell of a script's costs is in r.
func (r run) cells() (x [cells]float64) {
	text := []rune(r.text)
	if r.lead != leadNone {
		text = text[1:]
	}
	x[cellStart+r.lead] = 1
	var c chain
	for i, char := range text {
		cell := c.next(r.script, char)
		if cell == cellFirst {
			continue
		}
		x[cell]++
		if i == 0 {
			x[cellStart]--
		}
	}
	return x
}

// joins asks of each rune with which others it makes a token.
func (f *fitter) joins() (string, [0x200]uint8, [1024]uint64) {
	groups := map[int][]rune{}
	for r := rune(0x21); r < 0x20000; r++ {
		s := scriptOf(r)
		if s == scriptKatakana || s == scriptHiragana {
			s = scriptHan
		}
		if r < 0x80 && kinds[r] != isLower && kinds[r] != isUpper {
			continue
		}
		if utf8.ValidRune(r) && f.count.Count(string(r)) == 1 {
			groups[s] = append(groups[s], r)
		}
	}
	after, before := map[rune]int{}, map[rune]int{}
	pairs, n := [1024]uint64{}, 0
	for s, g := range groups {
		for _, a := range g {
			for _, b := range g {
				if f.count.Count(string([]rune{a, b})) == 1 {
					after[a]++
					before[b]++
					if s == scriptHan || s == scriptHangul {
						h := pairHash(a, b)
						pairs[h/64] |= 1 << (h % 64)
						n++
					}
				}
			}
		}
	}
	var table [0x200][256]byte
	var number [0x200]uint8
	var out strings.Builder
	for i := range table {
		for j := range table[i] {
			table[i][j] = ' '
		}
	}
	out.Write(table[0][:])
	for _, g := range groups {
		for _, r := range g {
			table[r>>8][r&255] = ' ' + byte(min(7, 1+bits.Len(uint(after[r])))<<3|min(7, bits.Len(uint(before[r]))))
		}
	}
	for r := rune(0x80); r < 0x20000; r++ {
		if table[r>>8][r&255] == ' ' && unicode.IsGraphic(r) && scriptOf(r) != scriptRest && f.count.Count(string(r)) == 2 {
			table[r>>8][r&255]++
		}
	}
	for i := range table {
		if string(table[i][:]) != strings.Repeat(" ", 256) {
			number[i] = uint8(out.Len() / 256)
			out.Write(table[i][:])
		}
	}
	f.t.Logf("%d pairs", n)
	return out.String(), number, pairs
}

// system is a weighted system of equations for the costs of cells.
type system [cells][cells + 1]float64

func (a *system) add(x [cells]float64, y, w float64) {
	for i := range cells {
		for j := range cells {
			a[i][j] += w * x[i] * x[j]
		}
		a[i][cells] += w * x[i] * y
	}
}

// solve returns the costs as if those of prior had been seen weight times each.
func (a system) solve(prior [cells]float64, weight float64) (out [cells]float64) {
	for i := range cells {
		a[i][i] += weight
		a[i][cells] += weight * prior[i]
	}
	for i := range cells { // by elimination
		for j := range cells {
			if i != j {
				q := a[j][i] / a[i][i]
				for k := range cells + 1 {
					a[j][k] -= q * a[i][k]
				}
			}
		}
	}
	for i := range cells {
		out[i] = max(0, a[i][cells]/a[i][i])
	}
	return out
}

// costs fits what the cells of each script cost, those of letters towards the
// costs that all scripts of letters have in common.
func (f *fitter) costs() (out [scriptCount][cells]float64) {
	var all system
	var own [scriptCount]system
	for _, r := range slices.SortedFunc(maps.Keys(f.highs), func(a, b run) int { return strings.Compare(a.text, b.text) }) {
		x, y := r.cells(), f.tokens(r.text)
		w := math.Pow(float64(f.highs[r]), 0.5) / float64(utf8.RuneCountInString(r.text))
		own[r.script].add(x, y, w)
		if r.script < scriptMark {
			all.add(x, y, w)
		}
	}
	var line [cells]float64
	for i := range line {
		line[i] = max(0.2, 1-0.06*float64(i))
	}
	for l := range leads {
		line[cellStart+l] = 1
	}
	line[cellTwo], line[cellThree], line[cellJoined], line[cellChain] = 2, 3, 0.2, 0.7
	prior := all.solve(line, 5)
	for s := range own {
		out[s] = own[s].solve(prior, 5)
		f.t.Logf("script %d: %.2f", s, out[s])
	}
	return out
}

// write rewrites costs.go.
func (f *fitter) write() {
	var b strings.Builder
	b.WriteString("package estimate\n\n// Written by go test -run Fit -fit: averages over half of the corpus, in 1/64 of a\n// token.\n\n")
	fmt.Fprintf(&b, "const (\n\tbeyond = %d // a letter of a word beyond the longest\n\tescape = %d // a backslash and the letter behind it\n\trunBeyond = %d\n)\n\n",
		min(mostLetter, cell(f.long.toward(0.3, 3))), cell(f.escapes.toward(1, 3)), unit/3)
	b.WriteString("// rare are the pairs of letters that common words seldom have: a bit a second letter.\n")
	list(&b, "rare", "[32]uint64", rare[:])
	var w []uint16
	for i := range f.words {
		n := i % (longest + 1)
		w = append(w, min(cell(f.words[i].toward(f.prior(i, n), 4)), mostWord(i, n)))
	}
	b.WriteString("// words is the cost by rare pairs, shape, lead and letters.\n")
	list(&b, "words", "[tongues * odds * shapes * leads * (longest + 1)]uint16", w)
	var r []uint16
	for i, m := range f.runs {
		count := i % (longestRun + 1)
		r = append(r, min(cell(m.toward(0.7+0.3*float64(count), 4)), uint16(mostFirst+mostMark*max(0, count-1))))
	}
	b.WriteString("// runs is the cost of punctuation by line breaks after, space before and length.\n")
	list(&b, "runs", "[4 * (longestRun + 1)]uint16", r)
	b.WriteString("// scripts is the cost of a rune by script and cell.\nvar scripts = [scriptCount][cells]uint16{\n")
	for _, costs := range f.costs() {
		b.WriteString("\t{")
		for _, c := range costs {
			fmt.Fprintf(&b, "%d, ", cell(c))
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n\n// pages says which page of joins has the runes of a block of 256; 0 is an empty one.\n")
	list(&b, "pages", "[0x200]uint8", pages[:])
	b.WriteString("// pairs has a bit for the hash of each pair of runes that is a token, as [paired] reads it.\n")
	list(&b, "pairs", "[1024]uint64", pairs[:])
	b.WriteString("// joins is how readily each rune joins its neighbours, as [join] reads it: 64 runes a line.\nvar joins = \"\" +\n")
	for i := 0; i < len(joins); i += 64 {
		fmt.Fprintf(&b, "\t`%s` +\n", joins[i:i+64])
	}
	b.WriteString("\t``\n\n")
	src, err := format.Source([]byte(b.String()))
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile("costs.go", src, 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// prior is what a word is taken to cost before any of its kind was seen: the
// mean over all leads, and a straight line before that.
func (f *fitter) prior(i, letters int) float64 {
	per := leads * (longest + 1)
	var all mean
	for l := range leads {
		m := f.words[i/per*per+l*(longest+1)+letters]
		all.sum, all.n = all.sum+m.sum, all.n+m.n
	}
	odd := i / (per * shapes) % odds
	line := max(1, 0.75+float64(letters)*[]float64{0.07, 0.1, 0.13, 0.16, 0.2, 0.24, 0.28, 0.32, 0.38}[odd])
	return all.toward(line, 4)
}

// mostWord is what [Below] takes a word to cost at most.
func mostWord(i, letters int) uint16 {
	per := leads * (longest + 1)
	capitals := [shapes]int{shapeTitle: 1, shapeUpper: letters, shapeMixed: 2}[i/per%shapes]
	odd := i / (per * shapes) % odds
	mark := 0
	if i/(longest+1)%leads == leadMark {
		mark = mostFirst
	}
	return uint16(mark + mostFirst + mostLetter*max(0, letters-1) + mostRare*odd + mostCapital*capitals)
}

func cell(tokens float64) uint16 { return uint16(tokens*unit + 0.5) }

func list[T uint8 | uint16 | uint64](b *strings.Builder, name, kind string, v []T) {
	fmt.Fprintf(b, "var %s = %s{", name, kind)
	for i, x := range v {
		if i%17 == 0 {
			b.WriteString("\n\t")
		}
		fmt.Fprintf(b, "%d, ", x)
	}
	b.WriteString("\n}\n\n")
}
