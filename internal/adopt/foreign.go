package adopt

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/config"
	"heddle/internal/hostfile"

	"github.com/goccy/go-yaml"
	"github.com/tailscale/hujson"
)

// settings are what other gateways have besides servers and heddle has too.
type settings struct {
	// base holds tools, results and restart; nil for heddle's defaults.
	base *config.Config
	// denylists are names of arguments, by the server's name in its file.
	denylists map[string][]string
	// exports is the directory for exports, as the new file names it; "" for the
	// usual one.
	exports string
}

// settingsOf returns the settings of the first source that has any.
func settingsOf(found []source) settings {
	for _, s := range found {
		if s.settings != nil {
			return *s.settings
		}
	}
	return settings{}
}

// isArrayForm reports whether a file has a list of servers, as mcp-loom does.
func isArrayForm(data []byte) bool {
	var file struct{ Servers json.RawMessage }
	plain, err := hujson.Standardize(slices.Clone(data))
	return err == nil && json.Unmarshal(plain, &file) == nil && len(file.Servers) > 0 && file.Servers[0] == '['
}

// readArray reads mcp-loom's loom.config.json. config knows it as heddle's own and
// has the word on what is right in it.
func readArray(r Request, path string, data []byte) (source, error) {
	cfg, err := config.Decode(data, path, config.Env{Home: r.Config.Home})
	if err != nil {
		return source{}, &Error{Message: err.Error(), Hint: "correct the file, or take its servers out by hand", Err: err}
	}
	plain, err := hujson.Standardize(data)
	if err != nil {
		return source{}, &Error{Message: fmt.Sprintf("%s: %v", path, err), Err: err}
	}
	var file struct{ Servers []json.RawMessage }
	if err := json.Unmarshal(plain, &file); err != nil {
		return source{}, &Error{Message: fmt.Sprintf("%s: %v", path, err), Err: err}
	}
	s := settings{base: cfg, denylists: map[string][]string{}, exports: relative(filepath.Dir(r.Path), cfg.Results.ExportDir)}
	var entries []entry
	for i, raw := range file.Servers {
		entries = append(entries, entry{cfg.Servers[i].Original, raw})
		s.denylists[cfg.Servers[i].Original] = cfg.Servers[i].ProvenanceDenylist
	}
	servers, err := asHost(r, path, entries)
	return source{path: path, servers: servers, settings: &s}, err
}

// relative returns a path as a file in dir names it.
func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return "./" + filepath.ToSlash(rel)
	}
	return path
}

// entry is a server as its file has it.
type entry struct {
	name string
	raw  json.RawMessage
}

// asHost reads entries as if they stood in a host's file at path.
func asHost(r Request, path string, entries []entry) ([]hostfile.Server, error) {
	var b strings.Builder
	b.WriteString(`{"mcpServers":{`)
	for i, e := range entries {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoted(e.name) + ":" + string(e.raw))
	}
	b.WriteString("}}")
	servers, err := hostfile.ReadAs(r.Env, path, []byte(b.String()))
	for i := range servers {
		servers[i].Line, servers[i].Column = 0, 0 // of a text that nobody has seen
		servers[i].Extra = slices.DeleteFunc(servers[i].Extra, func(key string) bool { return key == "name" || key == "provenanceDenylist" })
	}
	return servers, err
}

// guardFile is mcp-slim-guard.yml. Its other sections are named and left.
type guardFile struct {
	Tools struct {
		Allow  []string
		Deny   []string
		Params map[string]map[string]guardRule `yaml:"param_restrictions"`
	}
	Servers yaml.MapSlice
}

type guardRule struct {
	MaxLength *int `yaml:"max_length"`
	Pattern   string
	Required  bool
}

// readGuard reads mcp-slim-guard.yml.
func readGuard(r Request, path string, data []byte) (source, error) {
	var file guardFile
	var all map[string]any
	err := yaml.Unmarshal(data, &file)
	if err == nil {
		err = yaml.Unmarshal(data, &all)
	}
	switch {
	case err != nil: // the parser's reason quotes the file, secrets and all
		return source{}, &Error{Message: path + " is not valid YAML", Hint: "correct it by hand", Err: err}
	case filepath.Base(path) == "heddle.yml":
		return source{}, &Error{Message: path + " is a configuration of heddle already", Hint: "copy it"}
	case all["servers"] == nil:
		return source{}, &Error{Message: path + " has no servers", Hint: "name a file that lists servers"}
	}
	var entries []entry
	for _, item := range file.Servers {
		raw, err := json.Marshal(item.Value)
		if err != nil {
			return source{}, &Error{Message: fmt.Sprintf("%s: server %v is not understood", path, item.Key), Err: err}
		}
		entries = append(entries, entry{fmt.Sprint(item.Key), raw})
	}
	servers, err := asHost(r, path, entries)
	base := guardTools(file)
	notes := append(guardNotes(path, all), guardSections(base, path, all)...)
	return source{path: path, servers: servers, settings: &settings{base: base}, notes: notes}, err
}

