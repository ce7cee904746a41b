package schema

import (
	"errors"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// matchTimeout ends one match of a pattern: the engine backtracks. It is checked
// about every 100 ms.
const matchTimeout = 250 * time.Millisecond

// maxPattern is the longest pattern that is compiled.
const maxPattern = 16 << 10

// Pattern is an ECMA-262 regular expression, as JSON Schema has them. It is safe
// for concurrent use.
type Pattern struct{ re *regexp2.Regexp }

// CompilePattern compiles a pattern. It is not anchored.
func CompilePattern(s string) (*Pattern, error) {
	if len(s) > maxPattern {
		return nil, errors.New("pattern is too long")
	}
	// With the u flag first, which is what JSON Schema assumes; real servers also
	// send what only the mode without it reads.
	re, err := regexp2.Compile(s, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		re, err = regexp2.Compile(s, regexp2.ECMAScript)
	}
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	re.MatchTimeout = matchTimeout
	return &Pattern{re}, nil
}

// Match says whether s holds a match. An error means that the time was up.
func (p *Pattern) Match(s string) (bool, error) { return p.re.MatchString(s) }

// MatchString is Match with a timeout for no; it makes a Pattern what the
// jsonschema library expects.
func (p *Pattern) MatchString(s string) bool {
	ok, err := p.re.MatchString(s)
	return ok && err == nil
}

// String returns the pattern's source.
func (p *Pattern) String() string { return p.re.String() }

func regexpEngine(s string) (jsonschema.Regexp, error) {
	p, err := CompilePattern(s)
	if err != nil {
		return nil, err
	}
	return p, nil
}
