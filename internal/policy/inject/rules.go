package inject

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// family is a kind of rule. Of each, a window counts the strongest only.
type family uint8

const (
	override family = iota
	extract
	jailbreak
	fakeTurn
	address
	conceal
	action
	authority
	smuggle
	families
)

// ruleNames are what findings are called.
var ruleNames = [families]string{"override", "extract-prompt", "jailbreak", "role-marker", "address-model", "conceal", "exfiltrate", "authority", "smuggle"}

// hiddenRule is what a finding of hidden text by itself is called.
const hiddenRule = "hidden-text"

// rule adds points to its family where its concepts stand in order, each at most so many
// bytes behind the one before, in one sentence. "+" instead of "~" lets them be in
// different ones. "a|b" is either.
type rule struct {
	family family
	points int
	seq    string
}

// table is all rules. At [Medium] 50 points are enough; what has no more than a hint's 20
// says nothing by itself.
var table = []rule{
	{override, 90, "drop ~45 prior|sofar ~16 rules"},
	{override, 80, "drop ~45 rules ~25 prior|sofar"},
	{override, 70, "drop ~12 you ~25 rules"},
	{override, 70, "drop ~20 guards ~12 prompt"},
	{override, 50, "drop ~25 guards ~25 rules|matter"},
	{override, 50, "drop ~12 all ~15 rules"},
	{override, 50, "drop ~12 rules|matter ~25 guards"},
	{override, 30, "drop ~3 rules"},
	{override, 80, "drop ~30 prompt"},
	{override, 40, "drop ~40 prior|sofar ~16 matter"},
	{override, 60, "drop ~15 all ~25 sofar"},
	{override, 70, "drop ~12 sofar ~20 say|instead"},
	{override, 30, "drop ~12 sofar"},
	{override, 70, "drop ~25 rules|matter ~15 user"},
	{override, 40, "drop ~8 user"},
	{override, 50, "drop ~15 ended"},
	{override, 40, "aside"},
	{override, 60, "aside ~80 say|send|erase|verb|reveal"},
	{override, 50, "drop ~12 you ~25 matter"},
	{override, 90, "prior|sofar ~30 rules ~45 cease"},
	{override, 50, "prior ~30 matter ~45 cease"},
	{override, 50, "rules ~20 cease"},
	{override, 40, "prior|sofar ~20 rules ~40 dropped"},
	{override, 50, "prior|sofar ~20 rules ~8 dropped"},
	{override, 70, "rules ~4 you ~50 dropped"},
	{override, 70, "rules ~15 sofar ~50 dropped"},
	{override, 80, "you ~20 rules ~40 dropped"},
	{override, 25, "rules ~50 dropped"},
	{override, 40, "prior|sofar ~20 matter ~8 dropped"},
	{override, 70, "drop ~20 doc ~25 instead ~12 say"},
	{override, 40, "drop ~10 doc ~40 say"},
	{override, 50, "ended +40 update|now|you|drop"},

	{override, 80, "drop ~15 user ~15 rules|matter"},
	{override, 70, "drop ~3 rules ~20 say|instead"},
	{override, 30, "drop ~10 party ~12 instead"},
	{override, 50, "drop ~12 others ~20 tool"},
	{override, 80, "drop ~30 yours"},

	{extract, 70, "reveal ~40 prompt|yours ~30 exact"},
	{extract, 70, "reveal ~25 exact ~30 prompt|yours"},
	{extract, 60, "reveal ~30 prompt|yours"},
	{extract, 60, "prompt|yours ~40 exact"},
	{extract, 50, "prompt|yours ~30 reveal"},
	{extract, 60, "prompt|yours ~40 utter"},

	{jailbreak, 70, "act +120 norule"},
	{jailbreak, 60, "norule +120 act"},
	{jailbreak, 60, "act ~40 persona"},
	{jailbreak, 50, "persona +150 norule"},
	{jailbreak, 25, "norule"},
	{jailbreak, 20, "persona"},
	{jailbreak, 20, "act"},

	{fakeTurn, 30, "marker"},
	{fakeTurn, 50, "marker +80 norule|update|drop|reveal|send|erase|pay|persona"},
	{fakeTurn, 20, "turn"},
	{fakeTurn, 40, "turn ~80 norule|update|drop|persona"},
	{fakeTurn, 25, "turn ~60 reveal|send|erase|pay"},
	{fakeTurn, 25, "turn +300 turn"},

	{address, 50, "ai|bot ~25 reading"},
	{address, 30, "reading ~40 ai"},
	{address, 60, "addressed +80 send|erase|pay|reveal|run|drop|say|read|must|ended"},
	{address, 60, "addressed ~40 verb"},
	{address, 40, "addressed"},
	{address, 20, "ai ~20 must"},
	{address, 60, "ai ~20 must ~25 say|send|reveal|drop|pay|erase"},
	{address, 40, "hailed ~30 must|send|erase|pay|run|drop|reveal|say"},
	{address, 50, "hailed ~12 must|you ~25 verb|send|erase|pay|reveal|say|drop"},
	{address, 45, "ai ~20 must ~25 verb"},
	{address, 20, "ai ~12 rules"},
	{address, 10, "bot ~20 must"},

	{conceal, 60, "not ~15 tell ~20 user"},
	{conceal, 25, "not ~15 hint ~20 user"},
	{conceal, 25, "not ~15 tell|hint ~20 party"},
	{conceal, 40, "quiet"},
	{conceal, 20, "soft"},
	{conceal, 40, "soft ~60 send|pay|run"},
	{conceal, 50, "soft ~8 send|pay|run"},
	{conceal, 40, "send|pay|erase ~100 soft"},

	{smuggle, 60, "decode ~40 obey"},
	{smuggle, 60, "obey ~30 decode"},
	{smuggle, 50, "read ~80 obey"},

	{action, 25, "send|read|reveal ~40 secret"},
	{action, 40, "send|read|run ~60 secret ~80 dest"},
	{action, 60, "read|run ~40 secret ~60 send ~60 dest"},
	{action, 40, "secret ~40 send ~60 dest"},
	{action, 40, "secret ~40 dest ~30 send"},
	{action, 20, "send ~60 dest"},
	{action, 25, "secret ~30 send"},
	{action, 25, "send ~30 prompt|yours"},
	{action, 20, "erase"},
	{action, 40, "pay ~60 secret"},
	{action, 40, "secret|read +100 send ~40 nextcall"},
	{action, 20, "must ~15 run|send|read|erase|pay"},

	{authority, 40, "vendor ~40 update|persona"},
	{authority, 20, "update"},
	{authority, 50, "update ~25 reveal|send|erase|say|pay"},
	{authority, 25, "not|must ~12 run ~15 others"},
	{authority, 25, "approved"},
	{authority, 60, "claim +150 secret"},
	{authority, 40, "claim +100 norule|drop"},
	{authority, 30, "claim +150 reveal|must"},
	{authority, 20, "others ~20 tool"},
	{authority, 20, "now"},
	{authority, 25, "must ~40 others ~15 tool"},
	{authority, 20, "before ~40 must"},
}

