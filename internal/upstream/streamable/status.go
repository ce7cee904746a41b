package streamable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"heddle/internal/wire"
)

// StatusError is an answer of HTTP that is none of the protocol.
type StatusError struct {
	Status int
	// Body is the beginning of what the server says, at most 300 printable characters on
	// one line; of an HTML page its title.
	Body string
	// WWWAuthenticate and RetryAfter are the headers of those names.
	WWWAuthenticate, RetryAfter string
	html                        bool
	kind                        string // the type of a body that is not JSON
}

// Error says what to do where that is known.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("HTTP %d", e.Status)
	if t := http.StatusText(e.Status); t != "" {
		text += " " + t
	}
	switch {
	case e.html && e.Body != "":
		text += fmt.Sprintf(", an HTML page with the title %q", e.Body)
	case e.html:
		text += ", an HTML page"
	case e.Status < 300 && e.kind != "":
		text += " with the type " + e.kind
	}
	if !e.html && e.Body != "" {
		text += ": " + e.Body
	}
	if advice := e.advice(); advice != "" {
		text += ": " + advice
	}
	return text
}

// Refused reports whether the server did what it should and refused the request,
// rather than failed.
func (e *StatusError) Refused() bool { return e.Status >= 400 && e.Status < 500 }

// HTTPStatus returns Status.
func (e *StatusError) HTTPStatus() int { return e.Status }

func (e *StatusError) advice() string {
	switch s := e.Status; {
	case s == http.StatusUnauthorized:
		return "the server wants credentials; set headers.Authorization"
	case s == http.StatusForbidden:
		return "the server refuses these credentials, or this client; check headers"
	case s == http.StatusProxyAuthRequired:
		return "the proxy wants credentials; put them into the variable that names it"
	case s == http.StatusTooManyRequests && e.RetryAfter != "":
		return "the server is asked too often; it says to wait (Retry-After: " + e.RetryAfter + ")"
	case s == http.StatusTooManyRequests:
		return "the server is asked too often; wait before the next call"
	case s == http.StatusNotFound, s == http.StatusMethodNotAllowed, s < 300, s < 400 && s != http.StatusNotModified:
		return "no MCP server answers at this URL; check its path"
	case s >= 500:
		return "the server, or a proxy in front of it, failed"
	}
	return ""
}

const (
	maxErrorBody = 64 << 10
	shownBody    = 300
	shownHeader  = 1000
)

// errorBody reads the beginning of a body.
func errorBody(resp *http.Response) []byte {
	body, err := plain(resp)
	if err != nil {
		return nil
	}
	data, _ := io.ReadAll(io.LimitReader(body, maxErrorBody)) // what has come is shown
	return data
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// statusError describes an answer whose body begins with data.
func (l *Link) statusError(resp *http.Response, data []byte) *StatusError {
	e := &StatusError{
		Status: resp.StatusCode, kind: shown(mediaType(resp), shownBody),
		WWWAuthenticate: shown(l.scrub.Replace(resp.Header.Get("Www-Authenticate")), shownHeader),
		RetryAfter:      shown(resp.Header.Get("Retry-After"), 100),
	}
	head := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 512)]))
	e.html = strings.Contains(e.kind, "html") || bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
	text := string(data)
	if e.html {
		if m := title.FindStringSubmatch(text); m != nil {
			text = m[1]
		} else {
			text = ""
		}
	}
	e.Body = shown(l.scrub.Replace(text), shownBody)
	return e
}

// shown returns the first n printable characters of s on one line, or a few less.
func shown(s string, n int) string {
	var b strings.Builder
	space, count := false, 0
	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			count++
		}
		if count >= n {
			return strings.TrimRightFunc(b.String(), inToken) + "…"
		}
		space = false
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// inToken says that a rune may be part of a credential, half of which no mask finds: no
// text is cut within one.
func inToken(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./+=~%", r)
}

// refused reads an answer whose status says that something is wrong.
func (l *Link) refused(ctx context.Context, f *flight, resp *http.Response) {
	data := oneLine(errorBody(resp))
	answer, rpc := l.errorAnswer(f, data)
	switch {
	case f.session != "" && !f.sse && forgotten(resp.StatusCode, f, data):
		l.lose(ctx, f)
	case rpc && f.isRequest() && resp.StatusCode != http.StatusUnauthorized: // whose text would not say what to set
		if l.settle(f) {
			l.push(ctx, frame{data: answer, origin: f.id})
		}
	case f.method == initialize && !rpc && l.c.Kind == "" && !f.sse && older(resp.StatusCode):
		l.fallBack(f, l.statusError(resp, data))
	default:
		l.fail(ctx, f, l.statusError(resp, data))
	}
}

// older reports whether a server of HTTP+SSE answers a POST to its URL so.
func older(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// errorAnswer returns the JSON-RPC error in a body, under the id of f.
func (l *Link) errorAnswer(f *flight, data []byte) ([]byte, bool) {
	if len(data) == 0 || data[0] != '{' || !wire.Valid(data) {
		return nil, false
	}
	return l.ours(f, data)
}

// forgotten reports whether an answer says that the session is unknown. The
// protocol has 404 for it; a server in wide use that was started anew says 400, with an
// error that belongs to no request. A 404 that answers the very request means its
// method.
func forgotten(status int, f *flight, data []byte) bool {
	m, _ := wire.Parse(data) // a null id makes it no message
	code := string(wire.Member(m.Error, "code"))
	switch status {
	case http.StatusNotFound:
		return f.id == nil || !wire.SameID(m.ID, f.id) || code != "-32601"
	case http.StatusBadRequest:
		text, _ := wire.Unquote(wire.Member(m.Error, "message"))
		return code == "-32000" && orphanError(data) != nil && strings.Contains(strings.ToLower(text), "session")
	}
	return false
}

// transportError is an error of the network without what errors of net/http say
// of the URL.
type transportError struct {
	text  string
	cause error
}

// Error implements error.
func (e *transportError) Error() string { return e.text }

// Unwrap returns the error of the network.
func (e *transportError) Unwrap() error { return e.cause }

func (l *Link) transportError(err error) error {
	var u *url.Error
	for errors.As(err, &u) && u != nil {
		if prefix, ok := strings.CutSuffix(err.Error(), u.Error()); ok && prefix != "" {
			err = fmt.Errorf("%s%w", prefix, u.Err)
			break
		}
		err = u.Err
	}
	return &transportError{l.scrub.Replace(err.Error()), err}
}
