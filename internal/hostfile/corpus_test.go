package hostfile

// specimen is a host's file as people and programs leave it.
type specimen struct {
	name  string
	host  string
	scope Scope
	text  string
	// refused is part of the error of an install; "" if it is to succeed.
	refused string
}

const (
	bomText = "\ufeff"
	// weather is the server that an install replaces.
	weather = `"weather": {"command": "npx", "args": ["-y", "weather-mcp@1.2.0"], "env": {"WEATHER_KEY": "made-up-1"}}`
	other   = `"notes": {"command": "uvx", "args": ["notes-mcp"]}`
)

// corpus is written out in code, because line ends and marks have to survive
// every checkout.
func corpus() []specimen {
	return append(append(jsonCorpus(), tomlCorpus()...), refusedCorpus()...)
}

func jsonCorpus() []specimen {
	return []specimen{
		{name: "two spaces", host: "cursor", text: "{\n  \"mcpServers\": {\n    " + weather + ",\n    " + other + "\n  }\n}\n"},
		{name: "four spaces", host: "cursor", text: "{\n    \"mcpServers\": {\n        " + weather + "\n    }\n}\n"},
		{name: "tabs", host: "cursor", text: "{\n\t\"mcpServers\": {\n\t\t" + other + ",\n\t\t" + weather + "\n\t}\n}\n"},
		{name: "crlf", host: "cursor", text: "{\r\n  \"mcpServers\": {\r\n    " + weather + ",\r\n    " + other + "\r\n  }\r\n}\r\n"},
		{name: "crlf with comments", host: "cursor", text: "{\r\n  // mine\r\n  \"mcpServers\": {\r\n    " + weather + ", // daily\r\n    " + other + " // rarely\r\n  } // end\r\n}\r\n"},
		{name: "mark", host: "cursor", text: bomText + "{\n  \"mcpServers\": {\n    " + weather + "\n  }\n}\n"},
		{name: "mark on one line", host: "cursor", text: bomText + `{"mcpServers":{"weather":{"command":"npx"}}}`},
		{name: "no final newline", host: "cursor", text: "{\n  \"mcpServers\": {\n    " + weather + "\n  }\n}"},
		{name: "minified", host: "cursor", text: `{"mcpServers":{"weather":{"command":"npx"},"notes":{"command":"uvx"}},"x":1}`},
		{name: "one line with spaces", host: "cursor", text: `{"mcpServers": {"notes": {"command": "uvx"}, "weather": {"command": "npx"}}}` + "\n"},
		{name: "trailing commas", host: "cursor", text: "{\n  \"mcpServers\": {\n    " + weather + ",\n    " + other + ",\n  },\n}\n"},
		{name: "line comments", host: "cursor", text: "// top\n{\n  // servers\n  \"mcpServers\": {\n    // the weather\n    " + weather + ", // behind\n    // the notes\n    " + other + "\n    // last\n  }\n}\n// bottom\n"},
		{name: "block comments", host: "cursor", text: "/* top */ {\n  \"mcpServers\": /* a */ { /* b */\n    " + weather + " /* c */ , /* d */\n    /* e\n       f */ " + other + " /* g */\n  } /* h */\n}\n"},
		{name: "commented out server", host: "cursor", text: "{\n  \"mcpServers\": {\n    " + weather + "\n    // , \"old\": {\"command\": \"x\"}\n  }\n}\n"},
		{name: "comment marks in strings", host: "cursor", text: "\ufeff{\"mcpServers\":{ // note\n \"a\":{\"command\":\"x\",\"args\":[\"https://h/p//q\",\"--c=/*keep*/\"],}, /* off: \"b\":{} */ },}\n"},
		{name: "no servers", host: "cursor", text: "{\n  \"theme\": \"dark\"\n}\n"},
		{name: "empty servers", host: "cursor", text: "{\n  \"mcpServers\": {}\n}\n"},
		{name: "empty servers open", host: "cursor", text: "{\n  \"mcpServers\": {\n  }\n}\n"},
		{name: "only comments in servers", host: "cursor", text: "{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n"},
		{name: "empty object", host: "cursor", text: "{}"},
		{name: "empty object with newline", host: "cursor", text: "{}\n"},
		{name: "empty object open", host: "cursor", text: "{\n}\n"},
		{name: "unicode", host: "cursor", text: "{\n  \"名前\": \"天気 ☔\",\n  \"mcpServers\": {\n    \"wetter-höhe\": {\"command\": \"größe\", \"args\": [\"\\u00e9\\ud83d\\ude00\"]},\n    " + weather + "\n  }\n}\n"},
		{name: "escaped key", host: "cursor", text: "{\n  \"mcp\\u0053ervers\": {\n    " + weather + "\n  }\n}\n"},
		{name: "large numbers", host: "cursor", text: "{\n  \"n\": 12345678901234567890123, \"f\": 1.50e+10,\n  \"mcpServers\": {\n    " + weather + "\n  }\n}\n"},
		{name: "odd layout", host: "cursor", text: "{ \"a\" : 1 ,\n\n\n   \"mcpServers\"   :   {\n" + weather + "\n,\n      " + other + "}\n , \"z\":[\n1,2\n]}\n"},
		{name: "comma first", host: "cursor", text: "{\n    \"a\": 1\n  , \"mcpServers\": {\n        " + weather + "\n      , " + other + "\n    }\n}\n"},
		{name: "disabled", host: "cursor", text: "{\n  \"mcpServers\": {\n    \"weather\": {\"command\": \"npx\", \"disabled\": true}\n  }\n}\n"},
		{name: "duplicate elsewhere", host: "cursor", text: "{\n  \"x\": {\"a\": 1, \"a\": 2},\n  \"mcpServers\": {\n    " + weather + "\n  }\n}\n"},
		{name: "duplicate beside", host: "cursor", text: "{\n  \"a\": 1,\n  \"a\": 2,\n  \"mcpServers\": {\n    " + weather + "\n  }\n}\n"},
		{name: "duplicate of another server", host: "cursor", text: "{\n  \"mcpServers\": {\n    " + other + ",\n    " + weather + ",\n    " + other + "\n  }\n}\n"},
		{name: "empty file", host: "cursor", text: ""},
		{name: "blank file", host: "cursor", text: " \n\t\n"},
		{name: "mark alone", host: "gemini", scope: User, text: bomText},
		{name: "heddle by hand", host: "cursor", text: "{\n  \"mcpServers\": {\n    \"gateway\": {\"command\": \"/opt/heddle\", \"args\": [\"start\"]},\n    " + weather + "\n  }\n}\n"},
		{name: "heddle of old", host: "cursor", text: "{\n  \"mcpServers\": {\n    \"heddle\": {\"command\": \"heddle\", \"args\": [\"start\", \"--mode\", \"native\"]},\n    " + other + "\n  }\n}\n"},
		{name: "user's state", host: "claude-code", scope: User, text: "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    " + weather + "\n  },\n  \"projects\": {\n    \"/src/a\": {\"mcpServers\": {" + other + "}, \"history\": []},\n    \"/src/a/b\": {\"mcpServers\": {" + weather + "}}\n  }\n}"},
		{name: "project's file", host: "claude-code", scope: Project, text: "{\n  \"mcpServers\": {\n    \"weather\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"weather-mcp\"],\n      \"env\": {}\n    }\n  }\n}\n"},
		{name: "desktop", host: "claude-desktop", text: "{\n  \"globalShortcut\": \"\",\n  \"mcpServers\": {\n    " + weather + "\n  }\n}"},
		{name: "vs code with inputs", host: "vscode", scope: Project, text: "{\n\t\"inputs\": [\n\t\t{\"type\": \"promptString\", \"id\": \"key\", \"password\": true},\n\t],\n\t\"servers\": {\n\t\t// asks\n\t\t\"ask\": {\"command\": \"npx\", \"env\": {\"K\": \"${input:key}\"}},\n\t\t" + weather + ",\n\t}\n}\n"},
		{name: "zed settings", host: "zed", scope: User, text: "// Zed settings\n{\n  \"theme\": {\n    \"mode\": \"system\", // follows\n  },\n  \"context_servers\": {\n    \"weather\": {\"source\": \"custom\", \"command\": {\"path\": \"npx\", \"args\": [\"x\"], \"env\": {}}},\n  },\n  \"vim_mode\": false,\n}\n"},
		{name: "opencode", host: "opencode", scope: Project, text: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"weather\": {\"type\": \"local\", \"command\": [\"npx\", \"x\"], \"environment\": {\"A\": \"{env:A}\"}, \"enabled\": true}\n  }\n}\n"},
		{name: "gemini", host: "gemini", scope: User, text: "{\n  \"security\": {\"auth\": {\"selectedType\": \"x\"}},\n  \"mcpServers\": {\n    \"weather\": {\"httpUrl\": \"https://example.com/mcp\", \"headers\": {\"X\": \"$TOKEN\"}}\n  }\n}\n"},
		{name: "qwen", host: "qwen", scope: User, text: "{\"mcpServers\": {\n  " + weather + "}}\n"},
		{name: "copilot", host: "copilot", text: "{\n  \"mcpServers\": {\n    \"weather\": {\"type\": \"local\", \"command\": \"npx\", \"args\": [], \"tools\": [\"*\"]}\n  }\n}\n"},
		{name: "cline", host: "cline", text: "{\n  \"mcpServers\": {\n    \"weather\": {\"transport\": {\"type\": \"stdio\", \"command\": \"npx\", \"args\": []}, \"autoApprove\": [\"a\"]}\n  }\n}\n"},
		{name: "windsurf", host: "windsurf", text: "{\n  \"mcpServers\": {\n    \"weather\": {\"serverUrl\": \"https://example.com/sse\"}\n  }\n}\n"},
		{name: "antigravity", host: "antigravity", text: "{\n    \"mcpServers\": {}\n}"},
	}
}

