package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// Handler returns a handler that masks the message and the attributes of every record
// before h has them: texts, errors, groups, and values by what they print. extra, if not
// nil, is applied to each text first: it masks what is known by value.
func Handler(h slog.Handler, extra func(string) string) slog.Handler {
	if extra == nil {
		extra = func(text string) string { return text }
	}
	return handler{h, extra}
}

type handler struct {
	next  slog.Handler
	extra func(string) string
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.text("", r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.attr(a)
	}
	return handler{h.next.WithAttrs(masked), h.extra}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.next.WithGroup(name), h.extra}
}

// text masks the value of something called name.
func (h handler) text(name, text string) string {
	text = h.extra(text)
	if name != "" {
		text = replace(text, FindValue(name, text))
	}
	return Mask(text)
}

func (h handler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: h.text("", a.Key), Value: h.value(a.Key, a.Value.Resolve())}
}

func (h handler) value(name string, v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.text(name, v.String()))
	case slog.KindInt64, slog.KindUint64:
		if l := keyLevel(name); l != none && numberFits(l, v.String()) {
			return slog.StringValue(Redacted)
		}
	case slog.KindGroup:
		group := make([]slog.Attr, 0, len(v.Group()))
		for _, a := range v.Group() {
			group = append(group, h.attr(a))
		}
		return slog.GroupValue(group...)
	case slog.KindAny:
		return h.any(name, v)
	}
	return v
}

// any keeps a value that has no secret in any of the ways in which handlers print it:
// by fmt, as an error, as JSON. Any other becomes its masked text.
func (h handler) any(name string, v slog.Value) slog.Value {
	var text string
	switch x := v.Any().(type) {
	case nil:
		return v
	case []byte:
		text = string(x)
	case json.RawMessage:
		text = string(x)
	case error, fmt.Stringer:
		text = fmt.Sprint(x)
	default:
		text = fmt.Sprintf("%+v", x)
	}
	if masked := h.text(name, text); masked != text {
		return slog.StringValue(masked)
	}
	raw, err := json.Marshal(map[string]any{name: v.Any()})
	if err != nil {
		return v
	}
	if masked, found := MaskJSON(raw); len(found) > 0 {
		return slog.StringValue(string(masked))
	}
	if masked := h.extra(string(raw)); masked != string(raw) {
		return slog.StringValue(masked)
	}
	return v
}
