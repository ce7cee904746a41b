package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Piece is a part of a literal text, for those who take the secrets out of it.
type Piece struct {
	// Text is what is meant, without heddle.yml's escapes.
	Text   string
	Secret bool
}

// SecretsUnder cuts the value of a variable or a header, as heddle.yml has it, at
// what looks like a secret in it. It returns nil if nothing does, and for a text
// with references: whoever wrote it knew where to put a secret.
func SecretsUnder(name, written string) []Piece {
	return pieces(written, func(v string) []Piece { return underName(name, v) })
}

// SecretsOfArgs is [SecretsUnder] for each of a command's arguments.
func SecretsOfArgs(written []string) [][]Piece {
	out := make([][]Piece, len(written))
	flag := ""
	for i, w := range written {
		out[i] = pieces(w, func(v string) []Piece { return inArg(flag, v) })
		flag = flagOf(w)
	}
	return out
}

// SecretsOfURL is [SecretsUnder] for a URL.
func SecretsOfURL(written string) []Piece { return pieces(written, inURL) }

func pieces(written string, cut func(string) []Piece) []Piece {
	t, err := parseTemplate(written, false)
	if err != nil {
		return nil
	}
	return piecesOf(t, cut)
}

func piecesOf(t template, cut func(string) []Piece) []Piece {
	if t.hasRefs() {
		return nil
	}
	return cut(t.literal())
}

var (
	authScheme = regexp.MustCompile(`(?i)^(?:Bearer|Basic|Token|ApiKey) +`)
	// assigned is an argument with a name in front: --key=v, KEY=v for a container,
	// "Header: v".
	assigned = regexp.MustCompile(`^(-{0,2}[A-Za-z][A-Za-z0-9_.-]*)(?:=|: ?)`)
	// pair is a name with its value inside a longer text: a line of settings, a
	// connection string, JSON. The value is in the first group of those after the name
	// that matched.
	pair = regexp.MustCompile(`(?:^|[\s;,{&?'"(-])([A-Za-z][A-Za-z0-9_.-]*)(?:` +
		`["']?\s*[:=]\s*"((?:[^"\\]|\\.)*)"|["']?\s*[:=]\s*'([^']*)'|"\s*:\s*([0-9]+)|\s?=\s?([^\s"']+))`)
	// pairEnd is where a value without quotes ends before the next blank.
	pairEnd = regexp.MustCompile(`[,;&](?:[A-Za-z][A-Za-z0-9_. -]*[:=]|$)`)
)

// underName cuts what stands under a name. The word that says how a token is to
// be understood is none of the secret.
func underName(name, v string) []Piece {
	if !NamesSecret(name) || open(name, v) {
		return inText(v)
	}
	return afterScheme(v)
}

// afterScheme is a secret with a word before it that says how it is meant, which may
// be all that there is.
func afterScheme(v string) []Piece {
	switch scheme := authScheme.FindString(v); scheme {
	case "":
		return []Piece{{v, true}}
	case v:
		return nil
	default:
		return []Piece{{scheme, false}, {v[len(scheme):], true}}
	}
}

// inArg cuts an argument that follows flag, "" if that is none.
func inArg(flag, v string) []Piece {
	if flag != "" && NamesSecret(flag) && !open(flag, v) && !flagForm.MatchString(v) {
		return afterScheme(v)
	}
	if m := assigned.FindStringSubmatch(v); m != nil && NamesSecret(m[1]) && !open(m[1], v[len(m[0]):]) {
		if found := afterScheme(v[len(m[0]):]); found != nil {
			return slices.Concat([]Piece{{m[0], false}}, found)
		}
	}
	return inText(v)
}

// inText cuts a text that has no name, or one that says nothing: at the parameters of a
// URL, at names of secrets in it, or as a whole if it looks like a secret.
func inText(v string) []Piece {
	found := inURL(v)
	if found == nil {
		found = inPairs(v)
	}
	for _, p := range found {
		if !p.Secret && secretValue(p.Text) {
			return []Piece{{v, true}} // another one would be left
		}
	}
	if found == nil && secretValue(v) {
		return afterScheme(v)
	}
	return found
}

// inPairs cuts the values of names of secrets out of a text with several.
func inPairs(v string) []Piece {
	var out []Piece
	at := 0
	for from := 0; ; {
		name, start, end := nextPair(v, from)
		if name == "" {
			break
		}
		if from = end; NamesSecret(name) && !open(name, v[start:end]) {
			out = append(out, Piece{v[at:start], false}, Piece{v[start:end], true})
			at = end
		}
	}
	if out != nil && at < len(v) {
		out = append(out, Piece{v[at:], false})
	}
	return out
}

// nextPair returns the first name in v[from:] that has a value, and where in v that is;
// "" if there is none.
func nextPair(v string, from int) (name string, start, end int) {
	m := pair.FindStringSubmatchIndex(v[from:])
	if m == nil {
		return "", 0, 0
	}
	for i := 4; i < len(m); i += 2 {
		if m[i] >= 0 {
			start, end = from+m[i], from+m[i+1]
		}
	}
	if bare := m[len(m)-2] >= 0; bare {
		if stop := pairEnd.FindStringIndex(v[start:end]); stop != nil {
			end = start + stop[0]
		}
	}
	return v[from+m[2] : from+m[3]], start, end
}

// flagOf returns an argument that is a flag whose value comes next, else "".
func flagOf(arg string) string {
	if strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
		return arg
	}
	return ""
}

// longSegment is the length from which a random part of a URL's path is what lets
// people in, and not the name of something.
const longSegment = 24

// inURL cuts a URL at its parameters, and at what a machine drew for its path.
func inURL(v string) []Piece {
	scheme, rest, ok := strings.Cut(v, "://")
	if !ok || strings.ContainsAny(scheme, "?/ ") {
		return nil
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	b := &cutter{}
	b.add(scheme+"://", false)
	for i, segment := range strings.Split(rest, "/") {
		if i > 0 {
			b.add("/", false)
		}
		b.add(segment, i > 0 && (len(segment) >= longSegment && drawn(segment) || issued.MatchString(segment)))
	}
	if hasQuery {
		b.add("?", false)
		b.query(query)
	}
	if hasFragment {
		b.add("#"+fragment, false)
	}
	return b.found()
}

// drawn reports whether a long segment looks as if a machine had drawn it: it mixes
// letters and digits, without a border between words.
func drawn(segment string) bool {
	digits, letters := 0, 0
	for _, r := range segment {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			letters++
		}
	}
	whole := digits+letters == len(segment) && digits >= longSegment/4 && letters >= longSegment/4
	return whole || hasRandom(segment)
}

// cutter gathers pieces, and joins neighbours that are no secret.
type cutter struct{ out []Piece }

func (c *cutter) add(text string, secret bool) {
	last := len(c.out) - 1
	switch {
	case text == "":
	case !secret && last >= 0 && !c.out[last].Secret:
		c.out[last].Text += text
	default:
		c.out = append(c.out, Piece{text, secret})
	}
}

// query cuts parameters.
func (c *cutter) query(query string) {
	for i, part := range strings.Split(query, "&") {
		if i > 0 {
			c.add("&", false)
		}
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(value); err == nil && secretUnder(name, plain) {
			c.add(name+"=", false)
			c.add(value, true)
		} else {
			c.add(part, false)
		}
	}
}

// found returns the pieces, nil if none of them is a secret.
func (c *cutter) found() []Piece {
	if !slices.ContainsFunc(c.out, func(p Piece) bool { return p.Secret }) {
		return nil
	}
	return c.out
}