// step is one concept of a rule.
type step struct {
	want  concepts
	gap   int
	cross bool // sentences
}

// pattern is a rule ready for use.
type pattern struct {
	family family
	points int
	steps  []step
}

// engine is the table by the concept that a rule begins with.
type engine struct {
	words  *trie
	pool   sync.Pool // of *scratch
	first  [64][]pattern
	begins uint64 // the concepts that any rule begins with
}

// theEngine is shared by all detectors. Its sources are built in, and a test has seen
// that they make one; an engine that finds nothing is the answer to what cannot happen.
var theEngine = sync.OnceValue(func() *engine {
	e, err := newEngine()
	if err != nil {
		e = &engine{words: &trie{pairs: make([]uint16, letters*letters)}}
	}
	e.pool.New = func() any { return new(scratch) }
	return e
})

func newEngine() (*engine, error) {
	entries, err := readLexicon()
	if err != nil {
		return nil, err
	}
	words, err := newTrie(entries)
	if err != nil {
		return nil, err
	}
	e := &engine{words: words}
	for _, r := range table {
		p, err := compile(r)
		if err != nil {
			return nil, err
		}
		for bit := range e.first {
			if p.steps[0].want>>bit&1 != 0 {
				e.first[bit] = append(e.first[bit], p)
				e.begins |= 1 << bit
			}
		}
	}
	return e, nil
}

func compile(r rule) (pattern, error) {
	p := pattern{family: r.family, points: r.points}
	next := step{}
	for _, w := range strings.Fields(r.seq) {
		if w[0] == '~' || w[0] == '+' {
			n, err := strconv.Atoi(w[1:])
			if err != nil {
				return p, fmt.Errorf("rule %q: %w", r.seq, err)
			}
			next.gap, next.cross = n, w[0] == '+'
			continue
		}
		for _, name := range strings.Split(w, "|") {
			c := conceptNames[name]
			if c == 0 {
				return p, fmt.Errorf("rule %q: no concept %q", r.seq, name)
			}
			next.want |= c
		}
		p.steps = append(p.steps, next)
		next = step{}
	}
	return p, nil
}
