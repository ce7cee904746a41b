package dial

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// vars is an environment of these variables.
func vars(kv ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return func(name string) string { return m[name] }
}

func mustClient(t *testing.T, o Options) *http.Client {
	t.Helper()
	c, err := Client(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// reachAll lets redirects lead to the servers of a test, which are on loopback:
// names that end in .test are what addrs says.
func reachAll(c *http.Client, addrs map[string]string) {
	d := &net.Dialer{}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if to, ok := addrs[addr]; ok {
			addr = to
		}
		return d.DialContext(ctx, network, addr)
	}
	g := c.Transport.(*guard)
	g.near.DialContext, g.far.DialContext = dial, dial
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, c *http.Client, url string, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b), nil
}

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	_, _ = io.WriteString(w, r.Method+" "+string(b)+" auth="+r.Header.Get("Authorization")+" key="+r.Header.Get("X-Key")+
		" other="+r.Header.Get("X-Other")+" referer="+r.Header.Get("Referer"))
}

func TestRedirectsKeepMethodAndBody(t *testing.T) {
	for _, status := range []int{307, 308} {
		var s *httptest.Server
		s = serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, s.URL+"/there", status)
				return
			}
			echo(w, r)
		})
		c := mustClient(t, Options{Credentials: []string{"X-Key"}})
		_, got, err := post(t, c, s.URL+"/?token=hidden", "Authorization", "a", "X-Key", "k", "X-Other", "o")
		if want := "POST body auth=a key=k other=o referer="; err != nil || got != want {
			t.Errorf("%d: %q, %v; want %q", status, got, err, want)
		}
	}
}

func TestRedirectsRefused(t *testing.T) {
	other := serve(t, echo)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(other.URL, "http://"))
	tests := []struct {
		name, to, want string
		status         int
	}{
		{"301 of a POST", "/there", "redirects a POST with 301", 301},
		{"302 of a POST", "/there", "it should say 307 or 308", 302},
		{"303 of a POST", "/there", "redirects a POST with 303", 303},
		{"endless", "/", "more than 5 redirects", 307},
		{"a scheme", "ftp://example.test/", `scheme "ftp"`, 307},
		{"another port", other.URL + "/there", "127.0.0.1 is a loopback address", 307},
		{"a name, checked after resolution", "http://localhost:" + port + "/there", "is a loopback address", 308},
		{"metadata", "http://169.254.169.254/latest", "is a metadata service", 307},
		{"metadata in IPv6", "http://[::ffff:169.254.169.254]/latest", "is a metadata service", 307},
		{"metadata by name", "http://metadata.google.internal/", "is a metadata service", 307},
		{"private", "http://10.0.0.1/", "10.0.0.1 is a private address", 307},
		{"link-local", "http://[fe80::1]/", "is a link-local address", 307},
		{"this machine", "http://0.0.0.0:" + port + "/", "is an unspecified address", 307},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", tt.to)
				w.WriteHeader(tt.status)
			})
			_, got, err := post(t, mustClient(t, Options{}), s.URL+"/")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("answer %q, error %v; want one with %q", got, err, tt.want)
			}
		})
	}
}

func TestRedirectErrorIsTyped(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.168.0.1/", http.StatusTemporaryRedirect)
	})
	_, _, err := post(t, mustClient(t, Options{}), s.URL)
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Addr != netip.MustParseAddr("192.168.0.1") {
		t.Errorf("error %v, want a RefusedError for 192.168.0.1", err)
	}
}

func TestRedirectFromHTTPSToHTTP(t *testing.T) {
	plain := serve(t, echo)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)
	c := mustClient(t, Options{CAFile: certFile(t, s)})
	if _, got, err := post(t, c, s.URL); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("answer %q, error %v; want a refusal", got, err)
	}
}

// TestCredentialsStayHome: a redirect to another origin is followed without them,
// also where the chain comes back.
func TestCredentialsStayHome(t *testing.T) {
	var b *httptest.Server
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://b.test/", http.StatusTemporaryRedirect)
		case "/there-and-back":
			http.Redirect(w, r, "http://b.test/back", http.StatusTemporaryRedirect)
		default:
			echo(w, r)
		}
	})
	b = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, "http://a.test/", http.StatusTemporaryRedirect)
			return
		}
		echo(w, r)
	})
	c := mustClient(t, Options{Credentials: []string{"x-key"}})
	reachAll(c, map[string]string{"a.test:80": a.Listener.Addr().String(), "b.test:80": b.Listener.Addr().String()})
	for _, path := range []string{"/away", "/there-and-back"} {
		_, got, err := post(t, c, "http://a.test"+path, "Authorization", "a", "X-Key", "k", "X-Other", "o")
		if want := "POST body auth= key= other=o referer="; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	_, got, err := post(t, c, "http://a.test/", "Authorization", "a", "X-Key", "k")
	if err != nil || !strings.Contains(got, "auth=a key=k") {
		t.Errorf("without a redirect: %q, %v; want the credentials", got, err)
	}
}

