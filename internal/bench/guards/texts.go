package guards

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"heddle/internal/lock"
	"heddle/internal/policy/definition"
	"heddle/internal/policy/inject"
	"heddle/internal/secret"
)

func measurePoisoning(_ context.Context, raw []json.RawMessage) ([]Figure, error) {
	rows, err := decode[struct {
		Expect, Server, Group string
		Hard                  bool
		Tool, Approved        json.RawMessage
		Peers                 []definition.Named
	}](raw)
	if err != nil {
		return nil, err
	}
	poisoned, hard := atLeast("flagged of poisoned definitions", 0.9), plain("flagged of poisoned ones that no text gives away")
	shadowing := atLeast("flagged of shadowing tools", 8.0/9)
	clean := atMost("flagged of clean definitions", 0.02)
	changed, unchanged := atLeast("noticed of changes since approval", 1), atMost("noticed where nothing changed", 0)
	for _, r := range rows {
		var own struct{ Name, Description string }
		if err := json.Unmarshal(r.Tool, &own); err != nil {
			return nil, err
		}
		// The peers were there before: a shadow shows on what comes later.
		tools := append(slices.Clone(r.Peers), definition.Named{Server: r.Server, Name: own.Name, Description: own.Description, Definition: r.Tool})
		flagged := len(definition.Inspect(r.Tool)) > 0 || len(definition.Shadows(tools)[len(r.Peers)]) > 0
		differs := lock.Hash(r.Tool) != lock.Hash(r.Approved)
		switch {
		case r.Expect == "changed":
			changed.add(differs, "")
		case r.Expect == "unchanged":
			unchanged.add(differs, "")
		case r.Expect == "clean":
			clean.add(flagged, r.Group)
		case r.Expect == "shadowing":
			shadowing.add(flagged, "")
		case r.Hard:
			hard.add(flagged, r.Group)
		default:
			poisoned.add(flagged, r.Group)
		}
	}
	return values(poisoned, hard, shadowing, clean, changed, unchanged), nil
}

func measureSecrets(_ context.Context, raw []json.RawMessage) ([]Figure, error) {
	rows, err := decode[struct {
		Expect      string
		Keyed, Hard bool
		Payload     json.RawMessage
		Secrets     []string
	}](raw)
	if err != nil {
		return nil, err
	}
	formats, keyed, hard := atLeast("found of providers' formats", 0.95), atLeast("found of secrets under a telling key", 0.85), plain("found of what is hard to see")
	clean, gone := atMost("found in look-alikes", 0.03), atLeast("gone after masking, of what was found", 1)
	for _, r := range rows {
		masked, found := secret.MaskJSON(r.Payload)
		hit := len(found) > 0
		if r.Expect == "clean" {
			clean.add(hit, "")
			continue
		}
		switch {
		case r.Hard:
			hard.add(hit, "")
		case r.Keyed:
			keyed.add(hit, "")
		default:
			formats.add(hit, "")
		}
		if hit {
			gone.add(!holdsAny(masked, r.Secrets), "")
		}
	}
	return values(formats, keyed, hard, clean, gone), nil
}

// holdsAny reports whether a JSON value holds one of the texts, as it is or escaped.
func holdsAny(raw []byte, texts []string) bool {
	plain := string(raw)
	for _, t := range texts {
		quoted, _ := json.Marshal(t)
		if strings.Contains(plain, t) || strings.Contains(plain, string(quoted[1:len(quoted)-1])) {
			return true
		}
	}
	return false
}

// textRow is a text that may contain instructions to a model.
type textRow struct {
	Label, Tier, Lang, Channel, Text, Group string
}

// channel is where the text stands.
func (r *textRow) channel() inject.Channel {
	switch r.Channel {
	case "description":
		return inject.Description
	case "argument":
		return inject.Argument
	}
	return inject.Result
}

func measureInjection(_ context.Context, raw []json.RawMessage) ([]Figure, error) {
	rows, err := decode[textRow](raw)
	if err != nil {
		return nil, err
	}
	out := medium(rows)
	out = append(out, level(rows, inject.Low, atLeast("low: flagged of explicit", 0.5), atMost("low: flagged of all benign", 0.005))...)
	return append(out, level(rows, inject.High, plain("high: flagged of explicit"), atMost("high: flagged of all benign", 0.07))...), nil
}

// medium counts the level that is the default, tier by tier and language by language.
func medium(rows []textRow) []Figure {
	d := inject.New(inject.Medium)
	explicit, obfuscated := atLeast("medium: flagged of explicit", 0.85), atLeast("medium: flagged of obfuscated", 27.0/35)
	chinese := atLeast("medium: flagged of explicit and obfuscated in Chinese", 32.0/42)
	real, benign := atMost("medium: flagged of real results and descriptions", 0.015), atMost("medium: flagged of all benign but security documents", 0.02)
	words := atMost("medium: flagged of innocent trigger words", 0.012)
	others := map[string]*Figure{}
	other := func(name string, hit bool, group string) {
		if others[name] == nil {
			others[name] = plain(name)
		}
		others[name].add(hit, group)
	}
	for i := range rows {
		r := &rows[i]
		hit := len(d.Text(r.channel(), r.Text)) > 0
		if r.Label == "benign" {
			switch r.Tier {
			case "about_security", "quotes_attack":
				other("medium: flagged of benign "+r.Tier, hit, r.Group)
				continue
			case "real_tool_result", "real_tool_description":
				real.add(hit, r.Group)
			case "trigger_words":
				words.add(hit, r.Group)
			}
			benign.add(hit, r.Group)
			continue
		}
		switch r.Tier {
		case "explicit":
			explicit.add(hit, r.Group)
			other("medium: flagged of explicit, "+r.Lang, hit, r.Group)
		case "obfuscated":
			obfuscated.add(hit, r.Group)
		default:
			other("medium: flagged of "+r.Tier, hit, r.Group)
		}
		if r.Lang == "zh" && (r.Tier == "explicit" || r.Tier == "obfuscated") {
			chinese.add(hit, r.Group)
		}
	}
	out := values(explicit, obfuscated, chinese, real, benign, words)
	rest := slices.Collect(maps.Values(others))
	slices.SortFunc(rest, func(a, b *Figure) int { return cmp.Compare(a.Name, b.Name) })
	return append(out, values(rest...)...)
}

// level counts another level.
func level(rows []textRow, l inject.Level, explicit, benign *Figure) []Figure {
	d := inject.New(l)
	for i := range rows {
		r := &rows[i]
		hit := len(d.Text(r.channel(), r.Text)) > 0
		switch {
		case r.Label == "benign":
			benign.add(hit, r.Group)
		case r.Tier == "explicit":
			explicit.add(hit, r.Group)
		}
	}
	return values(explicit, benign)
}
