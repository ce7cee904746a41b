package capture

import (
	"bytes"
	"errors"
	"fmt"
	"heddle/internal/mcptest"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("HEDDLE_TEST_NUMBERS"); dir != "" {
		takeNumbers(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

var listIssues = heddle.ToolRef{Server: "github", Name: "list_issues"}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newStore(t testing.TB, o Options) *Store {
	t.Helper()
	if o.TempDir == "" {
		o.TempDir = t.TempDir()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	s := New(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func put(t testing.TB, s *Store, content string) *Capture {
	t.Helper()
	c, err := s.Put(heddle.Local, listIssues, KindText, []byte(content))
	if err != nil {
		t.Fatalf("Put of %d bytes: %v", len(content), err)
	}
	return c
}

// noise is text that does not compress.
func noise(n int, seed uint64) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	r.Read(b)
	return string(b)
}

// logText is n bytes or a little more of a log.
func logText(n int) string {
	var b strings.Builder
	levels := []string{"INFO", "INFO", "INFO", "WARN", "ERROR"}
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "2026-05-01T08:%02d:%02dZ %s [http] request_id=%08x method=GET path=/api/v1/orders/%d status=%d duration=%d.%dms\n",
			i/60%60, i%60, levels[i*7%5], i*2654435761, 1000+i, 200+i%3*100, i%90, i%10)
	}
	return b.String()
}

// results are the answers of real servers in testdata.
func results(t testing.TB) map[string][]byte {
	t.Helper()
	return mcptest.Archive(t, "testdata/results.tar.gz")
}

// wantGone checks that an error says a capture is gone.
func wantGone(t *testing.T, err error, says ...string) {
	t.Helper()
	var e *heddle.Error
	if !errors.As(err, &e) || e.Kind != heddle.KindResultExpired {
		t.Fatalf("got %v, want result_expired", err)
	}
	for _, s := range says {
		if !strings.Contains(e.Public, s) {
			t.Errorf("Public is %q, want %q in it", e.Public, s)
		}
	}
}

func TestBytesComeBack(t *testing.T) {
	all := results(t)
	if len(all) < 80 {
		t.Fatalf("only %d results", len(all))
	}
	all["empty"] = nil
	all["nul"] = []byte("a\x00b\xff\xfe\xc3")
	all["noise"] = []byte(noise(3*chunkSize+17, 1))
	all["mixed"] = []byte(strings.Repeat("x", chunkSize) + noise(chunkSize, 2) + "y")
	all["20MB"] = []byte(logText(20 << 20))
	for _, memory := range []int64{0, 1} { // in memory, on disk
		s := newStore(t, Options{Memory: memory, Disk: 1 << 30})
		for name, want := range all {
			c, err := s.Put(heddle.Local, listIssues, KindJSON, want)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := c.Bytes()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes, %v; want %d, the same", name, len(got), err, len(want))
			}
			r, err := c.Reader()
			if err != nil {
				t.Fatal(err)
			}
			got, err = io.ReadAll(r)
			if err := errors.Join(err, r.Close(), r.Close()); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s by Reader: %d bytes, %v; want %d, the same", name, len(got), err, len(want))
			}
			if lines := len(strings.SplitAfter(strings.TrimSuffix(string(want), "\n"), "\n")); len(want) > 0 && c.Lines != lines {
				t.Errorf("%s: %d lines, want %d", name, c.Lines, lines)
			}
		}
		t.Logf("%+v", s.Stats())
	}
}

func TestReadAtAnywhere(t *testing.T) {
	want := []byte(noise(chunkSize+5, 3) + logText(2*chunkSize))
	s := newStore(t, Options{})
	c := put(t, s, string(want))
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		off := r.Int64N(c.Size + 10)
		p := make([]byte, r.IntN(3*chunkSize/2))
		n, err := c.ReadAt(p, off)
		from := min(off, c.Size)
		to := min(from+int64(len(p)), c.Size)
		if !bytes.Equal(p[:n], want[from:to]) || (n < len(p)) != (err == io.EOF) {
			t.Fatalf("ReadAt(%d bytes, %d) = %d, %v of %d", len(p), off, n, err, c.Size)
		}
	}
	if _, err := c.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset was read")
	}
}

func TestNames(t *testing.T) {
	for tool, want := range map[string]string{
		"list_issues": "list_issues", "List-Issues": "list_issues", "get.v2/x": "get_v2_x", "2fa": "t_2fa", "": "result", "查询": "result", "查a": "_a",
		strings.Repeat("ab", 40): strings.Repeat("ab", 24), "Kx": "kx",
	} {
		if got := refName(tool); got != want {
			t.Errorf("refName(%q) = %q, want %q", tool, got, want)
		}
	}
	for ref, ok := range map[string]bool{"a_1": true, "a_1_2": true, "a_0": false, "a_01": false, "a_+1": false, "_1": false, "a": false, "a_": false, "a_-1": false} {
		if _, _, got := splitRef(ref); got != ok {
			t.Errorf("splitRef(%q) is ok: %v, want %v", ref, got, ok)
		}
	}
}