func tomlCorpus() []specimen {
	const table = "[mcp_servers.weather]\ncommand = \"npx\"\nargs = [\"-y\", \"weather-mcp\"]\n"
	return []specimen{
		{name: "empty", host: "codex", scope: User, text: ""},
		{name: "only comments", host: "codex", scope: User, text: "# nothing yet"},
		{name: "tables", host: "codex", scope: User, text: "model = \"o5\"\n\n# the weather\n" + table + "\n[mcp_servers.weather.env]\nKEY = \"made-up-2\" # secret\n\n[mcp_servers.notes]\ncommand = \"uvx\"\n\n[projects.\"/src/a\"]\ntrust_level = \"trusted\"\n"},
		{name: "crlf", host: "codex", scope: User, text: "model = \"o5\"\r\n\r\n[mcp_servers.weather]\r\ncommand = \"npx\"\r\n\r\n[tui]\r\nnotifications = true\r\n"},
		{name: "mark", host: "codex", scope: User, text: bomText + table},
		{name: "no final newline", host: "codex", scope: User, text: table + "enabled = true"},
		{name: "inline tables", host: "codex", scope: User, text: "[mcp_servers]\nnotes = { command = \"uvx\" }\nweather = { command = \"npx\", env = { K = \"made-up-3\" } } # note\n\n[tui]\nx = 1\n"},
		{name: "all inline", host: "codex", scope: User, text: "mcp_servers = { weather = { command = \"npx\" }, notes = { command = \"uvx\" } }\n[tui]\nx = 1\n"},
		{name: "dotted", host: "codex", scope: User, text: "mcp_servers.weather.command = \"npx\"\nmcp_servers.weather.args = []\nmodel = \"o5\"\n[tui]\nx = 1\n"},
		{name: "multi-line", host: "codex", scope: User, text: "[mcp_servers.weather]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"[not.a.header]\",\n]\nnote = \"\"\"\n[mcp_servers.fake]\n\"\"\"\n\n[[history]]\nat = 2026-01-02T03:04:05Z\nf = 1_000.5\n"},
		{name: "quoted and spaced", host: "codex", scope: Project, text: "  [ mcp_servers . \"weather\" ]  # here\n  command = 'npx'\n\n[mcp_servers.\"a.b c\"]\ncommand = \"x\"\n"},
		{name: "apart", host: "codex", scope: User, text: "[mcp_servers.weather]\ncommand = \"npx\"\n[tui]\nx = 1\n[mcp_servers.weather.env]\nA = \"made-up-4\"\n[history]\npersistence = \"none\"\n"},
	}
}