// guardSections takes over the guards that are called the same here. Each is read as
// if it stood in a heddle.yml; what that refuses is named and left.
func guardSections(into *config.Config, path string, all map[string]any) (notes []string) {
	for _, key := range sharedSections {
		section, ok := all[key].(map[string]any)
		if !ok {
			continue
		}
		if agents := section["per_agent"]; agents != nil {
			delete(section, "per_agent")
			notes = append(notes, path+": "+key+".per_agent is not taken over: here each host has its own count")
		}
		if list, ok := section["block_domains"].([]any); ok {
			section["block_domains"] = ranges(list)
		}
		text, err := yaml.Marshal(map[string]any{"version": 2, key: section})
		if err != nil {
			notes = append(notes, path+": "+key+" is not taken over: it cannot be read")
			continue
		}
		cfg, err := config.Decode(text, path, config.Env{})
		if err != nil {
			var bad *config.ProblemsError
			why := err.Error()
			if errors.As(err, &bad) { // its places are in a text that nobody has seen
				why = bad.Problems[0].Field + " " + bad.Problems[0].Message
			}
			notes = append(notes, path+": "+key+" is not taken over: "+why)
			continue
		}
		switch key {
		case "ssrf":
			into.Guards.SSRF = cfg.Guards.SSRF
		case "rate_limit":
			into.Guards.RateLimit = cfg.Guards.RateLimit
		case "injection_detection":
			if into.Guards.Injection = cfg.Guards.Injection; into.Guards.Injection == nil {
				notes = append(notes, path+": "+key+" is off there and written as on: set enabled to false to leave it off")
			}
		case "audit":
			into.Audit = cfg.Audit
		}
	}
	return notes
}

// sharedSections are the guards that mcp-slim-guard has under the same names.
var sharedSections = []string{"ssrf", "rate_limit", "injection_detection", "audit"}

// ranges writes the starts of IPv4 addresses (10.*, 192.168.*) as ranges.
func ranges(list []any) []any {
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = item
		text, _ := item.(string)
		start, ok := strings.CutSuffix(text, ".*")
		if !ok {
			continue
		}
		parts := strings.Split(start, ".")
		for len(parts) < 4 {
			parts = append(parts, "0")
		}
		if p, err := netip.ParsePrefix(strings.Join(parts, ".") + "/" + strconv.Itoa(8*(strings.Count(start, ".")+1))); err == nil {
			out[i] = p.String()
		}
	}
	return out
}

// guardTools are the lists of tools. An empty allow list means all tools there, and
// none here.
func guardTools(file guardFile) *config.Config {
	out := defaults()
	if len(file.Tools.Allow) > 0 {
		out.Tools.Allow = file.Tools.Allow
	}
	out.Tools.Deny = file.Tools.Deny
	for tool, params := range file.Tools.Params {
		rules := map[string]config.ParamRule{}
		for name, r := range params {
			rules[name] = config.ParamRule{MaxLength: r.MaxLength, Pattern: r.Pattern, Required: r.Required}
		}
		if out.Tools.Params == nil {
			out.Tools.Params = map[string]map[string]config.ParamRule{}
		}
		out.Tools.Params[tool] = rules
	}
	return out
}

// guardNotes name the sections that are not taken over.
func guardNotes(path string, all map[string]any) []string {
	var out []string
	for _, key := range sortedKeys(all) {
		switch key {
		case "version", "tools", "servers", "ssrf", "rate_limit", "injection_detection", "audit":
		case "compressor":
			out = append(out, path+": compressor is not taken over: what a host sees is chosen with --mode on its command line")
		default:
			out = append(out, path+": "+key+" is not taken over: this build has nothing like it")
		}
	}
	return out
}

// defaults returns a configuration as heddle has it when nothing is said.
func defaults() *config.Config {
	cfg, err := config.Decode([]byte("version: 2\n"), "/heddle.yml", config.Env{})
	if err != nil { // cannot be
		return &config.Config{}
	}
	return cfg
}
