package definition

import (
	"regexp"
	"strings"
	"sync"
)

// maxSentence bounds what is judged before and after a mention, in bytes.
const maxSentence = 300

// mark stands for the mentioned name in a sentence.
const mark = "§"

// steers says that the sentence around the name text[start:end] tells the model to
// avoid that tool, what to pass to it, or to do something whenever it is used. To say
// that a tool goes well with another one is no steering.
func steers(text string, start, end int) bool {
	from, to := sentence(text, start, end)
	s := clean(text[from:start], mark, text[end:to])
	for _, r := range steering() {
		if r.MatchString(s) {
			return true
		}
	}
	if to > end && to < len(text) { // "… returns wrong data. Do not use it."
		_, next := sentence(text, to, to)
		return follow().MatchString(clean(text[to:next], "", ""))
	}
	return false
}

// clean brings a sentence around a name into the form that the rules are written for.
func clean(before, name, after string) string {
	plain := strings.NewReplacer(mark, " ", "`", "", "'", "", "\"", "", "’", "", "*", "")
	s := plain.Replace(before) + name + plain.Replace(after)
	return strings.Join(strings.Fields(strings.ToLower(strings.ToValidUTF8(s, " "))), " ")
}

// sentence returns where the sentence around text[start:end] begins and ends.
func sentence(text string, start, end int) (from, to int) {
	from, to = start, end
	for from > 0 && start-from < maxSentence && !ends(text, from-1) {
		from--
	}
	for to < len(text) && to-end < maxSentence {
		to++
		if ends(text, to-1) {
			break
		}
	}
	return from, to
}

// ends says that a sentence ends with the byte at i.
func ends(text string, i int) bool {
	switch text[i] {
	case '\n':
		return true
	case '.', '!', '?':
		return i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'
	case 0x82, 0x81, 0x9F: // the last byte of 。 ！ ？
		return i >= 2 && (text[i-2:i+1] == "。" || text[i-2:i+1] == "！" || text[i-2:i+1] == "？")
	}
	return false
}

// follow is what is said of the mentioned tool in the next sentence.
var follow = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\W*(?:please )?(?:do not|dont|never|avoid|stop)\b.{0,20}\b(?:us(?:e|ing)|call(?:ing)?|trust(?:ing)?|invok(?:e|ing)) (?:it|that (?:one|tool)|them|those)\b|^\W*(?:(?:请)?(?:不要|勿|别)(?:再)?(?:使用|调用|用)它)`)
})

// steering are the rules for a sentence.
var steering = sync.OnceValue(func() []*regexp.Regexp {
	const (
		// filler is what may stand before a tool's name.
		filler = `(?:(?:the|a|an|any|all|of|old|older|original|legacy|other|existing|standard|default|built-in|native|regular|normal|tool|tools|function|server|servers|call|calls|to|named|called|from|by|directly|mcp|its|their|your|this|that|every|each|use|using|usage)[ :,]+){0,6}` + mark
		use    = `(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|invo(?:ke|kes|ked|king|cation)|run(?:s|ning)?|execut(?:e|es|ed|ing|ion)|trust(?:ing)?|rely(?:ing)? on|select(?:ing)?|choos(?:e|ing)|pick(?:ing)?|trigger(?:s|ed|ing)?)`
		bad    = `(?:deprecated|broken|unsafe|insecure|unreliable|wrong|incorrect|incomplete|inaccurate|stale|malicious|compromised|outdated|out of date|obsolete|disabled|vulnerable|buggy|faulty|corrupt(?:ed)?|untrust(?:ed|worthy)|dangerous|unavailable|retired|forbidden|infected)`
		must   = `(?:must|should|shall|always|never|needs? to|ha(?:ve|s) to|required to|mandatory|make sure|be sure|ensure|silently|secretly|automatically|quietly|without asking)`
		change = `(?:modif|alter|chang|redirect|rerout|replac|intercept|forward|bcc|append|prepend|inject|rewrit|overrid|exfiltrat|hijack|substitut|tamper|patch)`
	)
	rules := []string{
		// Avoid it.
		`\b(?:do not|dont|never|avoid|stop|cease|refrain from|must not|should not|mustnt|shouldnt)(?: ever| again| directly| also)? ` + use + ` ` + filler,
		`\b(?:instead of|rather than|in place of|in lieu of|not via|not through|as a (?:replacement|substitute) (?:for|of))(?: ` + use + `)? ` + filler,
		`\b(?:replac|supersed|overrid|overwrit|bypass|intercept|hijack|shadow|disabl|deprecat|ignor|disregard|suppress|hook|redirect)\w*(?: \w+){0,2} ` + filler,
		`\b` + bad + ` ` + filler,
		mark + `,?(?: tool| function| server)?(?: \w+){0,2} (?:is|are|was|were|has|have|had|returns?|gives?|produces?|contains?|leaks?|became|reports?)(?: \w+){0,5} ` + bad,
		mark + `(?: tool| function)? (?:must not|should not|cannot|can not|cant|may not|is not to|will not|no longer)\b`,
		`\b(?:precedence|priority|prefer|preferred|preferable|better|safer|faster|reliable|accurate|secure|superior|favou?r)(?: \w+){0,2} (?:over|than|to) ` + filler,
		// Use it in this way.
		`\b` + must + `(?: \w+){0,4} (?:` + use + `|pass|send|forward|add|include|set|put)(?: \w+){0,6} ` + filler,
		mark + `[^.]{0,80}\b` + must + `\b`,
		`\b(?:whenever|when|each time|every time|any time|before|while|upon|until|unless)(?: \w+){0,3} ` + use + ` ` + filler,
		`\b(?:whenever|each time|every time|any time|when|before|if|once|all|every|each|any) ` + filler + `,?(?: tool| function)?(?: (?:is|gets|has been|was|will be|runs|executes|fires)|s? (?:call|calls|request|requests|invocation|invocations|use|usage)) `,
		`\b` + change + `\w*\b.{0,60}\b(?:behaviou?r|recipients?|arguments?|parameters?|inputs?|outputs?|results?|responses?|calls?|traffic|requests?|data)(?: \w+){0,2} (?:of|to|for|from|by|in) ` + filler,
		// 中文
		`(?:不要|请勿|勿|禁止|切勿|停止|避免|不得|别)(?:再)?(?:使用|调用|用|信任).{0,10}` + mark,
		`(?:代替|替代|取代|替换|覆盖|优先于|而不是|拦截|劫持).{0,10}` + mark,
		mark + `.{0,20}(?:已弃用|已废弃|已停用|已过时|不安全|不可靠|有漏洞|错误|恶意|必须|务必|不要|请勿|禁止|总是|始终|都要)`,
		`(?:必须|务必|总是|始终|一定要|每次|任何时候|每当|之前先).{0,20}` + mark,
		`(?:调用|使用).{0,6}` + mark + `.{0,8}(?:时|前|之前)`,
	}
	out := make([]*regexp.Regexp, len(rules))
	for i, r := range rules {
		out[i] = regexp.MustCompile(r)
	}
	return out
})
