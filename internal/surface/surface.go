// Package surface owns what a host sees: the MCP server in front, its modes and
// its transports. It translates a host's request into a [heddle.Call] and the
// gateway's outcome into MCP's answer, and is the only place that does either.
//
// It never decides whether a call is allowed, reaches an upstream or stores
// anything.
//
// Start reading at [Mode]; there is one file a mode (native.go, compact.go, mesh.go) and
// one a transport (stdio.go). answer.go turns errors into answers.
package surface

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"heddle"
	"heddle/internal/catalog"
	"heddle/internal/gateway"
	"heddle/internal/wire"
)

// Mode is what a host sees of heddle: its tools and how they are called.
type Mode interface {
	// Name is the mode's name on the command line and in the ledger.
	Name() string
	// Tools returns the definitions that the principal is shown, in order. booted
	// says whether all servers' first starts have had their outcome.
	Tools(g *gateway.Gateway, p heddle.Principal, booted bool) []json.RawMessage
	// Call runs a tool of the mode.
	Call(ctx context.Context, g *gateway.Gateway, c *heddle.Call) (heddle.Delivery, error)
}

// Options configure the modes.
type Options struct {
	// KeepOutputSchema lists output schemas in native mode.
	KeepOutputSchema bool
	// MeshResults adds read_result to mesh mode, whose large results are captured.
	MeshResults bool
}

// names are the modes.
var names = []string{"native", "compact", "extreme", "mesh", "loom"}

// Names returns the names of the modes of this build.
func Names() []string { return append([]string(nil), names...) }

// ModeList names them as a sentence does: "native, compact or mesh".
func ModeList() string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// NewMode returns the mode of that name.
func NewMode(name string, o Options) (Mode, error) {
	switch name {
	case "native":
		return native{o}, nil
	case "compact", "extreme":
		return &compact{name: name}, nil
	case "mesh":
		return newMesh(o.MeshResults), nil
	case "loom":
		return loom{}, nil
	}
	return nil, fmt.Errorf("unknown mode %q: use %s", name, ModeList())
}

// OwnNames are the names of heddle's own tools that stand beside those of servers,
// none of which may take one.
func OwnNames() []string {
	return []string{readResult, loomQuery, loomList, loomDescribe, loomMaterialize, loomExport}
}

// required is [fields] where each of the first texts must be given.
func required(args json.RawMessage, must map[string]*string, may ...map[string]*string) error {
	all := maps.Clone(must)
	for _, m := range may {
		maps.Copy(all, m)
	}
	if err := fields(args, all, nil); err != nil {
		return err
	}
	var bad []heddle.Violation
	for _, k := range keys(must, nil) {
		if *must[k] == "" {
			bad = append(bad, heddle.Violation{Path: "/" + k, Keyword: "required", Message: "is required"})
		}
	}
	if len(bad) > 0 {
		return invalid(bad...)
	}
	return nil
}

// fields reads the arguments of one of heddle's own tools: strings into texts,
// anything into raws. A member that is in neither is refused by name, because it
// is ours to name; values are not repeated.
func fields(args json.RawMessage, texts map[string]*string, raws map[string]*json.RawMessage) error {
	if args == nil || string(args) == "null" {
		return nil
	}
	var bad []heddle.Violation
	unknown := false
	err := wire.Members(args, func(key string, v json.RawMessage) bool {
		if into, ok := raws[key]; ok {
			*into = v
			return true
		}
		into, ok := texts[key]
		if !ok {
			known := "only " + strings.Join(keys(texts, raws), ", ") + " are known"
			if len(texts)+len(raws) == 0 {
				known = "none are taken"
			}
			if unknown {
				return true
			}
			unknown = true
			bad = append(bad, heddle.Violation{Keyword: "additionalProperties", Message: known})
			return true
		}
		if string(v) == "null" { // as some hosts send what is not given
			return true
		}
		text, ok := wire.Unquote(v)
		if !ok {
			bad = append(bad, heddle.Violation{Path: "/" + key, Keyword: "type", Message: "a string is expected"})
		} else if into != nil {
			*into = text
		}
		return true
	})
	if err != nil {
		bad = append(bad, heddle.Violation{Keyword: "type", Message: "an object is expected"})
	}
	if len(bad) > 0 {
		return invalid(bad...)
	}
	return nil
}

// invalid refuses the arguments of one of heddle's own tools.
func invalid(bad ...heddle.Violation) error {
	var parts []string
	for _, v := range bad {
		at := v.Path
		if at == "" {
			at = "arguments"
		}
		parts = append(parts, at+": "+v.Message)
	}
	return &heddle.Error{Kind: heddle.KindInvalidArguments, Op: "surface.call", Violations: bad, Public: strings.Join(parts, "; ") + "."}
}

func keys(texts map[string]*string, raws map[string]*json.RawMessage) []string {
	var out []string
	for _, k := range []string{"query", "server", "tool", "tool_name", "arguments", "limit", "minify", "result_ref", "cursor", "sql", "save_as", "export", "ref", "name", "format", "filename"} { // in the order of use
		_, text := texts[k]
		_, raw := raws[k]
		if text || raw {
			out = append(out, k)
		}
	}
	return out
}

// Instructions are what a host shows its model about heddle as a whole.
func Instructions(mode string, servers []string) string {
	var b strings.Builder
	switch mode {
	case "native":
		b.WriteString("heddle passes the tools of several MCP servers through.")
	case "loom":
		b.WriteString("heddle passes the tools of several MCP servers through. Large results become datasets: query them with loom_query.")
	case "mesh":
		b.WriteString("heddle stands in front of several MCP servers. Find a tool with mesh_search_tools, one capability a query, then run it with mesh_invoke_tool.")
	default:
		b.WriteString("heddle stands in front of several MCP servers. Find a tool with find_tool, one capability a query, then run it with call_tool.")
	}
	if len(servers) > 0 {
		var list []catalog.ServerInfo
		for _, s := range servers {
			list = append(list, catalog.ServerInfo{Name: s})
		}
		b.WriteString(" Servers: " + serverText(list) + ".")
	}
	return b.String()
}

// maxServerText bounds the list of servers in a description, about 150 tokens.
const maxServerText = 520

// serverText lists servers with their tool counts where they are known, as many
// as fit.
func serverText(servers []catalog.ServerInfo) string {
	var b strings.Builder
	for i, s := range servers {
		part := s.Name
		if s.Known {
			part = fmt.Sprintf("%s (%d)", s.Name, s.Tools)
		}
		if b.Len()+len(part) > maxServerText {
			fmt.Fprintf(&b, " and %d more", len(servers)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(part)
	}
	return b.String()
}
