package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// named is text that can only be a path of this tree.
	named = regexp.MustCompile(`(?:^|[\s(\x60"'])(?:\./)?((?:internal|docs|test|examples|cmd|\.ci)/[\w./-]*\w)`)
	// linked is the target of a link.
	linked = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// notInClone are paths that documents name and a clone does not have.
var notInClone = regexp.MustCompile(`/node_modules(/|$)`)

// TestDocumentsNamePaths follows every path that a document or a comment names.
func TestDocumentsNamePaths(t *testing.T) {
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			checkPath(t, doc, m[1])
		}
		for _, m := range linked.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			from := doc
			if target != "" {
				from = filepath.Join(filepath.Dir(doc), target)
				checkPath(t, doc, from)
			}
			if anchor != "" {
				checkAnchor(t, doc, from, anchor)
			}
		}
	}
	for _, f := range tree(t) {
		for _, group := range f.ast.Comments {
			for _, m := range named.FindAllStringSubmatch(group.Text(), -1) {
				checkPath(t, where(group), m[1])
			}
		}
	}
}

func checkPath(t *testing.T, doc, path string) {
	t.Helper()
	if notInClone.MatchString(path) {
		return
	}
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		t.Errorf("%s names %s, which does not exist", doc, path)
	}
}

// checkAnchor wants a heading of that name.
func checkAnchor(t *testing.T, doc, target, anchor string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, target))
	if err != nil {
		return // reported as a path
	}
	for line := range strings.Lines(string(text)) {
		heading := strings.TrimLeft(line, "#")
		if heading != line && slug(heading) == anchor {
			return
		}
	}
	t.Errorf("%s names the heading #%s of %s, which does not exist", doc, anchor, target)
}

// slug is a heading as links write it.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// documents are the Markdown files for people.
func documents(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "CHANGELOG.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			rel, _ := filepath.Rel(root, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const architectureLines = 200

func TestArchitectureIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > architectureLines {
		t.Errorf("docs/ARCHITECTURE.md has %d lines, want at most %d", n, architectureLines)
	}
}