func refusedCorpus() []specimen {
	return []specimen{
		{name: "only a comment", host: "cursor", text: "// later\n", refused: "not valid JSON"},
		{name: "cut off", host: "cursor", text: "{\n  \"mcpServers\": {\n    \"weather\": {\"command\": \"np", refused: "not valid JSON"},
		{name: "two commas", host: "cursor", text: "{\n  \"a\": 1,,\n}\n", refused: ":2:10: is not valid JSON"},
		{name: "list", host: "cursor", text: "[]\n", refused: ":1:1: must be an object, not a list"},
		{name: "string", host: "cursor", text: "\"mcpServers\"", refused: "must be an object"},
		{name: "servers are a list", host: "cursor", text: "{\n  \"mcpServers\": []\n}", refused: ":2:17: mcpServers must be an object, not a list"},
		{name: "servers are null", host: "cursor", text: "{\"mcpServers\": null}", refused: "mcpServers must be an object"},
		{name: "duplicate servers", host: "cursor", text: "{\n  \"mcpServers\": {},\n  \"mcpServers\": {}\n}", refused: ":3:3: the key \"mcpServers\" is there twice"},
		{name: "duplicate server", host: "cursor", text: "{\"mcpServers\": {\n  " + weather + ",\n  " + weather + "\n}}", refused: ":3:3: the key \"weather\" is there twice"},
		{name: "duplicate in a server", host: "cursor", text: "{\"mcpServers\": {\n  \"weather\": {\"command\": \"a\", \"command\": \"b\"}}}", refused: "the key \"command\" is there twice"},
		{name: "another heddle", host: "cursor", text: "{\"mcpServers\": {\"heddle\": {\"command\": \"loom-weaver\"}}}", refused: "that is not heddle"},
		{name: "utf-16", host: "cursor", text: "\xff\xfe{\x00}\x00", refused: "is UTF-16"},
		{name: "latin-1", host: "cursor", text: "{\n \"a\": \"gr\xfc\xdf\"\n}", refused: ":2:10: is not valid UTF-8"},
		{name: "toml twice", host: "codex", scope: User, text: "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a]\ncommand = \"y\"\n", refused: "there twice"},
		{name: "toml broken", host: "codex", scope: User, text: "model = \"o5\"\nargs = [\n", refused: "not valid TOML"},
		{name: "toml list of tables", host: "codex", scope: User, text: "[[mcp_servers]]\ncommand = \"x\"\n", refused: "must be an object"},
		{name: "toml dotted in braces", host: "codex", scope: User, text: "mcp_servers = { weather.command = \"npx\", weather.args = [] }\n", refused: "dotted keys"},
	}
}
