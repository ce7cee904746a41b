package dial

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// maxPEM bounds a file of certificates; the largest bundles have half a megabyte.
const maxPEM = 16 << 20

var (
	errNotRegular = errors.New("is not a regular file")
	errLargePEM   = errors.New("is too large for a file of certificates")
	errNoPEM      = errors.New("holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)")
)

// roots returns the certificates to trust; nil for the system's alone, which
// leaves the choice to the platform.
func roots(o Options) (*x509.CertPool, error) {
	source := o.CASource
	if source == "" {
		source = "ca_file"
	}
	files := []struct{ path, source string }{
		{o.CAFile, source},
		{o.Environ("SSL_CERT_FILE"), "SSL_CERT_FILE"},
		{o.Environ("NODE_EXTRA_CA_CERTS"), "NODE_EXTRA_CA_CERTS"},
	}
	var pool *x509.CertPool
	for _, f := range files {
		if f.path == "" {
			continue
		}
		if pool == nil {
			pool = systemPool()
		}
		if err := addFile(pool, f.path); err != nil {
			return nil, fmt.Errorf("%s: the file %s %w", f.source, f.path, err)
		}
	}
	return pool, nil
}

func systemPool() *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return x509.NewCertPool() // what the user names is trusted all the same
	}
	return pool
}

// addFile adds the certificates of a PEM file. Its error continues a sentence that
// names the file.
func addFile(pool *x509.CertPool, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unreadable(err)
	case !info.Mode().IsRegular():
		return errNotRegular
	case info.Size() > maxPEM:
		return errLargePEM
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return unreadable(err)
	}
	if !pool.AppendCertsFromPEM(data) {
		return errNoPEM
	}
	return nil
}

func unreadable(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}
