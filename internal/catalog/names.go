package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"heddle"
)

// exposedName is a name in parts: what may be cut to make room, and the hash
// that must stay.
type exposedName struct{ stem, hash string }

// newExposedName makes the name that a tool has if no other gets in its way. It
// depends on nothing but the pair and the budget.
func newExposedName(ref heddle.ToolRef, budget int) exposedName {
	full := ref.Server + "_" + ref.Name
	safe := strings.Map(func(r rune) rune {
		if isSafe(r) {
			return r
		}
		return '_'
	}, full)
	if len(safe) <= budget {
		return exposedName{stem: safe}
	}
	sum := sha256.Sum256([]byte(full))
	hash := "_" + hex.EncodeToString(sum[:4])
	return exposedName{stem: safe[:budget-len(hash)], hash: hash}
}

// with returns the name with a suffix, within the budget.
func (n exposedName) with(suffix string, budget int) string {
	room := max(budget-len(n.hash)-len(suffix), 0)
	return n.stem[:min(len(n.stem), room)] + n.hash + suffix
}

func isSafe(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

// expose returns the exposed names of refs, which are distinct and equal none of
// own. Every name that needs no suffix is given before any suffix, so that a
// suffix never pushes another tool off its own name.
func expose(refs []heddle.ToolRef, budget int, own []string, given *given) (names []string, warnings []Warning) {
	names = make([]string, len(refs))
	plain := make([]exposedName, len(refs))
	taken := make(map[string]int, len(refs)+len(own)) // name → position, -1 for own
	for _, name := range own {
		taken[name] = -1
	}
	for i, ref := range refs {
		plain[i] = newExposedName(ref, budget)
		name := plain[i].with("", budget)
		if _, ok := taken[name]; !ok && !given.toOther(name, ref, false) {
			taken[name] = i
			names[i] = name
		}
	}
	last := map[string]int{} // plain name → last suffix given
	for i, ref := range refs {
		name := plain[i].with("", budget)
		if names[i] == "" {
			holder, ok := taken[name]
			if !ok {
				holder = i // whoever had it is gone
			}
			free := func(name string) bool {
				_, ok := taken[name]
				return !ok && !given.toOther(name, ref, false)
			}
			names[i] = suffixed(plain[i], budget, free, last)
			taken[names[i]] = i
			warnings = append(warnings, collision(ref, names[i], holder, refs))
		}
		if plain[i].hash != "" {
			warnings = append(warnings, warning(ref.Server, ref.Name,
				note{WarnNameCut, "the name is over " + strconv.Itoa(budget) + " characters; exposed as " + names[i]}))
		}
	}
	return names, warnings
}

// suffixed returns the plain name with the first free suffix.
func suffixed(plain exposedName, budget int, free func(string) bool, last map[string]int) string {
	key := plain.with("", budget)
	for n := max(last[key]+1, 2); ; n++ {
		name := plain.with("_"+strconv.Itoa(n), budget)
		if free(name) {
			last[key] = n
			return name
		}
	}
}

func collision(ref heddle.ToolRef, name string, holder int, refs []heddle.ToolRef) Warning {
	if holder < 0 {
		return warning(ref.Server, ref.Name, note{WarnReservedName, "its exposed name is one of heddle's own tools; exposed as " + name})
	}
	other := refs[holder]
	if other == ref {
		return warning(ref.Server, ref.Name, note{WarnNameCollision, "its exposed name was another tool's before; exposed as " + name})
	}
	return warning(ref.Server, ref.Name, note{WarnNameCollision,
		"its exposed name is that of " + shown(other.Server) + "::" + shown(other.Name) + "; exposed as " + name})
}

// nativeNames returns the names in native mode: a tool's own where hosts accept
// it and no other tool lays claim to it, else the exposed one.
func nativeNames(refs []heddle.ToolRef, exposed, own []string, given *given) (names []string, warnings []Warning) {
	names = make([]string, len(refs))
	reserved := make(map[string]bool, len(own))
	for _, name := range own {
		reserved[name] = true
	}
	holder := make(map[string]int, len(refs)) // own name → the one tool that has it, -1 for several
	for i, ref := range refs {
		if _, ok := holder[ref.Name]; ok {
			holder[ref.Name] = -1
		} else {
			holder[ref.Name] = i
		}
	}
	var queue []int // tools that take their exposed name
	for i, ref := range refs {
		names[i] = ref.Name
		if reserved[ref.Name] {
			warnings = append(warnings, warning(ref.Server, ref.Name,
				note{WarnReservedName, "the name is one of heddle's own tools; native mode lists it as " + exposed[i]}))
		}
		if reserved[ref.Name] || holder[ref.Name] < 0 || !validNative(ref.Name) || given.toOther(ref.Name, ref, true) {
			queue = append(queue, i)
		}
	}
	// A tool that takes its exposed name may take it from a tool whose own name it
	// is; that one then takes its exposed name, and so on. Exposed names are
	// distinct, so this ends.
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		names[i] = exposed[i]
		if given.toOther(exposed[i], refs[i], true) {
			names[i] = unused(exposed[i], refs[i], exposed, holder, given)
			continue
		}
		if j, ok := holder[exposed[i]]; ok && j >= 0 && j != i && names[j] != exposed[j] {
			queue = append(queue, j)
		}
	}
	return names, warnings
}

// unused returns a name like name that no tool has, wants or once had.
func unused(name string, ref heddle.ToolRef, exposed []string, holder map[string]int, given *given) string {
	for n := 2; ; n++ {
		next := name + "_" + strconv.Itoa(n)
		if _, wanted := holder[next]; !wanted && !slices.Contains(exposed, next) && !given.toOther(next, ref, true) {
			return next
		}
	}
}

// validNative reports whether hosts accept a name as it is.
func validNative(name string) bool {
	return name != "" && len(name) <= maxNativeName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !isSafe(r) && r != '.' && r != '/' })
}
