package gateway

import (
	"slices"

	"heddle"
	"heddle/internal/catalog"
)

// ServerStatus is how a server is doing, for a host's model.
type ServerStatus struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Circuit string `json:"circuit,omitempty"`
	Tools   int    `json:"tools"`
	Reason  string `json:"reason,omitempty"`
}

// Status returns how the servers are doing, in the order of declaration, and how
// many bytes the definitions of all authorized tools have.
func (g *Gateway) Status(p heddle.Principal) (servers []ServerStatus, definitions int) {
	snapshot := g.Snapshot(p)
	for _, t := range snapshot.Tools() {
		definitions += len(t.Definition)
	}
	for _, info := range snapshot.Servers() {
		s := ServerStatus{Name: info.Name, State: info.State, Tools: info.Tools}
		if u := g.pool.Server(info.Name); u != nil {
			st := u.Status()
			s.State, s.Circuit, s.Reason = string(st.State), st.Circuit, cut(clean(st.Reason, 200), 200)
		}
		servers = append(servers, s)
	}
	return servers, definitions
}

// Tool returns the tool that a host means by a server's name, which may be empty,
// and a tool's. Where it cannot be told, the error names what it could be.
func (g *Gateway) Tool(p heddle.Principal, server, name string) (*heddle.Tool, error) {
	snapshot := g.Snapshot(p)
	if server != "" {
		if !g.knows(snapshot, server) {
			return nil, &heddle.Error{Kind: heddle.KindUnknownTool, Op: "gateway.tool", Public: "There is no such server. " + g.serverList(snapshot)}
		}
		if t, ok := snapshot.Lookup(server+"::"+name, false); ok {
			return t, nil
		}
	}
	if t, ok := snapshot.Lookup(name, false); ok && (server == "" || t.Ref.Server == server) {
		return t, nil
	}
	e := &heddle.Error{Kind: heddle.KindUnknownTool, Op: "gateway.tool", Public: "There is no tool of that name.", Near: snapshot.Near(name, 3, false)}
	if same := namesakes(snapshot, name); server == "" && len(same) > 1 {
		e.Public, e.Near = "Several servers have a tool of that name: say which by `server`.", same
	}
	return nil, e
}

// maxNamesakes is how many tools of one name are listed.
const maxNamesakes = 20

// namesakes returns the tools that servers call by that name, as server::tool.
func namesakes(s *catalog.Snapshot, name string) (out []string) {
	for _, t := range s.Tools() {
		if t.Ref.Name == name && len(out) < maxNamesakes {
			out = append(out, t.Ref.String())
		}
	}
	return slices.Clip(out)
}
