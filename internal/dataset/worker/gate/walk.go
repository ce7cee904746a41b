package gate

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// kinds are the nodes of a syntax tree that only read. A node that is not here is
// refused, so that what a later engine adds has to be looked at first.
var kinds = set(`
	SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE CTE_NODE
	BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY EMPTY_FROM PIVOT SHOW_REF
	ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER
	ORDER_DEFAULT ASCENDING DESCENDING
	UNBOUND_TYPE_INFO DECIMAL_TYPE_INFO STRING_TYPE_INFO LIST_TYPE_INFO STRUCT_TYPE_INFO ENUM_TYPE_INFO ARRAY_TYPE_INFO
	GENERIC_TYPE_INFO EXTRA_TYPE_INFO INTEGER_LITERAL_TYPE_INFO ANY_TYPE_INFO
`)

// classes are the expressions.
var classes = set(`
	COLUMN_REF CONSTANT FUNCTION WINDOW OPERATOR COMPARISON CONJUNCTION BETWEEN CASE CAST COLLATE
	SUBQUERY STAR LAMBDA LAMBDA_REF POSITIONAL_REFERENCE
`)

// A scope has the names that WITH gives at one place, in lower case.
type scope struct {
	name  string
	outer *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if strings.EqualFold(s.name, name) {
			return true
		}
	}
	return false
}

// walker goes through a tree and collects what the verdict needs. Its methods return
// the first thing that is not allowed.
type walker struct {
	verdict Verdict
	fill    string // the value that fills pivots without IN
	filled  int    // pivots that have it
}

// tree is what the engine says of a text.
type tree struct {
	Error      bool   `json:"error"`
	Type       string `json:"error_type"`
	Message    string `json:"error_message"`
	Statements []any  `json:"statements"`
}

func parse(ast string) (tree, *Error) {
	var t tree
	if err := json.Unmarshal([]byte(ast), &t); err != nil {
		if number := (*json.UnmarshalTypeError)(nil); errors.As(err, &number) {
			return t, refuse("A number in the SQL is too large for any type. Write it as text.")
		}
		return t, refuse("The SQL is nested too deeply. Write a WITH clause instead.")
	}
	return t, nil
}

// notSelect is the type of the engine's error for a statement of another kind.
const notSelect = "not implemented"

// judge makes the verdict on a statement from its tree, in which added pivots were
// filled.
func (w *walker) judge(s Statement, ast tree, added int) (Verdict, error) {
	switch {
	case ast.Error && ast.Type == notSelect:
		return Verdict{}, notAllowed(s)
	case ast.Error:
		return Verdict{}, invalid("The SQL does not parse: %s.", ast.Message)
	case len(ast.Statements) != 1:
		return Verdict{}, refuse("Write exactly one statement.")
	}
	if err := w.any(ast.Statements[0], nil); err != nil {
		return Verdict{}, err
	}
	if w.filled != added {
		return Verdict{}, refuse("This form of PIVOT cannot be checked. List the values: PIVOT … ON column IN (…).")
	}
	if added > 0 && s.Explain != "" {
		return Verdict{}, refuse("EXPLAIN of a PIVOT needs its values. List them: PIVOT … ON column IN (…).")
	}
	w.verdict.SQL, w.verdict.Explain, w.verdict.Pivot = s.Body, s.Explain, added > 0
	if s.Explain != "" {
		w.verdict.SQL = s.Explain + " " + s.Body
	}
	return w.verdict, nil
}

// notAllowed says what to do instead of a statement that is not a SELECT.
func notAllowed(s Statement) *Error {
	first := "statement"
	if len(s.tokens) > 0 && s.tokens[0].kind == word {
		first = strings.ToUpper(s.tokens[0].text)
	}
	return refuse("This is not a query: %s …. Datasets can only be read. Write one SELECT (WITH, FROM, VALUES, TABLE, DESCRIBE, SUMMARIZE, SHOW TABLES, PIVOT and UNPIVOT also work, and EXPLAIN before them).", quote(first))
}

