package policy

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"heddle/internal/secret"
)

// destructive in tools.confirm stands for all tools that say so of themselves.
const destructive = "destructive"

// confirmation asks the user before a call goes up. It is the last check: once the
// user has said yes, nothing else may refuse.
type confirmation struct {
	list      list
	annotated bool
}

// newConfirmation reads tools.confirm. Its patterns restrict, so they ignore case
// and match a tool's own name, as those of a deny do.
func newConfirmation(patterns []string) (confirmation, error) {
	c := confirmation{}
	var texts []string
	for _, p := range patterns {
		if p == destructive {
			c.annotated = true
			continue
		}
		texts = append(texts, p)
	}
	var err error
	c.list, err = newList("tools.confirm", "confirm", texts, true, true)
	return c, err
}

// rule returns what makes a tool ask, "" if nothing does.
func (c *confirmation) rule(n *names, annotated bool) string {
	if c.annotated && annotated {
		return "confirm " + destructive
	}
	if p := c.list.find(n); p != nil {
		return c.list.named(p)
	}
	return ""
}

func (c confirmation) before(_ context.Context, s *state) outcome {
	n := namesOf(s.tool.Ref)
	rule := c.rule(&n, s.tool.Destructive)
	if rule == "" {
		return outcome{}
	}
	s.decide("confirmation", "noted", rule)
	return outcome{action: Ask, question: "Allow this call of " + s.tool.Ref.String() + "?\n" + shownTo(s.args)}
}

// maxShown is how much of the arguments a question shows, in bytes.
const maxShown = 1000

// shownTo returns arguments as a person is asked about them: without secrets, and
// with nothing that cannot be seen.
func shownTo(args json.RawMessage) string {
	if len(args) == 0 {
		return "{}"
	}
	masked, _ := secret.MaskJSON(args)
	text := strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, string(masked))
	return cut(text, maxShown)
}
