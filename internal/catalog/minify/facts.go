package minify

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// fact is a kind of thing that a description may say and must not lose.
type fact uint8

const (
	factDefault fact = 1 << iota
	factValues
	factRange
	factFormat
	factUnit
	factDeprecated
)

// A tell is how a piece of a description is known to state a fact. Those of a
// property speak of its one value, and what looks like a fact mostly is one; the
// description of a tool speaks of much else, and there a list of words is a list
// of allowed values only if it looks like one.
type tell struct {
	fact     fact
	property *regexp.Regexp
	tool     *regexp.Regexp // nil if the same
}

// What the tells are made of: an item of a list in quotes, and one that looks like
// a value because it has capitals, digits or underscores.
const (
	quoted = `["'\x60][^"'\x60 ]{1,40}["'\x60]`
	coded  = `\b[\w-]*[A-Z_\d][\w-]*\b`
)

var tells = []tell{
	{factDefault, ci(`\bdefault`), ci(`\bdefault(s|ed)?\b( (to|is|are|value|of|the|a|an))*[: =]*["'\x60]?[\w.-]*`)},
	{factValues,
		ci(`\b(one of|any of|either|(allowed|valid|possible|supported|accepted|available|permitted|known) (\w+ )?(values?|options?|types?|formats?|modes?|states?)|options?( are| include)?:|values?( are| include)?:|(options|values) (are|include)|(can|may|must|should) (only )?(be( either|:| \W?["'\x60]| one))|choices?|enum)\b|["'\x60] ?(,|or|/|\||, or) ?["'\x60]|[\w-]+, ([\w-]+, )*or [\w-]+|\((e\.g\.,? )?([\w-]+(, |/|\|)){2,}|\w=\w.*\w=\w`),
		cs(`(?i:\b(one of|any of|(allowed|valid|possible|supported|accepted|available|permitted|known|legal) ([\w-]+ ){0,2}(values?|options?|types?|formats?|modes?|states?|names?|kinds?|operators?)\b( are\b| include\b| is\b)?|(supports?|accepts?) ([\w-]+ ){0,2}(types?|formats?|values?|modes?)\b|(values?|types?|modes?|actions?|operators?|levels?|status(es)?)( are| include)?:|options (are|include)\b|^\W*options?:|(can|may|must|should) (only )?be (either|one of|["'\x60])|choose (from|between)|choices (are|include)|only [^.]{1,60} (are|is) (supported|allowed|accepted|permitted|valid)\b|(accepts|takes|allows) (only|either)))` +
			`|` + quoted + `(,? or |, ?(and )?| ?/ ?| ?\| ?)` + quoted +
			`|` + coded + `, ([\w-]+, )*(or|and) ` + coded +
			`|\([^()]*\b\w+, (\w+, )*or \w+\)|\(\w+( or |/|\|)\w+\)|(^|[ ("'\x60:=])\w[\w-]*([/|][\w-]+){2,}($|[ )"'\x60,.;])|["'\x60\w]=[\w"'\x60<]+(, | or )["'\x60\w-]+=`)},
	{factRange,
		ci(`\b(max(imum)?|min(imum)?|at (most|least)|up to|between|no (more|less|fewer) than|(more|less|fewer|greater|longer|shorter) than|range[sd]?|limit(ed)?|exceed)\b[^.]{0,60}\b` + number + `\b|\b` + number + `\b[^.]{0,20}\b(max(imum)?|min(imum)?|or (more|less|fewer)|at (most|least)|limit)\b|[<>≤≥]=? ?\d|(^|[^-\d])\d{1,7} ?(-|–|to|\.\.) ?\d+($|[^-\d:T])|\b(must|should|can ?not|may not) (not )?(be )?(exceed|(more|less|fewer|greater|longer|shorter) than)\b|\b(positive|non-?negative|non-?zero|non-?empty)\b`), nil},
	{factFormat,
		ci(`\b(formats?|formatted|ISO[ -]?\d+|RFC[ -]?\d+|YYYY|HH:mm|UTC|unix|epoch|timestamp|base64|UUID|GUID|(comma|space|semicolon|newline|pipe)[- ]separated|delimited|stringified|JSON|regex(p)?|regular expression|MIME|E\.164|semver|hex(adecimal)?|glob|cron|absolute path|url[- ]encoded|markdown|HTML|case[- ](in)?sensitive)\b`),
		ci(`\b(ISO[ -]?\d+|RFC[ -]?\d+|YYYY[-/]?MM|HH:mm|UTC|unix (time|epoch|timestamp)|epoch|base64|UUIDs?|GUIDs?|(comma|space|semicolon|newline|pipe|tab)[- ](separated|delimited)|stringified|regex(es|p)?|regular expressions?|MIME|E\.164|semver|hex(adecimal)?|globs?|cron expressions?|absolute (path|url)s?|url[- ]encoded|case[- ](in)?sensitive|(as|valid|in|escaped) (JSON|HTML|markdown|XML|YAML|CSV)|(JSON|HTML|markdown|XML|YAML|CSV) (strings?|objects?|arrays?|formats?|documents?|syntax)|formatted (as|like)|formats?( is| are| must be| should be)? ?[:"'\x60(<]|in [\w'"\x60/:<>-]+ (format|form)\b)`)},
	{factUnit,
		ci(`\b(in|of|per) (milli|micro|nano)?(second|minute|hour|day|week|month|year|byte|pixel|point|cent|meter|metre|kilometer|mile|degree|character|token|percent)s?\b|\b(milliseconds?|microseconds?|seconds?|minutes?|ms|px|bytes?|[KMGT]i?B|percent(age)?|pixels?|cents|degrees|kilomet(er|re)s?|met(er|re)s|inch(es)?|miles|kilograms?|grams?|pounds|ounces|tonn?e?s|lit(er|re)s?|volts?|(kilo)?watts?|dollars|euros|celsius|fahrenheit|kelvin|Hz|fps|dpi|bps|mph|km/h|rpm|kWh)\b|\b(in|per) (k?g|[kcm]?m|lbs?|oz|ft|feet|USD|EUR|GBP)\b|\bmeasured in\b|\bunits? (is|are|of (measure|time))\b|\d ?%`), nil},
	{factDeprecated, ci(`\b(deprecat\w*|obsolete|no longer|legacy\b|removed in)`), nil},
}

