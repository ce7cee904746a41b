package catalog

import (
	"heddle"
	"heddle/internal/catalog/search"
)

// Bounds on what search reads of one tool, in levels and bytes.
const (
	paramDepth = 8
	paramBytes = 16 << 10
	aboutBytes = 512 // what a server says of itself counts for each of its tools
)

// document is what search knows of a tool.
func document(t *heddle.Tool, about string) search.Document {
	var p params
	p.walk(t.Listed, 0)
	return search.Document{
		Server:      t.Ref.Server,
		Name:        t.Ref.Name,
		Title:       t.Title,
		Description: t.Description,
		Params:      p.names,
		ParamTexts:  p.texts,
		About:       about[:min(len(about), aboutBytes)],
	}
}

// params gathers the names of a schema's properties, their descriptions and the
// values that they allow.
type params struct {
	names, texts []string
	bytes        int
}

func (p *params) walk(schema []byte, depth int) {
	if depth > paramDepth || len(schema) == 0 || schema[0] != '{' {
		return
	}
	for m := range members(schema, 0) {
		if p.bytes > paramBytes {
			return
		}
		value := schema[m.start:m.end]
		switch string(m.key) {
		case "properties":
			p.properties(value, depth)
		case "description":
			p.text(value)
		case "enum":
			elements(value, p.text)
		case "items", "additionalProperties":
			p.walk(value, depth+1)
		case "anyOf", "oneOf", "allOf":
			elements(value, func(schema []byte) { p.walk(schema, depth+1) })
		}
	}
}

func (p *params) properties(value []byte, depth int) {
	if len(value) == 0 || value[0] != '{' {
		return
	}
	for m := range members(value, 0) {
		p.names = append(p.names, p.take(m.key))
		p.walk(value[m.start:m.end], depth+1)
	}
}

func (p *params) text(value []byte) {
	if isString(value) && p.bytes <= paramBytes {
		p.texts = append(p.texts, p.take(unquote(value)))
	}
}

func (p *params) take(text []byte) string {
	p.bytes += len(text)
	return string(text[:min(len(text), paramBytes)])
}

// elements yields the elements of an array.
func elements(value []byte, yield func(element []byte)) {
	if len(value) == 0 || value[0] != '[' {
		return
	}
	for i := skipSpace(value, 1); i < len(value) && value[i] != ']'; {
		end, _ := skipValue(value, i)
		yield(value[i:end])
		i = max(skipComma(value, end), i+1)
	}
}
