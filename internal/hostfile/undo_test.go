package hostfile

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoServers = "{\n  \"mcpServers\": {\n    // the weather\n    " + weather + ",\n    " + other + "\n  },\n  \"theme\": \"dark\"\n}\n"

// rewrite is what a host does that keeps its own state in the file.
func rewrite(t *testing.T, text string, change func(map[string]any)) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	change(all)
	out, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRollbackAfterTheHostWrote(t *testing.T) {
	b := newBench(t)
	original := strings.Replace(twoServers, "    // the weather\n", "", 1)
	path := b.put("claude-code", User, original)
	b.install("claude-code", User)
	b.write(path, rewrite(t, b.read(path), func(all map[string]any) { all["numStartups"] = 7 }))
	c := b.rollback("claude-code", User)
	want := rewrite(t, original, func(all map[string]any) { all["numStartups"] = 7 })
	if got := rewrite(t, b.read(path), func(map[string]any) {}); got != want {
		t.Errorf("after rollback (-want +got)\n%s", cmp.Diff(want, got))
	}
	if diff := cmp.Diff([]string{"weather"}, c.Restored); diff != "" {
		t.Errorf("restored (-want +got)\n%s", diff)
	}
	if len(c.Notes) == 0 || !strings.Contains(c.Notes[0], "was changed since the install") {
		t.Errorf("notes %q do not say that only our part is reversed", c.Notes)
	}
}

func TestRollbackKeepsEditsByHand(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	edited := strings.Replace(b.read(path), "\"theme\": \"dark\"", "\"theme\": \"light\" // brighter", 1)
	b.write(path, edited)
	b.rollback("cursor", User)
	want := strings.Replace(twoServers, "\"theme\": \"dark\"", "\"theme\": \"light\" // brighter", 1)
	if diff := cmp.Diff(want, b.read(path)); diff != "" {
		t.Errorf("after rollback (-want +got)\n%s", diff)
	}
}

func TestRollbackOfTOMLEditedByHand(t *testing.T) {
	b := newBench(t)
	const before = "model = \"o5\"\n\n[mcp_servers.weather]\ncommand = \"npx\" # daily\n\n[mcp_servers.weather.env]\nKEY = \"made-up\"\n\n[tui]\nx = 1\n"
	path := b.put("codex", User, before)
	b.install("codex", User)
	b.write(path, strings.Replace(b.read(path), "x = 1", "x = 2", 1))
	b.rollback("codex", User)
	want := "model = \"o5\"\n\n[tui]\nx = 2\n\n[mcp_servers.weather]\ncommand = \"npx\" # daily\n\n[mcp_servers.weather.env]\nKEY = \"made-up\"\n"
	if diff := cmp.Diff(want, b.read(path)); diff != "" {
		t.Errorf("after rollback (-want +got)\n%s", diff)
	}
}

func TestRollbackOfBracesEditedByHand(t *testing.T) {
	for _, before := range []string{
		"mcp_servers = { weather = { command = \"npx\", env = { A = \"b\" } } }\n[tui]\nx = 1\n",
		"[mcp_servers]\nweather = { command = \"npx\", env = { A = \"b\" } }\n[tui]\nx = 1\n",
		"mcp_servers.weather.command = \"npx\"\nmcp_servers.weather.env.A = \"b\"\n[tui]\nx = 1\n",
	} {
		b := newBench(t)
		path := b.put("codex", User, before)
		b.install("codex", User)
		b.write(path, strings.Replace(b.read(path), "x = 1", "x = 2", 1))
		b.rollback("codex", User)
		want, err := readTOML("", []byte(strings.Replace(before, "x = 1", "x = 2", 1)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readTOML("", []byte(b.read(path)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.root.canon(), got.root.canon()); diff != "" {
			t.Errorf("%s\nafter rollback (-want +got)\n%s", before, diff)
		}
	}
}

// TestRollbackRefuses leaves a file alone whose part of heddle's somebody
// changed.
func TestRollbackRefuses(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"our entry changed", "\"compact\"", "\"native\"", `the entry "heddle" is not as heddle left it`},
		{"our entry gone", "\"heddle\": {", "\"headdle\": {", `the entry "heddle" is not as heddle left it`},
		{"theirs came back changed", "\"mcpServers\": {", "\"mcpServers\": {\n \"weather\": {\"command\": \"deno\"},", `the entry "weather", which heddle took out, is there again`},
		{"not readable", "\"theme\"", "theme", "not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			path := b.put("cursor", User, twoServers)
			b.install("cursor", User)
			changed := strings.Replace(b.read(path), tt.old, tt.new, 1)
			b.write(path, changed)
			_, err := b.Rollback(context.Background(), "cursor", User)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) || e.Hint == "" {
				t.Fatalf("rollback: %v, want %q and a hint", err, tt.want)
			}
			if b.read(path) != changed {
				t.Error("a refused rollback wrote")
			}
			if tt.name == "our entry changed" {
				_, orig, _ := strings.Cut(e.Hint, "as it was before is ")
				if got := b.read(orig); got != twoServers {
					t.Errorf("the hint names %q with %q", orig, got)
				}
			}
		})
	}
}

func TestRollbackWhenTheirsCameBack(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	b.write(path, strings.Replace(b.read(path), "\"mcpServers\": {", "\"mcpServers\": {\n    "+weather+",", 1))
	b.rollback("cursor", User)
	if got := b.read(path); strings.Count(got, "\"weather\"") != 1 || strings.Contains(got, "heddle") {
		t.Errorf("after rollback\n%s", got)
	}
}

func TestRollbackOfAFileThatIsGone(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := b.Rollback(context.Background(), "cursor", User)
	if !errors.Is(err, ErrOurs) || exists(path) {
		t.Errorf("%v, want ErrOurs and no file", err)
	}
}