// number is a number in digits or words.
const number = `(\d[\d,.]*\w{0,2}|zero|one|two|three|four|five|ten|hundred|thousand)`

func ci(re string) *regexp.Regexp { return cs(`(?i)` + re) }
func cs(re string) *regexp.Regexp { return regexp.MustCompile(re) }

var (
	// points begins sentences that only say where else to read.
	points = ci(`^\W*(see( also)?|refer to|learn more|read more|for (more|further|a (complete|full)|details|additional|other)\b)`)
	// answers begins sentences on what a tool answers: what lists and formats they
	// name, no caller has to keep to. Units and the shapes of times still count.
	answers = ci(`^\W*(tip: ?)?((it |also |always |this (tool|command) |the (tool|command|response) )*(returns?\b|returned|reports?\b|shows?\b|displays?\b|lists?\b|gets?\b|retrieves?\b|outputs?\b|provides?\b)|(results?|output|responses?|each (\w+ )?(has|item|entry|result|contains|includes))\b)`)
	// purposes begins sentences on what a tool is for, and examples.
	purposes = ci(`^\W*(tip: ?)?(((always|only|do not|don't|never|please) )?(use|call|prefer|choose) (this|it|when|for|only|the command|the tool)\b|when to use|use (cases?|for)|not (for|recommended)|best for|ideal|good for|common mistakes|(usage )?examples?\b|for example|e\.g\.|prompt)`)
	strict   = ci(`\b(ISO[ -]?\d+|RFC[ -]?\d+|YYYY|UTC|unix|epoch|base64|hex(adecimal)?)\b`)
	// condition is what a sentence says of when it holds.
	condition = ci(`^\W*(when|if|unless|after|before|once) [^,]*[,:]`)
	digits    = cs(`\d+`)
)

// fit takes out of a text what looks like such a fact and is none.
func (t *tell) fit(text string) string {
	switch t.fact {
	case factRange:
		return example.ReplaceAllString(text, "")
	case factDefault:
		return nothing.ReplaceAllString(text, "")
	}
	return text
}

var (
	example = ci(`\(?\be\.g\.,? [^()]*`)
	nothing = ci(`\bdefaults?( to| is|:)? ["'\x60]?(null|undefined)\b`)
)

