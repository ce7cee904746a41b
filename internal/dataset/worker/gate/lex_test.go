package gate

import (
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"testing"

	"heddle/internal/dataset/protocol"
)

var update = flag.Bool("update", false, "write testdata")

func TestLexical(t *testing.T) {
	for _, test := range []struct{ sql, body, explain string }{
		{"SELECT 1", "SELECT 1", ""},
		{"\ufeffSELECT 1 ; ;", "SELECT 1", ""},
		{"SELECT 1--2", "SELECT 1", ""},
		{"/* a /* b */ c */SELECT/**/1", "SELECT\n1", ""},
		{"SELECT '--', '/*', \"--\", $$--$$, $a$ /* $$ $a$", "SELECT '--', '/*', \"--\", $$--$$, $a$ /* $$ $a$", ""},
		{`SELECT E'\'--', e'\\'--'`, `SELECT E'\'--', e'\\'`, ""},
		{`SELECT 'a\'--'`, `SELECT 'a\'`, ""},
		{"SELECT a$b$, c$b$ FROM t", "SELECT a$b$, c$b$ FROM t", ""},
		{"explain -- x\n SELECT 1", "SELECT 1", "EXPLAIN"},
		{"EXPLAIN (SELECT 1)", "(SELECT 1)", "EXPLAIN"},
		{"EXPLAIN (ANALYZE, FORMAT json) SELECT 1", "SELECT 1", "EXPLAIN (analyze , format json)"},
	} {
		s, err := Lexical(test.sql)
		if err != nil || s.Body != test.body || s.Explain != test.explain {
			t.Errorf("%q: got %q and %q, %v; want %q and %q", test.sql, s.Body, s.Explain, err, test.body, test.explain)
		}
	}
}

func TestLexicalRefuses(t *testing.T) {
	for name, sql := range map[string]string{
		"length":    strings.Repeat("SELECT 1 ", protocol.MaxSQL/9+1),
		"NUL":       "SELECT 1\x00",
		"UTF-8":     "SELECT '\xff'",
		"operators": "SELECT 1 " + strings.Repeat("+", 4000) + "1",
		"mixed":     "SELECT 1 " + strings.Repeat("-+", 2000) + "1",
		"brackets":  "SELECT " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000),
		"lists":     strings.Repeat("[", 200),
		"structs":   strings.Repeat("{'a':", 200),
		"comments":  strings.Repeat("/*", 1000),
		"two":       "SELECT 1; SELECT 2",
		"empty":     " ; -- x",
	} {
		_, err := Lexical(sql)
		var refused *Error
		if !errors.As(err, &refused) || refused.Text == "" {
			t.Errorf("%s: got %v, want an *Error", name, err)
		}
	}
}

// FuzzWalk walks any JSON as if the engine had made it.
func FuzzWalk(f *testing.F) {
	for _, ast := range []string{
		`{"statements":[{"node":{"type":"SELECT_NODE","cte_map":{"map":[{"key":"a","value":null}]},"from_table":{"type":"BASE_TABLE","table_name":"a"}}}]}`,
		`{"statements":[{"type":"TABLE_FUNCTION","function":{"function_name":"histogram","children":[{"column_names":["t"]},1]}}]}`,
		`{"statements":[{"class":"FUNCTION","type":"FUNCTION","function_name":"repeat","children":[null,{"class":"CAST"}]}]}`,
		`{"statements":[{"class":"FUNCTION","function_name":"printf"},{"type":"SHOW_REF"},{"type":"PIVOT","pivots":[{"entries":[1]}]}]}`,
		`{"error":true,"error_type":"not implemented"}`,
	} {
		f.Add(ast)
	}
	f.Fuzz(func(t *testing.T, ast string) {
		tree, err := parse(ast)
		if err != nil || !json.Valid([]byte(ast)) {
			return
		}
		w := walker{fill: "x"}
		_, _ = w.judge(Statement{Body: "SELECT 1"}, tree, 0)
	})
}