// any goes through a value of the tree, whatever it is: what no rule knows is
// visited all the same, so that nothing hides below it.
func (w *walker) any(v any, in *scope) *Error {
	switch v := v.(type) {
	case map[string]any:
		return w.object(v, in)
	case []any:
		for _, e := range v {
			if err := w.any(e, in); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) object(m map[string]any, in *scope) *Error {
	class, _ := m["class"].(string)
	kind, _ := m["type"].(string)
	switch {
	case class != "":
		if err := w.expression(class, m); err != nil {
			return err
		}
		if class == "CONSTANT" {
			return nil // below it are values, not nodes
		}
	case kind != "":
		if err := w.node(kind, m, in); err != nil {
			return err
		}
	}
	if kind == "RECURSIVE_CTE_NODE" {
		in = &scope{str(m, "cte_name"), in}
	}
	in, err := w.with(m, in)
	if err != nil {
		return err
	}
	return w.below(m, in)
}

// with goes through the WITH clause of a node and returns the scope after it.
func (w *walker) with(m map[string]any, in *scope) (*scope, *Error) {
	ctes, _ := m["cte_map"].(map[string]any)
	list, _ := ctes["map"].([]any)
	for _, e := range list {
		cte, _ := e.(map[string]any)
		// The engine does not look for a table of that name within it either.
		in = &scope{str(cte, "key"), in}
		if err := w.any(cte["value"], in); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (w *walker) below(m map[string]any, in *scope) *Error {
	for _, key := range slices.Sorted(maps.Keys(m)) { // the same text gets the same answer
		if key == "cte_map" || key == "function" && str(m, "type") == "TABLE_FUNCTION" {
			continue
		}
		if err := w.any(m[key], in); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) node(kind string, m map[string]any, in *scope) *Error {
	if !kinds[kind] {
		return refuse("The construct %s is not allowed in a query over datasets.", strings.ToLower(strings.ReplaceAll(kind, "_", " ")))
	}
	switch kind {
	case "BASE_TABLE":
		return w.table(m, in)
	case "TABLE_FUNCTION":
		return w.tableFunction(m, in)
	case "SHOW_REF":
		return w.show(m)
	case "PIVOT":
		w.pivots(m)
	case "UNBOUND_TYPE_INFO":
		if str(m, "catalog") != "" || str(m, "schema") != "" && !strings.EqualFold(str(m, "schema"), "main") {
			return refuse("The type %q is in another database or schema. Use a type's plain name.", str(m, "name"))
		}
	}
	return nil
}

func (w *walker) expression(class string, m map[string]any) *Error {
	switch {
	case class == "PARAMETER":
		return refuse("The SQL has a parameter (? or $1). Write the value itself.")
	case class == "DEFAULT":
		return refuse("DEFAULT has no meaning in a query. Write the value itself.")
	case !classes[class]:
		return refuse("The expression %s is not allowed in a query over datasets.", strings.ToLower(class))
	case class != "FUNCTION" && class != "WINDOW":
		return nil
	case m["export_state"] == true:
		return refuse("EXPORT_STATE is not allowed. Use the aggregate's value.")
	}
	function := strings.ToLower(str(m, "function_name"))
	if err := scalar(function); err != nil {
		return err
	}
	w.verdict.AllTables = w.verdict.AllTables || looksAtCatalog[function]
	return bounded(function, children(m), false)
}

// table looks at a table that is named in FROM.
func (w *walker) table(m map[string]any, in *scope) *Error {
	name, schema, catalog := str(m, "table_name"), strings.ToLower(str(m, "schema_name")), str(m, "catalog_name")
	switch {
	case !plain(name):
		return refuse("%s is not the name of a dataset. Files and addresses cannot be read; SHOW TABLES lists the datasets.", quote(name))
	case m["at_clause"] != nil:
		return refuse("AT (VERSION or TIMESTAMP) is not allowed: datasets have one version.")
	case catalog != "":
		return refuse("%s names another database. Use a dataset's plain name; SHOW TABLES lists them.", quote(catalog+"."+schema+"."+name))
	case schema == "" && in.has(name), schema == "recurring" && in.has(name):
		return nil
	case systemViews[schema][strings.ToLower(name)]:
		w.verdict.AllTables = true
		return nil
	case schema != "" && schema != "main", otherViews[strings.ToLower(name)]:
		return refuse("%s is not a dataset. Use a dataset's plain name; SHOW TABLES lists them, and information_schema.columns their columns.", quote(strings.TrimPrefix(schema+"."+name, ".")))
	}
	w.reads(name)
	return nil
}

func (w *walker) reads(name string) {
	if !slices.ContainsFunc(w.verdict.Tables, func(t string) bool { return strings.EqualFold(t, name) }) {
		w.verdict.Tables = append(w.verdict.Tables, name)
	}
}

// tableFunction looks at a function in FROM and at its arguments.
func (w *walker) tableFunction(m map[string]any, in *scope) *Error {
	call, _ := m["function"].(map[string]any)
	function := strings.ToLower(str(call, "function_name"))
	switch {
	case str(call, "catalog") != "":
		return refuse("%s names another database. Use a function's plain name.", quote(str(call, "catalog")+"."+function))
	case !tableFunctions[function]:
		return refuse("The table function %s is not allowed. Query the datasets by name; SHOW TABLES lists them. range, generate_series, unnest, json_each and duckdb_columns() are allowed.", quote(function))
	case takesTable[function]:
		if err := w.argument(call, in); err != nil {
			return err
		}
	}
	w.verdict.AllTables = w.verdict.AllTables || looksAtCatalog[function]
	if err := bounded(function, children(call), true); err != nil {
		return err
	}
	return w.below(call, in)
}

// argument looks at the first argument of a function that takes a table's name.
func (w *walker) argument(call map[string]any, in *scope) *Error {
	if args := children(call); len(args) > 0 && str(args[0], "alias") == "" {
		if names, _ := args[0]["column_names"].([]any); len(names) == 1 {
			return w.table(map[string]any{"table_name": names[0]}, in)
		}
	}
	return refuse("The first argument of %s has to be a dataset's plain name.", str(call, "function_name"))
}

// show looks at DESCRIBE, SUMMARIZE and SHOW. The first two have a query below them.
func (w *walker) show(m map[string]any) *Error {
	if m["query"] != nil {
		return nil
	}
	switch str(m, "show_type") {
	case "SHOW_UNQUALIFIED":
		if what := strings.Trim(str(m, "table_name"), `"`); what != "tables" && what != "__show_tables_expanded" {
			return refuse("SHOW %s is not allowed. SHOW TABLES lists the datasets, DESCRIBE name their columns.", strings.ToUpper(what))
		}
	case "SHOW_FROM":
		if str(m, "catalog_name") != "" || !strings.EqualFold(str(m, "schema_name"), "main") {
			return refuse("SHOW TABLES FROM another database is not allowed. SHOW TABLES lists the datasets.")
		}
	default:
		return refuse("This form of SHOW is not allowed. SHOW TABLES lists the datasets, DESCRIBE name their columns.")
	}
	w.verdict.AllTables = true
	return nil
}

// pivots counts the pivots whose only entry is the value that fills.
func (w *walker) pivots(m map[string]any) {
	if w.fill == "" {
		return
	}
	list, _ := m["pivots"].([]any)
	for _, p := range list {
		pivot, _ := p.(map[string]any)
		entries, _ := pivot["entries"].([]any)
		if len(entries) != 1 {
			continue
		}
		entry, _ := entries[0].(map[string]any)
		values, _ := entry["values"].([]any)
		if len(values) != 1 {
			continue
		}
		if value, _ := values[0].(map[string]any); str(value, "value") == w.fill {
			w.filled++
		}
	}
}

// plain reports whether s can be the name of a dataset: not a path, an address or a
// pattern, whatever quotes it was in.
func plain(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-$ ", r) {
			return false
		}
	}
	return s != ""
}

// quote shortens a name for a message.
func quote(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + s + `"`
}

func str(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func children(m map[string]any) []map[string]any {
	list, _ := m["children"].([]any)
	nodes := make([]map[string]any, 0, len(list))
	for _, e := range list {
		node, _ := e.(map[string]any)
		nodes = append(nodes, node)
	}
	return nodes
}

// set makes a set of the words of s.
func set(s string) map[string]bool {
	m := map[string]bool{}
	for f := range strings.FieldsSeq(s) {
		m[f] = true
	}
	return m
}
