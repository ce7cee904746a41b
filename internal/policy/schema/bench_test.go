package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const benchSchema = `{"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["owner","repo"],"additionalProperties":false}`

func BenchmarkCheckSmall(b *testing.B) {
	c, tool, args := New(0), toolOf(benchSchema), json.RawMessage(`{"owner":"octocat","repo":"hello-world","limit":30}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, vs, err := c.Check(tool, args); err != nil || len(vs) > 0 {
			b.Fatal(vs, err)
		}
	}
}

func BenchmarkCheckRefused(b *testing.B) {
	c, tool, args := New(0), toolOf(benchSchema), json.RawMessage(`{"owner":"octocat","limit":"30","titel":1}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, vs, _ := c.Check(tool, args); len(vs) == 0 {
			b.Fatal("passed")
		}
	}
}

func BenchmarkCheckRepaired(b *testing.B) {
	c, tool := New(0), toolOf(`{"properties":{"ids":{"type":"array","items":{"type":"integer"}}}}`)
	args := json.RawMessage(`{"ids":"[1,2,3]"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, vs, _ := c.Check(tool, args); len(vs) > 0 {
			b.Fatal(vs)
		}
	}
}

func BenchmarkCheck1MB(b *testing.B) {
	var s strings.Builder
	s.WriteString(`{"rows":[`)
	for i := 0; s.Len() < 1<<20; i++ {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `{"id":%d,"name":"item number %d","tags":["a","b"],"price":%d.5}`, i, i, i)
	}
	s.WriteString(`]}`)
	args := json.RawMessage(s.String())
	c, tool := New(0), toolOf(`{"properties":{"rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string","maxLength":100},"tags":{"type":"array","items":{"enum":["a","b"]}},"price":{"type":"number","minimum":0}},"required":["id","name"],"additionalProperties":false}}},"required":["rows"]}`)
	b.SetBytes(int64(len(args)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, vs, err := c.Check(tool, args); err != nil || len(vs) > 0 {
			b.Fatal(vs, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	raw := json.RawMessage(benchSchema)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}
