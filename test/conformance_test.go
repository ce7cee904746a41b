package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The official conformance suite stands in front of heddle, which stands in
// front of the SDK's everything-server, over stdio and over HTTP. What passes is
// written down in conformance/floor.json and may only grow: -update adds to it.

// everythingServer is the package of the server that is measured against.
const everythingServer = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// revisions are the requirement sets of the suite. Since the newer one there are
// no handshakes and no sessions.
var revisions = []string{"2025-11-25", "2026-07-28"}

func TestConformance(t *testing.T) {
	c := newConformance(t)
	floor := c.floor(t)
	passed := map[string][]string{}
	for _, behind := range []string{"stdio", "http"} {
		base := c.serve(t, behind)
		for _, at := range []string{"/mcp", "/mcp/everything"} {
			for _, revision := range revisions {
				name := behind + " " + at + " " + revision
				t.Run(name, func(t *testing.T) {
					got := c.run(t, base+at, revision)
					passed[name] = got
					for _, scenario := range floor[name] {
						if !slices.Contains(got, scenario) {
							t.Errorf("%s passed before and does not now", scenario)
						}
					}
					t.Logf("%d scenarios pass, %d did before", len(got), len(floor[name]))
				})
			}
		}
	}
	if *update && !t.Failed() {
		c.raise(t, passed)
	}
}

// conformance is what the runs share.
type conformance struct{ dir, heddle, everything string }

func newConformance(t *testing.T) *conformance {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers: not with -short")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the suite's Node is the one for linux-x64")
	}
	c := &conformance{dir: os.Getenv("HEDDLE_CONFORMANCE_DIR")}
	if c.dir == "" {
		c.dir = "conformance"
	}
	c.dir, _ = filepath.Abs(c.dir)
	if _, err := os.Stat(c.suite()); err != nil {
		t.Skipf("the suite is not installed: run npm ci in test/conformance (%v)", err)
	}
	bin := t.TempDir()
	c.heddle, c.everything = filepath.Join(bin, "heddle"), filepath.Join(bin, "everything")
	for path, pkg := range map[string]string{c.heddle: "../cmd/heddle", c.everything: everythingServer} {
		if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	}
	return c
}

func (c *conformance) suite() string {
	return filepath.Join(c.dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
}

func (c *conformance) floorFile() string { return filepath.Join("conformance", "floor.json") }

// floor returns the scenarios that passed before, by run.
func (c *conformance) floor(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile(c.floorFile())
	if err != nil {
		t.Fatal(err)
	}
	var floor map[string][]string
	if err := json.Unmarshal(raw, &floor); err != nil {
		t.Fatalf("%s: %v", c.floorFile(), err)
	}
	return floor
}

func (c *conformance) raise(t *testing.T, passed map[string][]string) {
	t.Helper()
	raw, err := json.MarshalIndent(passed, "", "  ")
	if err == nil {
		err = os.WriteFile(c.floorFile(), append(raw, '\n'), 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// summary is a line of the suite's last table.
var summary = regexp.MustCompile(`(?m)^✓ ([\w./-]+): \d+ passed, 0 failed`)

// run returns the scenarios that pass, in order.
func (c *conformance) run(t *testing.T, at, revision string) []string {
	t.Helper()
	node := filepath.Join(c.dir, "node_modules", ".bin", "node")
	cmd := exec.Command(node, c.suite(), "server", "--url", at, "--requirements", revision, "-o", t.TempDir())
	out, err := cmd.CombinedOutput()
	var passed []string
	for _, m := range summary.FindAllSubmatch(out, -1) {
		passed = append(passed, string(m[1]))
	}
	if len(passed) == 0 {
		t.Fatalf("the suite says nothing (%v): %s", err, out)
	}
	if failed := regexp.MustCompile(`(?m)^✗ .*`).FindAll(out, -1); len(failed) > 0 {
		t.Logf("failed:\n%s", bytes.Join(failed, []byte("\n")))
	}
	slices.Sort(passed)
	return passed
}

// serve starts heddle in front of the server and returns its URL.
func (c *conformance) serve(t *testing.T, behind string) string {
	t.Helper()
	server := fmt.Sprintf("{command: %q}", c.everything)
	if behind == "http" {
		server = fmt.Sprintf("{url: %q}", c.router(t))
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "heddle.yml")
	text := "version: 2\nresults: {output_schema: keep}\nservers:\n  everything: " + server + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(c.heddle, "serve", "--listen", "127.0.0.1:0", "--mode", "native", "--config", config)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	return strings.TrimSuffix(startServing(t, cmd), "/mcp")
}

// serving is what heddle says once it listens.
var serving = regexp.MustCompile(`serving (http://\S+)`)

// startServing starts a heddle that serves over HTTP and returns the URL that it
// names. The test's cleanup ends it and wants exit code 0.
func startServing(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found, log := make(chan string, 1), &bytes.Buffer{}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			log.Write(append(lines.Bytes(), '\n'))
			if m := serving.FindSubmatch(lines.Bytes()); m != nil {
				found <- string(m[1])
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("heddle ended with %v:\n%s", err, log)
		}
	})
	select {
	case at := <-found:
		return at
	case <-drained:
		t.Fatalf("heddle ended at once:\n%s", log)
	case <-time.After(npmStart):
		t.Fatal("heddle does not listen")
	}
	panic("unreachable")
}

// router puts the server's two HTTP handlers, of which each speaks one era of the
// protocol, behind one URL.
func (c *conformance) router(t *testing.T) string {
	t.Helper()
	legacy, modern := c.everythingOver(t, "-stateless=false"), c.everythingOver(t, "-stateless=true")
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		to := legacy
		if r.Header.Get("Mcp-Protocol-Version") >= "2026" || r.Header.Get("Mcp-Method") != "" {
			to = modern
		}
		to.ServeHTTP(w, r)
	}))
	t.Cleanup(router.Close)
	return router.URL + "/mcp"
}

// everythingOver starts the server on a port of its own.
func (c *conformance) everythingOver(t *testing.T, flag string) http.Handler {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	cmd := exec.Command(c.everything, "-http", addr, flag)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for deadline := time.Now().Add(npmStart); ; {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not listen: %v", err)
		}
		time.Sleep(20 * time.Millisecond) // there is no event for a port that begins to listen
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	proxy.FlushInterval = -1 // streams of events
	return proxy
}
