package ssrf

import (
	"strings"

	"heddle/internal/dial/address"
	"heddle/internal/walk"
)

// text judges the addresses in one text: as it is, and decoded once.
func (in *inspection) text(text string, p place) {
	if p == inPattern {
		if strings.ContainsAny(text, `^$*+()[]{}|\`) {
			return // "https?://localhost(:\d+)?/" reaches nothing
		}
		p = inText
	}
	in.plain(text, p)
	for _, decode := range decoders {
		if plain, ok := decode(text); ok {
			in.plain(plain, p)
		}
	}
	if p >= inPlace {
		in.bare(text, p)
	}
}

// plain judges a text as it is.
func (in *inspection) plain(text string, p place) {
	trimmed := strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	if p == inCommand {
		in.command(trimmed)
	}
	if strings.IndexByte(trimmed, ':') < 0 && slashes(trimmed) < 2 && !strings.Contains(trimmed, "//") {
		return
	}
	if in.json(trimmed, p) {
		return
	}
	gap := strings.IndexFunc(trimmed, func(r rune) bool { return r <= ' ' })
	if gap < 0 {
		in.whole(trimmed, p, in.certainty(p))
		return
	}
	if p == inCommand {
		in.links(trimmed, fetched)
		return
	}
	in.links(trimmed, linked)
	// Browsers drop tabs and line ends within a URL, and escape spaces before an @.
	if p >= inLink || trimmed[gap] != ' ' && letter(trimmed[0]) {
		in.whole(gapless.Replace(trimmed[:min(len(trimmed), maxStray)]), inText, doubtful)
	}
}

var gapless = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// certainty is what a text that is one URL is to the tool.
func (in *inspection) certainty(p place) rigor {
	if in.depth > 0 || in.at != nil && in.at.Kind == walk.Name && p == inText {
		return linked
	}
	return fetched
}

// whole judges a text that may be one URL, and URLs within it.
func (in *inspection) whole(text string, p place, r rigor) {
	if n := slashes(text); n >= 2 {
		if p < inLink {
			r = doubtful // a path, or XPath
		}
		in.authorities(target{scheme: "http", rigor: r}, text[n:])
		in.links(text[n:], min(r, linked))
		return
	}
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !isScheme(scheme) {
		if odd := strings.Index(text, "://"); odd >= 0 && p >= inLink { // "0://host", which some take
			in.authorities(target{scheme: "http", rigor: doubtful}, text[odd+3:])
		}
		certain := linked
		if p == inCommand {
			certain = fetched // --url=http://…
		}
		in.links(text, min(r, certain))
		return
	}
	in.url(strings.ToLower(scheme), rest, p, r)
}

// url judges a text that is a URL.
func (in *inspection) url(scheme, rest string, p place, r rigor) {
	n := slashes(rest)
	wraps := wrapper(scheme)
	if r > doubtful && refusedScheme(scheme) && (n > 0 || wraps || p >= inLink) {
		in.scheme(scheme)
	}
	switch {
	case special(scheme) && n == 0 && p < inLink:
		in.authorities(target{scheme: scheme, rigor: doubtful}, rest)
	case special(scheme):
		in.authorities(target{scheme: scheme, rigor: r}, rest[n:])
	case strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, `\\`):
		in.authorities(target{scheme: scheme, rigor: r}, rest[2:])
		if manyHosts(scheme) {
			in.pairs(rest)
		}
	case wraps:
		if scheme == "jdbc" {
			in.pairs(rest)
		}
		in.whole(rest, p, r)
		return
	}
	in.links(rest, min(r, linked))
}

// scheme refuses a scheme unless a list has it.
func (in *inspection) scheme(scheme string) {
	if in.g.metadataOnly || in.g.hosts.hasScheme(scheme) || in.server.hasScheme(scheme) {
		return
	}
	if i := strings.LastIndexByte(scheme, '+'); i >= 0 {
		scheme = scheme[i+1:]
	}
	in.find("scheme "+scheme, keyPrivate)
}

// maxSlashless bounds how many "http:host" of one text are looked at.
const maxSlashless = 64

// links judges the URLs within a text.
func (in *inspection) links(text string, r rigor) {
	slashless := 0
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], ':')
		if n < 0 {
			break
		}
		i += n
		rest := text[i+1:]
		if rest == "" {
			break
		}
		scheme := schemeBefore(text[:i])
		if scheme == "" {
			continue
		}
		n = slashes(rest)
		if n > 0 && r == fetched && refusedScheme(scheme) {
			in.scheme(scheme)
		}
		switch {
		case special(scheme) && n > 1:
			in.authorities(target{scheme: scheme, rigor: r, within: true}, rest[n:])
		case special(scheme) && n == 1: // "http:/x", "http:\n": a path, code
			in.authorities(target{scheme: scheme, rigor: doubtful, within: true}, rest[n:])
		case special(scheme) && slashless < maxSlashless && hostByte(rest[0]):
			slashless++
			in.authorities(target{scheme: scheme, rigor: doubtful, within: true}, rest[:min(len(rest), maxStray)])
		case n == 2 && rest[0] == rest[1]:
			in.authorities(target{scheme: scheme, rigor: r, within: true}, rest[2:])
		}
	}
	in.relative(text)
}

// relative judges URLs without a scheme in quoted attributes: src="//127.0.0.1/x".
func (in *inspection) relative(text string) {
	for i := 0; ; {
		n := strings.Index(text[i:], "//")
		if n < 0 {
			return
		}
		i += n + 2
		if i > 2 && strings.IndexByte(`"'(=`, text[i-3]) >= 0 {
			in.authorities(target{scheme: "http", rigor: doubtful, within: true}, text[i:])
		}
	}
}

// schemeBefore returns the scheme that text ends with in lower case, "" if none.
func schemeBefore(text string) string {
	i := len(text)
	for i > 0 && i > len(text)-maxScheme && schemeByte(text[i-1]) {
		i--
	}
	for i < len(text) && !letter(text[i]) {
		i++
	}
	scheme := text[i:]
	if !isScheme(scheme) {
		return ""
	}
	scheme = strings.ToLower(scheme)
	if j := strings.LastIndexAny(scheme, "+-._"); j >= 0 && special(scheme[j+1:]) {
		return scheme[j+1:] // the end of "see_http:"
	}
	return scheme
}

// maxNested is how deep JSON in strings is read.
const maxNested = 2

// json judges the texts of JSON in a string, and reports whether it was JSON. Its
// members are data for the tool: they are no addresses because of their names.
func (in *inspection) json(text string, p place) bool {
	if in.depth >= maxNested || p >= inLink || len(text) < 2 || text[0] != '{' && text[0] != '[' {
		return false
	}
	in.depth++
	defer func() { in.depth-- }()
	return walk.Texts([]byte(text), func(t *walk.Text) bool {
		if t.Kind != walk.Number {
			in.text(t.Value, inText)
		}
		return len(in.findings) < maxFindings
	}) == nil
}

// convincing reports whether a host is private by its spelling, where it is not clear
// that it is a host at all: a short number is none.
func convincing(host string) bool {
	readings, numeric := address.Parse(host)
	if numeric {
		return len(readings) > 0 && (strings.ContainsAny(host, ".:xX") || len(host) >= len("16777216"))
	}
	return true
}
