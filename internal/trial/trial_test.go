package trial

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsOf(t *testing.T) {
	for line, want := range map[string]string{
		"start --mode native --config /h.yml":     "--config /h.yml",
		"start -c /h.yml --profile work --strict": "-c /h.yml --profile work",
		"start --config=/h.yml --profile=work":    "--config=/h.yml --profile=work",
		"start --config":                          "",
		"--log-level debug start --mode extreme":  "",
	} {
		if got := strings.Join(flagsOf(strings.Fields(line)), " "); got != want {
			t.Errorf("flagsOf(%s) = %s, want %s", line, got, want)
		}
	}
}

// shell is an entry that runs a script.
func shell(t *testing.T, script string) Entry {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	return Entry{Command: sh, Args: []string{"-c", script}, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}}
}

const greeting = `read l; echo '{"jsonrpc":"2.0","method":"notifications/message"}'
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"heddle","version":"1"}}}'; read l; `

func TestOpen(t *testing.T) {
	got, err := Open(t.Context(), shell(t, greeting+
		`read l; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}'
		read l; echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b"}]}}'; cat >/dev/null`), "host")
	if err != nil {
		t.Fatal(err)
	}
	got.Took = 0
	if diff := cmp.Diff(Session{Server: "heddle 1", Protocol: "2025-11-25", Tools: []string{"a", "b"}}, got); diff != "" {
		t.Errorf("the session differs (-want +got):\n%s", diff)
	}
}

// TestOpenFails wants the step, and what was said on stderr.
func TestOpenFails(t *testing.T) {
	for _, c := range []struct{ script, step, reason, stderr string }{
		{"echo no such thing >&2; exit 3", "initialize", "ended without an answer", "no such thing"},
		{"echo Welcome!; cat", "initialize", "no JSON-RPC", ""},
		{`read l; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"not today"}}'; cat`, "initialize", "not today", ""},
		{greeting + "echo broken >&2", "tools/list", "ended without an answer", "broken"},
	} {
		_, err := Open(t.Context(), shell(t, c.script), "host")
		var failed *Error
		if !errors.As(err, &failed) || failed.Step != c.step || !strings.Contains(err.Error(), c.reason) || strings.Join(failed.Stderr, "|") != c.stderr {
			t.Errorf("%s: got %v with %v, want %s: %s with %s", c.script, err, failed, c.step, c.reason, c.stderr)
		}
	}
}

// TestOpenHangs wants an end with the context, and nothing left.
func TestOpenHangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := Open(ctx, shell(t, "cat >/dev/null"), "host"); err == nil {
		t.Error("a heddle that never answers is a session")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to give up", took)
	}
}
