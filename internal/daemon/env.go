package daemon

import (
	"runtime"
	"slices"
	"strings"

	"heddle/internal/config"
)

// base are the variables that every child gets: enough to find programs, a home
// and a language. Everything else, tokens above all, a server must be given by
// name.
var base = []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ", "TERM", "USER", "SHELL"}

// basePrefixes are families of such variables.
var basePrefixes = []string{"LC_", "XDG_"}

// windowsBase is what programs on Windows do not run without.
var windowsBase = []string{
	"PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS", "OS",
}

// chainVar names the configurations of the heddles above, so that one that would
// start itself is noticed.
const chainVar = "HEDDLE_CHAIN"

// childEnv is the environment of a server: the base, what it may have of ours,
// and its own.
func childEnv(ours []string, s *config.Server, configPath string) []string {
	var out []string
	chain := configPath
	for _, kv := range ours {
		key, value, ok := strings.Cut(kv, "=")
		_, own := s.Env[key] // an empty value is one too
		switch {
		case key == chainVar:
			chain = value + "\n" + configPath
		case !ok || own:
		case inBase(key) || slices.Contains(s.EnvPassthrough, key):
			out = append(out, kv)
		}
	}
	for k, v := range s.Env {
		out = append(out, k+"="+v)
	}
	out = append(out, chainVar+"="+chain)
	slices.Sort(out) // the same configuration gives the same environment
	return out
}

func inBase(key string) bool {
	if runtime.GOOS == "windows" {
		return slices.Contains(windowsBase, strings.ToUpper(key))
	}
	return slices.Contains(base, key) || slices.ContainsFunc(basePrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// InChain reports whether a heddle with this configuration is among those above
// us: starting it again would never end.
func InChain(chain, configPath string) bool {
	return slices.Contains(strings.Split(chain, "\n"), configPath)
}

// ChainVar is the variable that InChain's first argument comes from.
const ChainVar = chainVar
