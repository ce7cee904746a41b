package policy

import (
	"context"
	"strings"
	"unicode/utf8"

	"heddle"
	"heddle/internal/policy/schema"
)

// arguments checks them against the tool's schema.
type arguments struct{ schemas *schema.Cache }

func (a arguments) before(_ context.Context, s *state) outcome {
	out, parsed, violations, err := a.schemas.Check(s.tool, s.args)
	if len(violations) > 0 {
		s.decide("schema", "refused", rulesOf(violations))
		return refuse(s, "policy.schema", "Arguments of "+toolName(s)+" do not fit its schema", violations)
	}
	if err != nil {
		s.decide("schema", "noted", "schema does not compile: passed unvalidated")
	}
	for _, ptr := range parsed {
		if ptr == "" {
			ptr = "the arguments"
		}
		s.decide("schema", "changed", "parsed "+ptr)
	}
	s.args = out
	return outcome{}
}

// rulesOf names the keywords and paths that failed, for the ledger.
func rulesOf(violations []heddle.Violation) string {
	parts := make([]string, len(violations))
	for i, v := range violations {
		parts[i] = strings.TrimSpace(v.Keyword + " " + v.Path)
	}
	return strings.Join(parts, ", ")
}

// maxPublic bounds the text of a refusal, in bytes.
const maxPublic = 600

// refuse makes the refusal of arguments. Its text says what to change as far as
// there is room; the violations say all.
func refuse(s *state, op, intro string, violations []heddle.Violation) outcome {
	var b strings.Builder
	b.WriteString(intro + ": ")
	for i, v := range violations {
		part := v.Message
		if v.Path != "" {
			part = v.Path + ": " + v.Message
		}
		if i > 0 {
			part = "; " + part
		}
		if b.Len()+len(part) > maxPublic-20 {
			if i == 0 {
				b.WriteString(cut(part, maxPublic-20-b.Len()))
			} else {
				b.WriteString("; and more")
			}
			break
		}
		b.WriteString(part)
	}
	b.WriteString(".")
	return outcome{action: Refuse, err: &heddle.Error{
		Kind:       heddle.KindInvalidArguments,
		Op:         op,
		Public:     b.String(),
		Tool:       s.call.Tool,
		Violations: violations,
		Signature:  schema.Signature(s.call.Tool, s.tool),
	}}
}

// toolName is the name that the host used, short enough for a sentence.
func toolName(s *state) string { return cut(s.call.Tool, 128) }

// cut shortens s to at most n bytes, between runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n = max(n-len("…"), 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}
