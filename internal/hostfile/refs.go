package hostfile

import (
	"fmt"
	"regexp"
	"strings"
)

// The forms that hosts have for values from elsewhere, and what becomes of them:
//
//	${VAR}  ${VAR:-default}       as they are; a default may hold references
//	${env:VAR}  {env:VAR}         ${VAR}
//	$VAR                          ${VAR} where the host replaces it, else text
//	{file:PATH}                   ${file:PATH}
//	${workspaceFolder}            the project's directory, where the file is a project's
//	${userHome} ${/}              what they stand for
//	${file:PATH} ${keyring:NAME}  as they are: heddle's own forms
//	${input:ID} ${command:ID}     the server cannot be imported: only the host can ask
//	$${VAR}                       as it is: an escaped reference
//	anything else                 text, with its dollar signs doubled for heddle

// translator turns a host's texts into heddle's.
type translator struct {
	env     Env
	dialect *dialect
	project string
	server  *Server
}

var (
	hostWord    = regexp.MustCompile(`^\$\{([A-Za-z]+(?::[^{}]*)?|/)\}`)
	hostVar     = regexp.MustCompile(`^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-)?`)
	dollarVar   = regexp.MustCompile(`^\$([A-Za-z_][A-Za-z0-9_]*)`)
	bracesVar   = regexp.MustCompile(`^\{(env|file):([^{}]+)\}`)
	variableEnv = regexp.MustCompile(`^env:[A-Za-z_][A-Za-z0-9_]*$`)
)

// texts translates an object of texts, nil for none.
func (t translator) texts(field string, n *node) map[string]string {
	if n == nil || n.kind != object {
		return nil
	}
	out := map[string]string{}
	for _, m := range n.members {
		if m.value.kind == str || m.value.kind == scalar && m.value.text != "null" {
			out[m.key] = t.text(field+"."+m.key, m.value.text)
		}
	}
	return out
}

// text translates one text. What heddle cannot know makes the server unusable.
func (t translator) text(field, s string) string {
	out, rest := t.until(field, s, false)
	if rest != "" { // cannot be: only a default ends before its text does
		out += escape(rest)
	}
	return out
}

// until translates up to the end, or in a default up to its closing brace, and
// returns what follows.
func (t translator) until(field, s string, inDefault bool) (out, rest string) {
	var b strings.Builder
	for s != "" {
		if inDefault && s[0] == '}' {
			return b.String(), s
		}
		if strings.HasPrefix(s, "$${") {
			b.WriteString("$${")
			s = s[3:]
			continue
		}
		text, n := t.reference(field, s)
		if n == 0 {
			text, n = escape(s[:1]), 1
		}
		b.WriteString(text)
		s = s[n:]
	}
	return b.String(), ""
}

// reference translates the reference that s begins with, and returns how long it
// is; 0 if there is none.
func (t translator) reference(field, s string) (string, int) {
	if m := bracesVar.FindStringSubmatch(s); m != nil && t.dialect.braces {
		if m[1] == "file" {
			return "${file:" + escape(m[2]) + "}", len(m[0])
		}
		return "${" + m[2] + "}", len(m[0])
	}
	if m := dollarVar.FindStringSubmatch(s); m != nil && t.dialect.dollar {
		return "${" + m[1] + "}", len(m[0])
	}
	if m := hostVar.FindStringSubmatch(s); m != nil {
		rest := s[len(m[0]):]
		switch {
		case m[2] != "":
			value, after := t.until(field, rest, true)
			if after == "" {
				return "", 0
			}
			return "${" + m[1] + ":-" + value + "}", len(s) - len(after) + 1
		case strings.HasPrefix(rest, "}") && !t.hostOnly(m[1]):
			return "${" + m[1] + "}", len(m[0]) + 1
		}
	}
	if m := hostWord.FindStringSubmatch(s); m != nil {
		return t.word(field, m[1]), len(m[0])
	}
	return "", 0
}

// hostOnly reports whether a name is a host's own and no variable.
func (t translator) hostOnly(name string) bool {
	switch name {
	case "workspaceFolder", "workspaceFolderBasename", "workspaceRoot", "userHome", "pathSeparator":
		return true
	}
	return false
}

// word returns what a host's own word stands for.
func (t translator) word(field, word string) string {
	kind, rest, _ := strings.Cut(word, ":")
	switch {
	case variableEnv.MatchString(word):
		return "${" + rest + "}"
	case rest != "" && (kind == "file" || kind == "keyring"):
		return "${" + kind + ":" + escape(rest) + "}"
	case word == "userHome":
		return escape(t.env.Home)
	case word == "pathSeparator", word == "/":
		return t.env.separator()
	case t.project != "" && (word == "workspaceFolder" || word == "workspaceRoot"):
		return escape(t.project)
	case t.project != "" && word == "workspaceFolderBasename":
		return escape(t.env.base(t.project))
	}
	t.unusable(field, word)
	return ""
}

// unusable notes why a server stays with its host. Of a form that is not known
// it names no more than the kind: the rest may be anything.
func (t translator) unusable(field, word string) {
	if t.server.Unusable != "" {
		return
	}
	kind, rest, _ := strings.Cut(word, ":")
	why := "which only the host knows"
	switch {
	case kind == "input":
		why = "which the host asks its user for; put it into the environment and write ${VAR}"
	case rest != "":
		word = kind + ":…"
	}
	t.server.Unusable = fmt.Sprintf("%s needs ${%s}, %s", field, word, why)
}

// escape writes text so that heddle reads it as it is.
func escape(s string) string { return strings.ReplaceAll(s, "$", "$$") }
