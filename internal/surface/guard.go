package surface

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard keeps out what is not a host: any web page can send requests to a port of
// this machine.
type guard struct {
	token    string
	loopback bool
}

func (g guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case g.loopback && g.token == "" && !isLocalName(r.Host): // a page that has the token needs no trick
			http.Error(w, "Host is not a name of this machine", http.StatusForbidden)
		case !g.sameOrigin(r):
			http.Error(w, "Origin is not this server's", http.StatusForbidden)
		case !g.authorized(r):
			w.Header().Set("WWW-Authenticate", `Bearer realm="heddle"`)
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// sameOrigin refuses what a browser sends on behalf of a page from elsewhere.
// What is no browser sends no Origin.
func (g guard) sameOrigin(r *http.Request) bool {
	origins, ok := r.Header["Origin"]
	if !ok {
		return r.Header.Get("Sec-Fetch-Site") != "cross-site"
	}
	if len(origins) != 1 {
		return false
	}
	u, err := url.Parse(origins[0])
	if err != nil || u.Host == "" {
		return false // "null" too
	}
	if strings.EqualFold(u.Host, r.Host) {
		return true
	}
	_, port, err := net.SplitHostPort(r.Host)
	return err == nil && g.loopback && u.Port() == port && isLocalName(u.Host) // another name of the same place
}

// authorized compares in constant time; hashing hides the token's length too.
func (g guard) authorized(r *http.Request) bool {
	if g.token == "" {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(g.token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// isLocalName reports whether host, with or without a port, names this machine.
func isLocalName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}
