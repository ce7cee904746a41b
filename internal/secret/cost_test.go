package secret

import (
	"strings"
	"testing"
	"time"
)

// TestCost: a text that is all keywords costs a bounded number of steps a byte. The
// bound is wide, because machines differ; what is quadratic takes much longer.
func TestCost(t *testing.T) {
	const size = 128 << 10
	for _, part := range []string{
		"password=", "pass=)", "pass=(,", "token: ", "://", "://a:", "a://b:c@", "eyJ", "-eyJhbGciOiJI", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "%3D", `\u0070`, "&quot;",
		"AKIA", "xoxb-", "-xoxb-1", "sk-", ".atlasv1.", "/Z2hwX", "kind: Secret\n", "kind: Secret\ndata:\n a: bcdef\n", "Bearer ", "cookie: ", "Set-Cookie: a=b;", "card 4", "machine x login y password ", "$6$", "MT", "密码：", "$1$a", "\"kty\"",
		"AAAAAAAAAAAAAAAA", "ghp_\n", "IDENTIFIED BY '", "curl -u a:b ", "mysql -p", `\\\"`, `{"password":`, `[`, `{"a":`, `{"data":{"`, `"`, `\`,
	} {
		text := strings.Repeat(part, size/len(part))
		start := time.Now()
		Mask(text)
		FindJSON([]byte(text))
		FindJSON([]byte(`{"text":"` + strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`) + `"}`))
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q: %v", part, d)
		} else if testing.Verbose() && d > 500*time.Millisecond {
			t.Logf("%q: %v", part, d)
		}
	}
}
