package schema

import (
	"encoding/json"
	"slices"
	"sort"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// program is a compiled schema, shared by concurrent checks.
type program struct {
	root *rule
}

// rule is one compiled subschema: the library's, with its options decided and its
// numbers and enums made fast to compare.
type rule struct {
	always, never bool
	types         types // 0: any
	refs          []*rule
	enum          *enum // also const

	allOf, anyOf, oneOf []*rule
	not, cond           *rule
	then, otherwise     *rule

	obj *objectRule
	arr *arrayRule
	str *stringRule
	num *numberRule
}

type objectRule struct {
	min, max   *int
	required   []string
	props      map[string]*rule
	names      []string // of props, sorted
	patterns   []patternRule
	additional *rule // nil: anything
	propNames  *rule
	dependents []dependent
	unevaled   *rule
}

type patternRule struct {
	re   *Pattern
	rule *rule
}

type dependent struct {
	on       string
	required []string
	rule     *rule
}

type arrayRule struct {
	min, max      *int
	unique        bool
	prefix        []*rule
	rest          *rule
	contains      *rule
	minContains   int
	maxContains   *int
	unevaled      *rule
	containsMarks bool // contains counts as evaluated: from 2020-12
}

type stringRule struct {
	min, max *int
	pattern  *Pattern
}

type numberRule struct {
	min, max, above, below, multiple *bound
}

// enum is a list of allowed values.
type enum struct {
	keyword string
	values  []any
	types   types
	strings map[string]struct{}
}

// linker turns the library's schemas into rules.
type linker struct {
	done    map[*jsonschema.Schema]*rule
	seen    map[*rule]int // for cycles: 1 open, 2 closed
	dynamic bool
	ids     int
}

// link makes a program of a compiled schema.
func link(s *jsonschema.Schema) (*program, *CompileError) {
	l := linker{done: map[*jsonschema.Schema]*rule{}, seen: map[*rule]int{}}
	root := l.rule(s)
	if l.dynamic && l.ids > 1 {
		return nil, compileError("it has dynamic references across several $id, which heddle does not follow")
	}
	for _, r := range l.done {
		if l.cycle(r) {
			return nil, compileError("a $ref leads back to itself")
		}
	}
	return &program{root: root}, nil
}

func (l *linker) rule(s *jsonschema.Schema) *rule {
	if s == nil {
		return nil
	}
	if r, ok := l.done[s]; ok {
		return r
	}
	r := &rule{}
	l.done[s] = r
	if s.ID != "" {
		l.ids++
	}
	if s.Bool != nil {
		r.always, r.never = *s.Bool, !*s.Bool
		return r
	}
	l.references(r, s)
	if s.Types != nil {
		r.types = typesOf(s.Types.ToStrings())
	}
	r.enum = newEnum(s)
	r.allOf, r.anyOf, r.oneOf = l.rules(s.AllOf), l.rules(s.AnyOf), l.rules(s.OneOf)
	r.not, r.cond, r.then, r.otherwise = l.rule(s.Not), l.rule(s.If), l.rule(s.Then), l.rule(s.Else)
	r.obj, r.arr = l.object(s), l.array(s)
	r.str, r.num = stringOf(s), numberOf(s)
	return r
}

// references gathers all kinds. Within one resource, which link makes sure of, a
// dynamic reference leads where a plain one does.
func (l *linker) references(r *rule, s *jsonschema.Schema) {
	if s.Ref != nil {
		r.refs = append(r.refs, l.rule(s.Ref))
	}
	if s.RecursiveRef != nil {
		l.dynamic = true
		r.refs = append(r.refs, l.rule(s.RecursiveRef))
	}
	if s.DynamicRef != nil {
		l.dynamic = true
		r.refs = append(r.refs, l.rule(s.DynamicRef.Ref))
	}
}

func (l *linker) rules(list []*jsonschema.Schema) []*rule {
	if len(list) == 0 {
		return nil
	}
	out := make([]*rule, len(list))
	for i, s := range list {
		out[i] = l.rule(s)
	}
	return out
}

// either is for keywords that the library keeps as bool or schema.
func (l *linker) either(v any) *rule {
	switch v := v.(type) {
	case bool:
		return &rule{always: v, never: !v}
	case *jsonschema.Schema:
		return l.rule(v)
	}
	return nil
}

func (l *linker) object(s *jsonschema.Schema) *objectRule {
	o := &objectRule{
		min: s.MinProperties, max: s.MaxProperties, required: s.Required,
		additional: l.either(s.AdditionalProperties),
		propNames:  l.rule(s.PropertyNames), unevaled: l.rule(s.UnevaluatedProperties),
	}
	if len(s.Properties) > 0 {
		o.props = make(map[string]*rule, len(s.Properties))
		for name, sub := range s.Properties {
			o.props[name] = l.rule(sub)
			o.names = append(o.names, name)
		}
		sort.Strings(o.names)
	}
	for re, sub := range s.PatternProperties {
		o.patterns = append(o.patterns, patternRule{re.(*Pattern), l.rule(sub)})
	}
	sort.Slice(o.patterns, func(i, j int) bool { return o.patterns[i].re.String() < o.patterns[j].re.String() })
	l.dependents(o, s)
	if o.min == nil && o.max == nil && len(o.required) == 0 && o.props == nil && o.patterns == nil &&
		o.additional == nil && o.propNames == nil && o.dependents == nil && o.unevaled == nil {
		return nil
	}
	return o
}

func (l *linker) dependents(o *objectRule, s *jsonschema.Schema) {
	add := func(name string, d any) {
		switch d := d.(type) {
		case []string:
			o.dependents = append(o.dependents, dependent{on: name, required: d})
		case *jsonschema.Schema:
			o.dependents = append(o.dependents, dependent{on: name, rule: l.rule(d)})
		}
	}
	for name, d := range s.Dependencies {
		add(name, d)
	}
	for name, d := range s.DependentRequired {
		add(name, d)
	}
	for name, d := range s.DependentSchemas {
		add(name, d)
	}
	sort.SliceStable(o.dependents, func(i, j int) bool { return o.dependents[i].on < o.dependents[j].on })
}

func (l *linker) array(s *jsonschema.Schema) *arrayRule {
	a := &arrayRule{
		min: s.MinItems, max: s.MaxItems, unique: s.UniqueItems,
		contains: l.rule(s.Contains), minContains: 1, maxContains: s.MaxContains,
		containsMarks: s.DraftVersion >= 2020, unevaled: l.rule(s.UnevaluatedItems),
	}
	if s.MinContains != nil {
		a.minContains = *s.MinContains
	}
	if s.DraftVersion >= 2020 {
		a.prefix, a.rest = l.rules(s.PrefixItems), l.rule(s.Items2020)
	} else {
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			a.rest = l.rule(items)
		case []*jsonschema.Schema:
			a.prefix, a.rest = l.rules(items), l.either(s.AdditionalItems)
		}
	}
	if a.min == nil && a.max == nil && !a.unique && a.contains == nil && a.prefix == nil && a.rest == nil && a.unevaled == nil {
		return nil
	}
	return a
}

