package surface

import (
	"context"
	"encoding/json"

	"heddle"
	"heddle/internal/deliver"
	"heddle/internal/gateway"
)

// readResult is the name of the tool that reads captured results. It is the same in
// every mode that has it.
const readResult = "read_result"

// The definitions of read_result. Where there is no SQL, none is shown.
var (
	readDefinition = json.RawMessage(`{"name":"read_result","description":"Read on in a large result that was captured. result_ref names it; query searches in it, cursor continues at a page; with neither, reading starts at the beginning.","inputSchema":{"type":"object","properties":{"result_ref":{"type":"string"},"query":{"type":"string"},"cursor":{"type":"string"}},"required":["result_ref"],"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`)
	sqlDefinition  = json.RawMessage(`{"name":"read_result","description":"Read on in a large result. result_ref names it; query searches in it, cursor continues at a page; with neither, reading starts at the beginning. Or sql: a DuckDB SELECT over all tables made of results (FROM datasets lists them); save_as keeps its rows, export writes csv or json.","inputSchema":{"type":"object","properties":{"result_ref":{"type":"string"},"query":{"type":"string"},"cursor":{"type":"string"},"sql":{"type":"string"},"save_as":{"type":"string"},"export":{"type":"string"}},"additionalProperties":false},"annotations":{"readOnlyHint":true,"openWorldHint":false}}`)
)

// readResultDefinition is read_result as a host is shown it.
func readResultDefinition(g *gateway.Gateway) json.RawMessage {
	if g.SQL() {
		return sqlDefinition
	}
	return readDefinition
}

// readCaptured answers read_result: a page, a search, or a query's rows.
func readCaptured(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error) {
	return g.Reading(ctx, c, func(ctx context.Context) (heddle.Delivery, error) {
		r, err := reading(c.Arguments)
		if err != nil {
			return heddle.Delivery{}, err
		}
		return g.Read(ctx, c, r)
	})
}

// reading reads the arguments of read_result and refuses what does not go together.
func reading(args json.RawMessage) (r deliver.Reading, err error) {
	err = fields(args, map[string]*string{
		"result_ref": &r.Ref, "query": &r.Query, "cursor": &r.Cursor, "sql": &r.SQL, "save_as": &r.SaveAs, "export": &r.Export,
	}, nil)
	if err != nil {
		return r, err
	}
	clash := func(path, message string) (deliver.Reading, error) {
		return r, invalid(heddle.Violation{Path: path, Keyword: "not", Message: message})
	}
	switch {
	case r.Query != "" && r.Cursor != "":
		return clash("/cursor", "query and cursor exclude each other: search, then page on from a match's cursor")
	case r.SQL != "" && (r.Query != "" || r.Cursor != ""):
		return clash("/sql", "sql excludes query and cursor: it reads tables, they read text")
	case r.SQL == "" && r.SaveAs != "":
		return clash("/save_as", "save_as needs sql, whose result it keeps")
	case r.SQL == "" && r.Export != "":
		return clash("/export", "export needs sql, whose result it writes")
	case r.SaveAs != "" && r.Export != "":
		return clash("/export", "save_as and export exclude each other")
	case r.Ref == "" && r.SQL == "":
		return r, invalid(heddle.Violation{Path: "/result_ref", Keyword: "required", Message: "the name that a captured result was given is required, or sql"})
	}
	return r, nil
}
