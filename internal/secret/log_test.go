package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
)

// account prints itself with its password.
type account struct{ User, Password string }

func (a account) String() string { return a.User + ": password=" + a.Password }

// hidden resolves to a group.
type hidden struct{ token string }

func (h hidden) LogValue() slog.Value { return slog.GroupValue(slog.String("token", h.token)) }

func TestHandler(t *testing.T) {
	const known = "plain words of the configuration"
	extra := func(text string) string { return strings.ReplaceAll(text, known, Redacted) }
	login, err := url.Parse("https://ann:" + human + "@x.test/")
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		log := slog.New(Handler(handler(&b), extra))
		log = log.With("api_key", machine, "note", "token="+machine).WithGroup("g").With("password", human)
		log.InfoContext(context.Background(), "sent Authorization: Bearer "+machine+" and "+known,
			"err", fmt.Errorf("dial: %w", errors.New("postgres://app:"+human+"@db/x")),
			"account", account{"ann", human}, "pointer", &account{"ann", human}, "struct", struct{ Token string }{machine},
			"url", login, "args", []string{"--token", machine}, "env", map[string]string{"DB_PASSWORD": human},
			"raw", []byte(`{"password":"`+human+`"}`), "list", []any{known}, "pin", 482913, "lazy", hidden{machine},
			slog.Group("h", slog.String("cookie", "session="+machine), slog.Any("x", known)),
			"count", 12, "tokens", 482913, "plain", "nothing of note", "nil", nil)
		got := b.String()
		for _, v := range []string{human, machine, known, "pin=482913", `"pin":482913`} {
			if strings.Contains(got, v) {
				t.Errorf("%s: left %s in %s", name, v, got)
			}
		}
		for _, v := range []string{"nothing of note", "ann", "12", "tokens", "sent Authorization"} {
			if !strings.Contains(got, v) {
				t.Errorf("%s: no %s in %s", name, v, got)
			}
		}
	}
}
