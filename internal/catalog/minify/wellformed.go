package minify

import "regexp"

// wellFormed reports whether v is a schema that every dialect can use, as far as
// its keywords have values of the right kind. It is stricter than need be.
func wellFormed(v *value) bool {
	if v.kind == 'n' {
		return string(v.raw) == "true" || string(v.raw) == "false"
	}
	if v.kind != '{' {
		return false
	}
	for _, m := range v.members {
		if !usable(m.key, m.v) {
			return false
		}
	}
	ok := true
	subschemas(v, func(_ string, _ *member, sub *value) { ok = ok && wellFormed(sub) })
	return ok
}

// usable reports whether a keyword has a value of the right kind.
func usable(keyword string, v *value) bool {
	switch how := holder(keyword); {
	case how == holdsBag:
		return v.kind == '{' && keyword != "dependencies" && keyword != "patternProperties"
	case how == holdsList:
		return v.kind == '[' && len(v.items) > 0
	case how == holdsOne:
		return v.kind != '['
	}
	switch keyword {
	case "type":
		return v.kind == '"' && typed[unquote(v.raw)] != nil || v.kind == '[' && len(v.items) > 0 && allStrings(v, func(s string) bool { return typed[s] != nil })
	case "required":
		return v.kind == '[' && len(v.items) > 0 && allStrings(v, func(string) bool { return true })
	case "enum":
		return v.kind == '[' && len(v.items) > 0
	case "title", "description", "$comment", "format", "$ref":
		return v.kind == '"'
	case "pattern":
		if v.kind != '"' {
			return false
		}
		_, err := regexp.Compile(unquote(v.raw))
		return err == nil
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return v.kind == 'n' && allDigits(v.raw)
	case "minimum", "maximum":
		return v.kind == 'n' && (v.raw[0] == '-' || allDigits(v.raw[:1]))
	case "examples":
		return v.kind == '['
	case "default", "const":
		return true
	}
	return false
}

// allStrings reports whether the items are strings that ok accepts, none twice.
func allStrings(v *value, ok func(string) bool) bool {
	seen := map[string]bool{}
	for _, item := range v.items {
		if item.kind != '"' || seen[unquote(item.raw)] || !ok(unquote(item.raw)) {
			return false
		}
		seen[unquote(item.raw)] = true
	}
	return true
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
