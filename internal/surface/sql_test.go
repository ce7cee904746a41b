package surface_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"heddle/internal/mcptest"
)

// sqlStage is a stage with a real SQL worker behind servers that return tables.
func sqlStage(t *testing.T, mode string) *stage {
	t.Helper()
	orders := make([]string, 300)
	for i := range orders {
		orders[i] = fmt.Sprintf(`{"order_id":%d,"customer":"c%d","amount":%d.5,"status":%q}`, i, i%20, i, []string{"paid", "open"}[i%2])
	}
	people := make([]string, 200)
	for i := range people {
		people[i] = fmt.Sprintf(`{"customer":"c%d","name":"Person number %d of the list","city":%q}`, i, i, []string{"Oslo", "Rome"}[i%2])
	}
	state := t.TempDir()
	return newStage(t, stageOptions{
		mode: mode, sql: mcptest.SQL(t), state: state, config: "results: {mesh: true, threshold_tokens: 500, export_dir: " + filepath.Join(state, "out") + "}\n",
		servers: map[string]mcptest.Options{
			"shop": returning(map[string]string{"orders": textResult("[" + strings.Join(orders, ",") + "]")}),
			"crm":  returning(map[string]string{"people": textResult(`{"total":1000,"people":[` + strings.Join(people, ",") + `]}`)}),
		},
	})
}

// Tables of two servers are joined in every mode, and no server is called twice.
func TestSQLAcrossServers(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := sqlStage(t, mode)
			orders, people := "orders_1", "people_1"
			if mode == "loom" {
				orders, people = "ds_shop_orders_1", "ds_crm_people_1"
			}
			for tool, ref := range map[string]string{"shop_orders": orders, "crm_people": people} {
				if got := text(t, s.run(tool, "{}")); !strings.Contains(got, ref) || len(got) > 4000 {
					t.Fatalf("%s: %.600s, want a short text about %s", tool, got, ref)
				}
			}
			got := text(t, s.Call("read_result", fmt.Sprintf(`{"sql":"SELECT p.city, count(*) AS n, sum(o.amount) AS total FROM %s o JOIN %s p USING (customer) GROUP BY ALL ORDER BY ALL"}`, orders, people)))
			if want := "city\tn\ttotal\nOslo\t150\t22425.0\nRome\t150\t22575.0"; !strings.Contains(got, want) {
				t.Errorf("joined: %q, want %q in it", got, want)
			}
			for name, server := range s.servers {
				if n := mcptest.Count(server.Events(), "call"); n != 1 {
					t.Errorf("%s saw %d calls, want 1", name, n)
				}
			}
		})
	}
}

