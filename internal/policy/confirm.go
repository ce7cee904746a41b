package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"heddle/internal/secret"
	"heddle/internal/wire"
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

// What a question shows of arguments: every member, each value cut, so that nothing can
// be hidden behind something long.
const (
	maxShownMembers = 40
	maxShownValue   = 300 // bytes
)

// shownTo returns arguments as a person is asked about them: without secrets, and with
// nothing that cannot be seen.
func shownTo(args json.RawMessage) string {
	masked, _ := secret.MaskJSON(args)
	var lines []string
	more := 0
	err := wire.Members(masked, func(key string, value json.RawMessage) bool {
		if len(lines) == maxShownMembers {
			more++
			return true
		}
		text := visible(string(value))
		if short := cut(text, maxShownValue); short != text {
			text = fmt.Sprintf("%s (%d bytes in all)", short, len(value))
		}
		lines = append(lines, cut(visible(key), maxShownValue)+": "+text)
		return true
	})
	switch {
	case err != nil:
		return cut(visible(string(masked)), maxShownValue)
	case more > 0:
		lines = append(lines, fmt.Sprintf("and %d more arguments", more))
	case len(lines) == 0:
		return "without arguments"
	}
	return strings.Join(lines, "\n")
}

// visible writes what cannot be seen as a replacement character.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}
