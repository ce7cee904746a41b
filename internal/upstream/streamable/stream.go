package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"heddle/internal/wire"
)

const (
	// linger is how long a stream may go on after its answer.
	linger = 200 * time.Millisecond
	// resumes is how often a stream is resumed in vain.
	resumes = 5

	firstPause = time.Second
	mostPause  = 30 * time.Second
	leastPause = 10 * time.Millisecond
)

// place is where in a stream we are, and how long its server wants us to stay
// away.
type place struct {
	id       string
	retry    time.Duration
	hasRetry bool
	events   int
}

func (p *place) note(e *event) {
	p.events++
	if e.hasID {
		p.id = e.id
	}
	if e.hasRetry {
		p.retry, p.hasRetry = max(e.retry, leastPause), true
	}
}

// pause returns how long to wait after so many failures in a row.
func (p *place) pause(failures int) time.Duration {
	base := firstPause
	if p.hasRetry {
		base = p.retry
	}
	return min(base<<min(failures, 16), max(base, mostPause))
}

// sleep reports whether ctx still lives after d.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stream reads the answer to f as events, and takes the stream up again where it
// broke off before the answer.
func (l *Link) stream(ctx context.Context, f *flight, resp *http.Response) {
	var p place
	err := l.follow(ctx, f, resp, &p)
	for failures := 0; err != nil && p.id != "" && !f.modern() && failures < resumes; failures++ {
		if !sleep(ctx, p.pause(failures)) {
			break
		}
		before := p.id
		if err = l.resume(ctx, f, &p); p.id != before {
			failures = -1
		}
	}
	if err == nil {
		return
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the server ended its stream")
	}
	l.fail(ctx, f, l.transportError(fmt.Errorf("no answer came: %w", err)))
}

// resume asks for the rest of a stream. Nil means that nothing is left to wait
// for.
func (l *Link) resume(ctx context.Context, f *flight, p *place) error {
	resp, err := l.get(ctx, l.url, p.id)
	if err != nil {
		return err
	}
	defer drain(resp)
	switch {
	case resp.StatusCode == http.StatusNotFound && f.session != "":
		l.fail(ctx, f, ErrInterrupted)
		l.lose(ctx, nil)
		return nil
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return fmt.Errorf("the server took the stream up again with HTTP %d", resp.StatusCode)
	case resp.StatusCode != http.StatusOK || mediaType(resp) != eventStream:
		l.fail(ctx, f, fmt.Errorf("the stream broke off before the answer, and the server does not take it up again (HTTP %d)", resp.StatusCode))
		return nil
	}
	return l.follow(ctx, f, resp, p)
}

// get asks for a stream of events, from after the event lastID if it is not "".
func (l *Link) get(ctx context.Context, u *url.URL, lastID string) (*http.Response, error) {
	l.mu.Lock()
	header := l.head.Clone()
	l.mu.Unlock()
	header.Del("Content-Type")
	header.Set("Accept", eventStream)
	if lastID != "" {
		header.Set("Last-Event-Id", lastID)
	}
	return l.c.Client.Do(l.request(ctx, http.MethodGet, u, header, nil))
}

// follow reads events to the end of the stream. With f it returns nil once f is
// answered or given up, and otherwise why the stream ended.
func (l *Link) follow(ctx context.Context, f *flight, resp *http.Response, p *place) error {
	body, err := plain(resp)
	if err != nil {
		return err
	}
	r := newEvents(body, l.c.MaxFrame)
	defer r.free()
	answered := false
	for {
		e, err := r.next()
		switch {
		case err == errOversize && f == nil:
			l.push(ctx, frame{err: r.drop(l.c.MaxFrame)})
			continue
		case err == errOversize:
			if l.settle(f) {
				l.push(ctx, frame{err: l.tooLarge(f.id, r.size()), origin: f.id})
			}
			return nil
		case err != nil && answered:
			return nil
		case err != nil:
			return err
		}
		p.note(&e)
		data := oneLine(e.data)
		if e.name == "endpoint" && f == nil {
			if err := l.endpoint(resp.Request.URL, data); err != nil {
				return err
			}
			continue
		}
		if e.name != "" && e.name != "message" || len(data) == 0 {
			continue
		}
		switch {
		case f == nil:
			l.heard(data)
			l.push(ctx, frame{data: data})
		case answered:
			l.push(ctx, frame{data: data, origin: f.id})
		default:
			if answered = l.onStream(ctx, f, data); answered {
				defer time.AfterFunc(linger, f.abort).Stop()
			}
		}
	}
}

// onStream hands over a frame of the stream of f and reports whether it is the
// answer.
func (l *Link) onStream(ctx context.Context, f *flight, data []byte) bool {
	data, ok := l.ours(f, data)
	if !ok {
		l.push(ctx, frame{data: data, origin: f.id})
		return false
	}
	l.hand(ctx, f, data)
	return true
}

// heard settles a request that is answered on a stream that belongs to none.
func (l *Link) heard(data []byte) {
	m, err := wire.Parse(data)
	if err != nil || !m.IsResponse() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.find(m.ID); f != nil && f.apart {
		l.drop(f)
	}
}

// listen keeps the stream open on which a server speaks by itself, if it has one.
func (l *Link) listen(ctx context.Context) {
	defer l.deaf(ctx)
	var p place
	opened := false
	for failures := 0; ; failures++ {
		before := p.events
		resp, err := l.get(ctx, l.url, p.id)
		if err == nil {
			again := l.tune(ctx, resp, &p, &opened)
			drain(resp)
			if !again {
				return
			}
		}
		if p.events > before {
			failures = 0
		} else if !opened && failures >= resumes {
			return
		}
		if !sleep(ctx, p.pause(failures)) {
			return
		}
	}
}

// tune reads one answer to the request for the listening stream, and reports
// whether to ask again.
func (l *Link) tune(ctx context.Context, resp *http.Response, p *place, opened *bool) bool {
	switch s := resp.StatusCode; {
	case s == http.StatusOK && mediaType(resp) == eventStream:
		*opened = true
		_ = l.follow(ctx, nil, resp, p) // however it ended, it is asked for again
		return true
	case s == http.StatusTooManyRequests, s >= 500 && s != http.StatusNotImplemented:
		return true
	case s == http.StatusNotFound && *opened && resp.Request.Header.Get(sessionHeader) != "":
		l.lose(ctx, nil)
	}
	return false
}

// deaf is the end of listening: what should have been answered there never is.
func (l *Link) deaf(ctx context.Context) {
	l.mu.Lock()
	l.listening = false
	var lost []*flight
	for _, f := range l.open {
		if f.apart {
			lost = append(lost, f)
		}
	}
	l.mu.Unlock()
	for _, f := range lost {
		l.fail(ctx, f, errors.New("accepted without an answer to the request, and the server has no stream to answer on"))
	}
}
