package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// now is how all servers write the time.
func now() string { return time.Now().UTC().Format(time.RFC3339) }

// source is source hosting.
type source struct {
	mu       sync.Mutex
	repos    []repository
	branches map[string][]branch
	issues   []*issue
	pulls    []*pull
	next     int // number of the next issue or pull request
}

type repository struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Language    string `json:"language"`
	Stars       int    `json:"stars"`
}

type branch struct {
	Name      string `json:"name"`
	Commit    string `json:"commit"`
	Protected bool   `json:"protected"`
}

type issue struct {
	ID         int64     `json:"id"`
	Number     int       `json:"number"`
	Repository string    `json:"repository"`
	State      string    `json:"state"`
	Title      string    `json:"title"`
	Body       string    `json:"body,omitempty"`
	Severity   string    `json:"severity,omitempty"`
	Labels     []string  `json:"labels,omitempty"`
	Assignees  []string  `json:"assignees,omitempty"`
	Author     string    `json:"author"`
	Created    string    `json:"created_at"`
	Comments   []comment `json:"comments,omitempty"`
}

type comment struct {
	Author  string `json:"author"`
	Body    string `json:"body"`
	Created string `json:"created_at"`
}

type pull struct {
	Number     int    `json:"number"`
	Repository string `json:"repository"`
	State      string `json:"state"`
	Title      string `json:"title"`
	Head       string `json:"head"`
	Base       string `json:"base"`
	Draft      bool   `json:"draft"`
	Checks     string `json:"checks"`
}

func newSource() *source {
	return &source{
		repos: []repository{
			{"acme/shop", "The web shop: catalogue, basket, checkout", "Go", 214},
			{"acme/warehouse", "Stock and shipping", "Python", 61},
			{"acme/design-system", "Components and tokens", "TypeScript", 338},
		},
		branches: map[string][]branch{"acme/shop": {{"main", "9f2c1ab", true}, {"release/4.2", "71d0e44", true}, {"fix/empty-basket", "c0ffee1", false}}},
		issues: []*issue{
			{ID: firstID, Number: 126, Repository: "acme/shop", State: "open", Title: "Search ignores umlauts", Severity: "normal", Labels: []string{"bug", "search"}, Author: "mira", Created: "2026-02-27T09:14:00Z"},
			{ID: firstID + 1, Number: 127, Repository: "acme/shop", State: "open", Title: "Invoices show the wrong time zone", Severity: "high", Labels: []string{"bug"}, Assignees: []string{"jonas"}, Author: "li", Created: "2026-03-01T16:40:00Z"},
		},
		pulls: []*pull{{Number: 125, Repository: "acme/shop", State: "open", Title: "Keep the basket across logins", Head: "fix/empty-basket", Base: "main", Checks: "passed"}},
		next:  128,
	}
}

// firstID is above 2^53: what reads it as a floating point number gets another.
const firstID = 9007199254740991

type (
	inRepository struct{ Repository string }
	inIssue      struct {
		Repository string
		Number     int
		Body       string
		Comments   bool
	}
)

func (s *source) tools() map[string]tool {
	return map[string]tool{
		"search_repositories": simple(&s.mu, s.search),
		"get_file_contents": simple(&s.mu, func(a struct{ Repository, Path, Ref string }) (any, error) {
			if err := s.known(a.Repository); err != nil {
				return nil, err
			}
			text := fmt.Sprintf("# %s\n\nThis file stands for %s in the demo.\n", a.Repository, a.Path)
			return object{"path": a.Path, "ref": or(a.Ref, "main"), "size": len(text), "text": text}, nil
		}),
		"list_branches": simple(&s.mu, func(a inRepository) (any, error) {
			return object{"branches": s.branches[a.Repository]}, s.known(a.Repository)
		}),
		"create_branch": simple(&s.mu, func(a struct{ Repository, Branch, From string }) (any, error) {
			if slices.ContainsFunc(s.branches[a.Repository], func(b branch) bool { return b.Name == a.Branch }) {
				return nil, fmt.Errorf("branch %s exists", a.Branch)
			}
			b := branch{Name: a.Branch, Commit: "9f2c1ab"}
			s.branches[a.Repository] = append(s.branches[a.Repository], b)
			return b, s.known(a.Repository)
		}),
		"create_issue":      simple(&s.mu, s.createIssue),
		"get_issue":         simple(&s.mu, s.getIssue),
		"list_issues":       simple(&s.mu, s.listIssues),
		"add_issue_comment": simple(&s.mu, s.comment),
		"create_pull_request": simple(&s.mu, func(a struct {
			Repository, Title, Head, Base string
			Draft                         bool
		}) (any, error) {
			p := &pull{Number: s.take(), Repository: a.Repository, State: "open", Title: a.Title, Head: a.Head, Base: or(a.Base, "main"), Draft: a.Draft, Checks: "running"}
			s.pulls = append(s.pulls, p)
			return p, s.known(a.Repository)
		}),
		"merge_pull_request": simple(&s.mu, s.merge),
	}
}

