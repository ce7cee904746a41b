package hostfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, "{\r\n  \"mcpServers\": {\r\n    "+weather+",\r\n    "+other+"\r\n  }\r\n}")
	c, err := b.Plan(b.request("cursor", User))
	if err != nil {
		t.Fatal(err)
	}
	want := "--- " + path + "\n+++ " + path + `
@@ -1,6 +1,9 @@
 {
   "mcpServers": {
-    "weather": {"command": "npx", "args": ["-y", "weather-mcp@1.2.0"], "env": {"WEATHER_KEY": "***"}},
-    "notes": {"command": "uvx", "args": ["notes-mcp"]}
+    "notes": {"command": "uvx", "args": ["notes-mcp"]},
+    "heddle": {
+      "command": "/usr/local/bin/heddle",
+      "args": ["start", "--mode", "compact", "--config", "/home/u/heddle.yml"]
+    }
   }
 }
\ No newline at end of file
`
	if diff := cmp.Diff(want, c.Diff()); diff != "" {
		t.Errorf("diff (-want +got)\n%s", diff)
	}
}

// TestDiffMasks plants made-up secrets in every place that has one.
func TestDiffMasks(t *testing.T) {
	tests := []struct {
		host, text string
		shown      []string
	}{
		{"cursor", `{
  // "old": {"env": {"API_TOKEN": "planted-1"}},
  "apiKey": "planted-2",
  "mcpServers": {
    "weather": {
      "command": "npx",
      "args": ["--api-key", "planted-3", "--token=planted-4", "--plain", "seen-1", "--header", "Authorization: Bearer planted-14", "-e", "API_TOKEN=planted-15"],
      // Authorization: Bearer planted-16
      "env": {"A": "planted-5", "N": 123454321, "R": "${SEEN_2}"},
      "headers": {"X": "planted-6"}
    },
    "near": {"url": "https://u:planted-7@h/mcp?k=planted-8", "headers": {"Authorization": "Bearer planted-9"}},
    "keys": {"command": "x", "args": ["sk-planted-10-aaaaaaaa", "planted11aaaaaaaaaaaaaaaaaa"]},
    // "gone": {"command": "x", "args": ["planted-17"], 'b': 'planted-18'}, it's "planted-19"
    "rules": {"command": "x", "args": ["--pass=planted-20", "--pw", "planted-21", "postgres://u:planted-22@h/d", "Server=h;Password=planted-23;X=y", "--dir", "/srv"]}
  }, // TOKEN=planted-12
  "oauth": {"clientSecret": "planted-13"}
}
`, []string{"seen-1", "${SEEN_2}", "--plain", "https://***@h/mcp?k=***", `"weather"`, `"Authorization: ***"`, `"API_TOKEN=***"`, `// "gone":`, `"--pass=***"`, `Password=***;X=y`, `"/srv"`}},
		{"codex", `[mcp_servers.near]
url = "https://h"
http_headers = { A = "planted-1" }
# token = "planted-2"
# OLD = "planted-7"
# LIST = ["planted-8", 'planted-9']
[mcp_servers.weather]
command = "npx"
args = ["--token", "planted-3"]
[mcp_servers.weather.env]
A = """
planted-4
planted-5"""
B = 'planted-6 # no comment'
# C = 'planted-10'
N = 123454321
`, []string{"[mcp_servers.weather.env]", `"npx"`}},
	}
	for _, tt := range tests {
		b := newBench(t)
		b.put(tt.host, User, tt.text)
		c, err := b.Plan(b.request(tt.host, User))
		if err != nil {
			t.Fatal(err)
		}
		got := c.Diff()
		if strings.Contains(got, "planted") || strings.Contains(got, "123454321") {
			t.Errorf("%s: the diff has a secret\n%s", tt.host, got)
		}
		for _, want := range tt.shown {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the diff lacks %q\n%s", tt.host, want, got)
			}
		}
	}
}

func TestDiffHidesControls(t *testing.T) {
	b := newBench(t)
	b.put("cursor", User, "{ // \x1b[2Jgone\u202e\n}\n")
	c, err := b.Plan(b.request("cursor", User))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Diff(); strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, `\u001b`) {
		t.Errorf("%q", got)
	}
}

// TestDiffIsRight makes one random text of another by the changes that a diff
// shows.
func TestDiffIsRight(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n"}), 0, 30), func(l []string) string { return strings.Join(l, "") })
	rapid.Check(t, func(t *rapid.T) {
		old, now := lines([]byte(text.Draw(t, "old"))), lines([]byte(text.Draw(t, "new")))
		var got []string
		at := 0
		for _, c := range edits(old, now) {
			got = append(append(got, old[at:c.a0]...), now[c.b0:c.b1]...)
			at = c.a1
		}
		got = append(got, old[at:]...)
		if diff := cmp.Diff(strings.Join(now, ""), strings.Join(got, "")); diff != "" {
			t.Fatalf("from %q (-want +got)\n%s", old, diff)
		}
	})
}

// TestPatchTakesDiffs gives a diff without secrets to the program that reads
// them.
func TestPatchTakesDiffs(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch here")
	}
	b := newBench(t)
	path := b.put("cursor", User, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"mcpServers\": {\n    \"weather\": {},\n    \"notes\": {}\n  },\n  \"c\": [\n    1,\n    2,\n    3\n  ]\n}\n")
	c, err := b.Plan(b.request("cursor", User))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(patch, path)
	cmd.Stdin = strings.NewReader(c.Diff())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, c.Diff())
	}
	if diff := cmp.Diff(string(c.Files[0].New), b.read(path)); diff != "" {
		t.Errorf("patched (-want +got)\n%s", diff)
	}
	_ = os.Remove(filepath.Join(filepath.Dir(path), "mcp.json.orig"))
}
