package estimate

import (
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"heddle/internal/tokens"
)

var fit = flag.Bool("fit", false, "fit the costs on half of the corpus and write costs.go")

// TestFit measures what pieces cost and writes the averages. It uses every second
// result of the corpus and the words of the catalogs, never what the bar is
// checked on.
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
	f := fitter{t: t, count: counter(t), cached: map[string]int{}, runsHan: map[string]bool{}}
	rare = f.rare(texts)
	han = f.classes()
	f.number()
	for _, s := range texts {
		f.text([]byte(s))
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
	words   [len(words)]mean
	runs    [len(runs)]mean
	scripts [scriptCount]mean
	long    mean // letters beyond the longest
	escapes mean
	runsHan map[string]bool
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
func (f *fitter) rare(texts []string) (out [32]uint32) {
	pairs := map[[2]byte]float64{}
	total := 0.0
	for _, s := range texts {
		b := []byte(s)
		for i := 0; i < len(b); {
			n, _ := piece(b, i)
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
			if a > 0 && b > 0 && pairs[[2]byte{a, b}] < total*0.0008 {
				out[a] |= 1 << b
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
	for i := 0; i < len(b); {
		n, cell := piece(b, i)
		p := b[i : i+n]
		i += n
		f.piece(string(p), cell)
	}
}

func (f *fitter) piece(p string, cell int) {
	last, first := p[len(p)-1], p[0]
	switch k := kinds[last]; {
	case slices.ContainsFunc([]byte(p), func(c byte) bool { return kinds[c] == isHigh }):
		f.high(p)
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
			f.words[cell].add(f.tokens(p))
		}
	case strings.ContainsFunc(p, func(r rune) bool { return kinds[r] == isOther }):
		if len(strings.Trim(p, " \r\n")) <= longestRun && (len(p) < 4 || strings.Trim(p, " \r\n"+string(p[len(p)/2])) != "") {
			f.runs[cell].add(f.tokens(p))
		}
	}
}

// high adds a run of runes of one script, where it is nothing else.
func (f *fitter) high(p string) {
	runes := []rune(strings.TrimPrefix(p, " "))
	s := scriptOf(runes[len(runes)-1])
	n := 0
	for _, r := range runes {
		if r < 0x80 || scriptOf(r) != s {
			return
		}
		n++
	}
	if s == scriptHan {
		f.runsHan[string(runes)] = true
		return
	}
	f.scripts[s].sum += f.tokens(p)
	f.scripts[s].n += float64(n)
}

// classes says of each ideograph whether it is one token, and with how many of
// the others it makes one together.
func (f *fitter) classes() (out [len(han)]uint32) {
	var single []rune
	for r := rune(firstHan); r <= lastHan; r++ {
		if f.count.Count(string(r)) == 1 {
			single = append(single, r)
		}
	}
	beside := map[rune]int{}
	for _, a := range single {
		for _, b := range single {
			if f.count.Count(string([]rune{a, b})) == 1 {
				beside[a]++
				beside[b]++
			}
		}
	}
	for _, r := range single {
		class := uint32(1)
		switch n := beside[r]; {
		case n > 8:
			class = 3
		case n > 1:
			class = 2
		}
		out[(r-firstHan)/16] |= class << ((r - firstHan) % 16 * 2)
	}
	return out
}

// han fits a run's cost and that of each class by least squares over the runs.
func (f *fitter) han() (int, []uint16) {
	const vars = 5
	var a [vars][vars + 1]float64
	for _, run := range slices.Sorted(maps.Keys(f.runsHan)) {
		x := [vars]float64{1}
		for _, r := range run {
			x[1+han[(r-firstHan)/16]>>((r-firstHan)%16*2)&3]++
		}
		w := 1 / float64(len([]rune(run)))
		for i := range vars {
			for j := range vars {
				a[i][j] += w * x[i] * x[j]
			}
			a[i][vars] += w * x[i] * f.tokens(run)
		}
	}
	for i := range vars { // by elimination
		for j := range vars {
			if i != j {
				q := a[j][i] / a[i][i]
				for k := range vars + 1 {
					a[j][k] -= q * a[i][k]
				}
			}
		}
	}
	var out []uint16
	for i := range vars {
		out = append(out, cell(max(0, a[i][vars]/a[i][i])))
	}
	f.t.Logf("ideographs over %d runs: %v", len(f.runsHan), out)
	return int(out[0]), out[1:]
}

// write rewrites costs.go.
func (f *fitter) write() {
	var b strings.Builder
	b.WriteString("package estimate\n\n// Written by go test -run Fit -fit: averages over half of the corpus, in 1/64 of a\n// token.\n\n")
	fmt.Fprintf(&b, "const (\n\tbeyond = %d // a letter of a word beyond the longest\n\tescape = %d // a backslash and the letter behind it\n\trunBeyond = %d\n)\n\n",
		cell(f.long.toward(0.3, 3)), cell(f.escapes.toward(1, 3)), unit/3)
	b.WriteString("// rare are the pairs of letters that common words seldom have: a bit a second letter.\n")
	list(&b, "rare", "[32]uint32", rare[:])
	var w []uint16
	for i := range f.words {
		n := i % (longest + 1)
		w = append(w, cell(f.words[i].toward(f.prior(i, n), 4)))
	}
	b.WriteString("// words is the cost by rare pairs, shape, lead and letters.\n")
	list(&b, "words", "[odds * shapes * leads * (longest + 1)]uint16", w)
	var r []uint16
	for i, m := range f.runs {
		r = append(r, cell(m.toward(0.7+0.3*float64(i%(longestRun+1)), 4)))
	}
	b.WriteString("// runs is the cost of punctuation by line breaks after, space before and length.\n")
	list(&b, "runs", "[4 * (longestRun + 1)]uint16", r)
	start, costs := f.han()
	fmt.Fprintf(&b, "// hanStart is the cost that a run of ideographs has on top.\nconst hanStart = %d\n\n", start)
	b.WriteString("// hanCosts is the cost of an ideograph by its class.\n")
	list(&b, "hanCosts", "[4]uint16", costs)
	b.WriteString("// han is the class of each ideograph, two bits each: no token of its own; one, and\n// none, few or many tokens in which it stands beside another.\n")
	list(&b, "han", "[(lastHan - firstHan + 1) / 16]uint32", han[:])
	var s []uint16
	guess := map[int]float64{scriptLatin: 0.6, scriptThai: 0.6, scriptIndic: 0.5, scriptArabic: 0.45, scriptGreek: 0.5, scriptCyrillic: 0.35, scriptEmoji: 2, scriptRest: 1.2}
	for i, m := range f.scripts {
		prior := guess[i]
		if prior == 0 {
			prior = 0.8
		}
		s = append(s, cell(m.toward(prior, 60)))
	}
	b.WriteString("// scripts is the cost of a character.\n")
	list(&b, "scripts", "[scriptCount]uint16", s)
	for i, m := range f.scripts {
		f.t.Logf("script %d: %.2f tokens a character over %.0f", i, m.sum/m.n, m.n)
	}
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
	odd := i / (per * shapes)
	line := max(1, 0.75+float64(letters)*[]float64{0.07, 0.15, 0.25, 0.4}[odd])
	return all.toward(line, 4)
}

func cell(tokens float64) uint16 { return uint16(tokens*unit + 0.5) }

func list[T uint16 | uint32](b *strings.Builder, name, kind string, v []T) {
	fmt.Fprintf(b, "var %s = %s{", name, kind)
	for i, x := range v {
		if i%17 == 0 {
			b.WriteString("\n\t")
		}
		fmt.Fprintf(b, "%d, ", x)
	}
	b.WriteString("\n}\n\n")
}
