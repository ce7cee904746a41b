package policy

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"heddle"
	"heddle/internal/policy/inject"
)

// Injection says how texts are judged that may try to take control. Nil judges
// none.
type Injection struct {
	// Sensitivity is "low", "medium" or "high".
	Sensitivity string
	// Mode is "block" or "log", for arguments.
	Mode string
	// Results is "warn", "block" or "off", for what servers answer.
	Results string
}

// level returns the sensitivity by its word.
func (i *Injection) level() inject.Level {
	switch i.Sensitivity {
	case "low":
		return inject.Low
	case "high":
		return inject.High
	}
	return inject.Medium
}

// injections is the check of arguments.
type injections struct {
	detector *inject.Detector
	block    bool
}

func (i injections) before(_ context.Context, s *state) outcome {
	found := i.detector.Arguments(s.args, s.tool.InputSchema)
	if len(found) == 0 {
		return outcome{}
	}
	rule := at(found[0].Rule, found[0].Pointer)
	if !i.block {
		s.decide("injection", "noted", rule)
		return outcome{}
	}
	s.decide("injection", "refused", rule)
	var violations []heddle.Violation
	for _, f := range found[:min(len(found), maxFindings)] {
		violations = append(violations, heddle.Violation{Path: f.Pointer, Keyword: "injection", Message: "looks like an attempt to take control: " + f.Rule})
	}
	return outcome{action: Refuse, err: &heddle.Error{
		Kind: heddle.KindInjection, Op: "policy.injection", Tool: s.call.Tool, Violations: violations,
		Public: fmt.Sprintf("An argument of %s looks like an attempt to take control (rule %s at %s). If it is meant, the user can set injection_detection.mode to log, or sensitivity lower, in heddle.yml.",
			toolName(s), found[0].Rule, place(found[0].Pointer)),
	}}
}

// maxFindings is how many findings are told.
const maxFindings = 8

// place is a JSON pointer for a sentence.
func place(pointer string) string {
	if pointer == "" {
		return "the top"
	}
	return plainly(pointer)
}

// at is a rule and its place for a decision.
func at(rule, pointer string) string { return strings.TrimSpace(rule + " " + plainly(pointer)) }

// plainly writes a JSON pointer without what may be a text. Its words are names of
// members, which whoever wrote the value has chosen: only short words are repeated.
func plainly(pointer string) string {
	words := strings.Split(pointer, "/")
	for i, w := range words {
		if len(w) > maxWord || strings.ContainsFunc(w, unlikeName) {
			words[i] = "…"
		}
	}
	return cut(strings.Join(words, "/"), 200)
}

// maxWord is longer than most names of members and too short for an instruction.
const maxWord = 24

func unlikeName(r rune) bool {
	return r != '_' && r != '-' && r != '.' && r != '$' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}
