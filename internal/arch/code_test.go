package arch

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// rule reserves names of the standard library for some packages.
type rule struct {
	path  string   // import path
	names []string // nil is all
	in    string   // packages that may
	why   string
	// but lists files elsewhere that may use a name, each with its reason.
	but map[string]string
}

var rules = []rule{
	{
		path: "context", names: []string{"Background", "TODO"}, in: "cmd/heddle cmd/heddle-sql internal/cli internal/daemon",
		why: "a context comes from the caller; work that outlives it uses context.WithoutCancel and a timeout",
	},
	{path: "os", names: []string{"Exit"}, in: "cmd/heddle cmd/heddle-sql", why: "errors become exit codes in cli, which returns them"},
	{path: "log", in: "", why: "a *slog.Logger is passed in"},
	{
		path: "log/slog", names: []string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log", "With"}, in: "",
		why: "a *slog.Logger is passed in",
	},
	{
		path: "os", names: []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv"}, in: "internal/cli internal/config",
		why: "only cli and config read the environment; cli passes os.Environ on",
	},
	{path: "os", names: []string{"Stdin", "Stdout", "Stderr"}, in: "cmd/heddle cmd/heddle-sql internal/cli", why: "stdout of start carries protocol alone"},
	{path: "fmt", names: []string{"Print", "Printf", "Println"}, in: "", why: "stdout of start carries protocol alone"},
	{
		path: "time", names: []string{"Sleep"}, in: "",
		why: "wait for the event, or for a timer that a context can end",
		but: map[string]string{
			"internal/upstream/process.go":      "there is no event for the end of a process that is not our child",
			"internal/upstream/process_unix.go": "the watchdog waits for processes that are not its children",
		},
	},
}

func TestReservedNames(t *testing.T) {
	for _, r := range rules {
		allowed, used := set(strings.Fields(r.in)...), map[string]bool{}
		for _, f := range program(t) {
			local := f.local(r.path)
			if local == "" || allowed[f.pkg] {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if !ok || x.Name != local || r.names != nil && !slices.Contains(r.names, s.Sel.Name) {
					return true
				}
				used[f.path] = true
				if _, ok := r.but[f.path]; !ok {
					t.Errorf("%s: %s.%s: %s", where(n), r.path, s.Sel.Name, r.why)
				}
				return true
			})
		}
		for path := range r.but {
			if !used[path] {
				t.Errorf("%s uses none of %s %v: remove its exception", path, r.path, r.names)
			}
		}
	}
}

// heldContexts are the struct fields that may hold a context.
var heldContexts = map[string]string{
	"internal/surface/httphost.go httpHost": "the SDK finds a request's stream by the request's context; the host lives exactly as long",
	"internal/upstream/session.go session":  "wire.Lane's methods have no context; the session lives exactly as long as the life that opened it",
	"internal/surface/stdio.go hostLane":    "wire.Lane's methods have no context; the lane lives exactly as long as the Run that made it",
}

func TestNoContextInStructs(t *testing.T) {
	used := map[string]bool{}
	for _, f := range program(t) {
		local := f.local("context")
		if local == "" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range st.Fields.List {
				s, ok := field.Type.(*ast.SelectorExpr)
				if !ok || s.Sel.Name != "Context" {
					continue
				}
				if x, ok := s.X.(*ast.Ident); !ok || x.Name != local {
					continue
				}
				key := f.path + " " + spec.Name.Name
				used[key] = true
				if heldContexts[key] == "" {
					t.Errorf("%s: %s holds a context: pass it as an argument", where(field), spec.Name.Name)
				}
			}
			return true
		})
	}
	for key := range heldContexts {
		if !used[key] {
			t.Errorf("%s holds no context: remove its exception", key)
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, f := range program(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: an init function: build it where it is used", where(fn))
			}
		}
	}
}

const (
	p90Lines = 40
	maxLines = 100
)

// TestFunctionLength keeps functions as long as one can read.
func TestFunctionLength(t *testing.T) {
	var lines []int
	over60 := 0
	for _, f := range program(t) {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
			lines = append(lines, n)
			if n > 60 {
				over60++
				t.Logf("%s: %s has %d lines", where(fn), fn.Name.Name, n)
			}
			if n > maxLines {
				t.Errorf("%s: %s has %d lines, want at most %d", where(fn), fn.Name.Name, n, maxLines)
			}
		}
	}
	slices.Sort(lines)
	p90 := lines[len(lines)*9/10]
	if p90 > p90Lines {
		t.Errorf("nine of ten functions have up to %d lines, want %d", p90, p90Lines)
	}
	t.Logf("%d functions: median %d lines, p90 %d, longest %d, %d above 60", len(lines), lines[len(lines)/2], p90, lines[len(lines)-1], over60)
}

// TestComments wants a comment at every package and every exported name.
func TestComments(t *testing.T) {
	commented := map[string]bool{}
	for _, f := range tree(t) {
		if f.test {
			continue
		}
		commented[f.pkg] = commented[f.pkg] || f.ast.Doc != nil
		last := 0 // line of the end of the declaration before
		for _, d := range f.ast.Decls {
			if adjacent := fset.Position(d.Pos()).Line == last+1; !adjacent { // lines in a row share the comment of the first
				checkComment(t, d)
			}
			last = fset.Position(d.End()).Line
		}
	}
	for pkg, ok := range commented {
		if !ok {
			t.Errorf("package %s has no comment", pkg)
		}
	}
}

func checkComment(t *testing.T, d ast.Decl) {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedReceiver(d.Recv)) {
			t.Errorf("%s: %s has no comment", where(d), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			ts, ok := s.(*ast.TypeSpec)
			if ok && ts.Name.IsExported() && ts.Doc == nil && d.Doc == nil {
				t.Errorf("%s: %s has no comment", where(ts), ts.Name.Name)
			}
			vs, ok := s.(*ast.ValueSpec)
			if ok && vs.Names[0].IsExported() && vs.Doc == nil && vs.Comment == nil && d.Doc == nil {
				t.Errorf("%s: %s has no comment", where(vs), vs.Names[0].Name)
			}
		}
	}
}

func exportedReceiver(r *ast.FieldList) bool {
	x := r.List[0].Type
	if s, ok := x.(*ast.StarExpr); ok {
		x = s.X
	}
	id, ok := x.(*ast.Ident)
	return ok && id.IsExported()
}
