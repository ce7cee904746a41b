//lint:file-ignore SA1019 protocol versions before 2026-07-28 have sampling, roots and logging, and so do the hosts and servers that speak them

package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"heddle/internal/wire"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods that list what a server has.
const (
	listTools     = "tools/list"
	ListResources = "resources/list"
	ListTemplates = "resources/templates/list"
	ListPrompts   = "prompts/list"
)

// listKeys are the members of their results that hold the items.
var listKeys = map[string]string{listTools: "tools", ListResources: "resources", ListTemplates: "resourceTemplates", ListPrompts: "prompts"}

// ListKey returns the member of a list method's result that holds the items.
func ListKey(method string) string { return listKeys[method] }

// Features are what a server has beside tools.
type Features struct {
	Resources   bool `json:"resources,omitempty"`
	Subscribe   bool `json:"subscribe,omitempty"`
	Prompts     bool `json:"prompts,omitempty"`
	Completions bool `json:"completions,omitempty"`
	Logging     bool `json:"logging,omitempty"`
}

func featuresOf(c *mcp.ServerCapabilities) Features {
	if c == nil {
		return Features{}
	}
	return Features{
		Resources: c.Resources != nil, Subscribe: c.Resources != nil && c.Resources.Subscribe,
		Prompts: c.Prompts != nil, Completions: c.Completions != nil, Logging: c.Logging != nil,
	}
}

// maxPages bounds a listing that never ends.
const maxPages = 10000

// list reads all pages of a list and publishes them. It reports whether they are
// others than before.
func (l *life) list(ctx context.Context, method string) (changed bool, err error) {
	var (
		items    []json.RawMessage
		warnings []string
		cursor   json.RawMessage
		seen     = map[string]bool{}
	)
	for page := 0; ; page++ {
		params := json.RawMessage(`{}`)
		if cursor != nil {
			params = append(append([]byte(`{"cursor":`), cursor...), '}')
		}
		raw, err := l.session.request(ctx, method, params)
		if err != nil {
			if page == 0 {
				if isUnknownMethod(err) {
					break
				}
				return false, &listError{method, err}
			}
			warnings = append(warnings, fmt.Sprintf("%s: page %d failed (%s): the list is incomplete", method, page+1, l.s.deps.mask(err.Error())))
			break
		}
		more, next, err := parsePage(raw, listKeys[method])
		if err != nil {
			return false, &listError{method, err}
		}
		items = append(items, more...)
		if next == nil {
			break
		}
		if seen[string(next)] || page+1 >= maxPages {
			warnings = append(warnings, fmt.Sprintf("%s: the server repeats a cursor or does not end (page %d): the list may be incomplete", method, page+1))
			break
		}
		seen[string(next)] = true
		cursor = next
	}
	return l.publish(method, items, warnings), nil
}

// publish makes a list known, and reports whether it is another than before.
func (l *life) publish(method string, items []json.RawMessage, warnings []string) (changed bool) {
	l.s.mu.Lock()
	same := slices.EqualFunc(l.s.st.lists[method], items, func(a, b json.RawMessage) bool { return string(a) == string(b) })
	l.s.mu.Unlock()
	l.s.update(func(st *status) {
		st.warnings = maps.Clone(st.warnings)
		if st.warnings == nil {
			st.warnings = map[string][]string{}
		}
		st.warnings[method] = warnings
		if method == listTools {
			st.tools, st.listed = items, true
			st.listing++
			return
		}
		st.lists = maps.Clone(st.lists)
		if st.lists == nil {
			st.lists = map[string][]json.RawMessage{}
		}
		st.lists[method] = items
	})
	return !same
}

// changedBy are the notifications that say that a list has changed.
var changedBy = map[string]string{
	ListResources: "notifications/resources/list_changed", ListTemplates: "notifications/resources/list_changed", ListPrompts: "notifications/prompts/list_changed",
}

// isUnknownMethod reports whether the server does not know the method at all.
func isUnknownMethod(err error) bool {
	var rpc interface{ Code() int64 }
	return errors.As(err, &rpc) && rpc.Code() == jsonrpc.CodeMethodNotFound
}

// parsePage returns the items of one page and the cursor of the next, nil if
// there is none. Some servers end with an empty cursor.
func parsePage(raw json.RawMessage, key string) (items []json.RawMessage, next json.RawMessage, err error) {
	list := wire.Member(raw, key)
	if list == nil {
		return nil, nil, fmt.Errorf("the result has no %q", key)
	}
	if items, err = wire.Elements(list); err != nil {
		return nil, nil, fmt.Errorf("%q is not an array", key)
	}
	next = wire.Member(raw, "nextCursor")
	if len(next) < 3 || next[0] != '"' {
		next = nil
	}
	return items, next, nil
}

type listError struct {
	method string
	err    error
}

func (e *listError) Error() string { return e.method + " failed: " + e.err.Error() }
func (e *listError) Unwrap() error { return e.err }
