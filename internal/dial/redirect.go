package dial

import (
	"errors"
	"fmt"
	"net/http"
)

const maxRedirects = 5

var (
	errManyRedirects = errors.New("more than 5 redirects")
	errDowngrade     = errors.New("a redirect leads from https to http, which is not followed")
)

// redirects says which redirects are followed, and what they may carry.
type redirects struct {
	// credentials names the headers that are for the first origin alone.
	credentials []string
}

// check is the CheckRedirect of a client.
func (r redirects) check(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	switch {
	case len(via) > maxRedirects:
		return errManyRedirects
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return fmt.Errorf("a redirect leads to a URL of scheme %q, which is not followed", req.URL.Scheme)
	case last.URL.Scheme == "https" && req.URL.Scheme == "http":
		return errDowngrade
	case req.Method != last.Method: // net/http goes on with a GET, as browsers do
		return fmt.Errorf("the server redirects a %s with %d, which would lose its body; it should say 307 or 308", last.Method, req.Response.StatusCode)
	}
	req.URL.User = nil        // a server does not choose who we are
	req.Header.Del("Referer") // it has the query of the URL before
	if r.strayed(req, via[0]) {
		for _, name := range r.credentials {
			req.Header.Del(name)
		}
	}
	return nil
}

// strayed reports whether any step up to req has left the origin of first. A
// chain that comes back has been through other hands all the same.
func (r redirects) strayed(req, first *http.Request) bool {
	home := originOf(first.URL.Scheme, first.URL.Hostname(), first.URL.Port())
	for {
		if originOf(req.URL.Scheme, req.URL.Hostname(), req.URL.Port()) != home {
			return true
		}
		if req.Response == nil || req.Response.Request == nil {
			return false
		}
		req = req.Response.Request
	}
}
