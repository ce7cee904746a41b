package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle"
	"heddle/internal/policy/schema"
)

// ParamRule is a rule for one parameter, on top of the tool's schema.
type ParamRule struct {
	// MaxLength is in Unicode code points of a string, or of any other value's JSON
	// text; nil means no limit.
	MaxLength *int
	// Pattern is an ECMA-262 regular expression, not anchored, that strings must
	// match, and numbers and booleans by their JSON text; "" means none. Objects and
	// arrays never match.
	Pattern string
	// Required means that the parameter must be there and not null.
	Required bool
}

// paramRules are the rules for the tools that one pattern matches.
type paramRules struct {
	list  list // of the one pattern
	rules []paramRule
}

type paramRule struct {
	path    []string
	pointer string
	ParamRule
	re *schema.Pattern
}

func newParams(params map[string]map[string]ParamRule) ([]paramRules, error) {
	var out []paramRules
	for _, key := range slices.Sorted(maps.Keys(params)) {
		// A rule restricts, so its pattern ignores case as a deny does, and matches the
		// tool's own name.
		l, err := newList("tools.params", "params", []string{key}, true, true)
		if err != nil {
			return nil, err
		}
		pr := paramRules{list: l}
		for _, name := range slices.Sorted(maps.Keys(params[key])) {
			r, err := newParam(name, params[key][name])
			if err != nil {
				return nil, fmt.Errorf("tools.params.%s.%s: %w", key, name, err)
			}
			pr.rules = append(pr.rules, r)
		}
		out = append(out, pr)
	}
	return out, nil
}

func newParam(name string, r ParamRule) (paramRule, error) {
	p := paramRule{ParamRule: r, path: []string{name}}
	if strings.HasPrefix(name, "/") {
		p.path = strings.Split(name[1:], "/")
		for i, tok := range p.path {
			p.path[i] = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
		}
	}
	for _, tok := range p.path {
		p.pointer += "/" + strings.ReplaceAll(strings.ReplaceAll(tok, "~", "~0"), "/", "~1")
	}
	if name == "" {
		return p, fmt.Errorf("the parameter's name is empty")
	}
	if r.MaxLength != nil && *r.MaxLength < 0 {
		return p, fmt.Errorf("max_length %d is negative", *r.MaxLength)
	}
	if r.Pattern == "" {
		return p, nil
	}
	var err error
	if p.re, err = schema.CompilePattern(r.Pattern); err != nil {
		return p, fmt.Errorf("malformed pattern %q: %w", r.Pattern, err)
	}
	return p, nil
}

// parameters applies the configured rules.
type parameters struct{ rules []paramRules }

func (p parameters) before(_ context.Context, s *state) outcome {
	if len(p.rules) == 0 {
		return outcome{}
	}
	n := namesOf(s.tool.Ref)
	var violations []heddle.Violation
	for i := range p.rules {
		if p.rules[i].list.find(&n) == nil {
			continue
		}
		for j := range p.rules[i].rules {
			violations = p.rules[i].rules[j].check(violations, s.args)
		}
	}
	if len(violations) == 0 {
		return outcome{}
	}
	s.decide("params", "refused", rulesOf(violations))
	return refuse(s, "policy.params", "Arguments of "+toolName(s)+" do not fit a rule of this gateway", violations)
}

// check appends what is wrong with the parameter. Every value counts that an
// upstream could take for it: repeated names, and names in another case.
func (r *paramRule) check(out []heddle.Violation, args json.RawMessage) []heddle.Violation {
	if len(out) >= maxParamViolations {
		return out
	}
	values := schema.Values(args, r.path, true)
	msg := ""
	switch {
	case len(values) > 1:
		msg = "must be given once, in the spelling of the schema"
	case r.Required && !slices.ContainsFunc(schema.Values(args, r.path, false), notNull):
		msg = "required parameter is missing"
	case len(values) == 1 && notNull(values[0]):
		msg = r.wrong(values[0])
	}
	if msg != "" {
		out = append(out, heddle.Violation{Path: r.pointer, Keyword: "params", Message: msg})
	}
	return out
}

// notNull: null is as good as absent, to upstreams and so to rules.
func notNull(v json.RawMessage) bool { return string(v) != "null" }

// maxParamViolations is how many are said at once.
const maxParamViolations = 8

// wrong says what is wrong with one value, "" if nothing is.
func (r *paramRule) wrong(v json.RawMessage) string {
	text := string(v)
	if text[0] == '"' {
		if json.Unmarshal(v, &text) != nil {
			return "must be text"
		}
	}
	if r.MaxLength != nil && utf8.RuneCountInString(text) > *r.MaxLength {
		return fmt.Sprintf("must have at most %d characters", *r.MaxLength)
	}
	if r.re == nil {
		return ""
	}
	if v[0] == '{' || v[0] == '[' {
		return "must be text or a number"
	}
	switch ok, err := r.re.Match(text); {
	case err != nil:
		return "takes too long to compare with a pattern: send something simpler"
	case !ok:
		return cut("must match the pattern "+r.Pattern, 200)
	}
	return ""
}
