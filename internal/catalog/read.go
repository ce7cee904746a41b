package catalog

import (
	"encoding/json"
	"fmt"
)

// ReadSources reads a catalog from a file instead of from servers: a JSON array
// of tool definitions, each with the name of its server as "server" and what
// that says of itself as "serverDescription". Servers come in the order in which
// they are first named, under exactly that name.
func ReadSources(raw []byte) ([]Source, error) {
	var definitions []json.RawMessage
	if err := json.Unmarshal(raw, &definitions); err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	var sources []Source
	places := map[string]int{}
	for i, definition := range definitions {
		var of struct{ Server, ServerDescription string }
		if err := json.Unmarshal(definition, &of); err != nil {
			return nil, fmt.Errorf("read catalog: tool %d: %w", i+1, err)
		}
		if of.Server == "" {
			return nil, fmt.Errorf("read catalog: tool %d names no server", i+1)
		}
		place, ok := places[of.Server]
		if !ok {
			place = len(sources)
			places[of.Server] = place
			sources = append(sources, Source{Server: of.Server, Instructions: of.ServerDescription, Known: true, State: "ready"})
		}
		sources[place].Definitions = append(sources[place].Definitions, definition)
	}
	return sources, nil
}
