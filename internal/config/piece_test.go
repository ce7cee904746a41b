package config

import (
	"strings"
	"testing"
)

// shown marks the secrets of a text.
func shown(ps []Piece) string {
	var b strings.Builder
	for _, p := range ps {
		if p.Secret {
			b.WriteString("<" + p.Text + ">")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestSecretsUnder(t *testing.T) {
	for _, c := range []struct{ name, written, want string }{
		{"GITHUB_TOKEN", "s3cr3t$$1", "<s3cr3t$1>"},
		{"GITHUB_TOKEN", "${GITHUB_TOKEN}", ""},
		{"GITHUB_TOKEN", "your-token-here", ""},
		{"Authorization", "Bearer abcdef123", "Bearer <abcdef123>"},
		{"Authorization", "Bearer ", ""},
		{"X-Trace", "ghp_abcdefghijklmnop", "<ghp_abcdefghijklmnop>"},
		{"LOG_LEVEL", "debugging", ""},
		{"TOKEN_LIMIT", "100000000", ""},
	} {
		if got := shown(SecretsUnder(c.name, c.written)); got != c.want {
			t.Errorf("SecretsUnder(%q, %q) = %q, want %q", c.name, c.written, got, c.want)
		}
	}
}

func TestSecretsOfArgs(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-y pkg", " "},
		{"--api-key abcdef123", " <abcdef123>"},
		{"--api-key=abcdef123 x", "--api-key=<abcdef123> "},
		{"run -e GITHUB_TOKEN=abcdef123 -e DEBUG=enabled img", "  GITHUB_TOKEN=<abcdef123>   "},
		{"-y mcp-remote https://x.test/mcp --header Authorization:Bearer_abcdef1234567", "    Authorization:<Bearer_abcdef1234567>"},
		{"postgresql://u:passw0rd@db/x", "<postgresql://u:passw0rd@db/x>"},
		{"https://x.test/mcp?api_key=abcdef123&v=2", "https://x.test/mcp?api_key=<abcdef123>&v=2"},
		{"--port 8080", " "},
	} {
		var got []string
		for _, ps := range SecretsOfArgs(strings.Split(c.args, " ")) {
			got = append(got, shown(ps))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("SecretsOfArgs(%q) = %q, want %q", c.args, g, c.want)
		}
	}
}

func TestSecretsOfURL(t *testing.T) {
	for written, want := range map[string]string{
		"https://x.test/mcp":                          "",
		"https://x.test/mcp?page=2":                   "",
		"https://x.test/mcp?token=abc%20def1&v=2#top": "https://x.test/mcp?token=<abc%20def1>&v=2#top",
		"https://x.test/mcp?token=${TOKEN}":           "",
	} {
		if got := shown(SecretsOfURL(written)); got != want {
			t.Errorf("SecretsOfURL(%q) = %q, want %q", written, got, want)
		}
	}
}
