package dial

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"heddle/internal/dial/address"
)

// RefusedError says that heddle does not connect to an address.
type RefusedError struct {
	// Addr is the address, the zero Addr if it could not be told.
	Addr netip.Addr
	// Why continues a sentence that begins with the address.
	Why string
}

// Error implements error.
func (e *RefusedError) Error() string {
	if !e.Addr.IsValid() {
		return e.Why
	}
	return e.Addr.String() + " " + e.Why
}

// control is a check of the address that a connection is about to be made to.
type control func(network, addr string, _ syscall.RawConn) error

// notMetadata lets everything through but metadata services.
func notMetadata(_, addr string, _ syscall.RawConn) error {
	return check(addr, false)
}

// notSpecial lets nothing but public addresses through.
func notSpecial(_, addr string, _ syscall.RawConn) error {
	return check(addr, true)
}

func check(hostPort string, redirected bool) error {
	ap, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return &RefusedError{Why: "the connection is to no IP address"}
	}
	return checkAddr(ap.Addr(), redirected)
}

func checkAddr(a netip.Addr, redirected bool) error {
	if address.Metadata(a) {
		return &RefusedError{a, "is a metadata service, which heddle never connects to"}
	}
	if !redirected {
		return nil
	}
	if why, special := address.Special(a); special {
		return &RefusedError{a, fmt.Sprintf("is %s; a redirect to another host may not lead there", why)}
	}
	return nil
}

// transport returns a transport whose connections pass the check.
func transport(roots *x509.CertPool, proxy func(*http.Request) (*url.URL, error), check control) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: check}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWait},
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// guard sends each request over the transport that suits where it leads.
type guard struct {
	proxies *proxies
	near    *http.Transport // to what the user configured
	far     *http.Transport // to where a redirect led; it uses no proxy
	lookup  func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	host := originOf(req.URL.Scheme, req.URL.Hostname(), req.URL.Port()).host
	err := named(host)
	if err == nil && elsewhere(req) {
		if g.proxies.forURL(req.URL) == nil {
			return g.far.RoundTrip(req)
		}
		err = g.beyondProxy(req.Context(), host)
	}
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing has read it
		}
		return nil, err
	}
	return g.near.RoundTrip(req)
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (g *guard) CloseIdleConnections() {
	g.near.CloseIdleConnections()
	g.far.CloseIdleConnections()
}

// named refuses metadata services by what the URL says. A proxy would connect to
// them in heddle's place, where no check of an address sees it.
func named(host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		return checkAddr(a, false)
	}
	if address.MetadataName(host) {
		return &RefusedError{Why: host + " is a metadata service, which heddle never connects to"}
	}
	return nil
}

var errUnknownHost = errors.New("its name has no address here, and without one a redirect through a proxy is not followed")

// beyondProxy checks where a redirect leads that a proxy would follow. The proxy
// resolves the name by itself, so this is as close as one can look.
func (g *guard) beyondProxy(ctx context.Context, host string) error {
	if a, err := netip.ParseAddr(host); err == nil {
		return checkAddr(a, true)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	addrs, err := g.lookup(ctx, "ip", host)
	if err != nil || len(addrs) == 0 {
		return fmt.Errorf("redirect to %s: %w", host, errUnknownHost)
	}
	for _, a := range addrs {
		if err := checkAddr(a, true); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere reports whether req follows a redirect to another host than the one
// that was first asked. Another port is another host, but for the step from http
// to https: what else listens on a private machine is nobody's to choose.
func elsewhere(req *http.Request) bool {
	if req.Response == nil { // no redirect
		return false
	}
	first := req
	for first.Response != nil && first.Response.Request != nil {
		first = first.Response.Request
	}
	from := originOf(first.URL.Scheme, first.URL.Hostname(), first.URL.Port())
	to := originOf(req.URL.Scheme, req.URL.Hostname(), req.URL.Port())
	upgrade := from.port == "80" && to.port == "443" && to.scheme == "https"
	return !strings.EqualFold(from.host, to.host) || from.port != to.port && !upgrade
}
