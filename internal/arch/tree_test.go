package arch

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write docs/deps.txt")

// root is the top of the tree, seen from this package.
const root = "../.."

// file is one Go file, whatever system it is for.
type file struct {
	path string // from the top, with slashes
	pkg  string // directory from the top; "." is the top
	test bool
	ast  *ast.File
}

var fset = token.NewFileSet()

// files parses every Go file of the tree once.
var files = sync.OnceValues(func() ([]*file, error) {
	var out []*file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		tree, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		rel = filepath.ToSlash(rel)
		out = append(out, &file{path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), ast: tree})
		return nil
	})
	return out, err
})

func tree(t *testing.T) []*file {
	t.Helper()
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the walk is broken", len(all))
	}
	return all
}

// program returns the files that are built into programs: no tests, and no
// package that only tests use.
func program(t *testing.T) []*file {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(tree(t)), func(f *file) bool { return f.test || forTests[f.pkg] })
}

// imports returns the paths that a file imports.
func (f *file) imports() []string {
	var out []string
	for _, s := range f.ast.Imports {
		p, _ := strconv.Unquote(s.Path.Value)
		out = append(out, p)
	}
	return out
}

// local returns the name under which a file knows an import, "" if it has none.
func (f *file) local(importPath string) string {
	for _, s := range f.ast.Imports {
		if p, _ := strconv.Unquote(s.Path.Value); p == importPath {
			if s.Name != nil {
				return s.Name.Name
			}
			return path.Base(p)
		}
	}
	return ""
}

// where says where a node stands.
func where(n ast.Node) string {
	p := fset.Position(n.Pos())
	rel, _ := filepath.Rel(root, p.Filename)
	return filepath.ToSlash(rel) + ":" + strconv.Itoa(p.Line)
}

// goTool runs the go command at the top and returns its output.
func goTool(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s go %s: %v\n%s", strings.Join(env, " "), strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// set makes a set of words.
func set(words ...string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w] = true
	}
	return out
}

func sorted(s map[string]bool) []string { return slices.Sorted(maps.Keys(s)) }
