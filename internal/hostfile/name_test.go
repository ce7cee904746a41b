package hostfile

import (
	"os"
	"strings"
	"testing"
)

func TestPlainName(t *testing.T) {
	for in, want := range map[string]string{
		"github": "github", "Sequential Thinking": "sequential-thinking", "a.b/c": "a-b-c", "日本": "server", "_x": "x", "7zip": "s-7zip",
		strings.Repeat("x", 40): strings.Repeat("x", 32), strings.Repeat("x", 31) + "-y": strings.Repeat("x", 31),
	} {
		if got := plainName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestFreeName(t *testing.T) {
	taken := map[string]bool{"a": true, "b": true, "b-cursor": true, "b-2": true}
	long := strings.Repeat("x", 32)
	taken[long] = true
	for in, want := range map[string]string{"c": "c", "a": "a-cursor", "b": "b-3", "heddle": "heddle-cursor", long: strings.Repeat("x", 25) + "-cursor"} {
		if got := freeName(in, "cursor", func(s string) bool { return taken[s] }); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	linux, windows := Env{OS: "linux"}, Env{OS: "windows"}
	tests := []struct {
		env       Env
		dir, root string
		want      bool
	}{
		{linux, "/src/p", "/src/p", true},
		{linux, "/src/p/q", "/src/p/", true},
		{linux, "/src/pq", "/src/p", false},
		{linux, "/src", "/src/p", false},
		{linux, "/src", "", false},
		{windows, `C:\src\p`, "c:/src", true},
		{windows, `C:\src`, `C:\src\p`, false},
	}
	for _, tt := range tests {
		if got := tt.env.within(tt.dir, tt.root); got != tt.want {
			t.Errorf("%s: %q within %q: %v", tt.env.OS, tt.dir, tt.root, got)
		}
	}
	if got := linux.dir("/a/b/"); got != "/a" {
		t.Errorf("dir: %q", got)
	}
	if got := windows.dir(`C:\a\b`); got != `C:\a` {
		t.Errorf("dir: %q", got)
	}
}

func TestSystemEnv(t *testing.T) {
	env, err := SystemEnv(func(string) string { return "" })
	home, _ := os.UserHomeDir()
	if err != nil || env.Home != home || env.Cwd == "" || env.OS == "" {
		t.Errorf("%+v, %v", env, err)
	}
}

func TestUnknownDirectories(t *testing.T) {
	e := &Editor{Env: Env{OS: "linux"}}
	for _, scope := range []Scope{User, Project} {
		if f, err := e.File("cursor", scope); err == nil {
			t.Errorf("%s: %s", scope, f.Path)
		}
	}
	if files := All(e.Env); len(files) != 0 {
		t.Errorf("%v", files)
	}
}
