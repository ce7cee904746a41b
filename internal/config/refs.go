package config

import (
	"errors"
	"regexp"
	"strings"
)

// The forms of a reference are
//
//	${VAR}            the variable, which must be set and not empty
//	${VAR:-default}   the default if it is not; may hold references itself
//	${file:PATH}      the contents of a file, less a final newline
//	${keyring:NAME}   a secret of the system's keyring
//	$$                a dollar sign
//
// and in hosts' files also ${env:VAR}, ${userHome}, ${pathSeparator}, and with a
// reason why the server cannot be used ${input:ID}, ${workspaceFolder} and the
// like. $VAR and %VAR% are text.

// template is a text cut at its references.
type template []part

// part is literal text or, if ref is not nil, a reference.
type part struct {
	literal string
	ref     *reference
}

// source is where a reference takes its value from.
type source string

const (
	fromEnv     source = "env"
	fromFile    source = "file"
	fromKeyring source = "keyring"
	// fromHost is a value that only the host knows.
	fromHost source = "host"
)

type reference struct {
	from source
	// name is a variable or a key of the keyring, or how the host wrote it.
	name string
	// path names the file; it may hold references.
	path template
	// fallback is the default, nil if there is none.
	fallback *template
}

var (
	errUnclosed = errors.New("has a ${ without its }")
	errEmptyRef = errors.New("has an empty ${}")
	errDeepRef  = errors.New("nests references too deep")
	errForm     = errors.New("has a ${…} of a form that is not known; the forms are ${VAR}, ${VAR:-default}, ${file:PATH} and ${keyring:NAME}")
	errEnvForm  = errors.New("has a ${env:VAR}, which is a host's form; write ${VAR}")
)

// hasRefs reports whether any part is a reference.
func (t template) hasRefs() bool {
	for _, p := range t {
		if p.ref != nil {
			return true
		}
	}
	return false
}

// literal returns the text of a template without references.
func (t template) literal() string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.literal)
	}
	return b.String()
}

// refParser reads one text.
type refParser struct {
	s    string
	i    int
	host bool
}

// parseTemplate cuts s at its references. The error never quotes s.
func parseTemplate(s string, host bool) (template, error) {
	p := &refParser{s: s, host: host}
	return p.template(0)
}

// template reads up to the end, or at a depth above 0 up to the closing brace.
func (p *refParser) template(depth int) (template, error) {
	if depth > 16 {
		return nil, errDeepRef
	}
	out := template{}
	start := p.i
	flush := func(text string) {
		if text != "" {
			out = append(out, part{literal: text})
		}
	}
	for p.i < len(p.s) {
		switch rest := p.s[p.i:]; {
		case depth > 0 && rest[0] == '}':
			flush(p.s[start:p.i])
			p.i++
			return out, nil
		case p.escaped(rest):
			flush(p.s[start : p.i+1])
			p.i += 2
			start = p.i
		case strings.HasPrefix(rest, "${"):
			flush(p.s[start:p.i])
			p.i += 2
			ref, err := p.reference(depth)
			if err != nil {
				return nil, err
			}
			out = append(out, part{ref: ref})
			start = p.i
		default:
			p.i++
		}
	}
	if depth > 0 {
		return nil, errUnclosed
	}
	flush(p.s[start:])
	return out, nil
}

// escaped reports whether rest begins with an escaped dollar sign. Hosts know no
// escape, so that in their files "$$" alone (a password) stays as it is.
func (p *refParser) escaped(rest string) bool {
	if p.host {
		return strings.HasPrefix(rest, "$${")
	}
	return strings.HasPrefix(rest, "$$")
}

var (
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)
	hostForm = regexp.MustCompile(`^(?:[A-Za-z]+:[^{}]*|workspaceFolder(?:Basename)?|workspaceRoot|userHome|pathSeparator|/)}`)
)

// reference reads what follows "${".
func (p *refParser) reference(depth int) (*reference, error) {
	rest := p.s[p.i:]
	switch {
	case !strings.Contains(rest, "}"):
		return nil, errUnclosed
	case rest[0] == '}':
		return nil, errEmptyRef
	case strings.HasPrefix(rest, "file:"):
		p.i += len("file:")
		path, err := p.template(depth + 1)
		return &reference{from: fromFile, path: path}, err
	case strings.HasPrefix(rest, "keyring:"):
		name, _, _ := strings.Cut(rest[len("keyring:"):], "}")
		p.i += len("keyring:") + len(name) + 1
		if name == "" {
			return nil, errForm
		}
		return &reference{from: fromKeyring, name: name}, nil
	case strings.HasPrefix(rest, "env:") && !p.host:
		return nil, errEnvForm
	case strings.HasPrefix(rest, "env:"):
		p.i += len("env:")
	case p.host && hostForm.MatchString(rest) && !strings.HasPrefix(variable.ReplaceAllString(rest, ""), ":-"):
		name, _, _ := strings.Cut(rest, "}")
		p.i += len(name) + 1
		return &reference{from: fromHost, name: name}, nil
	}
	return p.variable(depth)
}

// variable reads NAME} or NAME:-default}.
func (p *refParser) variable(depth int) (*reference, error) {
	ref := &reference{from: fromEnv, name: variable.FindString(p.s[p.i:])}
	if ref.name == "" {
		return nil, errForm
	}
	p.i += len(ref.name)
	rest := p.s[p.i:]
	switch {
	case strings.HasPrefix(rest, "}"):
		p.i++
		return ref, nil
	case strings.HasPrefix(rest, ":-"):
		p.i += len(":-")
		fallback, err := p.template(depth + 1)
		ref.fallback = &fallback
		return ref, err
	}
	return nil, errForm
}