// TestInstallTwice changes the mode and keeps the first original.
func TestInstallTwice(t *testing.T) {
	for _, between := range []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.Replace(s, "\"dark\"", "\"light\"", 1) },
	} {
		b := newBench(t)
		path := b.put("claude-code", User, twoServers)
		b.install("claude-code", User)
		b.write(path, between(b.read(path)))
		r := b.request("claude-code", User)
		r.Entry.Mode = Extreme
		if _, err := b.Install(context.Background(), r); err != nil {
			t.Fatal(err)
		}
		if got := b.read(path); strings.Count(got, "heddle\"") < 1 || !strings.Contains(got, "\"extreme\"") || strings.Contains(got, "\"compact\"") || strings.Contains(got, "weather\":") {
			t.Errorf("after the second install\n%s", got)
		}
		b.rollback("claude-code", User)
		if diff := cmp.Diff(between(twoServers), b.read(path)); diff != "" {
			t.Errorf("after rollback (-want +got)\n%s", diff)
		}
	}
}

// TestInstallOverAnEditedEntry puts heddle's entry right and keeps the way back.
func TestInstallOverAnEditedEntry(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	b.write(path, strings.Replace(b.read(path), "\"compact\"", "\"mesh\"", 1))
	b.install("cursor", User)
	if got := b.read(path); !strings.Contains(got, "\"compact\"") {
		t.Errorf("after the second install\n%s", got)
	}
	b.rollback("cursor", User)
	if diff := cmp.Diff(twoServers, b.read(path)); diff != "" {
		t.Errorf("after rollback (-want +got)\n%s", diff)
	}
}

func TestUninstall(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	c, err := b.Uninstall(context.Background(), "cursor", User)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"mcpServers\": {\n    // the weather\n    " + other + "\n  },\n  \"theme\": \"dark\"\n}\n"
	if diff := cmp.Diff(want, b.read(path)); diff != "" {
		t.Errorf("after uninstall (-want +got)\n%s", diff)
	}
	if len(c.Removed) != 1 || c.Removed[0].Name != "heddle" {
		t.Errorf("removed %v", c.Removed)
	}
	if _, err := b.Rollback(context.Background(), "cursor", User); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("rollback after uninstall: %v", err)
	}
	kept := 0
	for _, name := range b.files(b.State) {
		if strings.HasPrefix(name, "old-") && strings.HasSuffix(name, ".orig") {
			kept++
			if b.read(filepath.Join(b.State, name)) != twoServers {
				t.Errorf("%s is not the original", name)
			}
		}
	}
	if kept != 1 {
		t.Errorf("%d originals kept, want 1", kept)
	}
	again, err := b.Uninstall(context.Background(), "cursor", User)
	if err != nil || !again.Empty() {
		t.Errorf("second uninstall: %v, %s", err, again.Diff())
	}
}

// TestUninstallByHand takes out what no install put in.
func TestUninstallByHand(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, "{\"mcpServers\": {\"gw\": {\"command\": \"npx\", \"args\": [\"-y\", \"heddle\", \"start\"]}, "+other+"}}\n")
	if _, err := b.Uninstall(context.Background(), "cursor", User); err != nil {
		t.Fatal(err)
	}
	if want := "{\"mcpServers\": {" + other + "}}\n"; b.read(path) != want {
		t.Errorf("got %s, want %s", b.read(path), want)
	}
}

func TestUninstallOfANewFile(t *testing.T) {
	b := newBench(t)
	b.install("claude-code", Project)
	if _, err := b.Uninstall(context.Background(), "claude-code", Project); err != nil {
		t.Fatal(err)
	}
	if left := b.files(b.Env.Cwd); len(left) != 0 {
		t.Errorf("after uninstall there is %v, want nothing", left)
	}
}

// TestInstallAfterSomebodyTookHeddleOut begins anew and loses no original.
func TestInstallAfterSomebodyTookHeddleOut(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	const second = "{\n  \"mcpServers\": {\n    " + other + "\n  }\n}\n"
	b.write(path, second)
	b.install("cursor", User)
	b.rollback("cursor", User)
	if diff := cmp.Diff(second, b.read(path)); diff != "" {
		t.Errorf("after rollback (-want +got)\n%s", diff)
	}
	found := false
	for _, name := range b.files(b.State) {
		found = found || strings.HasSuffix(name, ".orig") && b.read(filepath.Join(b.State, name)) == twoServers
	}
	if !found {
		t.Error("the first original is lost")
	}
}

func TestInstalled(t *testing.T) {
	b := newBench(t)
	b.put("cursor", User, twoServers)
	b.install("cursor", User)
	b.install("codex", User)
	got, err := b.Installed()
	if err != nil || len(got) != 2 || got[0].Host != "codex" || got[0].Mode != Native || got[1].Host != "cursor" || got[1].Time.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRecordIsPrivate(t *testing.T) {
	b := newBench(t)
	b.put("cursor", User, twoServers)
	b.install("cursor", User)
	for _, name := range append(b.files(b.State), ".") {
		info, err := os.Stat(filepath.Join(b.State, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v (%v)", name, info.Mode(), err)
		}
	}
}

func TestDamagedRecord(t *testing.T) {
	b := newBench(t)
	path := b.put("cursor", User, twoServers)
	b.install("cursor", User)
	installed := b.read(path)
	for _, name := range b.files(b.State) {
		if strings.HasSuffix(name, ".orig") {
			b.write(filepath.Join(b.State, name), "other")
		}
	}
	_, err := b.Rollback(context.Background(), "cursor", User)
	if err == nil || !strings.Contains(err.Error(), "is not the original any more") || b.read(path) != installed {
		t.Errorf("%v", err)
	}
}
