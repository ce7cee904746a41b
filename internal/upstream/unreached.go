package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
)

// unreached names what is between heddle and a server behind a URL; "" if it is
// nothing that people know by a name.
func unreached(err error) string {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		authority   x509.UnknownAuthorityError
		answer      interface{ HTTPStatus() int }
		dialled     *net.OpError
	)
	switch {
	case errors.As(err, &dns):
		return "dns"
	case errors.As(err, &certificate), errors.As(err, &record), errors.As(err, &authority), errors.Is(err, http.ErrSchemeMismatch):
		return "tls"
	case errors.As(err, &answer) && (answer.HTTPStatus() == http.StatusUnauthorized || answer.HTTPStatus() == http.StatusForbidden):
		return "unauthorized"
	case errors.As(err, &answer):
		return "http_status"
	case errors.As(err, &dialled) && dialled.Op == "dial":
		return "unreachable"
	}
	return ""
}