func TestMetadataIsNeverConfigured(t *testing.T) {
	for _, u := range []string{"http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://metadata.google.internal./", "http://[64:ff9b::a9fe:a9fe]/"} {
		_, got, err := post(t, mustClient(t, Options{Environ: vars("HTTP_PROXY", "http://127.0.0.1:1")}), u)
		var refused *RefusedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "metadata service") {
			t.Errorf("%s: %q, %v; want a RefusedError", u, got, err)
		}
	}
	if err := notMetadata("tcp", "169.254.169.254:80", nil); err == nil {
		t.Error("a name that resolves to a metadata service is dialled")
	}
	if err := notMetadata("tcp", "10.0.0.1:80", nil); err != nil {
		t.Errorf("a configured private address is refused: %v", err)
	}
}

func certFile(t *testing.T, s *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPrivateCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	file := certFile(t, s)
	for name, o := range map[string]Options{
		"ca_file":             {CAFile: file},
		"SSL_CERT_FILE":       {Environ: vars("SSL_CERT_FILE", file)},
		"NODE_EXTRA_CA_CERTS": {Environ: vars("NODE_EXTRA_CA_CERTS", file)},
	} {
		resp, got, err := post(t, mustClient(t, o), s.URL)
		if err != nil || resp.ProtoMajor != 2 {
			t.Errorf("%s: %q, %v; want an answer over HTTP/2", name, got, err)
		}
	}
	if _, got, err := post(t, mustClient(t, Options{}), s.URL); err == nil {
		t.Errorf("without the certificate: %q, want an error", got)
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	s.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	if _, got, err := post(t, mustClient(t, Options{CAFile: certFile(t, s)}), s.URL); err == nil || !strings.Contains(err.Error(), "tls: ") {
		t.Errorf("TLS 1.1: %q, %v; want a refusal", got, err)
	}
}

func TestBadCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	empty, junk, missing := write("empty.pem", ""), write("junk.pem", "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n"), filepath.Join(dir, "none.pem")
	tests := []struct {
		o    Options
		want string
	}{
		{Options{CAFile: missing}, "ca_file: the file " + missing + " cannot be read: no such file"},
		{Options{CAFile: missing, CASource: "servers.docs.ca_file"}, "servers.docs.ca_file: the file " + missing},
		{Options{CAFile: dir}, "ca_file: the file " + dir + " is not a regular file"},
		{Options{CAFile: empty}, "ca_file: the file " + empty + " holds no certificate"},
		{Options{Environ: vars("SSL_CERT_FILE", junk)}, "SSL_CERT_FILE: the file " + junk + " holds no certificate"},
		{Options{Environ: vars("NODE_EXTRA_CA_CERTS", missing)}, "NODE_EXTRA_CA_CERTS: the file " + missing + " cannot be read"},
	}
	for _, tt := range tests {
		if _, err := Client(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

func TestProxyFor(t *testing.T) {
	p := func(kv ...string) *proxies {
		t.Helper()
		out, err := readProxies(vars(kv...))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	both := p("HTTP_PROXY", "http://h:1", "https_proxy", "s:2")
	all := p("all_proxy", "socks5://a:3", "HTTP_PROXY", "http://h:1")
	not := p("HTTP_PROXY", "http://h:1", "HTTPS_PROXY", "http://s:2",
		"NO_PROXY", "example.com, .corp.test,*.dev.test 10.0.0.0/8,192.0.2.7,ported.test:8080,[2001:db8::1]:443")
	tests := []struct {
		p         *proxies
		url, want string
	}{
		{p(), "http://x.test/", ""},
		{both, "http://x.test/", "http://h:1"},
		{both, "https://x.test/", "http://s:2"},
		{both, "http://127.0.0.1:9/", ""},
		{both, "http://127.9.9.9/", ""},
		{both, "http://[::1]/", ""},
		{both, "http://localhost/", ""},
		{both, "http://LOCALHOST.:80/", ""},
		{both, "http://a.localhost/", ""},
		{both, "http://10.0.0.1/", "http://h:1"},
		{all, "https://x.test/", "socks5://a:3"},
		{all, "http://x.test/", "http://h:1"},
		{not, "http://example.com/", ""},
		{not, "http://www.example.com/", ""},
		{not, "http://notexample.com/", "http://h:1"},
		{not, "http://corp.test/", ""},
		{not, "http://a.dev.test/", ""},
		{not, "http://10.1.2.3/", ""},
		{not, "http://11.1.2.3/", "http://h:1"},
		{not, "http://192.0.2.7/", ""},
		{not, "http://ported.test:8080/", ""},
		{not, "http://ported.test/", "http://h:1"},
		{not, "https://[2001:db8::1]/", ""},
		{not, "http://[2001:db8::1]/", "http://h:1"},
		{p("HTTP_PROXY", "http://h:1", "no_proxy", "*"), "http://x.test/", ""},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if proxy := tt.p.forURL(u); proxy != nil {
			got = proxy.String()
		}
		if got != tt.want {
			t.Errorf("proxy for %s: %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestBadProxyHidesItsValue(t *testing.T) {
	for _, v := range []string{"ftp://user:hidden@h:1", "http://", "http://user:hidden@[::1", "://hidden"} {
		_, err := Client(Options{Environ: vars("https_proxy", v)})
		if err == nil || !strings.HasPrefix(err.Error(), "https_proxy is not the URL of a proxy") || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: error %v, want one that names the variable alone", v, err)
		}
	}
}

func TestThroughProxy(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.String())
		mu.Unlock()
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://inner.test/", http.StatusTemporaryRedirect)
		case "/out":
			http.Redirect(w, r, "http://outer.test/", http.StatusTemporaryRedirect)
		default:
			echo(w, r)
		}
	})
	c := mustClient(t, Options{Environ: vars("HTTP_PROXY", proxy.URL)})
	c.Transport.(*guard).lookup = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		switch host {
		case "inner.test":
			return []netip.Addr{netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("10.0.0.1")}, nil
		case "outer.test":
			return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host}
	}
	if _, got, err := post(t, c, "http://public.test/out"); err != nil || !strings.HasPrefix(got, "POST body") {
		t.Errorf("a redirect to a public host: %q, %v; want it followed", got, err)
	}
	if _, got, err := post(t, c, "http://public.test/away"); err == nil || !strings.Contains(err.Error(), "10.0.0.1 is a private address") {
		t.Errorf("a redirect to a private host: %q, %v; want a refusal", got, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(asked, " "); got != "http://public.test/out http://outer.test/ http://public.test/away" {
		t.Errorf("the proxy was asked for %s", got)
	}
}

// TestConnectionsAreKept: 64 calls in flight find 64 connections again.
func TestConnectionsAreKept(t *testing.T) {
	var mu sync.Mutex
	conns := map[string]bool{}
	gate := make(chan struct{})
	var inside sync.WaitGroup
	inside.Add(64)
	first := true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		conns[r.RemoteAddr] = true
		wait := first
		mu.Unlock()
		if wait {
			inside.Done()
			<-gate
		}
		echo(w, r)
	}))
	t.Cleanup(s.Close)
	c := mustClient(t, Options{})
	round := func() {
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				if _, _, err := post(t, c, s.URL); err != nil {
					t.Error(err)
				}
			})
		}
		if first {
			inside.Wait()
			mu.Lock()
			first = false
			mu.Unlock()
			close(gate)
		}
		wg.Wait()
	}
	round()
	round()
	if len(conns) != 64 {
		t.Errorf("%d connections for twice 64 calls, want 64", len(conns))
	}
}

func TestLimits(t *testing.T) {
	c := mustClient(t, Options{})
	g := c.Transport.(*guard)
	for _, tr := range []*http.Transport{g.near, g.far} {
		if c.Timeout != 0 || tr.ResponseHeaderTimeout != 0 || tr.TLSHandshakeTimeout != 10*time.Second || tr.MaxResponseHeaderBytes != maxHeader || !tr.ForceAttemptHTTP2 {
			t.Errorf("limits of %+v", tr)
		}
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("x", 2*maxHeader))
	})
	if _, _, err := post(t, c, s.URL); err == nil || !strings.Contains(err.Error(), "header") {
		t.Errorf("a huge header: %v, want an error", err)
	}
}
