package definition

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"heddle/internal/policy/inject"
	"heddle/internal/policy/inject/normal"
	"heddle/internal/walk"

	"golang.org/x/text/unicode/norm"
)

// Finding is one thing that is wrong with a definition.
type Finding struct {
	// Rule is a stable name: "invisible", "control", "name", "instruction", ….
	Rule string
	// Pointer is the place in the definition, a JSON pointer; "" for all of it.
	Pointer string
	// Peer is "server::tool" of the tool that is shadowed; "" for other rules.
	Peer string
}

// The rules that look at one definition.
const (
	ruleInvalid     = "invalid"     // it cannot be read
	ruleInvisible   = "invisible"   // characters that a person does not see, or sees elsewhere
	ruleControl     = "control"     // control characters, such as begin a terminal's sequences
	ruleName        = "name"        // a name that looks like one that it is not
	ruleInstruction = "instruction" // a text that is meant for the model and not for its user
	ruleEncoded     = "encoded"     // such a text in a code that a model reads and a person does not
)

// maxFindings bounds the findings of one definition.
const maxFindings = 32

// Inspect looks at every text of a tool's definition: name, title, description, names
// and descriptions of parameters, enums, defaults, examples, comments, output schema,
// annotations and _meta. It returns at most 32 findings, in the order of the texts;
// nil if there is nothing to say.
func Inspect(definition json.RawMessage) []Finding {
	i := inspection{}
	err := walk.Texts(definition, func(t *walk.Text) bool {
		switch {
		case t.Kind == walk.Number || dull(t.Value):
		case t.Kind == walk.String && t.Name == "name" && t.Depth() == 1:
			i.name(t)
		case t.Kind == walk.Name:
			i.parameter(t)
		default:
			i.text(t.Value, t.Pointer)
		}
		return len(i.out) < maxFindings
	})
	if err != nil {
		i.add(ruleInvalid, "")
	}
	return i.out
}

// InspectText looks at what else a server says of itself: its instructions, the
// description of a prompt or resource. The findings have no pointer.
func InspectText(text string) []Finding {
	i := inspection{}
	i.text(text, func() string { return "" })
	return i.out
}

// dull says that a text is one short ASCII word or none, which can hide nothing.
func dull(s string) bool {
	const longest = 24
	if len(s) > longest {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7F {
			return false
		}
	}
	return true
}

// inspection gathers what is found.
type inspection struct {
	out []Finding
}

func (i *inspection) add(rule, pointer string) {
	f := Finding{Rule: rule, Pointer: pointer}
	for _, has := range i.out {
		if has == f {
			return
		}
	}
	i.out = append(i.out, f)
}

// text looks at one text. at is its place, asked for if something is found.
func (i *inspection) text(s string, at func() string) {
	if hasControl(s) {
		i.add(ruleControl, at())
	}
	if !isASCII(s) && hasInvisible(s) {
		i.add(ruleInvisible, at())
	}
	if strings.IndexByte(s, ' ') < 0 && len(s) < minToken && isASCII(s) {
		return // one word, too short to be anything in code
	}
	text := normal.Normalise(s)
	if instructs(text.Folded, enough) || injects(s, text.Folded, at) {
		i.add(ruleInstruction, at())
	}
	if encoded(&text) {
		i.add(ruleEncoded, at())
	}
}

// injects says that a text is one that would be flagged wherever it stood. Honest
// descriptions too say whom not to tell something, and how the model is to use them: that
// counts only beside something else, or where no honest text speaks to anybody.
func injects(text, folded string, at func() string) bool {
	found := detector().Text(inject.Description, text)
	if len(found) == 0 || attacks().MatchString(folded) { // a tool that looks for attacks names some
		return false
	}
	for _, f := range found {
		if f.Rule != "conceal" && f.Rule != "address-model" {
			return true
		}
	}
	return instructs(folded, enough/2) || silent.MatchString(at())
}

// silent are the places of a definition where programs read, and people and models do not
// look for instructions.
var silent = regexp.MustCompile(`^/(?:annotations|_meta|outputSchema)/|/(?:enum|default|examples|const)(?:/|$)|/\$comment$`)

// detector finds what any text may be flagged for.
var detector = sync.OnceValue(func() *inject.Detector { return inject.New(inject.Medium) })

// encoded says that a text has an instruction that no person reads: encoded as a whole,
// or letter by letter.
func encoded(text *normal.Text) bool {
	for _, h := range text.Hidden {
		if instructs(text.Folded[h.Start:h.End], enoughHidden) {
			return true
		}
	}
	for i := range text.Parts {
		if p := &text.Parts[i].Text; instructs(p.Folded, enoughHidden) || encoded(p) {
			return true
		}
	}
	return false
}

// minToken is the length of the shortest word that may be an encoded sentence.
const minToken = 20

// name looks at the tool's own name.
func (i *inspection) name(t *walk.Text) {
	if disguised(t.Value) || strings.TrimSpace(t.Value) != t.Value {
		i.add(ruleName, t.Pointer())
	}
	i.text(t.Value, t.Pointer)
	if len(t.Value) >= minToken && instructs(apart(t.Value), enough) {
		i.add(ruleInstruction, t.Pointer())
	}
}

// parameter looks at the name of a member.
func (i *inspection) parameter(t *walk.Text) {
	if disguised(t.Value) {
		i.add(ruleName, t.Pointer())
	}
	i.text(t.Value, t.Pointer)
	if len(t.Value) >= minToken && instructs(apart(t.Value), enough) {
		i.add(ruleInstruction, t.Pointer())
	}
}

// apart parts the words of a name.
func apart(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range norm.NFKC.String(name) {
		upper := r >= 'A' && r <= 'Z'
		switch {
		case r == '_' || r == '-' || r == '.':
			r = ' '
		case upper && lower:
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return b.String()
}
