package config

import "time"

// loomSettings are the keys that the array form of mcp-loom has beside its
// servers.
const loomSettings = "tokenThreshold memoryBudgetBytes duckdbMemoryLimit exportDir queryTimeoutMs restart"

// loom reads the array form of mcp-loom: a list of servers, each with its name,
// and some settings beside it.
func (d hostDecoder) loom(root, list *node, path string) []*rawServer {
	r := &d.cfg.Results
	known := keys{
		"tokenThreshold":    func(n *node, path string) { d.integer(n, path, &r.ThresholdTokens, 100, 1_000_000) },
		"memoryBudgetBytes": func(n *node, path string) { d.size(n, path, &r.Memory, 1<<20, 1<<40) },
		"duckdbMemoryLimit": func(n *node, path string) { d.size(n, path, &r.SQLMemory, 64<<20, 1<<40) },
		"exportDir":         func(n *node, path string) { d.directory(n, path, &r.ExportDir) },
		"queryTimeoutMs":    d.milliseconds(&r.QueryTimeout),
		"restart":           d.loomRestart,
	}
	for _, f := range root.fields {
		if read, ok := known[f.key]; ok && f.value.kind != kindNull {
			read(f.value, f.key)
		}
	}
	return d.hostServers(d.byName(list, path), path)
}

// byName returns the list as the mapping that hosts have.
func (d hostDecoder) byName(list *node, path string) *node {
	out := &node{kind: kindMap, line: list.line, col: list.col}
	for i, item := range list.items {
		at := indexed(path, i)
		if item.kind != kindMap {
			d.problem(item, at, "must be an object, not %s", item.kind)
			continue
		}
		name := item.get("name")
		switch {
		case name == nil || name.kind != kindString || name.text == "":
			d.problem(item, join(at, "name"), "is missing; give the server a name")
		case out.get(name.text) != nil:
			d.problem(name, join(at, "name"), "%q is there twice; rename one of them", name.text)
		default:
			out.fields = append(out.fields, field{key: name.text, line: name.line, col: name.col, value: item})
		}
	}
	return out
}

func (d hostDecoder) loomRestart(n *node, path string) {
	known := keys{
		"maxAttempts": func(n *node, path string) { d.integer(n, path, &d.cfg.Restart.MaxAttempts, 0, 1_000_000) },
		"baseDelayMs": d.milliseconds(&d.cfg.Restart.BaseDelay),
	}
	for _, f := range d.fields(n, path) {
		if read, ok := known[f.key]; ok && f.value.kind != kindNull {
			read(f.value, join(path, f.key))
		}
	}
}

// milliseconds returns the reader of a time that is written as a number.
func (d values) milliseconds(into *time.Duration) func(*node, string) {
	return func(n *node, path string) {
		ms := 0
		if d.integer(n, path, &ms, 1, 1<<40); ms > 0 {
			*into = time.Duration(ms) * time.Millisecond
		}
	}
}

// loomKeys are what a server of mcp-loom has beside the common keys.
func (d serverDecoder) loomKeys(s *rawServer) keys {
	return keys{
		"envPassthrough": func(n *node, path string) { s.EnvPassthrough = append(s.EnvPassthrough, d.passthrough(n, path)...) },
		"provenanceDenylist": func(n *node, path string) {
			for _, item := range d.strings(n, path) {
				s.ProvenanceDenylist = append(s.ProvenanceDenylist, item.text)
			}
		},
	}
}
