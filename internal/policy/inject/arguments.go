package inject

import (
	"encoding/json"
	"strings"
	"unicode"

	"heddle/internal/policy/inject/normal"
	"heddle/internal/walk"
)

// Arguments returns what it finds in the arguments of a call. Instructions are looked
// for everywhere; what breaks out of a shell, an SQL statement or a directory only where
// a parameter is not declared to hold such a thing, by its name or in schema, which may
// be nil: a tool for SQL may be told to drop a table.
func (d *Detector) Arguments(raw, schema json.RawMessage) []Placed {
	var out []Placed
	declared := declarations{schema: schema}
	_ = walk.Texts(raw, func(x *walk.Text) bool {
		if x.Kind == walk.Number {
			return true
		}
		for _, f := range d.Text(Argument, x.Value) {
			out = append(out, Placed{f, x.Pointer()})
		}
		if x.Kind != walk.String || !suspicious(x.Value) {
			return true
		}
		t := normal.Normalise(x.Value)
		for _, f := range tricks(t.Folded) {
			if f.Score >= d.threshold && !declared.holds(x.Pointer(), f.Rule) {
				f.Start, f.End = t.Source(f.Start), t.Source(f.End)
				out = append(out, Placed{f, x.Pointer()})
			}
		}
		return true
	})
	return out
}

// suspicious reports whether a trick can be in s at all.
func suspicious(s string) bool {
	return strings.ContainsAny(s, ";|&`$'\"%\\\n<>=") || strings.Contains(s, "..") || strings.Contains(s, "/") || strings.ContainsAny(s, "uU") && containsFold(s, "union")
}

func containsFold(s, lower string) bool { return strings.Contains(strings.ToLower(s), lower) }

// declarations answer what parameters are declared to hold. The schema is read when
// the first answer depends on it.
type declarations struct {
	schema json.RawMessage
	texts  map[string]string // what the schema says of members of a name
}

// holds reports whether the member at a pointer, or one around it, is declared to hold
// what rule looks for.
func (d *declarations) holds(pointer, rule string) bool {
	for _, name := range strings.Split(pointer, "/") {
		if name == "" {
			continue
		}
		if speaksOf(name, rule) || speaksOf(d.text(name), rule) {
			return true
		}
	}
	return false
}

// text returns what the schema says of members called name.
func (d *declarations) text(name string) string {
	if d.texts == nil {
		d.texts = map[string]string{}
		var schema any
		if json.Unmarshal(d.schema, &schema) == nil {
			d.collect(schema)
		}
	}
	return d.texts[name]
}

func (d *declarations) collect(v any) {
	switch v := v.(type) {
	case []any:
		for _, v := range v {
			d.collect(v)
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for name, p := range properties {
			about, _ := p.(map[string]any)
			for _, key := range [...]string{"title", "description", "format", "contentMediaType"} {
				if s, ok := about[key].(string); ok {
					d.texts[name] += " " + s
				}
			}
		}
		for _, v := range v {
			d.collect(v)
		}
	}
}

// freeWords name what may hold any text, or code of any kind; pathWords what may
// hold a path.
var (
	freeWords = wordSet(`query queries q sql statement statements command commands cmd script scripts code source expression expressions expr formula
		body text texts message messages content contents description comment comments note notes prompt input html markdown md template regex regexp
		pattern patterns filter filters where jql cql dql kql promql url urls uri uris href link links title subject summary search keyword keywords
		args argv arguments stdin data json yaml xml csv patch diff snippet question answer instruction instructions reason selector xpath css js javascript
		python function payload edits reply caption transcript document context thought shell bash program freeform prose story caption bio details
		observations graphql cypher soql mongodb aggregation pipeline condition definition diagram mermaid latex env environment headers header cookie 查询 内容 消息 命令 代码 描述`)
	pathWords = wordSet(`path paths file files filename filenames dir directory directories folder folders root cwd workdir location destination dest src
		target glob include exclude workspace project import module 路径 文件 目录`)
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// speaksOf reports whether a name or a description names what rule looks for.
func speaksOf(s, rule string) bool {
	start := 0
	is := func(w string) bool {
		w = strings.ToLower(w)
		return freeWords[w] || rule == pathRule && pathWords[w]
	}
	for i, r := range s {
		if unicode.IsLetter(r) && !(unicode.IsUpper(r) && i > start && !unicode.IsUpper(rune(s[i-1]))) {
			continue
		}
		if is(s[start:i]) {
			return true
		}
		start = i
		if !unicode.IsLetter(r) {
			start += len(string(r))
		}
	}
	return is(s[start:])
}
