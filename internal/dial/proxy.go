package dial

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// proxies says through which proxy a request goes.
type proxies struct {
	http, https *url.URL // nil is none
	skip        []skip
	skipAll     bool
}

// skip is one entry of NO_PROXY.
type skip struct {
	suffix string // ".example.com", which includes example.com itself
	prefix netip.Prefix
	port   string // "" is any
}

// readProxies reads the usual variables. Capitals win, as they do in most
// programs; ALL_PROXY is for what has no variable of its own.
func readProxies(environ func(string) string) (*proxies, error) {
	get := func(name string) (string, string) {
		for _, n := range []string{name, strings.ToLower(name)} {
			if v := strings.TrimSpace(environ(n)); v != "" {
				return n, v
			}
		}
		return "", ""
	}
	read := func(name string) (*url.URL, error) {
		n, v := get(name)
		if v == "" {
			n, v = get("ALL_PROXY")
		}
		return parseProxy(n, v)
	}
	p := &proxies{}
	var err error
	if p.http, err = read("HTTP_PROXY"); err != nil {
		return nil, err
	}
	if p.https, err = read("HTTPS_PROXY"); err != nil {
		return nil, err
	}
	_, list := get("NO_PROXY")
	for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		p.except(strings.ToLower(entry))
	}
	return p, nil
}

var errProxy = errors.New("is not the URL of a proxy; write http://host:port, https://host:port or socks5://host:port")

// parseProxy reads the value of a variable. The error does not show it: it may
// hold a password.
func parseProxy(name, value string) (*url.URL, error) {
	if value == "" {
		return nil, nil
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("%s %w", name, errProxy)
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, fmt.Errorf("%s %w", name, errProxy)
}

// except adds one entry of NO_PROXY: *, a name with all below it, an address, a
// range, any of them with a port.
func (p *proxies) except(entry string) {
	if entry == "*" {
		p.skipAll = true
		return
	}
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		p.skip = append(p.skip, skip{prefix: prefix.Masked()})
		return
	}
	host, port, err := net.SplitHostPort(entry)
	if err != nil {
		host, port = strings.Trim(entry, "[]"), ""
	}
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		p.skip = append(p.skip, skip{prefix: netip.PrefixFrom(a, a.BitLen()), port: port})
		return
	}
	host = strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	if host != "" {
		p.skip = append(p.skip, skip{suffix: "." + host, port: port})
	}
}

// forRequest is the Proxy function of a transport.
func (p *proxies) forRequest(req *http.Request) (*url.URL, error) { return p.forURL(req.URL), nil }

// forURL returns the proxy for u, nil for none. What is on this machine is never
// asked for from another.
func (p *proxies) forURL(u *url.URL) *url.URL {
	proxy := p.http
	if u.Scheme == "https" {
		proxy = p.https
	}
	if proxy == nil || p.skipAll {
		return nil
	}
	o := originOf(u.Scheme, u.Hostname(), u.Port())
	addr, err := netip.ParseAddr(o.host)
	addr = addr.Unmap()
	if err == nil && addr.IsLoopback() || o.host == "localhost" || strings.HasSuffix(o.host, ".localhost") {
		return nil
	}
	for _, s := range p.skip {
		if s.port != "" && s.port != o.port {
			continue
		}
		if s.suffix != "" && strings.HasSuffix("."+o.host, s.suffix) || s.suffix == "" && err == nil && s.prefix.Contains(addr.WithZone("")) {
			return nil
		}
	}
	return proxy
}
