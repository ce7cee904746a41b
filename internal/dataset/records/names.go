package records

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxName is how many bytes a name may have.
const maxName = 255

// names gives each column a name of its own, given the path of keys that it comes
// from. A name that differs from all others as it is stays; the rest are numbered.
// Names are compared without regard to case, as SQL does.
func names(paths [][]string) []SchemaColumn {
	columns := make([]SchemaColumn, len(paths))
	wanted := make(map[string]bool, len(paths))
	for i, path := range paths {
		columns[i].Name = legalName(path, i)
		wanted[strings.ToLower(columns[i].Name)] = true
	}
	used := make(map[string]bool, len(paths))
	for i, path := range paths {
		c := &columns[i]
		for n := 2; used[strings.ToLower(c.Name)]; n++ {
			suffix := "_" + strconv.Itoa(n)
			next := cut(legalName(path, i), maxName-len(suffix)) + suffix
			if folded := strings.ToLower(next); !used[folded] && !wanted[folded] {
				c.Name = next
			}
		}
		used[strings.ToLower(c.Name)] = true
		if c.Name != strings.Join(path, ".") {
			c.Source = pathText(path)
		}
	}
	return columns
}

// legalName is the path as a name, which may not be the only one.
func legalName(path []string, i int) string {
	name := strings.ToValidUTF8(strings.ReplaceAll(strings.Join(path, "."), "\x00", "\uFFFD"), "\uFFFD")
	if name == "" {
		return "column" + strconv.Itoa(i+1)
	}
	return cut(name, maxName)
}

// pathText is the path of keys so that it tells "a.b" from b in a.
func pathText(path []string) string {
	keys := make([]string, len(path))
	for i, key := range path {
		keys[i] = key
		if key == "" || strings.ContainsAny(key, ".\"") {
			quoted, _ := json.Marshal(key) // a string is never refused
			keys[i] = string(quoted)
		}
	}
	return strings.Join(keys, ".")
}

// cut returns at most the first n bytes of s, between runes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