func TestGetSaysWhatIsKnown(t *testing.T) {
	state, clk := t.TempDir(), newClock()
	old := newStore(t, Options{StateDir: state, Now: clk.Now})
	put(t, old, "x")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	s := newStore(t, Options{StateDir: state, Memory: 100_000, Disk: -1, Now: clk.Now})
	_, err := s.Get(heddle.Local, "list_issues_1")
	wantGone(t, err, "list_issues_1", "earlier heddle", "call github::list_issues again", "No results are held.")
	var g *Gone
	if !errors.As(err, &g) || g.Tool != listIssues || !g.Evicted.IsZero() {
		t.Errorf("cause is %v", err)
	}
	_, err = s.Get("other", "list_issues_1")
	wantGone(t, err, "No result has this name")

	a := put(t, s, noise(60_000, 1))
	if a.Ref != "list_issues_2" {
		t.Errorf("second ref is %s", a.Ref)
	}
	if c, err := s.Get(heddle.Local, " `LIST_ISSUES_2` "); c != a {
		t.Errorf("Get of a ref in quotes: %v", err)
	}
	// Another principal learns nothing: the same answer as for what nobody has.
	_, has := s.Get("other", a.Ref)
	_, none := s.Get("other", "list_issues_777")
	if has.Error() != none.Error() {
		t.Errorf("another principal is told %q and %q", has, none)
	}
	clk.Add(2 * time.Hour)
	b := put(t, s, noise(60_000, 2)) // a is expired and there is no disk
	_, err = s.Get(heddle.Local, a.Ref)
	wantGone(t, err, a.Ref+" expired at 2026-05-01T12:00:00Z", "call github::list_issues again", "newest first: "+b.Ref)
	if _, err := a.ReadAt(make([]byte, 1), 0); heddle.KindOf(err) != heddle.KindResultExpired {
		t.Errorf("reading what is gone: %v", err)
	}
	_, err = s.Get(heddle.Local, "secret'; drop table")
	if wantGone(t, err); strings.Contains(err.Error(), "secret") {
		t.Errorf("%v repeats what was asked for", err)
	}
}

// Section K of the field cases, R118: big ones and many.
func TestManyLarge(t *testing.T) {
	s := newStore(t, Options{Memory: 4 << 20, Disk: 16 << 20})
	text := noise(1<<20, 5)
	for i := range 60 {
		put(t, s, text[i:])
	}
	st := s.Stats()
	if st.Memory > 4<<20 || st.Disk > 16<<20 || st.Captures < 18 {
		t.Errorf("%+v", st)
	}
	_, err := s.Get(heddle.Local, "list_issues_1")
	wantGone(t, err, "expired at", "call github::list_issues again")
	big := newStore(t, Options{})
	want := `{"s":"` + strings.Repeat("a\u4e2d", 17<<18) + `"}`
	if b, err := put(t, big, want).Bytes(); err != nil || string(b) != want {
		t.Errorf("a 17 MB string: %d bytes, %v", len(b), err)
	}
}

// What is shown again and again is kept once, for each principal and as long as it
// says the same.
func TestPutOnce(t *testing.T) {
	clk := newClock()
	s := newStore(t, Options{Memory: 100_000, Disk: -1, TTL: time.Hour, Now: clk.Now})
	find := heddle.ToolRef{Name: "find_tool"}
	once := func(p heddle.Principal, print string) *Capture {
		t.Helper()
		c, err := s.PutOnce(p, find, "deploy_definition", print, []byte(noise(20_000, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := c.Bytes(); err != nil || string(b) != noise(20_000, 1) || c.Kind != KindJSON {
			t.Errorf("%s: %d bytes of %s, %v", c.Ref, len(b), c.Kind, err)
		}
		return c
	}
	a := once(heddle.Local, "v1")
	if b := once(heddle.Local, "v1"); b != a || a.Ref != "deploy_definition_1" {
		t.Errorf("the same again: %s and %s", a.Ref, b.Ref)
	}
	if b, c := once(heddle.Local, "v2"), once("other", "v1"); b == a || c == a {
		t.Errorf("another version, another principal: %s, %s, as %s", b.Ref, c.Ref, a.Ref)
	}
	clk.Add(2 * time.Hour)
	put(t, s, noise(90_000, 2))
	_, err := s.Get(heddle.Local, a.Ref)
	wantGone(t, err, a.Ref+" expired at", "call find_tool again")
	clk.Add(2 * time.Hour)
	if b := once(heddle.Local, "v1"); b == a {
		t.Errorf("%s was given up", b.Ref)
	}
	if len(s.same) != 1 {
		t.Errorf("%d are remembered, 1 is held", len(s.same))
	}
	if err := s.Close(); err != nil || len(s.same) != 0 {
		t.Errorf("after Close: %d, %v", len(s.same), err)
	}
}

func TestPutReusesContent(t *testing.T) {
	s := newStore(t, Options{})
	b := []byte(noise(1000, 1))
	c, err := s.Put(heddle.Local, listIssues, KindText, b)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(b)
	clear(b)
	if got, _ := c.Bytes(); !bytes.Equal(got, want) {
		t.Error("the capture changed with the caller's buffer")
	}
}

// TestPutHoldsNoSecondCopy bounds all that Put allocates, so also what it holds at
// any moment.
func TestPutHoldsNoSecondCopy(t *testing.T) {
	s := newStore(t, Options{})
	content := []byte(logText(20 << 20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := s.Put(heddle.Local, listIssues, KindText, content)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	got, want := int64(after.TotalAlloc-before.TotalAlloc), c.packed+c.packed/8+4<<20
	if got > want {
		t.Errorf("Put of %d bytes, %d packed, allocates %d, want at most %d", len(content), c.packed, got, want)
	}
	t.Logf("Put of %d bytes, %d packed, allocates %d, encoder and decoder included", len(content), c.packed, got)
}
