package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// subscribe is HTTP+SSE from its first request to its end.
func (l *Link) subscribe(ctx context.Context) {
	if err := l.overEvents(ctx); ctx.Err() == nil { // else the end has its reason
		l.finish(err)
	}
}

// fallBack tries HTTP+SSE for a server that does not take initialize as
// streamable HTTP does it. f goes out again once the server has said where to.
func (l *Link) fallBack(f *flight, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.settled || l.err != nil {
		return
	}
	f.abort = nil
	l.sse, l.holding = true, true
	l.held = append([]*flight{f}, l.held...)
	l.crew.Add(1)
	l.run(func(ctx context.Context) {
		err := l.overEvents(ctx)
		if ctx.Err() != nil {
			return
		}
		if l.connected() {
			l.finish(err)
			return
		}
		l.mu.Lock()
		l.sse = false
		l.mu.Unlock()
		l.fail(ctx, f, fmt.Errorf("%w (nor does it speak HTTP+SSE: %v)", cause, err)) // what was wrong first is what helps
	})
}

// connected reports whether the server of HTTP+SSE has named its endpoint.
func (l *Link) connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.target != l.url
}

// overEvents opens the stream of HTTP+SSE, reads it to its end and says why it
// ended.
func (l *Link) overEvents(ctx context.Context) error {
	resp, err := l.get(ctx, l.url, "")
	if err != nil {
		return l.transportError(err)
	}
	defer drain(resp)
	if resp.StatusCode != http.StatusOK || mediaType(resp) != eventStream {
		return l.statusError(resp, errorBody(resp))
	}
	var p place
	err = l.follow(ctx, nil, resp, &p)
	if !l.connected() && !errors.Is(err, io.EOF) {
		return l.transportError(err)
	}
	if errors.Is(err, io.EOF) { // which would pass for an end in good order
		return errors.New("the server ended its event stream")
	}
	return l.transportError(fmt.Errorf("the event stream broke off: %w", err))
}

var errOtherOrigin = errors.New("the server names an endpoint on another origin than its URL; heddle does not send there")

// endpoint takes the URL that a server of HTTP+SSE wants messages sent to. It must
// be of the configured origin: credentials go there.
func (l *Link) endpoint(base *url.URL, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.sse || l.target != l.url || l.err != nil {
		return nil
	}
	ref, err := url.Parse(string(data))
	if err != nil {
		return errors.New("the server names an endpoint that is no URL")
	}
	u := base.ResolveReference(ref)
	if u.Scheme != l.url.Scheme || !strings.EqualFold(hostPort(u), hostPort(l.url)) {
		return errOtherOrigin
	}
	u.User, u.Fragment, u.RawFragment = l.url.User, "", ""
	l.target = u
	l.release()
	return nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}
