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
func SecretsOfURL(written string) []Piece { return pieces(written, inQuery) }

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
)

// underName cuts what stands under a name. The word that says how a token is to
// be understood is none of the secret.
func underName(name, v string) []Piece {
	if !secretUnder(name, v) {
		return nil
	}
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
	if flag != "" && secretUnder(flag, v) {
		return underName(flag, v)
	}
	if m := assigned.FindStringSubmatch(v); m != nil {
		if found := underName(m[1], v[len(m[0]):]); found != nil {
			return slices.Concat([]Piece{{m[0], false}}, found)
		}
	}
	if secretValue(v) {
		return []Piece{{v, true}}
	}
	return inQuery(v)
}

// flagOf returns an argument that is a flag whose value comes next, else "".
func flagOf(arg string) string {
	if strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
		return arg
	}
	return ""
}

// inQuery cuts the parameters of a URL.
func inQuery(v string) []Piece {
	before, query, ok := strings.Cut(v, "?")
	if !ok || !strings.Contains(before, "://") {
		return nil
	}
	query, fragment, _ := strings.Cut(query, "#")
	out := []Piece{{before + "?", false}}
	for i, part := range strings.Split(query, "&") {
		if i > 0 {
			out = append(out, Piece{"&", false})
		}
		name, value, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(value)
		if err != nil || !secretUnder(name, plain) {
			out = append(out, Piece{part, false})
			continue
		}
		out = append(out, Piece{name + "=", false}, Piece{value, true})
	}
	if fragment != "" {
		out = append(out, Piece{"#" + fragment, false})
	}
	if !slices.ContainsFunc(out, func(p Piece) bool { return p.Secret }) {
		return nil
	}
	return out
}
