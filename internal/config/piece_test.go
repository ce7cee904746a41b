package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		{"GITHUB_TOKEN", "your-token-here", "<your-token-here>"},
		{"SECRET", "1234", "<1234>"},
		{"PGPASSWORD", "postgres", "<postgres>"},
		{"JIRA_PASSWORD", "yourMajesty!99", "<yourMajesty!99>"},
		{"AWS_SECRET_ACCESS_KEY", "/bPxRfiCYEXAMPLEKEY9wJalrXUtnFEMI/K7MDENG", "</bPxRfiCYEXAMPLEKEY9wJalrXUtnFEMI/K7MDENG>"},
		{"DB_PASSWORD", "/x9!", "</x9!>"},
		{"DB_PASSWORD", "$ecret", "<$ecret>"},
		{"DB_PASSWORD", "/run/secrets/db_password", ""},
		{"PRIVATE_KEY", "certs/server.key", ""},
		{"DB_PASSWORD", "", ""},
		{"USE_TOKEN", "true", ""},
		{"AUTH", "oauth", ""},
		{"AUTH", "hunter2", "<hunter2>"},
		{"TOKEN", "https://login.example.com/realm", ""},
		{"PWD", "/home/ann", ""},
		{"MAX_TOKENS", "4096", ""},
		{"MIX", "Bearer abcdef1234567890abcdef", "Bearer <abcdef1234567890abcdef>"},
		{"MIX", "eyJhbGciOiJIUzI1NiJ9.eyJ4eHgiOiJ5b3VyIn0.xxxxxxx", "<eyJhbGciOiJIUzI1NiJ9.eyJ4eHgiOiJ5b3VyIn0.xxxxxxx>"},
		{"DATABASE_URL", "postgres://admin:Real9pass@db.example-corp.com/x", "<postgres://admin:Real9pass@db.example-corp.com/x>"},
		{"REDIS", "redis://:pw@h:6379", "<redis://:pw@h:6379>"},
		{"DSN", "host=h user=u password=a,b;c sslmode=off", "host=h user=u password=<a,b;c> sslmode=off"},
		{"DSN", "Server=h;User Id=sa;Password=Pa55;Encrypt=yes", "Server=h;User Id=sa;Password=<Pa55>;Encrypt=yes"},
		{"DSN", "user=u,password=x,db=y", "user=u,password=<x>,db=y"},
		{"OPENAPI_MCP_HEADERS", `{"Authorization": "Bearer abc", "Notion-Version": "2022-06-28"}`, `{"Authorization": "<Bearer abc>", "Notion-Version": "2022-06-28"}`},
		{"CONFIG", `{"password": "two words", "token": 12345, "port": 80}`, `{"password": "<two words>", "token": <12345>, "port": 80}`},
		{"HOOK", "https://hooks.slack.com/services/T0123/B0123/abcdefghijkl", "<https://hooks.slack.com/services/T0123/B0123/abcdefghijkl>"},
		{"DESCRIPTION", "Bearer authentication is on; the token is in .env", ""},
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
		{"--token=12345", "--token=<12345>"},
		{"--pass=Tr0ub4dorXY", "--pass=<Tr0ub4dorXY>"},
		{"--password changeme --token --verbose", " <changeme>  "},
		{"--token-file /run/token --key ./server.pem", "   "},
		{"run -e PGPASSWORD=postgres -e AUTH=none img", "  PGPASSWORD=<postgres>   "},
		{"Bearer_x https://u.test/?a=1&sig=abc", " https://u.test/?a=1&sig=<abc>"},
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
		"https://x.test/mcp":                                        "",
		"https://x.test/mcp?page=2":                                 "",
		"https://x.test/mcp?token=abc%20def1&v=2#top":               "https://x.test/mcp?token=<abc%20def1>&v=2#top",
		"https://x.test/mcp?token=${TOKEN}":                         "",
		"https://x.test/s/ODk2ZjQyMmEtN2Y1Yi00M2Rk/mcp":             "https://x.test/s/<ODk2ZjQyMmEtN2Y1Yi00M2Rk>/mcp",
		"https://x.test/mcp/s3cr3tpathtoken1234567890abcdef/x":      "https://x.test/mcp/<s3cr3tpathtoken1234567890abcdef>/x",
		"https://x.test/@owner/Some-Long-Name-Of-A-Server-2024/mcp": "",
	} {
		if got := shown(SecretsOfURL(written)); got != want {
			t.Errorf("SecretsOfURL(%q) = %q, want %q", written, got, want)
		}
	}
}

// TestPiecesAreTheText puts pieces of any text together again: what init moves must come
// back just so.
func TestPiecesAreTheText(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"token", "Password", "=", ":", ": ", `"`, "'", ";", ",", "&", "?", "#", " ", "\n", "--", "-", "$", "$$", "${", "}", "{", "\\", "/", "://", "@", "u:p@h", "http",
		"Bearer ", "Basic ", "x", "1234", "ghp_abcdefghijklmnop", "é", "\xff", "%41", "true", "/run/x", "a1B2c3D4e5F6g7H8i9J0k1L2",
	})
	rapid.Check(t, func(t *rapid.T) {
		v := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), "")
		name := rapid.SampledFrom([]string{"TOKEN", "MODE", "AUTH"}).Draw(t, "name")
		for what, found := range map[string][]Piece{"under": underName(name, v), "arg": inArg("--"+name, v), "url": inURL(v)} {
			if found == nil {
				continue
			}
			var b strings.Builder
			secret := false
			for _, p := range found {
				b.WriteString(p.Text)
				secret = secret || p.Secret && p.Text != ""
			}
			if b.String() != v || !secret {
				t.Fatalf("%s of %q: %+v", what, v, found)
			}
		}
	})
}
