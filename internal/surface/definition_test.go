package surface_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/mcptest"
)

// wholeRef is how an answer names what has all of a definition.
var wholeRef = regexp.MustCompile(`"result_ref":"([a-z0-9_]+)"`)

// A definition that is shown in part says where all of it can be read: exactly as its
// server wrote it, under one name however often it is shown, until it changes.
func TestWholeDefinitions(t *testing.T) {
	values := make([]string, 5000)
	for i := range values {
		values[i] = fmt.Sprintf(`"région-%05d"`, i)
	}
	enum := fmt.Sprintf(`{"name":"deploy_enum","description":"Deploys.","inputSchema":{"type":"object","properties":{"region":{"enum":[%s]},"n":{"const":9007199254740993}}},"x":1.0}`, strings.Join(values, ","))
	deep := fmt.Sprintf(`{"name":"deploy_long","description":"Deploys.","inputSchema":{"type":"object","description":%q}}`, strings.Repeat("Deploys to one. ", 2000))
	small := `{"name":"drop","inputSchema":{"type":"object"}}`
	up := map[string]mcptest.Options{"up": {Tools: []json.RawMessage{json.RawMessage(enum), json.RawMessage(deep), json.RawMessage(small)}}}
	show := func(s *stage, name string) string {
		if s.mode == "mesh" {
			return text(t, s.Call("mesh_describe_tool", `{"server":"up","tool_name":"`+name+`","minify":false}`))
		}
		return text(t, s.Call("find_tool", `{"query":"up_`+name+`"}`))
	}
	for _, mode := range []string{"compact", "extreme", "mesh"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stageOptions{mode: mode, config: capturing, servers: up})
			for name, definition := range map[string]string{"deploy_enum": enum, "deploy_long": deep} {
				shown := show(s, name)
				found := wholeRef.FindAllStringSubmatch(shown, -1)
				if len(found) != 1 || found[0][1] != name+"_definition_1" || len(shown) > 10<<10 {
					t.Fatalf("%s: %d bytes that name %q: %.500s", name, len(shown), found, shown)
				}
				sameBytes(t, name, s.readAll(found[0][1]), definition)
				if again := show(s, name); again != shown {
					t.Errorf("%s: shown again: %.500s", name, again)
				}
			}
			if found := s.fragments("deploy_enum_definition_1", "région-04321"); len(found) != 1 {
				t.Errorf("a search in it finds %d places", len(found))
			}
			if shown := show(s, "drop"); strings.Contains(shown, "result_ref") {
				t.Errorf("one that is shown whole: %s", shown)
			}
		})
	}
	t.Run("mesh without captures", func(t *testing.T) {
		s := newStage(t, stageOptions{mode: "mesh", servers: up})
		if shown := show(s, "deploy_enum"); strings.Contains(shown, "result_ref") || !strings.Contains(shown, "Shortened") {
			t.Errorf("there is no read_result: %.500s", shown)
		}
	})
}

// One that had to make room says what shows it again.
func TestExpiredDefinitions(t *testing.T) {
	definition := fmt.Appendf(nil, `{"name":"deploy","inputSchema":{"type":"object","description":%q}}`, noiseText(300_000, 1))
	for mode, again := range map[string]string{"compact": "call find_tool again", "mesh": "call mesh_describe_tool again"} {
		s := newStage(t, stageOptions{mode: mode, config: "results: {memory: 1MiB, mesh: true}\n", temp: t.TempDir(), servers: map[string]mcptest.Options{
			"up": {Tools: append(toolsNamed("fetch"), definition), Results: rawMap(map[string]string{"fetch": textResult(noiseText(900_000, 2))})},
		}})
		show := func() string {
			if mode == "mesh" {
				return text(t, s.Call("mesh_describe_tool", `{"server":"up","tool_name":"deploy"}`))
			}
			return text(t, s.Call("find_tool", `{"query":"up_deploy"}`))
		}
		if shown := show(); !strings.Contains(shown, "deploy_definition_1") {
			t.Fatalf("%s: %.500s", mode, shown)
		}
		for range 10 {
			s.run("up_fetch", "{}")
		}
		if r := refusalOf(t, s.Call("read_result", reading("deploy_definition_1", "", ""))); r.Kind != "result_expired" || !strings.Contains(r.Message, again) {
			t.Errorf("%s: %+v, want result_expired that says %q", mode, r, again)
		}
		if shown := show(); !strings.Contains(shown, "deploy_definition_2") {
			t.Errorf("%s: shown again: %.500s", mode, shown)
		}
	}
}
