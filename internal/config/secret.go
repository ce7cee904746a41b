package config

import (
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// masks collects what must not be shown.
type masks struct{ values map[string]bool }

// minMask is the shortest value that is masked: shorter ones stand in ordinary
// text.
const minMask = 6

// add notes a value, and each line of one with several, because text is masked
// by the line.
func (m *masks) add(value string) {
	if m.values == nil {
		m.values = map[string]bool{}
	}
	for _, v := range append(strings.Split(value, "\n"), value) {
		if v = strings.TrimRight(v, "\r"); len(v) >= minMask {
			m.values[v] = true
		}
	}
}

// list returns the values, longest first: a shorter one may be part of a longer.
func (m *masks) list() []string {
	out := make([]string, 0, len(m.values))
	for v := range m.values {
		out = append(out, v)
	}
	sort.Slice(out, func(i, j int) bool {
		if len(out[i]) != len(out[j]) {
			return len(out[i]) > len(out[j])
		}
		return out[i] < out[j]
	})
	return out
}

// harmless reports whether a variable's value is known to be no secret. Masking
// the home directory would make every path in an error unreadable.
func harmless(name string) bool {
	switch strings.ToUpper(name) {
	case "HOME", "USER", "LOGNAME", "PATH", "PWD", "SHELL", "LANG", "TERM", "TZ", "TMPDIR", "TEMP", "TMP",
		"HOSTNAME", "USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "SYSTEMROOT":
		return true
	}
	return strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "LC_")
}

// plainSecret is a text with a secret in plain sight.
type plainSecret struct {
	text
	pieces []Piece
}

// literalSecrets returns the texts of a server that hold a secret in plain sight.
func literalSecrets(raw *rawServer) []plainSecret {
	var out []plainSecret
	add := func(t text, pieces []Piece) {
		if pieces != nil {
			out = append(out, plainSecret{t, pieces})
		}
	}
	for _, e := range slices.Concat(raw.env, raw.headers) {
		add(e.value, piecesOf(e.value.parts, func(v string) []Piece { return underName(e.key, v) }))
	}
	if raw.url.at != nil {
		add(raw.url, piecesOf(raw.url.parts, inURL))
	}
	flag := ""
	for _, a := range raw.args {
		add(a, piecesOf(a.parts, func(v string) []Piece { return inArg(flag, v) }))
		flag = flagOf(a.parts.literal())
	}
	return out
}

// reviewer warns about what is probably not meant. It names places, not values.
type reviewer struct {
	*report
	env Env
}

func (d reviewer) server(s *Server, raw *rawServer) {
	for _, t := range literalSecrets(raw) {
		d.warn(t.at, t.path, "looks like a secret in plain text; put it into the environment or .env and write ${VAR}, or use ${keyring:NAME}")
	}
	if IsHeddle(s.Command, s.Args) {
		d.warn(raw.at, raw.path, "starts heddle itself; remove it if it leads back to this configuration")
	}
	if shells[commandName(s.Command)] {
		return // A shell expands $VAR on its own.
	}
	for _, t := range raw.args {
		d.bareVariable(t)
	}
	for _, e := range slices.Concat(raw.env, raw.headers) {
		d.bareVariable(e.value)
	}
	d.bareVariable(raw.url)
	d.bareVariable(raw.caFile)
	d.bareVariable(raw.command)
	d.bareVariable(raw.cwd)
}

var (
	bareName = regexp.MustCompile(`\$([A-Za-z_][A-Za-z0-9_]*)|%([A-Za-z_][A-Za-z0-9_]*)%`)
	shells   = words("sh bash zsh dash ash ksh fish cmd powershell pwsh")
)

// bareVariable warns about $VAR and %VAR% where a variable of that name is set.
// Any other name is not shown: it may be part of a password.
func (d reviewer) bareVariable(t text) {
	for _, p := range t.parts {
		for _, m := range bareName.FindAllStringSubmatch(p.literal, -1) {
			name := m[1] + m[2]
			if _, ok := d.env.lookup(name); ok {
				d.warn(t.at, t.path, "%s is passed as written; write ${%s} for its value", m[0], name)
			}
		}
	}
}

// commandName returns the base name of a command, lower case and without the
// suffix of an executable. Both kinds of slash count on every system, because
// files are carried from one to another.
func commandName(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
