package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestErrors decodes every file of testdata/errors and compares what is said
// about it with the .golden file beside it.
func TestErrors(t *testing.T) {
	paths, err := filepath.Glob("testdata/errors/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".golden") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Decode(data, "/etc/heddle/"+filepath.Base(path), Env{})
			var problems *ProblemsError
			if !errors.As(err, &problems) {
				t.Fatalf("Decode(%s) = %v, want a ProblemsError", path, err)
			}
			golden(t, path+".golden", render(problems))
		})
	}
}

// render is the error's text with the hints below their problems.
func render(e *ProblemsError) string {
	var b strings.Builder
	for _, p := range e.Problems {
		b.WriteString(filepath.Base(p.Path) + strings.TrimPrefix(p.String(), p.Path) + "\n")
		if p.Hint != "" {
			b.WriteString("    hint: " + p.Hint + "\n")
		}
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if strings.Contains(got, "s3cr3t") || strings.Contains(got, "hidden") {
		t.Errorf("the problems show a value of the file:\n%s", got)
	}
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run go test -update)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}