// reader tells what facts a text states, and which of them would be lost with it:
// those that the schema does not state as well.
type reader interface {
	read(text string) (stated, lost fact)
}

// property reads the description of the schema that it is.
type property struct {
	stated  fact
	numbers map[string]bool
}

func (p *property) read(text string) (stated, lost fact) {
	for _, t := range tells {
		if t.property.MatchString(t.fit(text)) {
			stated |= t.fact
		}
	}
	if points.MatchString(text) {
		stated &^= factValues | factFormat
	}
	lost = stated &^ p.stated
	if stated&p.stated&(factDefault|factRange) != 0 && !p.has(text) {
		lost |= stated & p.stated & (factDefault | factRange)
	}
	if stated&p.stated&factFormat != 0 && beyond.MatchString(text) && !illustrates.MatchString(text) {
		lost |= factFormat
	}
	return stated, lost
}

// beyond is what is said of formats and neither a format nor a pattern shows.
var beyond = ci(`\b(UTC|case[- ](in)?sensitive|base64|stringified|separated|delimited)\b`)

// illustrates begins what only shows what was said before.
var illustrates = ci(`^\W*(for example|for instance|e\.g\.)`)

// has reports whether the schema has all the numbers of the text.
func (p *property) has(text string) bool {
	for _, n := range digits.FindAllString(text, -1) {
		if !p.numbers[n] {
			return false
		}
	}
	return true
}

// propertyOf returns what the schema v states itself.
func propertyOf(v *value) *property {
	p := &property{stated: stated(v), numbers: map[string]bool{}}
	if p.stated&(factDefault|factRange) == 0 {
		return p
	}
	add := func(v *value) {
		for _, m := range v.members {
			if m.key != "description" && m.v.kind != '{' && m.v.kind != '[' {
				for _, n := range digits.FindAllString(string(m.v.raw), -1) {
					p.numbers[n] = true
				}
			}
		}
	}
	add(v)
	subschemas(v, func(keyword string, _ *member, sub *value) {
		if keyword == "anyOf" || keyword == "oneOf" {
			add(sub)
		}
	})
	return p
}

// stated returns the facts that the schema states itself, so that its description
// need not.
func stated(v *value) (f fact) {
	for _, m := range v.members {
		switch m.key {
		case "default":
			if len(m.v.members)+len(m.v.items) > 0 || m.v.kind == '"' && len(m.v.raw) > 2 || m.v.kind == 'n' && string(m.v.raw) != "null" {
				f |= factDefault
			}
		case "enum", "const":
			f |= factValues
		case "format", "pattern":
			f |= factFormat
		case "deprecated":
			f |= factDeprecated
		}
	}
	if has(v, "minimum", "exclusiveMinimum") && has(v, "maximum", "exclusiveMaximum") || v.get("maxItems") != nil || v.get("maxLength") != nil {
		f |= factRange
	}
	if items := v.get("items"); items != nil && items.kind == '{' {
		f |= stated(items) & factValues
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if branches := v.get(key); branches != nil {
			f |= statedByAll(branches.items)
		}
	}
	return f
}

// statedByAll returns the facts that every branch states but for null.
func statedByAll(branches []*value) fact {
	f, any := ^fact(0), false
	for _, b := range branches {
		if b.kind == '{' && b.text("type") != "null" {
			f, any = f&stated(b), true
		}
	}
	if !any {
		return 0
	}
	return f
}

func has(v *value, keys ...string) bool {
	for _, k := range keys {
		if v.get(k) != nil {
			return true
		}
	}
	return false
}

// tool reads the description of a tool, whose schema says what its places say.
type tool struct {
	places []*spoken
	byName map[string][]int
}

// spoken is what stands at one place of a schema: the words of its name, its
// description and its values.
type spoken struct {
	words map[string]bool
	text  strings.Builder // the words in their order
}

// maxPlaces is how many places of a schema are compared with a description.
const maxPlaces = 1000

