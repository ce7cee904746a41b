// Package dial owns the HTTP requests that heddle itself makes: which
// certificates it trusts, which proxies it goes through, how long it waits for a
// connection, where a redirect may lead.
//
// Two rules hold whatever is configured. Nothing is ever sent to the metadata
// service of a cloud, and a redirect to another host never reaches an address
// that is not public. Both are checked when a connection is made, for the address
// that is really connected to, so that a name that changes its address in
// between gains nothing. The URL that a user wrote down may be private.
//
// Start at [Client].
package dial

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// Options is what a client depends on.
type Options struct {
	// CAFile is a PEM file with certificates that are trusted besides the system's;
	// "" for none. CASource says where it was configured, for errors; "" says
	// "ca_file".
	CAFile, CASource string
	// Environ returns a variable of the environment, "" if it is not set: HTTP_PROXY,
	// HTTPS_PROXY, ALL_PROXY and NO_PROXY in capitals or not, SSL_CERT_FILE and
	// NODE_EXTRA_CA_CERTS. Nil is an empty environment.
	Environ func(name string) string
	// Credentials names the headers that are for the first origin alone, besides
	// Authorization, Proxy-Authorization and Cookie.
	Credentials []string
}

const (
	connectTimeout = 10 * time.Second
	idleTimeout    = 90 * time.Second
	// idlePerHost lets 64 calls in flight find their connections again.
	idlePerHost = 64
	// maxHeader bounds the header of a response.
	maxHeader = 256 << 10
	// pingAfter and pingWait find out that the peer of a silent HTTP/2 connection is
	// gone; streams may be silent for hours.
	pingAfter = 30 * time.Second
	pingWait  = 15 * time.Second
)

// Client returns a client for the server that one URL leads to. It has no
// timeout of its own but for making connections: requests have their deadlines.
// It is safe for concurrent use; CloseIdleConnections frees what it holds.
func Client(o Options) (*http.Client, error) {
	if o.Environ == nil {
		o.Environ = func(string) string { return "" }
	}
	roots, err := roots(o)
	if err != nil {
		return nil, err
	}
	proxies, err := readProxies(o.Environ)
	if err != nil {
		return nil, err
	}
	names := append([]string{"Authorization", "Proxy-Authorization", "Cookie"}, o.Credentials...)
	g := &guard{
		proxies: proxies,
		near:    transport(roots, proxies.forRequest, notMetadata),
		far:     transport(roots, nil, notSpecial),
		lookup:  net.DefaultResolver.LookupNetIP,
	}
	return &http.Client{Transport: g, CheckRedirect: redirects{names}.check}, nil
}

// origin is scheme, host and port of a URL, spelled in one way.
type origin struct{ scheme, host, port string }

func originOf(scheme, host, port string) origin {
	o := origin{strings.ToLower(scheme), strings.ToLower(strings.TrimSuffix(host, ".")), port}
	if port == "" && o.scheme == "https" {
		o.port = "443"
	} else if port == "" {
		o.port = "80"
	}
	return o
}