// All of compact's tools with SQL cost little, and only a heddle that has SQL shows
// it.
func TestSQLInTheList(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	list := string(sqlStage(t, "compact").list().Result)
	list = strings.Replace(list, " Servers: crm (1), shop (1).", "", 1)
	tokens, _, err := codec.Encode(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(tokens) > 350 || strings.Contains(list, "Servers:") || strings.Count(list, `"sql"`) != 2 {
		t.Errorf("compact's list costs %d tokens, want at most 350 with sql in two tools: %s", len(tokens), list)
	}
	for _, mode := range modes {
		s := newStage(t, stageOptions{mode: mode, config: capturing})
		if list := string(s.list().Result); strings.Contains(list, `"sql"`) || strings.Contains(list, "loom_") {
			t.Errorf("%s without a worker: %s", mode, list)
		}
	}
}

func TestSQLRefusals(t *testing.T) {
	s := sqlStage(t, "compact")
	text(t, s.run("shop_orders", "{}"))
	for _, test := range []struct{ arguments, kind, says string }{
		{`{"sql":"SELECT 1","query":"x"}`, "invalid_arguments", "excludes"},
		{`{"sql":"SELECT 1","cursor":"x"}`, "invalid_arguments", "excludes"},
		{`{"save_as":"x"}`, "invalid_arguments", "needs sql"},
		{`{"export":"csv"}`, "invalid_arguments", "needs sql"},
		{`{"sql":"SELECT 1","save_as":"x","export":"csv"}`, "invalid_arguments", "exclude"},
		{`{"sql":"SELECT 1","export":"xlsx"}`, "invalid_arguments", "csv or json"},
		{`{"sql":"SELECT 1","export":"../x.csv"}`, "invalid_arguments", "file name"},
		{`{"sql":"SELECT 1","save_as":"No Good"}`, "invalid_arguments", "lower-case"},
		{`{"sql":"DELETE FROM orders_1"}`, "invalid_query", ""},
		{`{"sql":"SELECT * FROM nope"}`, "invalid_query", "orders_1"},
		{`{"sql":"SELECT nope FROM orders_1"}`, "invalid_query", "order_id"},
		{`{"sql":" "}`, "invalid_query", ""},
		{`{"sql":7}`, "invalid_arguments", "string"},
	} {
		m := s.Call("read_result", test.arguments)
		r := refusalOf(t, m)
		if r.Kind != test.kind || !strings.Contains(r.Message, test.says) || *r.Invoked {
			t.Errorf("%s: %+v, want %s that says %q", test.arguments, r, test.kind, test.says)
		}
	}
}

// The tools of loom mode answer in the JSON that its hosts know.
func TestLoom(t *testing.T) {
	s := sqlStage(t, "loom")
	read := func(tool, arguments string, into any) {
		t.Helper()
		got := text(t, s.Call(tool, arguments))
		if err := json.Unmarshal([]byte(got), into); err != nil {
			t.Fatalf("%s %s: %v in %.300s", tool, arguments, err, got)
		}
	}
	var names []string
	var list struct {
		Tools []struct {
			Name         string          `json:"name"`
			OutputSchema json.RawMessage `json:"outputSchema"`
		}
	}
	if err := json.Unmarshal(s.list().Result, &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema != nil {
			t.Errorf("%s is listed with an outputSchema", tool.Name)
		}
	}
	for _, want := range []string{"shop_orders", "crm_people", "loom_query", "loom_list_datasets", "loom_describe", "loom_materialize", "loom_export", "read_result"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not listed: %v", want, names)
		}
	}
	var envelope struct {
		Kind, Ref, Usage string
		Rows             int
		Saved            int `json:"approxTokensSaved"`
		Schema           []struct {
			Name, Type string
			Nulls      *float64 `json:"nullFraction"`
			Distinct   *int     `json:"approxDistinct"`
			Uniqueness *float64
		}
		Sample     []map[string]any
		Context    map[string]any
		Provenance struct{ Server, Tool, CreatedAt, Source string }
	}
	read("crm_people", "{}", &envelope)
	if envelope.Kind != "loom_dataset_ref" || envelope.Ref != "ds_crm_people_1" || envelope.Rows != 200 || envelope.Saved < 1000 || len(envelope.Schema) != 3 ||
		envelope.Schema[0].Uniqueness == nil || *envelope.Schema[0].Distinct != 200 || len(envelope.Sample) == 0 || envelope.Context["$.total"] != 1000.0 ||
		envelope.Provenance.Server != "crm" || envelope.Provenance.Source != "text" || envelope.Usage == "" {
		t.Errorf("envelope %+v", envelope)
	}
	var rows struct {
		Rows  []map[string]any
		Count int `json:"rowCount"`
	}
	read("loom_query", `{"sql":"SELECT city, count(*) AS n FROM ds_crm_people_1 GROUP BY ALL ORDER BY ALL"}`, &rows)
	if rows.Count != 2 || rows.Rows[0]["city"] != "Oslo" || rows.Rows[0]["n"] != 100.0 {
		t.Errorf("rows %+v", rows)
	}
	read("loom_query", `{"sql":"SELECT *, repeat('x', 100) AS pad FROM ds_crm_people_1"}`, &envelope)
	if envelope.Kind != "loom_dataset_ref" || envelope.Ref != "ds_query_1" || envelope.Rows != 200 {
		t.Errorf("a large answer: %+v", envelope)
	}
	read("loom_materialize", `{"sql":"SELECT city, count(*) AS n FROM ds_crm_people_1 GROUP BY ALL","name":"cities"}`, &envelope)
	if envelope.Ref != "ds_view_cities_1" || envelope.Rows != 2 {
		t.Errorf("materialized: %+v", envelope)
	}
	var all struct {
		Datasets []struct {
			Ref              string
			Rows, Bytes      int
			Pinned, Implicit bool
			Age              *int `json:"ageSeconds"`
		}
	}
	read("loom_list_datasets", `{}`, &all)
	if len(all.Datasets) != 3 || !all.Datasets[0].Pinned || !all.Datasets[1].Implicit || all.Datasets[2].Age == nil {
		t.Errorf("listed: %+v", all)
	}
	var described struct {
		Ref    string
		Sample []map[string]any
		Age    *int `json:"ageSeconds"`
	}
	read("loom_describe", `{"ref":"ds_crm_people_1"}`, &described)
	if described.Ref != "ds_crm_people_1" || len(described.Sample) != 10 || described.Age == nil {
		t.Errorf("described: %+v", described)
	}
	var exported struct {
		Path string
		Rows int
	}
	read("loom_export", `{"ref":"ds_crm_people_1","format":"csv","filename":"people.csv"}`, &exported)
	if filepath.Base(exported.Path) != "people.csv" || !filepath.IsAbs(exported.Path) || exported.Rows != 200 {
		t.Errorf("exported: %+v", exported)
	}
	for tool, arguments := range map[string]string{"loom_describe": `{"ref":"nope"}`, "loom_export": `{"ref":"nope","format":"csv"}`, "loom_query": `{}`} {
		refusalOf(t, s.Call(tool, arguments))
	}
}
