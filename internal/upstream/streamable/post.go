package streamable

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"heddle/internal/wire"
)

// send posts a message and reads what comes back.
func (l *Link) send(ctx context.Context, f *flight) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.mu.Lock()
	f.abort = cancel
	if f.aborted {
		cancel()
	}
	target, header := l.target, l.head
	f.session, f.sse = l.session, l.sse
	l.mu.Unlock()
	if f.modern() && !f.sse {
		f.session = ""
		header = l.modernHeader(f)
	}
	resp, err := l.c.Client.Do(l.request(ctx, http.MethodPost, target, header, f.body))
	if err != nil {
		l.fail(ctx, f, l.transportError(err))
		return
	}
	defer drain(resp)
	l.receive(ctx, f, resp)
}

// request returns a request; it shares header.
func (l *Link) request(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) *http.Request {
	req := &http.Request{
		Method: method, URL: u, Host: u.Host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)),
	}
	if body != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil } // for 307 and 308
	}
	return req.WithContext(ctx)
}

// drainMost is what is read of a body that nobody wants, to keep its connection.
const drainMost = 64 << 10

func drain(resp *http.Response) {
	if mediaType(resp) != eventStream { // such a stream may never end
		_, _ = io.CopyN(io.Discard, resp.Body, drainMost)
	}
	_ = resp.Body.Close()
}

const eventStream = "text/event-stream"

