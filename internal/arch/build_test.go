package arch

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// systems are what heddle is built for.
var systems = []string{"linux", "darwin", "windows"}

// TestPureGo wants that heddle needs no C compiler anywhere: every package in it
// exists without cgo, and none has a line of C. That it compiles for all systems
// takes minutes and is left to .ci/run.
func TestPureGo(t *testing.T) {
	for _, system := range systems {
		for _, cgo := range []string{"0", "1"} {
			out := goTool(t, []string{"CGO_ENABLED=" + cgo, "GOARCH=amd64", "GOOS=" + system},
				"list", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}", "./cmd/heddle")
			if out = strings.TrimSpace(out); out != "" {
				t.Errorf("%s, CGO_ENABLED=%s: these packages have C in them: %s", system, cgo, out)
			}
		}
	}
}

// TestDependencies keeps docs/deps.txt true, so that a new dependency shows in
// review.
func TestDependencies(t *testing.T) {
	in := map[string][]string{} // systems by module
	for _, system := range systems {
		out := goTool(t, []string{"CGO_ENABLED=0", "GOARCH=amd64", "GOOS=" + system},
			"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/heddle")
		for module := range set(strings.Fields(out)...) {
			in[module] = append(in[module], system)
		}
	}
	var b strings.Builder
	b.WriteString("# The modules in the heddle binary, go list -deps ./cmd/heddle. Those not on every system say where.\n" +
		"# go test ./internal/arch -update writes this file.\n")
	for _, m := range slices.Sorted(maps.Keys(in)) {
		b.WriteString(m)
		if len(in[m]) < len(systems) {
			b.WriteString(" (" + strings.Join(in[m], ", ") + ")")
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(root, "docs", "deps.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := os.ReadFile(path)
	if string(got) != b.String() {
		t.Errorf("docs/deps.txt is not true any more; go test ./internal/arch -update writes it\n got:\n%s\nwant:\n%s", got, b.String())
	}
}
