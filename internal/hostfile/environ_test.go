package hostfile

import (
	"slices"
	"testing"
)

// TestStart wants no more for heddle than hosts give.
func TestStart(t *testing.T) {
	shell := map[string]string{"HOME": "/home/u", "PATH": "/home/u/.nvm/bin:/usr/bin", "GITHUB_TOKEN": "s3cr3t", "LANG": "C.UTF-8"}
	env := Env{OS: "linux", Home: "/home/u", Cwd: "/p", Getenv: func(name string) string { return shell[name] }}
	for _, c := range []struct {
		host  string
		scope Scope
		dir   string
		path  string
	}{
		{"claude-code", Project, "/p", "PATH=/home/u/.nvm/bin:/usr/bin"},
		{"cursor", Project, "/p", "PATH=" + WindowPath("linux", "")},
		{"claude-desktop", User, "/home/u", "PATH=" + WindowPath("linux", "")},
	} {
		h, err := Lookup(c.host)
		if err != nil {
			t.Fatal(err)
		}
		dir, got := h.Start(env, c.scope)
		if want := []string{"HOME=/home/u", "LANG=C.UTF-8", c.path}; dir != c.dir || !slices.Equal(got, want) {
			t.Errorf("%s starts in %s with %v, want %s with %v", c.host, dir, got, c.dir, want)
		}
	}
}
