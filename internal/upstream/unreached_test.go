package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// httpStatus is an error with a status of HTTP.
type httpStatus int

func (s httpStatus) Error() string   { return fmt.Sprint(int(s)) }
func (s httpStatus) HTTPStatus() int { return int(s) }

// TestUnreached tells apart what people mend in different ways. The errors are those
// of real connections where one can be had without a network.
func TestUnreached(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	get := func(url string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := (&http.Client{Transport: &http.Transport{}}).Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	tests := []struct {
		err  error
		want string
	}{
		{get(secure.URL), "tls"},
		{get("https://" + plain.Listener.Addr().String()), "tls"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{}}, "tls"},
		{get("http://127.0.0.1:1"), "unreachable"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}, "dns"},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, ""},
		{httpStatus(401), "unauthorized"},
		{httpStatus(403), "unauthorized"},
		{httpStatus(502), "http_status"},
		{context.DeadlineExceeded, ""},
	}
	for _, tt := range tests {
		if got := unreached(fmt.Errorf("calling: %w", tt.err)); got != tt.want {
			t.Errorf("unreached(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}
