package ssrf

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// stub is a resolver with a few names; others do not exist.
type stub map[string][]string

var errNoName = errors.New("no such name")

func (s stub) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	texts, ok := s[host]
	if !ok || network != "ip" {
		return nil, errNoName
	}
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out, nil
}

// corpusRow is one case of testdata/ssrf.jsonl.
type corpusRow struct {
	ID        string          `json:"id"`
	Arguments json.RawMessage `json:"arguments"`
	Expect    string          `json:"expect"`
	Cat       string          `json:"cat"`
	Why       string          `json:"why"`
	Policy    struct {
		BlockPrivateIPs   bool     `json:"block_private_ips"`
		AllowDomains      []string `json:"allow_domains"`
		BlockDomains      []string `json:"block_domains"`
		AllowPrivateHosts []string `json:"allow_private_hosts"`
	} `json:"policy"`
	Resolver  stub       `json:"resolver"`
	Second    stub       `json:"resolver_2nd"`
	Redirects [][]string `json:"redirects"`
	Hard      bool       `json:"hard"`
}

// blocked asks the guard about the arguments, and again about each hop.
func (r corpusRow) blocked(t *testing.T) bool {
	t.Helper()
	for _, resolver := range []stub{r.Resolver, r.Second} {
		if resolver == nil {
			resolver = r.Resolver
		}
		g, err := New(Config{
			BlockPrivateIPs: r.Policy.BlockPrivateIPs, AllowDomains: r.Policy.AllowDomains, BlockDomains: r.Policy.BlockDomains,
			AllowPrivateHosts: r.Policy.AllowPrivateHosts, Resolver: resolver,
		})
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		if len(g.Check(t.Context(), r.Arguments, nil)) > 0 {
			return true
		}
		for _, hop := range r.Redirects {
			if g.CheckURL(t.Context(), hop[1], nil) != nil {
				return true
			}
		}
	}
	return false
}

func TestCorpus(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "testdata", "ssrf.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type figure struct{ n, right int }
	figures := map[string]*figure{}
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var r corpusRow
		if err := json.Unmarshal(scanner.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		got := map[bool]string{true: "block", false: "allow"}[r.blocked(t)]
		key := fmt.Sprintf("%s %s", r.Expect, r.Cat)
		if figures[key] == nil {
			figures[key] = &figure{}
		}
		figures[key].n++
		if got == r.Expect {
			figures[key].right++
			continue
		}
		if r.Hard && r.Expect == "block" {
			t.Logf("%s: a hard one is missed: %s", r.ID, r.Why)
			continue
		}
		t.Errorf("%s: got %s, want %s (%s): %s", r.ID, got, r.Expect, r.Why, r.Arguments)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		t.Logf("%-18s %3d of %3d", key, figures[key].right, figures[key].n)
	}
}
