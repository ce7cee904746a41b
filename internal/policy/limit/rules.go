package limit

import (
	"cmp"
	"slices"
)

// newRules puts the rules in the order in which they are asked. Without any limit
// there are none.
func newRules(c Config) []*rule {
	var rules []*rule
	limited := c.Default.Limited()
	for _, t := range c.PerTool {
		literals, wild := weigh(t.Pattern)
		rules = append(rules, &rule{rate: t.Rate, name: patternName(t), match: t.Match, literals: literals, wild: wild})
		limited = limited || t.Rate.Limited()
	}
	if !limited {
		return nil
	}
	slices.SortStableFunc(rules, func(a, b *rule) int {
		if n := cmp.Compare(b.literals, a.literals); n != 0 {
			return n
		}
		return cmp.Compare(a.wild, b.wild)
	})
	if c.Default.Limited() {
		rules = append(rules, &rule{rate: c.Default, name: "rate_limit.default " + c.Default.String()})
	}
	return rules
}

// weigh counts the characters of a pattern that must be in a name as they are, and the
// places where something else may be: "*", "?", "[a-z]" and "{a,b}".
func weigh(pattern string) (literals, wild int) {
	rs := []rune(pattern)
	var until rune // what ends the class or the braces
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case r == '\\':
			i++
			if until == 0 {
				literals++
			}
		case until != 0:
			if r == until {
				until = 0
			}
		case r == '[':
			until, wild = ']', wild+1
		case r == '{':
			until, wild = '}', wild+1
		case r == '*':
			wild += 2 // says less than the others
		case r == '?':
			wild++
		default:
			literals++
		}
	}
	return literals, wild
}
