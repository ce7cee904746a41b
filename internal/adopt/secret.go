package adopt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"heddle/internal/config"
)

// vault is the .env that secrets go to: what it has, and what is added.
type vault struct {
	env   config.Env // with what the .env has and gets
	have  map[string]string
	outer config.Env
	added []string // names, in order
	tail  string   // what has to come before the first line that is added
}

// openVault reads the .env at path, which need not be there.
func openVault(path string, env config.Env) (*vault, error) {
	v := &vault{have: map[string]string{}, outer: env}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Message: fmt.Sprintf("read %s: %v", path, cause(err)), Hint: "secrets go there; give yourself access to it", Err: err}
	}
	v.have = config.ParseDotEnv(string(data))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		v.tail = "\n"
	}
	v.env = config.Env{Home: env.Home, Lookup: v.lookup, Keyring: func(string) (string, error) { return "asked for later", nil }}
	return v, nil
}

// lookup finds a variable as heddle will, once the file is written.
func (v *vault) lookup(name string) (string, bool) {
	if value, ok := v.outside(name); ok && value != "" {
		return value, true
	}
	value, ok := v.have[name]
	return value, ok
}

func (v *vault) outside(name string) (string, bool) {
	if v.outer.Lookup == nil {
		return "", false
	}
	return v.outer.Lookup(name)
}

// keep gives a secret a variable, and returns its name: the one that is wanted, if
// it has no other value anywhere, else one with the server's name in front.
func (v *vault) keep(server, want, secret string) string {
	want = variableName(want)
	long := variableName(server + "_" + want)
	if strings.HasPrefix(want, variableName(server)+"_") {
		long = want
	}
	name := want
	for i := 1; !v.free(name, secret); i++ {
		if name = long; i > 1 {
			name = long + "_" + strconv.Itoa(i)
		}
	}
	if _, ok := v.have[name]; !ok {
		v.have[name] = secret
		v.added = append(v.added, name)
	}
	return name
}

// free reports whether a name may have this value: the environment is looked at
// before .env, so that a variable of another value there would win.
func (v *vault) free(name, value string) bool {
	if outer, ok := v.outside(name); ok && outer != "" && outer != value {
		return false
	}
	have, ok := v.have[name]
	return !ok || have == value
}

// text returns the lines to add to .env.
func (v *vault) text() string {
	if len(v.added) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(v.tail)
	for _, name := range v.added {
		b.WriteString(name + "=" + dotenvValue(v.have[name]) + "\n")
	}
	return b.String()
}

var (
	plainValue = regexp.MustCompile(`^[A-Za-z0-9_./+:@%=,~-]+$`)
	inDouble   = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	notInName  = regexp.MustCompile(`[^A-Z0-9]+`)
)

// dotenvValue quotes a value as .env files do.
func dotenvValue(s string) string {
	switch {
	case plainValue.MatchString(s):
		return s
	case !strings.ContainsAny(s, "'\r\n"):
		return "'" + s + "'"
	}
	return `"` + inDouble.Replace(s) + `"`
}

// variableName makes a variable's name of any text.
func variableName(s string) string {
	if valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`); valid.MatchString(s) && strings.ToUpper(s) == s {
		return s
	}
	s = strings.Trim(notInName.ReplaceAllString(strings.ToUpper(s), "_"), "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "S_" + s
	}
	return s
}

func argField(i int) string { return "args[" + strconv.Itoa(i) + "]" }

var argKey = regexp.MustCompile(`^-{0,2}([A-Za-z][A-Za-z0-9_.-]*)(?:=|: ?)$`)

// argName names the variable for a secret in an argument: by what stands in front
// of it, by the flag before it, or by the server alone.
func argName(server string, args []string, i int, pieces []config.Piece) string {
	if pieces == nil {
		return ""
	}
	if m := argKey.FindStringSubmatch(pieces[0].Text); m != nil && !pieces[0].Secret {
		if variableName(m[1]) == m[1] { // a container's variable
			return m[1]
		}
		return server + "_" + m[1]
	}
	if i > 0 && strings.HasPrefix(args[i-1], "--") && !strings.Contains(args[i-1], "=") {
		return server + "_" + strings.TrimLeft(args[i-1], "-")
	}
	return server + "_secret"
}
