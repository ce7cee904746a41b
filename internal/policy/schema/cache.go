package schema

import (
	"bytes"
	"container/list"
	"encoding/json"
	"sync"

	"heddle"
)

// DefaultSize is how many schemas a [Cache] keeps if nothing else is said.
const DefaultSize = 4096

// Cache holds compiled schemas, the least recently used going first. A schema is
// compiled when it is first needed, once, whether that works or not. It is safe for
// concurrent use.
type Cache struct {
	mu    sync.Mutex
	size  int
	byKey map[string]*list.Element
	order *list.List // of *entry, most recent first
}

type entry struct {
	key  string
	once sync.Once
	prog *program
	err  *CompileError
}

// New returns a cache of at most size schemas, [DefaultSize] if size is not
// positive.
func New(size int) *Cache {
	if size <= 0 {
		size = DefaultSize
	}
	return &Cache{size: size, byKey: map[string]*list.Element{}, order: list.New()}
}

// Compile compiles the tool's schema unless that was done before. It returns nil
// or a *[CompileError].
func (c *Cache) Compile(t *heddle.Tool) error {
	if _, err := c.program(t); err != nil {
		return err
	}
	return nil
}

func (c *Cache) program(t *heddle.Tool) (*program, *CompileError) {
	e := c.entry(t)
	e.once.Do(func() { e.prog, e.err = compile(t.InputSchema) })
	return e.prog, e.err
}

// entry finds or makes the place of a tool. Compiling happens outside the lock.
func (c *Cache) entry(t *heddle.Tool) *entry {
	key := t.Fingerprint
	if key == "" {
		key = string(t.InputSchema)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.byKey[key]; el != nil {
		c.order.MoveToFront(el)
		return el.Value.(*entry)
	}
	e := &entry{key: key}
	c.byKey[key] = c.order.PushFront(e)
	if c.order.Len() > c.size {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.byKey, oldest.Value.(*entry).key)
	}
	return e
}

// trees are reused between checks: a small call then allocates its text alone.
var trees = sync.Pool{New: func() any { return new(tree) }}

// maxPooledNodes keeps the memory of a huge call from staying.
const maxPooledNodes = 4096

func getTree() *tree { return trees.Get().(*tree) }

func putTree(t *tree) {
	if cap(t.nodes) <= maxPooledNodes {
		t.text = ""
		trees.Put(t)
	}
}

var emptyObject = json.RawMessage("{}")

// Check checks the arguments of a call to t.
//
// Absent arguments and null are {}. Anything else must be one JSON object, nested
// at most 1,000 deep and of at most 4,194,304 values, whatever the schema says. Of members with the same name the
// last counts, and all go up.
//
// out is what goes up: args itself, or args in which text that stood where the
// schema wants an object or array, and no string, was replaced by the object or
// array that it held; every other byte is as it was. parsed are JSON pointers to
// what was replaced, "" for the whole, with "*" for names that the schema does not
// have.
//
// violations are at most 8, their messages at most 200 bytes, and nothing in them
// was submitted but names that the schema has too and indexes. When there are any,
// out is args.
//
// err is nil or a *[CompileError]: then the arguments are an object, which is all
// that was checked.
func (c *Cache) Check(t *heddle.Tool, args json.RawMessage) (out json.RawMessage, parsed []string, violations []heddle.Violation, err error) {
	trimmed := bytes.TrimSpace(args)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		args = emptyObject
	}
	tr := getTree()
	defer putTree(tr)
	if err := tr.parse(string(args), maxDepth); err != nil {
		return args, nil, []heddle.Violation{shapeViolation(err)}, nil
	}
	prog, cerr := c.program(t)
	if cerr != nil {
		prog, err = &program{root: &rule{always: true}}, cerr
	}
	if tr.nodes[0].typ == typeObject {
		e := newEval(tr)
		fits := e.check(prog.root, 0, nil, nil)
		switch {
		case e.spent:
			return args, nil, []heddle.Violation{tooCostly}, err
		case fits:
			return args, nil, nil, err
		}
	}
	out, parsed, violations = fix(tr, prog, args)
	return out, parsed, violations, err
}

// fix tries the repair on arguments that do not fit, and explains what is still
// wrong.
func fix(tr *tree, prog *program, args json.RawMessage) (json.RawMessage, []string, []heddle.Violation) {
	root := &rule{types: typeObject, refs: []*rule{prog.root}}
	e := newEval(tr)
	text, parsed := repair(e, root)
	if len(parsed) == 0 {
		return args, nil, explain(e, root)
	}
	var fixed tree
	if err := fixed.parse(text, maxDepth); err != nil {
		return args, nil, []heddle.Violation{shapeViolation(err)}
	}
	e = newEval(&fixed)
	if e.check(root, 0, nil, nil) && !e.spent {
		return json.RawMessage(text), parsed, nil
	}
	return args, nil, explain(newEval(&fixed), root)
}

// explain checks again with a report.
func explain(e *eval, root *rule) []heddle.Violation {
	if e.t.nodes[0].typ != typeObject {
		return []heddle.Violation{{Keyword: "type", Message: "the arguments must be a JSON object, such as {}"}}
	}
	var rep report
	e.check(root, 0, nil, &rep)
	switch {
	case len(rep.violations) > 0:
		return rep.violations
	case e.spent:
		return []heddle.Violation{tooCostly}
	}
	return []heddle.Violation{{Keyword: "schema", Message: "the arguments do not fit the schema"}}
}

// tooCostly refuses what cannot be checked: passing it would open a way around the
// check.
var tooCostly = heddle.Violation{Keyword: "schema", Message: "takes too long to check against the schema: send simpler or less nested arguments"}

func shapeViolation(err *syntaxError) heddle.Violation {
	switch err.limit {
	case "depth":
		return heddle.Violation{Keyword: "depth", Message: "nests more than " + itoa(maxDepth) + " levels deep: send flatter arguments"}
	case "size":
		return heddle.Violation{Keyword: "size", Message: "holds more than " + itoa(maxValues) + " values: send less at once"}
	}
	return heddle.Violation{Keyword: "json", Message: "is not JSON: at byte " + itoa(err.at) + ", " + err.msg}
}

// Values returns the exact bytes of every value at a JSON pointer in args, in
// order: more than one where names repeat. With fold names also match in another
// case, as some upstreams read them. It returns nil for what is not JSON.
func Values(args json.RawMessage, pointer []string, fold bool) []json.RawMessage {
	tr := getTree()
	defer putTree(tr)
	if tr.parse(string(args), maxDepth) != nil {
		return nil
	}
	at := []uint32{0}
	for _, name := range pointer {
		var next []uint32
		for _, n := range at {
			next = tr.named(next, n, name, fold)
		}
		at = next
	}
	var out []json.RawMessage
	for _, n := range at {
		out = append(out, json.RawMessage(tr.raw(n)))
	}
	return out
}
