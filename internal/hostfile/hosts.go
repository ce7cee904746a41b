package hostfile

import "strings"

// restart is what hosts with a window need.
const restart = "restart it"

// table lists the hosts. A new one is a value here: its files, and the dialect
// that they are in.
func table() []*Host {
	return []*Host{
		{
			Name: "claude-code", Title: "Claude Code", Mode: Compact, After: "start a new session", dialect: claudeCode,
			places: []location{
				{scope: User, path: func(e Env) string { return e.join(override(e, "CLAUDE_CONFIG_DIR", e.Home), ".claude.json") }},
				{scope: Project, path: inProject(".mcp.json")},
			},
			refuses: map[Mode]string{Native: "it drops, without a word, every tool whose schema has an anyOf or allOf at its root, " +
				"and cuts descriptions at about 2,000 characters; compact shows it three tools and every schema whole"},
			approve: approveClaude, restricts: claudeRules, toolNames: []string{"mcp__SERVER__"},
		},
		{
			Name: "claude-desktop", Title: "Claude Desktop", Mode: Compact, After: restart, Window: true, dialect: standard,
			places: []location{{scope: User, path: func(e Env) string { return e.join(e.support(), "Claude/claude_desktop_config.json") }}},
		},
		{
			Name: "codex", Title: "Codex", Mode: Native, After: "start a new session", dialect: codex,
			places:  []location{{scope: User, path: codexFile}, {scope: Project, path: inProject(".codex/config.toml")}},
			approve: approveCodex,
		},
		{
			Name: "cursor", Title: "Cursor", Mode: Compact, After: "enable it under Settings, MCP", Window: true, dialect: standard,
			places: []location{{scope: User, path: inHome(".cursor/mcp.json")}, {scope: Project, path: inProject(".cursor/mcp.json")}},
		},
		{
			Name: "vscode", Title: "VS Code", Mode: Compact, After: "start it from the MCP servers view, and trust it when asked", Window: true, dialect: vscode,
			places: []location{{scope: User, path: vscodeFile}, {scope: Project, path: inProject(".vscode/mcp.json")}},
		},
		{
			Name: "windsurf", Title: "Windsurf", Mode: Compact, After: "refresh its MCP servers", Window: true, dialect: standard,
			places: []location{{scope: User, path: inHome(".codeium/windsurf/mcp_config.json")}},
		},
		{
			Name: "zed", Title: "Zed", Mode: Compact, Window: true, dialect: zed,
			places: []location{{scope: User, path: zedFile}, {scope: Project, path: inProject(".zed/settings.json")}},
		},
		{
			Name: "cline", Title: "Cline", Mode: Compact, After: "start a new session", dialect: cline,
			places: []location{
				{scope: User, path: inHome(".cline/data/settings/cline_mcp_settings.json")},
				{scope: User, other: true, path: clineExtension},
			},
		},
		{
			Name: "opencode", Title: "OpenCode", Mode: Compact, After: "start a new session", dialect: opencode,
			places: []location{
				{scope: User, path: func(e Env) string { return e.join(e.config(), "opencode/opencode.json") }},
				{scope: User, other: true, path: func(e Env) string { return e.join(e.config(), "opencode/opencode.jsonc") }},
				{scope: Project, path: inProject("opencode.json")},
				{scope: Project, other: true, path: inProject("opencode.jsonc")},
			},
			restricts: opencodeRules, toolNames: []string{"SERVER_"},
		},
		{
			Name: "gemini", Title: "Gemini CLI", Mode: Compact, After: "start a new session", dialect: gemini,
			places:  []location{{scope: User, path: inHome(".gemini/settings.json")}, {scope: Project, path: inProject(".gemini/settings.json")}},
			approve: approveGemini, restricts: geminiRules(".gemini"), toolNames: []string{"mcp_SERVER_", "SERVER__"},
		},
		{
			Name: "antigravity", Title: "Antigravity", Mode: Compact, After: "refresh its MCP servers", Window: true, dialect: standard,
			places: []location{{scope: User, path: inHome(".gemini/config/mcp_config.json")}},
		},
		{
			Name: "qwen", Title: "Qwen Code", Mode: Compact, After: "start a new session", dialect: gemini,
			places:  []location{{scope: User, path: inHome(".qwen/settings.json")}, {scope: Project, path: inProject(".qwen/settings.json")}},
			approve: approveQwen, restricts: geminiRules(".qwen"), toolNames: []string{"mcp__SERVER__", "SERVER__"},
		},
		{
			Name: "copilot", Title: "Copilot CLI", Mode: Compact, After: "start a new session", dialect: copilot,
			places: []location{{scope: User, path: inHome(".copilot/mcp-config.json")}},
		},
	}
}

func inHome(path string) func(Env) string {
	return func(e Env) string { return e.join(e.Home, path) }
}

func inProject(path string) func(Env) string {
	return func(e Env) string { return e.join(e.Cwd, path) }
}

// override returns the directory that a variable names, or the usual one.
func override(e Env, variable, usual string) string {
	if dir := e.getenv(variable); e.isAbs(dir) {
		return dir
	}
	return usual
}

func codexFile(e Env) string {
	return e.join(override(e, "CODEX_HOME", e.join(e.Home, ".codex")), "config.toml")
}

func vscodeFile(e Env) string { return e.join(e.support(), "Code/User/mcp.json") }

// clineExtension is the file of Cline inside VS Code.
func clineExtension(e Env) string {
	return e.join(e.support(), "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
}

// zedFile is where Zed looks: on macOS as on Linux, but on Windows beside the
// programs with a window.
func zedFile(e Env) string {
	if e.OS == "windows" {
		return e.join(e.support(), "Zed/settings.json")
	}
	return e.join(e.config(), "zed/settings.json")
}

// folder is dir as hosts write it for a key: with slashes on Windows too, for
// those that are written in JavaScript.
func folder(e Env, dir string) []string {
	if e.OS != "windows" {
		return []string{dir}
	}
	return []string{dir, strings.ReplaceAll(dir, `\`, "/")}
}