func (t *tool) read(text string) (stated, lost fact) {
	said := condition.ReplaceAllString(text, "")
	answer := answers.MatchString(said)
	aside := points.MatchString(text) || purposes.MatchString(said)
	var terms []string
	for _, tell := range tells {
		re := tell.tool
		if re == nil {
			re = tell.property
		}
		of := text
		if tell.fact == factValues || tell.fact == factFormat {
			of = said
		}
		spans := re.FindAllString(tell.fit(of), -1)
		if len(spans) == 0 || tell.fact == factValues && (aside || answer) || tell.fact == factFormat && aside && !strict.MatchString(said) {
			continue
		}
		stated |= tell.fact
		terms = append(terms, spans...)
	}
	if stated == 0 || t.covers(said, terms) {
		return stated, 0
	}
	return stated, stated
}

// valued are the words of a text that may be values.
var valued = cs(`["'\x60][^"'\x60]{1,40}["'\x60]|` + coded)

// covers reports whether one place of the schema has every word of the terms, and
// every value in the text; if the text names places, they together.
func (t *tool) covers(text string, terms []string) bool {
	need := map[string]bool{}
	phrases := []string{}
	named := map[int]bool{}
	for _, span := range append(terms, valued.FindAllString(text, -1)...) {
		if places := t.byName[strings.Trim(span, "\"'`")]; places != nil { // a name, not a value
			for _, i := range places {
				named[i] = true
			}
			continue
		}
		said := telling(span)
		for _, w := range said {
			need[w] = true
		}
		if len(said) > 1 && said[0] == "default" {
			phrases = append(phrases, " "+strings.Join(said, "  ")+" ")
		}
	}
	if len(need) == 0 {
		return len(named) > 0
	}
	if len(named) > 0 {
		words, text := map[string]bool{}, ""
		for i := range named {
			maps.Copy(words, t.places[i].words)
			text += t.places[i].text.String()
		}
		return hasAll(need, words) && containsAll(text, phrases)
	}
	for _, p := range t.places {
		if hasAll(need, p.words) && containsAll(p.text.String(), phrases) {
			return true
		}
	}
	return false
}

// telling returns the words of a text that say something by themselves.
func telling(text string) []string {
	all := slices.DeleteFunc(words(text), func(w string) bool { return trigger[w] || idle(w) })
	for i, w := range all {
		all[i] = strings.TrimSuffix(stem(w), "ed")
	}
	return all
}

func hasAll(need, words map[string]bool) bool {
	for w := range need {
		if !words[w] {
			return false
		}
	}
	return true
}

func containsAll(text string, phrases []string) bool {
	for _, p := range phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

// trigger are words by which facts are told and that say nothing else.
var trigger = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`one any of allowed valid possible supported supports support accepted accepts accept available permitted known legal values value
		options option are include includes is can may must should be either only choose from between choices takes allows format formats formatted as like in by or and
		to if not no than up at per types type modes mode`) {
		m[w] = true
	}
	return m
}()

// describedBy returns the reader of the description of the tool whose minified schema
// is root.
func describedBy(root *value) *tool {
	t := &tool{byName: map[string][]int{}}
	if root != nil {
		t.visit("", root, nil)
	}
	return t
}

// visit notes what v says under that name; items speak for their list.
func (t *tool) visit(name string, v *value, into *spoken) {
	if v.kind != '{' || len(t.places) >= maxPlaces {
		return
	}
	if into == nil {
		into = &spoken{words: map[string]bool{}}
		if name != "" {
			t.byName[name] = append(t.byName[name], len(t.places))
		}
		t.places = append(t.places, into)
		into.note(name)
	}
	for _, m := range v.members {
		if holder(m.key) == 0 && m.key != "required" {
			into.note(m.key + " " + string(m.v.append(nil)))
			if m.key == "format" {
				into.note(standards[unquoteKind(m.v)])
			}
		}
	}
	subschemas(v, func(keyword string, m *member, sub *value) {
		switch keyword {
		case "items", "anyOf", "oneOf", "allOf", "additionalProperties":
			t.visit(name, sub, into)
		case "properties":
			t.visit(m.key, sub, nil)
		}
	})
}

// standards are other names of formats.
var standards = map[string]string{
	"date": "ISO 8601 YYYY-MM-DD", "date-time": "ISO 8601 RFC 3339", "time": "ISO 8601 RFC 3339", "duration": "ISO 8601",
	"uuid": "GUID", "email": "RFC 5322", "uri": "RFC 3986 absolute URL",
}

func (p *spoken) note(text string) {
	for _, w := range telling(text) {
		p.words[w] = true
		p.text.WriteString(" " + w + " ")
	}
}
