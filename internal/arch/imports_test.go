package arch

import (
	"slices"
	"strings"
	"testing"
)

// mayImport is the import table: which package of ours may import which others,
// from the bottom up. What is not in a row is not allowed, and a permission that
// nothing uses is removed.
var mayImport = map[string]string{
	".": "", // the words: the standard library alone

	"internal/wire":           "",
	"internal/tokens":         "",
	"internal/config":         "internal/policy/limit internal/policy/ssrf",
	"internal/catalog/search": "",
	"internal/catalog/minify": ".",
	"internal/policy/schema":  ".",
	"internal/dial/address":   "",
	"internal/filelock":       "",
	"internal/walk":           "internal/wire",
	"internal/secret":         "internal/walk",
	"internal/lock":           ". internal/filelock internal/wire",
	"internal/quarantine":     ". internal/filelock",
	"internal/capture":        ". internal/filelock",
	"internal/dial":           "internal/dial/address",

	// The stages of a call. They do not know each other: gateway alone puts them
	// together.
	"internal/catalog":              ". internal/catalog/search",
	"internal/policy":               ". internal/policy/inject internal/policy/limit internal/policy/schema internal/policy/ssrf internal/secret internal/wire",
	"internal/policy/limit":         ".",
	"internal/policy/ssrf":          "internal/dial/address internal/walk",
	"internal/policy/inject":        "internal/policy/inject/normal internal/walk",
	"internal/policy/inject/normal": "",
	"internal/policy/definition":    ". internal/policy/inject internal/policy/inject/normal internal/walk",
	"internal/upstream":             ". internal/wire",
	"internal/upstream/streamable":  "internal/wire",
	"internal/deliver":              ". internal/capture internal/dataset internal/dataset/protocol internal/dataset/records internal/deliver/estimate internal/deliver/project internal/wire",
	"internal/deliver/estimate":     "",
	"internal/deliver/project":      "internal/deliver/estimate internal/wire",
	"internal/ledger":               ".",
	"internal/audit":                ". internal/filelock internal/ledger",

	// SQL: the gateway's side, what both sides speak, and what heddle-sql alone links.
	"internal/dataset":             ". internal/capture internal/dataset/protocol internal/dataset/records internal/secret internal/wire",
	"internal/dataset/protocol":    "internal/dataset/records",
	"internal/dataset/records":     "internal/wire",
	"internal/dataset/worker":      "internal/dataset/protocol internal/dataset/records internal/dataset/worker/gate internal/dataset/worker/seal",
	"internal/dataset/worker/gate": "internal/dataset/protocol",
	"internal/dataset/worker/seal": "internal/dataset/protocol",
	"cmd/heddle-sql":               "internal/dataset/worker",

	"internal/gateway":      ". internal/capture internal/catalog internal/deliver internal/ledger internal/policy internal/policy/schema internal/upstream internal/wire",
	"internal/surface":      ". internal/catalog internal/catalog/minify internal/deliver internal/gateway internal/policy/schema internal/wire",
	"internal/daemon":       ". internal/audit internal/capture internal/catalog internal/config internal/dataset internal/deliver internal/deliver/estimate internal/dial internal/gateway internal/ledger internal/lock internal/policy internal/policy/definition internal/policy/schema internal/policy/ssrf internal/quarantine internal/secret internal/surface internal/upstream internal/upstream/streamable internal/wire",
	"internal/inproc":       "internal/wire",
	"internal/figures":      ". internal/ledger internal/tokens",
	"internal/demo":         ". internal/config internal/daemon internal/inproc internal/ledger internal/surface internal/tokens internal/upstream internal/wire",
	"internal/bench/guards": ". internal/lock internal/policy internal/policy/definition internal/policy/inject internal/policy/ssrf internal/secret",
	"internal/bench":        ". internal/config internal/daemon internal/inproc internal/surface internal/tokens internal/upstream internal/wire",
	"internal/hostfile":     "internal/config internal/filelock",
	"internal/adopt":        "internal/config internal/hostfile internal/policy/limit",
	"internal/trial":        "",
	"internal/doctor":       "internal/config internal/dataset/protocol internal/hostfile internal/upstream",
	"internal/cli":          ". internal/adopt internal/bench internal/bench/guards internal/catalog internal/catalog/minify internal/config internal/daemon internal/dataset internal/demo internal/doctor internal/figures internal/gateway internal/hostfile internal/ledger internal/lock internal/policy/schema internal/quarantine internal/secret internal/surface internal/tokens internal/trial internal/upstream internal/wire",
	"cmd/heddle":            "internal/cli",

	// For tests alone.
	"internal/mcptest": "internal/filelock internal/wire",
	"internal/arch":    "",
}

// forTests are the packages that no program may import.
var forTests = set("internal/mcptest", "internal/arch", "test")

// stages must not import each other, whatever the table says.
var stages = set("internal/catalog", "internal/policy", "internal/upstream", "internal/deliver", "internal/ledger")

