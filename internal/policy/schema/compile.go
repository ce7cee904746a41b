package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Bounds on a schema. The largest seen in the wild has a few thousand objects; the
// compiler's time grows with the square of them.
const (
	maxSchemaBytes   = 4 << 20
	maxSchemaDepth   = 250
	maxSchemaObjects = 10_000
	maxSchemaDigits  = 400
)

// CompileError says why a schema cannot be used. Calls to its tool pass without
// validation.
type CompileError struct {
	// Reason is short, public and built from the schema alone.
	Reason string
}

// Error implements error.
func (e *CompileError) Error() string { return "schema does not compile: " + e.Reason }

func compileError(format string, args ...any) *CompileError {
	return &CompileError{clip(oneLine(fmt.Sprintf(format, args...)), 240)}
}

// base is the URL of a schema that does not name its own.
const base = "heddle:///inputSchema"

// compile makes a program of a schema. Missing, null and {} give one that accepts
// everything.
func compile(raw json.RawMessage) (p *program, cerr *CompileError) {
	defer func() {
		// The library has panics for what it thinks impossible; a server's schema must
		// not end the gateway.
		if r := recover(); r != nil {
			p, cerr = nil, compileError("the schema upset the compiler")
		}
	}()
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" || text == "{}" {
		return &program{root: &rule{always: true}}, nil
	}
	if cerr := vetSchema(text); cerr != nil {
		return nil, cerr
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, compileError("it is not JSON")
	}
	normalise(doc)
	s, cerr := compileDrafts(doc)
	if cerr != nil {
		return nil, cerr
	}
	p, cerr = link(s)
	if cerr == nil && p.root.accepts()&typeObject == 0 {
		// Arguments are always an object, and the tool is listed as if it took one.
		return nil, compileError("its root does not accept an object, which arguments are")
	}
	return p, cerr
}

// vetSchema refuses what would cost too much before the library sees it.
func vetSchema(text string) *CompileError {
	if len(text) > maxSchemaBytes {
		return compileError("it is larger than %d bytes", maxSchemaBytes)
	}
	var t tree
	if err := t.parse(text, maxSchemaDepth); err != nil {
		return compileError("at byte %d: %s", err.at, err.msg)
	}
	if typ := t.nodes[0].typ; typ != typeObject && typ != typeBoolean {
		return compileError("it is not an object")
	}
	objects := 0
	for i := range t.nodes {
		switch t.nodes[i].typ {
		case typeObject:
			objects++
		case typeNumber:
			// The library makes a big.Rat of every number.
			if d := parseDecimal(t.raw(uint32(i))); max(d.exp, -d.exp, len(d.digits)) > maxSchemaDigits {
				return compileError("it holds a number with more than %d digits", maxSchemaDigits)
			}
		}
	}
	if objects > maxSchemaObjects {
		return compileError("it has more than %d objects", maxSchemaObjects)
	}
	return nil
}

// compileDrafts compiles doc as its $schema says. Without one it is 2020-12; what
// is no schema there, such as a tuple as items or a boolean exclusiveMinimum, is
// read as the newest draft that has it, and the first reason counts if none has.
func compileDrafts(doc any) (*jsonschema.Schema, *CompileError) {
	s, err := compileAs(doc, jsonschema.Draft2020)
	if err == nil {
		return s, nil
	}
	var invalid *jsonschema.SchemaValidationError
	obj, ok := doc.(map[string]any)
	if _, named := obj["$schema"]; ok && !named && errors.As(err, &invalid) {
		for _, d := range []*jsonschema.Draft{jsonschema.Draft7, jsonschema.Draft4} {
			if s, err := compileAs(doc, d); err == nil {
				return s, nil
			}
		}
	}
	return nil, explainCompile(err)
}

func compileAs(doc any, d *jsonschema.Draft) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(d)
	c.UseRegexpEngine(regexpEngine)
	c.UseLoader(noLoader{})
	if err := c.AddResource(base, doc); err != nil {
		return nil, err
	}
	return c.Compile(base)
}

// noLoader stands where the library would read files.
type noLoader struct{}

var errNotLoaded = errors.New("schemas are never loaded")

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) { return nil, errNotLoaded }

// explainCompile turns the library's error into one short line.
func explainCompile(err error) *CompileError {
	var load *jsonschema.LoadURLError
	if errors.As(err, &load) {
		return compileError("$ref %q is outside the schema, and nothing is loaded", strings.TrimPrefix(load.URL, "heddle:///"))
	}
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		if v, ok := invalid.Err.(*jsonschema.ValidationError); ok {
			return explainInvalid(v)
		}
	}
	var notFound *jsonschema.JSONPointerNotFoundError
	if errors.As(err, &notFound) {
		return compileError("$ref %q leads nowhere", strings.TrimPrefix(notFound.URL, base))
	}
	return compileError("%s", strings.ReplaceAll(err.Error(), base, ""))
}

// explainInvalid names the deepest place where a schema is no schema.
func explainInvalid(v *jsonschema.ValidationError) *CompileError {
	leaf := v
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		deeper := len(e.InstanceLocation) > len(leaf.InstanceLocation)
		if len(e.Causes) == 0 && (deeper || len(leaf.Causes) > 0) {
			leaf = e
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(v)
	at := ""
	for _, tok := range leaf.InstanceLocation {
		at += "/" + pointerToken(tok)
	}
	var want string
	switch k := leaf.ErrorKind.(type) {
	case *kind.Type:
		want = "must be " + strings.Join(k.Want, " or ")
	case *kind.Enum:
		want = "is none of the values that the draft knows"
	case *kind.Format:
		want = "is not a valid " + k.Want
	default:
		_, want, _ = strings.Cut(leaf.Error(), "': ")
	}
	if at == "" {
		at = "the schema"
	}
	return compileError("%s %s", at, want)
}

// drafts maps what a $schema contains to the URI that the library knows.
var drafts = []struct{ contains, uri string }{
	{"draft-04", "http://json-schema.org/draft-04/schema#"},
	{"draft-06", "http://json-schema.org/draft-06/schema#"},
	{"draft-07", "http://json-schema.org/draft-07/schema#"},
	{"2019-09", "https://json-schema.org/draft/2019-09/schema"},
	{"2020-12", "https://json-schema.org/draft/2020-12/schema"},
}

// normalise makes every $schema one that the library knows, drops those that
// nobody knows, and escapes references that are no URIs although their servers
// mean them. Values that are data, not schemas, stay as they are.
func normalise(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			normalise(item)
		}
	case map[string]any:
		if s, ok := v["$schema"].(string); ok {
			delete(v, "$schema")
			if uri := draftURI(s); uri != "" {
				v["$schema"] = uri
			}
		}
		if s, ok := v["$ref"].(string); ok {
			v["$ref"] = escapeRef(s)
		}
		for k, sub := range v {
			switch k {
			case "const", "enum", "default", "examples", "example":
			default:
				normalise(sub)
			}
		}
	}
}

func draftURI(s string) string {
	for _, d := range drafts {
		if strings.Contains(s, "json-schema.org/") && strings.Contains(s, d.contains) {
			return d.uri
		}
	}
	return ""
}

// escapeRef percent-encodes what a URI cannot hold: generators write
// "#/$defs/Page<Item>".
func escapeRef(s string) string {
	if !strings.ContainsAny(s, " <>{}|\\^`\"[]") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(" <>{}|\\^`\"[]", s[i]) >= 0 {
			fmt.Fprintf(&b, "%%%02X", s[i])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// oneLine replaces control characters, which a server's text may hold.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// clip cuts s to at most n bytes, between runes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
