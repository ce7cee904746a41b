package demo

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

// files is a shared storage in memory. It never touches the disk.
type files struct {
	mu    sync.Mutex
	texts map[string]string // by path
}

func newFiles() *files {
	return &files{texts: map[string]string{
		"/handbook/on-call.md":    "# On call\n\n1. Acknowledge within five minutes.\n2. Write to #ops what you see.\n3. Roll back first, explain later.\n",
		"/handbook/release.md":    "# Releasing\n\nBranch, test, tag. Never on a Friday.\n",
		"/reports/2026-02.csv":    "day,orders,revenue_cents\n2026-02-01,6820,36120410\n2026-02-02,7104,37844090\n",
		"/design/logo/readme.txt": "The logo is never stretched.\n",
	}}
}

type inFile struct {
	Path, Content, Query, In, From, To, Access string
	Overwrite                                  bool
	FromLine                                   int `json:"from_line"`
	ToLine                                     int `json:"to_line"`
}

func (f *files) tools() map[string]tool {
	return map[string]tool{
		"read_file":  f.on(f.read),
		"write_file": simple(&f.mu, f.write),
		"list_directory": simple(&f.mu, func(a inFile) (any, error) {
			entries := []string{}
			for _, p := range f.paths() {
				if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(a.Path, "/")+"/"); ok {
					name, _, folder := strings.Cut(rest, "/")
					if folder {
						name += "/"
					}
					if !slices.Contains(entries, name) {
						entries = append(entries, name)
					}
				}
			}
			return object{"path": a.Path, "entries": entries}, nil
		}),
		"search_files": simple(&f.mu, f.search),
		"move_file": simple(&f.mu, func(a inFile) (any, error) {
			text, ok := f.texts[a.From]
			if _, taken := f.texts[a.To]; !ok || taken {
				return nil, fmt.Errorf("%s cannot be moved to %s", a.From, a.To)
			}
			delete(f.texts, a.From)
			f.texts[a.To] = text
			return object{"from": a.From, "to": a.To}, nil
		}),
		"delete_file": f.on(func(a inFile) (any, error) {
			delete(f.texts, a.Path)
			return object{"path": a.Path, "restorable_days": 30}, nil
		}),
		"get_file_info": f.on(func(a inFile) (any, error) {
			return object{"path": a.Path, "size": len(f.texts[a.Path]), "owner": "mira", "modified_at": "2026-03-01T11:05:00Z"}, nil
		}),
		"share_file": f.on(func(a inFile) (any, error) {
			return object{"path": a.Path, "access": or(a.Access, "view"), "url": "https://files.example/s/5bTz"}, nil
		}),
	}
}

func (f *files) paths() []string { return slices.Sorted(maps.Keys(f.texts)) }

// on is a tool that works on a file that is there.
func (f *files) on(run func(inFile) (any, error)) tool {
	return simple(&f.mu, func(a inFile) (any, error) {
		if _, ok := f.texts[a.Path]; !ok {
			return nil, fmt.Errorf("there is no file %s", a.Path)
		}
		return run(a)
	})
}

func (f *files) read(a inFile) (any, error) {
	lines := strings.SplitAfter(f.texts[a.Path], "\n")
	from := min(max(a.FromLine, 1), len(lines)) - 1
	to := len(lines)
	if a.ToLine > 0 {
		to = min(max(a.ToLine, from), len(lines))
	}
	return object{"path": a.Path, "text": strings.Join(lines[from:to], "")}, nil
}

func (f *files) write(a inFile) (any, error) {
	if _, there := f.texts[a.Path]; there && !a.Overwrite {
		return nil, fmt.Errorf("%s exists; set overwrite to replace it", a.Path)
	}
	f.texts[a.Path] = a.Content
	return object{"path": a.Path, "bytes": len(a.Content), "modified_at": now()}, nil
}

func (f *files) search(a inFile) (any, error) {
	found := []string{}
	for _, p := range f.paths() {
		named, _ := path.Match(a.Query, path.Base(p))
		if named || a.In == "content" && strings.Contains(f.texts[p], a.Query) {
			found = append(found, p)
		}
	}
	return object{"paths": found}, nil
}
