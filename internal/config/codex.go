package config

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// codexKeys are what a server of Codex has beside the common keys.
func (d serverDecoder) codexKeys(s *rawServer) keys {
	return keys{
		"env_vars":             func(n *node, path string) { s.EnvPassthrough = append(s.EnvPassthrough, d.envVars(n, path)...) },
		"http_headers":         func(n *node, path string) { s.headers = append(s.headers, d.headers(n, path)...) },
		"env_http_headers":     func(n *node, path string) { s.headers = append(s.headers, d.envHeaders(n, path)...) },
		"bearer_token_env_var": func(n *node, path string) { s.headers = append(s.headers, d.bearer(n, path)...) },
		"startup_timeout_sec":  d.seconds(&s.StartTimeout, time.Second),
		"startup_timeout_ms":   d.seconds(&s.StartTimeout, time.Millisecond),
		"tool_timeout_sec": func(n *node, path string) {
			d.seconds(&s.Timeout, time.Second)(n, path)
			s.MaxTimeout = max(s.MaxTimeout, s.Timeout)
		},
		"enabled_tools":  d.toolNames(&s.Tools.Allow),
		"disabled_tools": d.toolNames(&s.Tools.Deny),
	}
}

// envVars reads names of variables, or tables with a name.
func (d serverDecoder) envVars(n *node, path string) []string {
	plain := *n
	plain.items = slices.Clone(n.items)
	for i, item := range plain.items {
		if name := item.get("name"); item.kind == kindMap && name != nil {
			plain.items[i] = name
		}
	}
	return d.passthrough(&plain, path)
}

// envHeaders reads headers whose values are in variables.
func (d serverDecoder) envHeaders(n *node, path string) []envEntry {
	var out []envEntry
	for _, h := range d.headers(n, path) {
		if v, ok := d.fromVariable("", h.value.at, h.value.path); ok {
			out = append(out, envEntry{h.key, v})
		}
	}
	return out
}

func (d serverDecoder) bearer(n *node, path string) []envEntry {
	v, ok := d.fromVariable("Bearer ", n, path)
	if !ok {
		return nil
	}
	return []envEntry{{"Authorization", v}}
}

// fromVariable returns the text that is the value of the variable that n names,
// with something in front.
func (d serverDecoder) fromVariable(before string, n *node, path string) (text, bool) {
	name, ok := d.scalar(n, path, kindString)
	if !ok {
		return text{}, false
	}
	if variable.FindString(name) != name || name == "" {
		d.problem(n, path, "must be the name of a variable")
		return text{}, false
	}
	parts := template{{ref: &reference{from: fromEnv, name: name}}}
	if before != "" {
		parts = slices.Concat(template{{literal: before}}, parts)
	}
	return text{at: n, path: path, parts: parts}, true
}

// seconds returns the reader of a time that is written as a number of units.
func (d values) seconds(into *time.Duration, unit time.Duration) func(*node, string) {
	return func(n *node, path string) {
		s, ok := d.scalar(n, path, kindNumber)
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(s, 64)
		if limit := float64(math.MaxInt64 / int64(unit)); err != nil || v <= 0 || v > limit {
			d.problem(n, path, "%s must be a number above zero", s)
			return
		}
		*into = time.Duration(v * float64(unit))
	}
}

// toolNames returns the reader of names that a host allows or not.
func (d values) toolNames(into *[]string) func(*node, string) {
	return func(n *node, path string) {
		list := []string{}
		for i, item := range d.strings(n, path) {
			d.pattern(item, indexed(path, i), item.text)
			list = append(list, item.text)
		}
		*into = list
	}
}
