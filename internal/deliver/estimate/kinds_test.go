package estimate

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// kind is a kind of text in one half of the corpus: what the costs may be fitted on,
// or what only checks them. The halves share no sentence, name or random number.
type kind struct {
	Name  string
	Parts []string
}

// kindsOf returns the kinds of a half, "tuning" or "heldout".
func kindsOf(t testing.TB, half string) (out []kind) {
	t.Helper()
	text, err := os.ReadFile("testdata/prose-" + half + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		name, body, _ := strings.Cut(section, "\n")
		out = append(out, kind{name, strings.Split(strings.TrimSpace(body), "\n")})
	}
	seed := uint64(1)
	if half == "heldout" {
		seed = 2
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for _, k := range out {
		if k.Name == "chinese" {
			out = append(out, kind{"shuffled", shuffled(r, k.Parts)})
		}
	}
	return append(out, noise(r, half)...)
}

// shuffled has the characters of texts in random order.
func shuffled(r *rand.Rand, texts []string) (out []string) {
	for _, s := range texts {
		chars := []rune(s)
		r.Shuffle(len(chars), func(i, j int) { chars[i], chars[j] = chars[j], chars[i] })
		out = append(out, string(chars))
	}
	return out
}

// noise returns kinds of text that nobody wrote.
func noise(r *rand.Rand, half string) []kind {
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	first, last, host := strings.Fields(people[half][0]), strings.Fields(people[half][1]), strings.Fields(people[half][2])
	const printable = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!#$%&*+-/=?@_"
	return []kind{
		{"hex", times(40, func() string { return hex.EncodeToString(bytes(20)) })},
		{"base64", times(20, func() string { return base64.StdEncoding.EncodeToString(bytes(48)) })},
		{"uuid", times(40, func() string {
			b := bytes(16)
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		})},
		{"password", times(60, func() string {
			b := bytes(12 + r.IntN(8))
			for i := range b {
				b[i] = printable[int(b[i])%len(printable)]
			}
			return string(b)
		})},
		{"token", times(30, func() string { return base64.RawURLEncoding.EncodeToString(bytes(24)) })},
		{"email", times(60, func() string {
			return strings.ToLower(pick(first)) + pick([]string{".", "_", "", "-"}) + strings.ToLower(pick(last)) + pick([]string{"", fmt.Sprint(r.IntN(99))}) + "@" + pick(host)
		})},
		{"people", times(60, func() string {
			return pick(last) + ", " + pick(first) + " <" + strings.ToLower(pick(first)[:1]+pick(last)) + "@" + pick(host) + ">"
		})},
		{"address", times(60, func() string {
			return fmt.Sprintf("%d.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256))
		})},
		{"number", times(60, func() string {
			return fmt.Sprintf("%d,%.3f,%.6f", r.IntN(1000000), r.Float64()*1000, r.Float64()*180-90)
		})},
	}
}

// people are first names, last names and hosts of made-up addresses.
var people = map[string][3]string{
	"tuning": {
		"Anna Bogdan Carmen Dmitri Elif Farid Giulia Hamza Ines Jakub Katarzyna Lukas Miriam Nguyen Olumide Priya Quentin Rosalind Sven Tomasz Ulrike Vikram Wei Xiomara Yusuf Zsofia",
		"Abramowicz Bergstrom Chaudhary Delacroix Eriksen Fernandez Grzybowski Hashimoto Ivanova Johansson Kowalczyk Lindqvist Mbeki Nakamura Okonkwo Petrescu Quispe Rasmussen Szymanski Takahashi Umarov Villanueva Wojcik Yilmaz Zimmermann",
		"example.com mail.example.org nordwind-logistik.example post.firma.example univ-lyonnaise.example cloudharbor.example inbox.test kanzlei-baumgart.example",
	},
	"heldout": {
		"Alasdair Beatriz Chinedu Dorothea Emeka Fatoumata Gwendolyn Henrik Ivana Jorge Kamala Leopold Magdalena Naveen Oskar Paloma Radovan Siobhan Teodor Ursula Valentina Wiremu Yevgenia Zahra",
		"Achterberg Bielecki Costa Dragomir Eisenhauer Farkas Gutierrez Haraldsson Iyer Jankovic Kaufmann Lefebvre Mukherjee Novotny Oyelaran Papadopoulos Raghunathan Schwarzkopf Thorvaldsen Uchida Vandenberg Wickramasinghe Xavier Zapata",
		"example.net smtp.example.org alpenblick-hotel.example bureau.test lakeshore-clinic.example devs.example stadtwerke-muster.example gardenia.example",
	},
}

func times(n int, f func() string) (out []string) {
	for range n {
		out = append(out, f())
	}
	return out
}

// TestKinds holds the promise for each kind of text by itself, on what no cost was
// fitted on; on the other half, whose texts are shorter, it notices a bad fit.
func TestKinds(t *testing.T) {
	c := counter(t)
	for half, bar := range map[string]struct {
		kinds, tokens int
		most          float64
	}{"heldout": {36, 145, 0.15}, "tuning": {45, 70, 0.20}} {
		all := kindsOf(t, half)
		if len(all) < bar.kinds {
			t.Errorf("%s: %d kinds, want %d", half, len(all), bar.kinds)
		}
		for _, k := range all {
			for form, raw := range k.forms(t) {
				want, got := exact(t, c, raw), Result(raw)
				if want < bar.tokens {
					t.Errorf("%s/%s/%s: %d tokens, too few to measure", half, k.Name, form, want)
				}
				off := float64(got)/float64(want) - 1
				t.Logf("%s/%s/%s: %d tokens, estimated %d, %+.1f %%", half, k.Name, form, want, got, off*100)
				if math.Abs(off) > bar.most {
					t.Errorf("%s/%s/%s: %+.1f %% off, want at most %.0f %%", half, k.Name, form, off*100, bar.most*100)
				}
			}
		}
	}
}

// forms are the results that the parts of a kind make: in one text, as a list, as
// records and as a table.
func (k kind) forms(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	type record struct {
		ID   int    `json:"id"`
		Text string `json:"text"`
	}
	var records []record
	list, table := "", "id\ttext\n"
	for i, p := range k.Parts {
		records = append(records, record{i + 1, p})
		list += "- " + p + "\n"
		table += fmt.Sprintf("%d\t%s\n", i+1, p)
	}
	js, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	for form, text := range map[string]string{"text": strings.Join(k.Parts, " "), "list": list, "records": string(js), "table": table} {
		lit, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		out[form] = fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, lit)
	}
	return out
}