// or returns the first that is not empty.
func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (s *source) known(name string) error {
	if !slices.ContainsFunc(s.repos, func(r repository) bool { return r.Name == name }) {
		return fmt.Errorf("there is no repository %s", name)
	}
	return nil
}

func (s *source) take() int {
	s.next++
	return s.next - 1
}

func (s *source) search(a struct{ Query string }) (any, error) {
	found := []repository{}
	for _, r := range s.repos {
		if strings.Contains(strings.ToLower(r.Name+" "+r.Description+" "+r.Language), strings.ToLower(a.Query)) {
			found = append(found, r)
		}
	}
	return object{"total": len(found), "repositories": found}, nil
}

func (s *source) createIssue(a struct {
	Repository, Title, Body, Severity string
	Labels, Assignees                 []string
}) (any, error) {
	if err := s.known(a.Repository); err != nil {
		return nil, err
	}
	i := &issue{
		ID: firstID + int64(len(s.issues)), Number: s.take(), Repository: a.Repository, State: "open", Title: a.Title, Body: a.Body,
		Severity: or(a.Severity, "normal"), Labels: a.Labels, Assignees: a.Assignees, Author: "you", Created: now(),
	}
	s.issues = append(s.issues, i)
	return i, nil
}

func (s *source) issue(repository string, number int) (*issue, error) {
	for _, i := range s.issues {
		if i.Repository == repository && i.Number == number {
			return i, nil
		}
	}
	return nil, fmt.Errorf("there is no issue %d in %s", number, repository)
}

func (s *source) getIssue(a inIssue) (any, error) {
	i, err := s.issue(a.Repository, a.Number)
	if err != nil {
		return nil, err
	}
	out := *i
	if !a.Comments {
		out.Comments = nil
	}
	return out, nil
}

func (s *source) listIssues(a struct{ Repository, State string }) (any, error) {
	found := []issue{}
	for _, i := range slices.Backward(s.issues) {
		if i.Repository == a.Repository && (a.State == "all" || i.State == or(a.State, "open")) {
			found = append(found, *i)
		}
	}
	return object{"total": len(found), "issues": found}, s.known(a.Repository)
}

func (s *source) comment(a inIssue) (any, error) {
	i, err := s.issue(a.Repository, a.Number)
	if err != nil {
		return nil, err
	}
	c := comment{"you", a.Body, now()}
	i.Comments = append(i.Comments, c)
	return c, nil
}

func (s *source) merge(a inIssue) (any, error) {
	for _, p := range s.pulls {
		switch {
		case p.Repository != a.Repository || p.Number != a.Number:
		case p.State == "merged":
			return nil, fmt.Errorf("pull request %d is merged already", a.Number)
		case p.Checks != "passed":
			return nil, fmt.Errorf("the checks of pull request %d are %s", a.Number, p.Checks)
		default:
			p.State = "merged"
			return object{"number": p.Number, "state": p.State, "commit": "4be91d7", "merged_at": now()}, nil
		}
	}
	return nil, fmt.Errorf("there is no pull request %d in %s", a.Number, a.Repository)
}