func mediaType(resp *http.Response) string {
	v := resp.Header.Get("Content-Type")
	switch v { // what nearly all send
	case "application/json", eventStream:
		return v
	}
	t, _, err := mime.ParseMediaType(v)
	if err != nil {
		t, _, _ = strings.Cut(v, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	return t
}

// receive reads the answer to a POST.
func (l *Link) receive(ctx context.Context, f *flight, resp *http.Response) {
	switch {
	case resp.StatusCode >= 300 || resp.StatusCode < 200:
		l.refused(ctx, f, resp)
	case !f.isRequest() || f.sse:
		l.accepted(f)
	case mediaType(resp) == eventStream:
		l.noteSession(f, resp)
		l.stream(ctx, f, resp)
	default:
		l.noteSession(f, resp)
		l.single(ctx, f, resp)
	}
}

// accepted ends the way of a message whose answer, if any, comes elsewhere.
func (l *Link) accepted(f *flight) {
	if f.method == initialized && !f.sse {
		l.mu.Lock()
		if l.err == nil {
			l.listening = true // until it turns out otherwise, for what is released below
			l.crew.Add(1)
			l.run(l.listen)
		}
		l.mu.Unlock()
	}
	l.settle(f)
}

// noteSession remembers the session that an answer to initialize begins.
func (l *Link) noteSession(f *flight, resp *http.Response) {
	id := resp.Header.Get(sessionHeader)
	if f.method != initialize || id == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = id
	l.head = l.head.Clone()
	l.head.Set(sessionHeader, id)
}

// single reads an answer that is one JSON document.
func (l *Link) single(ctx context.Context, f *flight, resp *http.Response) {
	body, err := plain(resp)
	if err != nil {
		l.fail(ctx, f, err)
		return
	}
	data, err := readAll(body, resp, l.c.MaxFrame)
	var large *wire.TooLargeError
	switch {
	case errors.As(err, &large):
		if l.settle(f) {
			l.push(ctx, frame{err: l.tooLarge(f.id, large.Size), origin: f.id})
		}
		return
	case err != nil:
		l.fail(ctx, f, l.transportError(fmt.Errorf("the answer broke off: %w", err)))
		return
	}
	data = oneLine(data)
	switch {
	case len(data) == 0:
		l.unanswered(ctx, f, resp.StatusCode)
	case data[0] != '{' && data[0] != '[':
		l.fail(ctx, f, l.statusError(resp, data))
	default:
		l.deliver(ctx, f, data)
	}
}

// unanswered is a request that was accepted without an answer. A server with a
// stream of its own may answer there.
func (l *Link) unanswered(ctx context.Context, f *flight, status int) {
	l.mu.Lock()
	f.apart = l.listening && !f.modern()
	l.mu.Unlock()
	if !f.apart {
		l.fail(ctx, f, fmt.Errorf("HTTP %d without an answer to the request", status))
	}
}

// deliver hands over the only frame of an answer.
func (l *Link) deliver(ctx context.Context, f *flight, data []byte) {
	data, ok := l.ours(f, data)
	if !ok {
		l.push(ctx, frame{data: data, origin: f.id})
		l.fail(ctx, f, errors.New("the server answered another request than the one it was asked"))
		return
	}
	l.hand(ctx, f, data)
}

// hand hands over the answer to f. That to initialize comes before anything that
// waits for it goes out, so that nothing overtakes it.
func (l *Link) hand(ctx context.Context, f *flight, data []byte) {
	l.learn(f, data)
	if f.method == initialize {
		l.push(ctx, frame{data: data, origin: f.id})
		l.settle(f)
	} else if l.settle(f) {
		l.push(ctx, frame{data: data, origin: f.id})
	}
}

// ours reports whether a frame answers f. An error without id can be about
// nothing else, and gets the id.
func (l *Link) ours(f *flight, data []byte) ([]byte, bool) {
	if answers(data, f.id) {
		return data, true
	}
	if e := orphanError(data); e != nil {
		return bytes.TrimSuffix(wire.AppendError(nil, f.id, e), []byte{'\n'}), true
	}
	return data, false
}

// orphanError returns the error object of an answer whose id is null or missing,
// which is how servers answer what they could not read.
func orphanError(data []byte) json.RawMessage {
	m, _ := wire.Parse(data) // such an answer is none by the letter
	if m.HasMethod || m.Error == nil || m.ID != nil && string(wire.Member(data, "id")) != "null" {
		return nil
	}
	if m.Error[0] != '{' || wire.Member(m.Error, "code") == nil || wire.Member(m.Error, "message") == nil { // some other JSON that says error
		return nil
	}
	return m.Error
}

// answers reports whether a frame, or an element of it, answers the request id.
// It looks no further than it must: a result may have megabytes.
func answers(data []byte, id json.RawMessage) bool {
	if data[0] == '[' {
		elements, _ := wire.Elements(data)
		for _, e := range elements {
			if len(e) > 0 && e[0] == '{' && answers(e, id) {
				return true
			}
		}
		return false
	}
	same, outcome, method := false, false, false
	_ = wire.Spans(data, func(key string, start, end int) bool {
		switch key {
		case "id":
			if same = wire.SameID(data[start:end], id); !same {
				return false
			}
			outcome = outcome || nextIsOutcome(data[end:])
			return !outcome
		case "method":
			method = true
		case "result", "error":
			outcome = true
		}
		return true
	})
	return same && outcome && !method
}

// nextIsOutcome reports whether the member after an id is a result or an error,
// so that what holds it need not be scanned.
func nextIsOutcome(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	if len(b) == 0 || b[0] != ',' {
		return false
	}
	b = bytes.TrimLeft(b[1:], " \t")
	return bytes.HasPrefix(b, []byte(`"result"`)) || bytes.HasPrefix(b, []byte(`"error"`))
}

// learn keeps what later messages depend on: the version that initialize agreed
// on, and which arguments of tools are repeated in headers.
func (l *Link) learn(f *flight, data []byte) {
	switch {
	case f.method == initialize:
		m, _ := wire.Parse(data)
		v, _ := wire.Unquote(wire.Member(m.Result, "protocolVersion"))
		if v == "" {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.head = l.head.Clone()
		l.head.Set(versionHeader, v)
	case f.method == "tools/list" && f.modern():
		l.marks.learn(data)
	}
}

// plain returns the body as it was before compression. The transport undoes what
// it asked for; some servers compress unasked.
func plain(resp *http.Response) (io.Reader, error) {
	switch v := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); v {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return &unzipper{src: resp.Body}, nil
	default:
		return nil, fmt.Errorf("the answer has the encoding %q, which was not asked for", v)
	}
}

// unzipper begins to read with the first Read: the header of a stream may come as
// late as its first event.
type unzipper struct {
	src io.Reader
	z   *gzip.Reader
}

// Read implements [io.Reader].
func (u *unzipper) Read(p []byte) (int, error) {
	if u.z == nil {
		z, err := gzip.NewReader(u.src)
		if err != nil {
			return 0, err
		}
		u.z = z
	}
	return u.z.Read(p)
}

// readAll reads a body of at most limit bytes; beyond it fails with a
// [*wire.TooLargeError].
func readAll(r io.Reader, resp *http.Response, limit int) ([]byte, error) {
	size := resp.ContentLength
	if r != io.Reader(resp.Body) {
		size = -1 // it counts compressed bytes
	}
	if size > int64(limit) {
		return nil, &wire.TooLargeError{Size: size, Limit: limit}
	}
	if size > 0 {
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		var one [1]byte // the end must be seen for the connection to be kept
		_, _ = r.Read(one[:])
		return data, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = &wire.TooLargeError{Size: int64(len(data)), Limit: limit}
	}
	return data, err
}

// oneLine makes JSON stand on one line, in place. A line break can only be white
// space between tokens.
func oneLine(b []byte) []byte {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))
	for _, c := range []byte{'\n', '\r'} {
		for i := bytes.IndexByte(b, c); i >= 0; {
			b[i] = ' '
			next := bytes.IndexByte(b[i+1:], c)
			if next < 0 {
				break
			}
			i += 1 + next
		}
	}
	return b
}
