package hostfile

// dialect is how a host writes servers down.
type dialect struct {
	format format
	// key is where a change puts heddle.
	key []string
	// projects is true where servers of single directories stand below "projects".
	projects bool
	// dollar is true where the host also replaces $VAR.
	dollar bool
	// braces is true where the host writes {env:VAR}.
	braces bool
	// bareURL is what an entry with a url and without a type is; "" for http.
	bareURL string
	// admits are the lists of the servers that the host starts: where one is there, it
	// starts no other. excludes are those of servers that it does not start.
	admits, excludes [][]string
	// entry writes heddle's own entry.
	entry func(command string, args []string) *node
}

// The dialects. None changes.
var (
	standard = &dialect{format: jsonFormat, key: []string{"mcpServers"}, entry: plainEntry}

	claudeCode = &dialect{format: jsonFormat, key: []string{"mcpServers"}, projects: true, entry: typedEntry}

	vscode = &dialect{format: jsonFormat, key: []string{"servers"}, entry: typedEntry}

	codex = &dialect{format: tomlFormat, key: []string{"mcp_servers"}, entry: plainEntry}

	// A bare url is SSE to Gemini CLI and its kin; they write httpUrl for the other.
	gemini = &dialect{
		format: jsonFormat, key: []string{"mcpServers"}, dollar: true, bareURL: "sse", entry: plainEntry,
		admits:   [][]string{{"mcp", "allowed"}, {"allowMCPServers"}},
		excludes: [][]string{{"mcp", "excluded"}, {"excludeMCPServers"}},
	}

	zed = &dialect{
		format: jsonFormat, key: []string{"context_servers"},
		entry: func(command string, args []string) *node {
			return (&node{kind: object}).with("source", text("custom")).with("command", text(command)).with("args", list(args...))
		},
	}

	cline = &dialect{
		format: jsonFormat, key: []string{"mcpServers"},
		entry: func(command string, args []string) *node {
			return (&node{kind: object}).with("transport", typedEntry(command, args))
		},
	}

	opencode = &dialect{
		format: jsonFormat, key: []string{"mcp"}, braces: true,
		entry: func(command string, args []string) *node {
			return (&node{kind: object}).with("type", text("local")).
				with("command", list(append([]string{command}, args...)...)).
				with("enabled", &node{kind: scalar, text: "true"})
		},
	}

	// Copilot CLI offers a model no tool that "tools" does not allow.
	copilot = &dialect{
		format: jsonFormat, key: []string{"mcpServers"},
		entry: func(command string, args []string) *node {
			return (&node{kind: object}).with("type", text("local")).with("command", text(command)).
				with("args", list(args...)).with("tools", list("*"))
		},
	}
)

func plainEntry(command string, args []string) *node {
	return (&node{kind: object}).with("command", text(command)).with("args", list(args...))
}

func typedEntry(command string, args []string) *node {
	return (&node{kind: object}).with("type", text("stdio")).with("command", text(command)).with("args", list(args...))
}

// shelf is an object of a file that holds servers.
type shelf struct {
	path []string
	// project is the directory that it is for; "" for all that the file counts for.
	project string
	node    *node
}

// shelves returns where servers stand in a file.
func (x *dialect) shelves(root *node) []shelf {
	out := []shelf{{path: x.key, node: root.get(x.key...)}}
	if projects := root.get("projects"); x.projects && projects != nil {
		for _, m := range projects.members {
			out = append(out, shelf{[]string{"projects", m.key, "mcpServers"}, m.key, m.value.get("mcpServers")})
		}
	}
	return out
}