// mayUse says which of our packages may import which modules of others. Tests
// may import any.
var mayUse = map[string]string{
	"internal/wire":                 "github.com/modelcontextprotocol/go-sdk",
	"internal/tokens":               "github.com/tiktoken-go/tokenizer",
	"internal/config":               "github.com/dlclark/regexp2 github.com/goccy/go-yaml github.com/pelletier/go-toml/v2 github.com/tailscale/hujson github.com/zalando/go-keyring",
	"internal/hostfile":             "github.com/pelletier/go-toml/v2 github.com/tailscale/hujson",
	"internal/adopt":                "github.com/goccy/go-yaml github.com/tailscale/hujson",
	"internal/policy/schema":        "github.com/dlclark/regexp2 github.com/santhosh-tekuri/jsonschema/v6",
	"internal/upstream":             "github.com/cenkalti/backoff/v5 github.com/modelcontextprotocol/go-sdk github.com/sony/gobreaker/v2 golang.org/x/sys",
	"internal/filelock":             "golang.org/x/sys",
	"internal/capture":              "github.com/klauspost/compress golang.org/x/text",
	"internal/ledger":               "modernc.org/sqlite",
	"internal/secret":               "github.com/coregx/ahocorasick",
	"internal/policy/limit":         "golang.org/x/time",
	"internal/policy/inject/normal": "golang.org/x/text",
	"internal/policy/definition":    "github.com/coregx/ahocorasick golang.org/x/text",
	"internal/policy/ssrf":          "golang.org/x/net golang.org/x/text",
	"internal/surface":              "github.com/modelcontextprotocol/go-sdk",
	"internal/dataset":              "github.com/klauspost/compress",

	"internal/dataset/worker":      "github.com/duckdb/duckdb-go-bindings golang.org/x/sys",
	"internal/dataset/worker/seal": "github.com/landlock-lsm/go-landlock golang.org/x/sys",
	"internal/daemon":              "github.com/fsnotify/fsnotify golang.org/x/sync golang.org/x/sys",
	"internal/cli":                 "github.com/modelcontextprotocol/go-sdk github.com/spf13/cobra golang.org/x/sys",
}

// ours returns the directory of one of our packages, "" if it is not ours.
func ours(importPath string) string {
	if importPath == "heddle" {
		return "."
	}
	dir, ok := strings.CutPrefix(importPath, "heddle/")
	if !ok {
		return ""
	}
	return dir
}

// graph returns what each package imports of ours, and of others where the path
// has a dot in its first part, as only modules from elsewhere have.
func graph(t *testing.T) (own, others map[string]map[string]bool) {
	own, others = map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, f := range tree(t) {
		if f.test {
			continue
		}
		if own[f.pkg] == nil {
			own[f.pkg], others[f.pkg] = map[string]bool{}, map[string]bool{}
		}
		for _, p := range f.imports() {
			first, _, _ := strings.Cut(p, "/")
			if dir := ours(p); dir != "" {
				own[f.pkg][dir] = true
			} else if strings.Contains(first, ".") {
				others[f.pkg][p] = true
			}
		}
	}
	return own, others
}

func TestImports(t *testing.T) {
	own, _ := graph(t)
	for pkg, imports := range own {
		row, ok := mayImport[pkg]
		if !ok {
			t.Errorf("%s has no row in mayImport", pkg)
			continue
		}
		allowed := set(strings.Fields(row)...)
		for _, p := range sorted(imports) {
			if !allowed[p] {
				t.Errorf("%s imports %s; its row in mayImport does not allow that", pkg, p)
			}
			if stages[pkg] && stages[p] {
				t.Errorf("%s imports %s: stages do not know each other", pkg, p)
			}
			if forTests[p] {
				t.Errorf("%s imports %s, which is for tests alone", pkg, p)
			}
		}
		for _, p := range sorted(allowed) {
			if !imports[p] {
				t.Errorf("mayImport allows %s to import %s, which it does not: remove the permission", pkg, p)
			}
		}
	}
	for pkg := range mayImport {
		if own[pkg] == nil {
			t.Errorf("mayImport has a row for %s, which does not exist", pkg)
		}
	}
}

func TestModules(t *testing.T) {
	_, others := graph(t)
	for pkg, imports := range others {
		modules := strings.Fields(mayUse[pkg])
		used := map[string]bool{}
		for _, p := range sorted(imports) {
			i := slices.IndexFunc(modules, func(m string) bool { return p == m || strings.HasPrefix(p, m+"/") })
			if i < 0 {
				t.Errorf("%s imports %s; mayUse does not allow that", pkg, p)
				continue
			}
			used[modules[i]] = true
		}
		for _, m := range modules {
			if !used[m] {
				t.Errorf("mayUse allows %s to import %s, which it does not: remove the permission", pkg, m)
			}
		}
	}
	for pkg := range mayUse {
		if others[pkg] == nil {
			t.Errorf("mayUse has a row for %s, which does not exist", pkg)
		}
	}
}

// reachMost is how many packages of ours a call may pass through, the words not
// counted. Three came with exact results: the store of captures, and the two
// halves of deliver, which count tokens and make short texts without knowing of
// each other's caller. Three came with SQL: the datasets, what is said to their
// worker, and what finds records. One has the locks of files, which captures share
// with hosts' files. Seven came with the guards: rates, addresses (which heddle's own
// connections share), injection and its normaliser, secrets, and what walks texts.
const reachMost = 23

// TestCallPath bounds what one must read to understand a call.
func TestCallPath(t *testing.T) {
	own, _ := graph(t)
	reached := map[string]bool{}
	var visit func(string)
	visit = func(pkg string) {
		for p := range own[pkg] {
			if p != "." && !reached[p] {
				reached[p] = true
				visit(p)
			}
		}
	}
	visit("internal/gateway")
	if len(reached) > reachMost {
		t.Errorf("internal/gateway reaches %d packages, want at most %d: %s", len(reached), reachMost, strings.Join(sorted(reached), ", "))
	}
	for _, p := range sorted(reached) {
		if strings.HasPrefix(p, "internal/surface") || p == "internal/config" || p == "internal/daemon" || p == "internal/cli" {
			t.Errorf("internal/gateway reaches %s", p)
		}
	}
	t.Logf("internal/gateway reaches %d packages: %s", len(reached), strings.Join(sorted(reached), ", "))
}
