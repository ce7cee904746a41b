package upstream

import (
	"fmt"
	"regexp"
)

// Codes of a server that runs and does not answer, where it said something else.
const (
	codeNoProtocol = "no_protocol"
	codeLogin      = "login"
)

// login is a line that sends a person to a page to log in. What it is taken for goes to
// people alone, who see the line too.
var login = regexp.MustCompile(`(?i)\b(?:log|sign)[ -]?in\b.*https?://|\b(?:authori[sz]|authenticat)\w*\b.*https?://|https?://\S*(?:/login|/oauth|/authorize|/device)\b`)

// instead returns what a server has said in place of an answer: a code and a clause
// about "it", both "" if that is nothing, which tells nothing.
func (l *life) instead() (code, text string) {
	if n, first := l.session.stray.get(); n > 0 {
		lines := "1 line"
		if n > 1 {
			lines = fmt.Sprintf("%d lines", n)
		}
		return codeNoProtocol, fmt.Sprintf("it wrote %s of text to stdout and no protocol message, first %q", lines, l.s.deps.mask(first[0]))
	}
	for _, line := range l.tail() {
		if login.MatchString(line) {
			return codeLogin, fmt.Sprintf("it waits for somebody to log in: %q", line)
		}
	}
	return "", ""
}