func stringOf(s *jsonschema.Schema) *stringRule {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil {
		return nil
	}
	r := &stringRule{min: s.MinLength, max: s.MaxLength}
	if s.Pattern != nil {
		r.pattern = s.Pattern.(*Pattern)
	}
	return r
}

func numberOf(s *jsonschema.Schema) *numberRule {
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return nil
	}
	return &numberRule{
		min: newBound(s.Minimum), max: newBound(s.Maximum),
		above: newBound(s.ExclusiveMinimum), below: newBound(s.ExclusiveMaximum),
		multiple: newBound(s.MultipleOf),
	}
}

// fewStrings is how many values of an enum are compared one by one.
const fewStrings = 8

func newEnum(s *jsonschema.Schema) *enum {
	e := &enum{keyword: "enum"}
	switch {
	case s.Const != nil && s.Enum != nil:
		// Both must hold: the constant, if the list has it.
		e.keyword = "const"
		for _, v := range s.Enum.Values {
			if sameValue(v, *s.Const) {
				e.values = []any{v}
			}
		}
	case s.Const != nil:
		e.keyword, e.values = "const", []any{*s.Const}
	case s.Enum != nil:
		e.values = s.Enum.Values
	default:
		return nil
	}
	for _, v := range e.values {
		e.types |= typeOfAny(v)
	}
	if len(e.values) > fewStrings {
		e.strings = make(map[string]struct{}, len(e.values))
		for _, v := range e.values {
			if s, ok := v.(string); ok {
				e.strings[s] = struct{}{}
			}
		}
	}
	return e
}

func typeOfAny(v any) types {
	switch v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case json.Number:
		return typeNumber
	case string:
		return typeString
	case []any:
		return typeArray
	}
	return typeObject
}

// sameValue compares two values of schemas.
func sameValue(a, b any) bool {
	x, _ := json.Marshal(a)
	var t tree
	return t.parse(string(x), maxDepth) == nil && t.equal(0, b)
}

func typesOf(names []string) types {
	var t types
	for i, name := range typeNames {
		if slices.Contains(names, name) {
			t |= 1 << i
		}
	}
	return t
}

// typeNames are in the order of the bits.
var typeNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

// inPlace calls f with every rule that applies to the same value as r.
func (r *rule) inPlace(f func(*rule)) {
	for _, list := range [][]*rule{r.refs, r.allOf, r.anyOf, r.oneOf, {r.not, r.cond, r.then, r.otherwise}} {
		for _, sub := range list {
			if sub != nil {
				f(sub)
			}
		}
	}
	if r.obj != nil {
		for _, d := range r.obj.dependents {
			if d.rule != nil {
				f(d.rule)
			}
		}
	}
}

// cycle says whether checking r would come back to r on the same value.
func (l *linker) cycle(r *rule) (found bool) {
	switch l.seen[r] {
	case 1:
		return true
	case 2:
		return false
	}
	l.seen[r] = 1
	r.inPlace(func(sub *rule) { found = found || l.cycle(sub) })
	l.seen[r] = 2
	return found
}
