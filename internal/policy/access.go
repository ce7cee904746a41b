package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle"
)

// Access is what the lists say about one tool.
type Access struct {
	Allowed bool
	// Rule is what decided: `allow "*"`, `deny "github/delete_*"`,
	// `servers.github.tools.deny "x"`, "not in tools.allow".
	Rule string
}

// Lists of patterns match a tool in up to four spellings.
//
//   - A pattern with "/" is "server/tool", split at the first "/". Both parts match
//     the original names, whole.
//   - One without matches "<server>_<tool>" whole, as it is before any cutting and
//     suffixes, with the tool's name as hosts see it or as it is.
//   - In a deny list it also matches the tool's own name.
//   - In the lists of a server all of these count.

// names are the spellings of one tool.
type names struct {
	ref        heddle.ToolRef
	safe, full string
}

func namesOf(ref heddle.ToolRef) names {
	return names{ref: ref, safe: ref.Server + "_" + safeName(ref.Name), full: ref.Server + "_" + ref.Name}
}

// pattern is one entry of a list.
type pattern struct {
	text         string
	server, tool *glob // of "server/tool"
	whole        *glob
}

func parsePattern(text string) (*pattern, error) {
	p := &pattern{text: text}
	var err error
	if p.whole, err = parseGlob(text); err != nil {
		return nil, err
	}
	server, tool, ok := splitPattern(text)
	if !ok || server == "" || tool == "" {
		// "fs/" and "/x" are well formed and match nothing: no name is empty.
		return p, nil
	}
	if p.server, err = parseGlob(server); err != nil {
		return nil, err
	}
	p.tool, err = parseGlob(tool)
	return p, err
}

// slashed says that the pattern is of the form "server/tool".
func (p *pattern) slashed() bool {
	_, _, ok := splitPattern(p.text)
	return ok
}

// list is a list of patterns under one name.
type list struct {
	name     string // as in the configuration: "tools.allow"
	rule     string // before the pattern in a rule: "allow"
	patterns []*pattern
	deny     bool
	bare     bool // the tool's own name matches as well
}

func newList(name, rule string, texts []string, deny, bare bool) (list, error) {
	l := list{name: name, rule: rule, deny: deny, bare: bare}
	for _, text := range texts {
		p, err := parsePattern(text)
		if err != nil {
			return l, fmt.Errorf("%s: %w %q", name, err, text)
		}
		l.patterns = append(l.patterns, p)
	}
	return l, nil
}

// matching returns how the list matches. In "server/tool" a star stops at the
// next slash, which tool names may contain, and "**" does not. A deny ignores
// case, and its stars match everything, so that "fs/*" leaves no tool of fs out.
func (l *list) matching() matching {
	return matching{fold: l.deny, slash: l.deny}
}

// find returns the first pattern that matches.
func (l *list) find(n *names) *pattern {
	for _, p := range l.patterns {
		if l.matches(p, n) {
			return p
		}
	}
	return nil
}

func (l *list) matches(p *pattern, n *names) bool {
	if !l.deny && !p.mayAllow(n.ref) {
		return false
	}
	m := l.matching()
	if p.server != nil && p.server.match(n.ref.Server, m) && p.tool.match(n.ref.Name, m) {
		return true
	}
	if l.bare && p.whole.match(n.ref.Name, m) {
		return true
	}
	if p.slashed() {
		return false
	}
	// "*" in such a pattern is about the whole name, where "/" has no meaning.
	m.slash = true
	return p.whole.match(n.safe, m) || p.whole.match(n.full, m)
}

// mayAllow keeps names that look like others out of lists that did not mean them:
// letters beyond ASCII pass only by a pattern that has some, or by "*", which is
// everything.
func (p *pattern) mayAllow(ref heddle.ToolRef) bool {
	return p.text == "*" || !p.whole.ascii || isASCII(ref.Server) && isASCII(ref.Name)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// maxName is the longest name that is not refused, in bytes. The protocol
// recommends at most 128 characters.
const maxName = 512

// badName says why a name is refused before any list is asked, "" if it is not.
func badName(kind, s string) string {
	switch {
	case s == "":
		return kind + " name is empty"
	case len(s) > maxName:
		return kind + " name is too long"
	case !utf8.ValidString(s):
		return kind + " name is not UTF-8"
	case strings.TrimSpace(s) != s:
		return kind + " name has a space at an edge"
	case strings.Contains(s, ".."):
		return kind + ` name has ".."`
	}
	for _, r := range s {
		if !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return kind + " name has an invisible character"
		}
	}
	return ""
}

// access decides about a tool.
func (p *Policy) access(ref heddle.ToolRef) Access {
	if why := badName("server", ref.Server); why != "" {
		return Access{Rule: why}
	}
	if why := badName("tool", ref.Name); why != "" {
		return Access{Rule: why}
	}
	n := namesOf(ref)
	layers := []serverLists{{p.allow, p.deny}, p.servers[ref.Server], p.profile}
	for _, l := range layers {
		if hit := l.deny.find(&n); hit != nil {
			return l.deny.refused(hit)
		}
	}
	rule := `allow "*"`
	for _, l := range layers {
		if l.allow == nil {
			continue
		}
		hit := l.allow.find(&n)
		if hit == nil {
			return Access{Rule: "not in " + l.allow.name}
		}
		rule = l.allow.named(hit)
	}
	return Access{Allowed: true, Rule: rule}
}

func (l *list) named(p *pattern) string   { return fmt.Sprintf("%s %q", l.rule, p.text) }
func (l *list) refused(p *pattern) Access { return Access{Rule: l.named(p)} }
