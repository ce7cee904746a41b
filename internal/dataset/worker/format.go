//go:build cgo

package worker

import (
	"bytes"
	"encoding/json"
	"fmt"

	"heddle/internal/dataset/protocol"
)

// format writes rows.
type format interface {
	begin(b []byte, p *plan) []byte
	row(b []byte, k *chunk, row int) []byte
	end(b []byte) []byte
}

// formatOf returns the format that Query.Format says, nil if there is none.
func formatOf(name string) format {
	switch name {
	case "":
		return &tsvRows{}
	case "csv":
		return &csvRows{}
	case "json":
		return &jsonRows{}
	}
	return nil
}

// pages are a payload in pieces: one slice that grows would leave as much again
// behind, in a process whose memory is counted.
type pages struct {
	full [][]byte
	size int    // of full
	b    []byte // what is appended to
}

const pageSize = 256 << 10

// turn begins a new page once the last is full. It refuses a payload that has become
// too large.
func (p *pages) turn() error {
	if len(p.b) < pageSize {
		return nil
	}
	p.full, p.size = append(p.full, p.b), p.size+len(p.b)
	p.b = make([]byte, 0, pageSize+pageSize/8)
	if p.size > protocol.MaxPayload {
		return tooLarge("the result is over %d MB: select fewer columns or rows", protocol.MaxPayload>>20)
	}
	return nil
}

func (p *pages) all() [][]byte { return append(p.full, p.b) }

// appendTSV appends a cell so that it stays in its line and column.
func appendTSV(b, cell []byte) []byte {
	if len(cell) == 0 {
		return append(b, `""`...)
	}
	if !bytes.ContainsAny(cell, "\t\n\r\\") {
		return append(b, cell...)
	}
	for _, c := range cell {
		switch c {
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\\':
			b = append(b, `\\`...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// appendJSON appends a JSON string.
func appendJSON(b, s []byte) []byte {
	b = append(b, '"')
	start := 0
	for i, c := range s {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(append(b, s[start:]...), '"')
}

// tsvRows writes what Result documents.
type tsvRows struct{ p *plan }

func (f *tsvRows) begin(b []byte, p *plan) []byte {
	f.p = p
	for i, field := range p.fields {
		b = appendTSV(separate(b, i, '\t'), []byte(field.Name))
	}
	return append(b, '\n')
}

func (f *tsvRows) row(b []byte, k *chunk, row int) []byte {
	for i, at := range f.p.shown {
		b = separate(b, i, '\t')
		if v := &k.columns[at]; !v.null(row) {
			b = appendTSV(b, v.bytes(row))
		}
	}
	return append(b, '\n')
}

func (f *tsvRows) end(b []byte) []byte { return b }

// separate appends a separator before all columns but the first.
func separate(b []byte, column int, by byte) []byte {
	if column > 0 {
		return append(b, by)
	}
	return b
}

// csvRows writes RFC 4180 with a header line. NULL is empty, an empty text is quoted.
type csvRows struct{ p *plan }

func (f *csvRows) begin(b []byte, p *plan) []byte {
	f.p = p
	for i, field := range p.fields {
		b = appendCSV(separate(b, i, ','), []byte(field.Name))
	}
	return append(b, "\r\n"...)
}

func appendCSV(b, cell []byte) []byte {
	if len(cell) > 0 && !bytes.ContainsAny(cell, "\",\r\n") {
		return append(b, cell...)
	}
	b = append(b, '"')
	b = append(b, bytes.ReplaceAll(cell, []byte{'"'}, []byte{'"', '"'})...)
	return append(b, '"')
}

func (f *csvRows) row(b []byte, k *chunk, row int) []byte {
	for i, at := range f.p.shown {
		b = separate(b, i, ',')
		if v := &k.columns[at]; !v.null(row) {
			b = appendCSV(b, v.bytes(row))
		}
	}
	return append(b, "\r\n"...)
}

func (f *csvRows) end(b []byte) []byte { return b }

// jsonRows writes an array of objects, one a line. Numbers are JSON numbers with all
// their digits, NaN and infinities null, nested values JSON, all else strings.
type jsonRows struct {
	p    *plan
	keys [][]byte
	raw  []bool // whether the cells of a column are JSON as they are
	rows bool   // there are some
}

func (f *jsonRows) begin(b []byte, p *plan) []byte {
	f.p = p
	for i, field := range p.fields {
		key := []byte(",")
		if i == 0 {
			key = []byte("{")
		}
		f.keys = append(f.keys, append(appendJSON(key, []byte(field.Name)), ':'))
		f.raw = append(f.raw, numeric(field.Type) || nested(field.Type) || field.Type == "BOOLEAN" || field.Type == "JSON")
	}
	return append(b, '[')
}

func (f *jsonRows) row(b []byte, k *chunk, row int) []byte {
	if f.rows {
		b = append(b, ",\n"...)
	}
	f.rows = true
	for i, at := range f.p.shown {
		b = append(b, f.keys[i]...)
		v := &k.columns[at]
		if v.null(row) {
			b = append(b, "null"...)
			continue
		}
		cell := v.bytes(row)
		switch {
		case f.raw[i] && json.Valid(cell):
			b = append(b, cell...)
		case numeric(f.p.fields[i].Type):
			b = append(b, "null"...)
		default: // also of a nested value with NaN in it
			b = appendJSON(b, cell)
		}
	}
	return append(b, '}')
}

func (f *jsonRows) end(b []byte) []byte { return append(b, "]\n"...) }

// numeric reports whether values of a type are numbers.
func numeric(typ string) bool {
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT",
		"FLOAT", "DOUBLE", "BIGNUM":
		return true
	}
	return len(typ) > 8 && typ[:8] == "DECIMAL("
}
