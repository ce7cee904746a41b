package config

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Part reads data as [Load] reads the file at path, which need not be there: what
// is relative in data counts from its directory.
func Part(data []byte, path string, env Env) (*Config, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return load(data, abs, env, osFiles{})
}

// With returns a configuration that also has the servers of parts, behind its own
// and with their warnings and secrets. Names must differ; whatever else parts say
// is left out.
func (c *Config) With(parts ...*Config) *Config {
	out := *c
	out.Servers, out.Warnings = slices.Clone(c.Servers), slices.Clone(c.Warnings)
	secrets := masks{}
	for _, s := range c.secrets {
		secrets.add(s)
	}
	for _, p := range parts {
		out.Servers = append(out.Servers, p.Servers...)
		for _, w := range p.Warnings {
			if !slices.Contains(out.Warnings, w) { // a .env is read by each of them
				out.Warnings = append(out.Warnings, w)
			}
		}
		for _, s := range p.secrets {
			secrets.add(s)
		}
	}
	out.secrets = secrets.list()
	return &out
}
