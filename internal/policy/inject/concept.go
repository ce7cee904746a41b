package inject

// concepts is a set of concepts.
type concepts uint64

// The concepts that words of the lexicons stand for.
const (
	drop      concepts = 1 << iota // ignore, forget, override
	dropped                        // no longer applies
	prior                          // previous, above, original
	all                            // all, any, your
	rules                          // instructions, prompt, guidelines
	doc                            // page, article, function: what a model was given to work on
	say                            // state, answer, print
	instead                        // and, instead
	ai                             // assistant, language model
	call                           // note to, dear: before whom is addressed
	reading                        // reading this
	you                            // you, your
	must                           // must, have to
	now                            // from now on, at once
	tool                           // tool, function
	run                            // call, execute, visit
	send                           // send, upload, include
	erase                          // delete, disable, approve
	pay                            // transfer, buy
	secret                         // password, conversation history, .env
	dest                           // a URL, an attacker
	not                            // do not, without
	tell                           // tell, mention, ask
	user                           // the user, anyone
	quiet                          // silently, without asking
	prompt                         // system prompt, your instructions
	reveal                         // print, repeat, tell me
	exact                          // verbatim, in full
	persona                        // DAN, developer mode
	act                            // pretend, you are now
	norule                         // no restrictions
	vendor                         // OpenAI, administrator
	update                         // new instructions, policy update
	before                         // before, otherwise, whenever
	approved                       // the user has already agreed
	read                           // read, open, collect
	ended                          // end of document
	threat                         // attack, malicious: as suspect, but weaker
	suspect                        // attack, detect: a text about security
	quoting                        // for example, such as
	turn                           // "system:" at the beginning of a line
	marker                         // <|im_start|>, </tool_result>
	aside                          // instead of summarising: the task is put aside
	cease                          // drop, in languages that put it last
	bot                            // agent, model: ai, or else
	addressed                      // ai that is spoken to
	guards                         // system, safety: whose rules they are
	matter                         // what may be ignored in good faith: policy, task, text
	whom                           // for any: may come before whom is addressed
	party                          // them, this note: as user, but weaker
	soft                           // silently: as quiet, but weaker
	yours                          // your prompt, the text above: what a model was told
	claim                          // I am your developer
	verb                           // give, choose, hide: what one may be told to do
	others                         // other, another
	hinted                         // show, ask: as tell, but weaker
	cipher                         // words of an attack in ROT13 or backwards
	decode                         // decode, interlace, part 1
	obey                           // do what it says, answer the question
	hailed                         // bot that is spoken to, perhaps
	sofar                          // above, been told: before, without a noun behind it
	utter                          // reveal, in languages that put it last
	person                         // assistant manager: no ai
	nextcall                       // next tool call, parameter
)

// conceptNames are the names of concepts in lexicons and rules.
var conceptNames = map[string]concepts{
	"drop": drop, "dropped": dropped, "prior": prior, "all": all, "rules": rules, "doc": doc, "say": say, "instead": instead, "ai": ai, "call": call,
	"reading": reading, "you": you, "must": must, "now": now, "tool": tool, "run": run, "send": send, "erase": erase, "pay": pay, "secret": secret,
	"dest": dest, "not": not, "tell": tell, "user": user, "quiet": quiet, "prompt": prompt, "reveal": reveal, "exact": exact, "persona": persona,
	"act": act, "norule": norule, "vendor": vendor, "update": update, "before": before, "approved": approved, "read": read,
	"ended": ended, "suspect": suspect, "threat": threat, "quoting": quoting, "turn": turn, "marker": marker, "aside": aside, "cease": cease, "bot": bot, "addressed": addressed, "guards": guards, "matter": matter, "whom": whom, "party": party, "soft": soft, "sofar": sofar, "utter": utter, "person": person, "nextcall": nextcall, "yours": yours, "claim": claim, "verb": verb, "others": others, "hint": hinted, "cipher": cipher, "decode": decode, "obey": obey, "hailed": hailed,
}
