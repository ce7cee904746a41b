package mcptest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Stream is a [Host] of the oldest HTTP transport: one stream of events, and a
// URL to post to that the first of them names.
type Stream struct {
	*Host
	// URL is where it posts.
	URL string

	close func()
}

// NewStream opens the stream at address. The test's cleanup closes it.
func NewStream(t testing.TB, address string, header http.Header) *Stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // of the test: its end is the cleanup
	client := &http.Client{Transport: &http.Transport{}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	resp, err := client.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream does not open: %+v, %v", resp, err)
	}
	events := bufio.NewReader(resp.Body)
	base, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s := &Stream{}
	for s.URL == "" {
		line, err := events.ReadString('\n')
		if err != nil {
			t.Fatalf("no endpoint: %v", err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			at, err := base.Parse(strings.TrimSpace(data))
			if err != nil {
				t.Fatal(err)
			}
			s.URL = at.String()
		}
	}
	in, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		for {
			line, err := events.ReadBytes('\n')
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				_, _ = out.Write(data) // the test has ended if nobody reads
			}
			if err != nil {
				return
			}
		}
	}()
	s.Host = NewHost(t, in, &poster{ctx: ctx, client: client, url: s.URL, header: header})
	s.close = func() {
		cancel()
		_ = resp.Body.Close()
		_ = in.Close()
		<-done
		client.CloseIdleConnections()
	}
	t.Cleanup(s.close)
	return s
}

// Close ends the stream. It may be called more than once.
func (s *Stream) Close() { s.close() }

// poster posts frames.
type poster struct {
	ctx    context.Context
	client *http.Client
	url    string
	header http.Header
}

// Write implements [io.Writer].
func (p *poster) Write(frame []byte) (int, error) {
	r, err := http.NewRequestWithContext(p.ctx, http.MethodPost, p.url, bytes.NewReader(bytes.Clone(frame)))
	if err != nil {
		return 0, err
	}
	r.Header = p.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, err
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return 0, &statusError{resp.Status}
	}
	return len(frame), nil
}

// Close implements [io.Closer]: the stream is what ends, not the posts.
func (*poster) Close() error { return nil }

type statusError struct{ status string }

func (e *statusError) Error() string { return "post answered with " + e.status }
