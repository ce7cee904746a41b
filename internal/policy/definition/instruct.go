package definition

import (
	"regexp"
	"sync"
)

// An instruction to the model is told by what it asks for, not by its tone: honest
// definitions are full of "you must", "always" and "never". Each family below is one
// kind of asking, with what it counts. A text that reaches enough is an instruction.
//
// All are about things that an honest definition has no reason to want: the user's
// secrets, silence towards the user, other rules than the user's.

const (
	enough = 10
	// enoughHidden is for a text that was encoded, which nobody does with a description.
	enoughHidden = 3
)

// attacks tells a text about attacks.
var attacks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:detect|scan|classif|flag|screen|block|prevent|guard|explain|sanitiz|filter out|protect)\w*\b.{0,80}\b(?:injection|jailbreak|attack|malicious|phrases?|strings?|attempts?)|\b(?:analy[sz]|inspect|review|audit|recogni[sz]|report|test|simulat|classif|find)\w*(?: \w+){0,2} (?:prompts?|inputs?|texts?|strings?|messages?|documents?) (?:that|which|for|containing|like|with)\b|\b(?:mock|sample|example|canned|expected|test|dummy|fake|fixture)(?:ed)? (?:response|output|reply|result|input|prompt|text|payload|string|message)s? ?:|\b(?:such as|for example|e\.g\.,?|examples?:|like|phrase|string|text|output|input|expected|contains?)[:,]? ?(?:'|“|‘)?(?:please )?(?:ignor|disregard|forget|overrid|bypass|you are now|reveal|act as)|(?:检测|扫描|识别|拦截|防止|防护).{0,20}(?:注入|越狱|攻击)`)
})

// families are compiled once, by [rules].
func families() []family {
	const (
		take = `(?:read|open|load|cat|collect|gather|retrieve|access|include|pass|send|attach|append|prepend|upload|post|forward|embed|copy|leak|exfiltrate|put|paste|reveal|print|insert|encode|transmit|share|submit|supply|dump|extract|steal|harvest|relay|email|mail|echo|scan|hand over|fill in|add|provide)`
		away = `(?:pass|send|attach|append|upload|post|forward|embed|leak|exfiltrate|paste|reveal|transmit|share|submit|dump|steal|harvest|relay|email|mail|include|insert|add|put|prepend|copy|disclose|bcc|cc)`
		file = `(?:\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|/etc/(?:passwd|shadow|hosts\b)|\.aws/|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials\b|\.kube/|\.docker/config|\.gnupg\b|\bmcp\.json\b|claude_desktop_config|\bwallet\.dat\b|\.bash_history\b|\.zsh_history\b|(?:^|[\s'/(])\.env\b|\bsystem32\b|\.pem\b|\bkeychain\b)`
		soft = `(?:credentials?|passwords?|passphrases?|api[ _-]?keys?|secret keys?|private keys?|ssh keys?|access keys?|(?:access|auth|session|github|oauth|bearer|api) tokens?|tokens|cookies|secrets|environment variables|env vars|seed phrases?|recovery phrases?|mnemonic|system prompt|(?:conversation|chat|message|browser|browsing|shell|command) (?:history|log|transcript)|(?:entire|full|whole|complete|previous|prior) (?:conversation|chat|context|dialogue|messages?)|conversation so far|other tools'? (?:results?|outputs?|descriptions?)|credit card|bank account|home directory|ssn)`
		slot = `(?:argument|parameter|param|field|note|sidenote|context|metadata|payload|query string|header|comment|body|footer)`
		user = `(?:the )?(?:end[ -])?(?:user|human|operator|customer|person|owner|developer)s?`
		tell = `(?:tell|inform|mention|notify|alert|reveal|disclose|show|report|say|expose|warn|let|explain|display|announce|bring up)`
	)
	list := []struct {
		counts       int
		anchor, near group
		quotable     bool
		pattern      string
	}{
		// Secrets of the user's, by the file and by their name.
		{7, fileWords, none, false, `\b` + take + `\b[^.;]{0,60}` + file},
		{4, fileWords, none, false, file + `.{0,80}\b(?:as|in|into|to|via|through|using|with)\b.{0,20}\b` + slot + `\b|` + file + `.{0,60}\b(?:pass|send|include|attach|append|upload|post|forward)\b`},
		{5, softWords, awayWords, false, `\b` + away + `\b[^.;]{0,50}\b(?:user'?s?|your|their|all|any|every|the full|the entire|other|available|stored|local|environment)\b[^.;]{0,40}\b` + soft + `\b`},
		{3, softWords, awayWords, false, `\b` + away + `\b[^.;]{0,60}\b` + soft + `\b`},
		{3, softWords, none, false, `\b` + soft + `\b.{0,60}\b(?:as|in|into|to|via|through)\b.{0,25}(?:\b` + slot + `\b|https?://|\w@\w|\bremote\b|\bexternal\b|\battacker|\bwebhook\b|\bserver\b)`},
		// Silence towards the user.
		{10, tellWords, notWords, false, `\b(?:do not|don't|never|must not|should not|shouldn't|without|avoid|no need to|refrain from|not to)\b ?(?:ever )?(?:tell|inform|mention|notify|alert|reveal|disclose|warn|let|telling|informing|mentioning|notifying|alerting|revealing|disclosing|warning|letting)\b[^.;]{0,25}\b` + user + `\b|\b(?:do not|don't|never|must not) (?:mention|reveal|disclose) (?:that you|you(?:'re| are)|this (?:step|instruction|to|in|message|note)|any of this|these instructions)`},
		{7, tellWords, notWords, false, `\b(?:do not|don't|never|must not|should not|shouldn't|without|avoid|no need to|refrain from|not to)\b ?(?:ever )?(?:` + tell + `|telling|informing|mentioning|notifying|alerting|revealing|disclosing|showing|saying|exposing|warning|letting|explaining|asking|displaying)\b[^.;]{0,40}\b(?:` + user + `\b|that you|you(?:'re| are)|this (?:step|instruction|to|in|message|note|tool)|it to|any of this|these instructions)`},
		{9, hideWords, personWords, false, `\b(?:hidden|invisible|concealed?|secret|hide|hiding|unnoticed|kept) (?:it |this |that |them |these |secret |hidden )?(?:from|to|by) ` + user + `\b|\b(?:must|should|will|need to|have to) (?:stay|remain|be kept|be) (?:hidden|secret|invisible|confidential|undisclosed)\b|\bkeep (?:it|this|these|that|them)(?: \w+)? (?:secret|hidden|confidential|quiet|to yourself)|\b` + user + ` (?:must|should|does|do|need|needs|will)(?: not|n't) (?:know|see|notice|be (?:told|informed|aware|notified))|\bwithout ` + user + `'?s?'? (?:knowledge|awareness|noticing|knowing)`},
		{8, slyWords, none, false, `\b(?:silently|secretly|covertly|quietly|discreetly|stealthily|unobtrusively|invisibly)\b.{0,15}\b(?:` + take + `|call|invoke|execute|run|bcc|record|log|modify|change|replace|redirect)\w*\b|\b` + take + `\b[^.;]{0,60}\b(?:silently|secretly|covertly|discreetly|stealthily)\b`},
		// Other rules than the user's.
		{10, ignoreWords, ruleWords, true, `\b(?:ignore|disregard|forget|override|bypass|overrides?|discard|circumvent|skip|supersedes?|abandon|drop|violate)\b(?: \w+){0,3} (?:previous|prior|earlier|preceding|above|existing|other|original|system|safety|security|developer|user'?s?|content|your|all|any|initial|default|the proxy'?s?|core)\b(?: \w+){0,4}? ?(?:instructions?|rules?|guidelines?|polic(?:y|ies)|prompts?|restrictions?|directives?|safeguards?|constraints?|programming|training|guardrails?|commands?|orders?|previous\b|warnings?)`},
		{10, ignoreWords, toldWords, true, `\b(?:ignore|disregard|forget|overlook|discard|set aside|override|don't follow|do not follow)\b(?: (?:about|all|of|everything|anything|whatever|what|any|that|the|these|those|every)){1,4}(?: \w+){0,2} (?:you(?:'ve| have| had| were|'re| are)?(?: ever)?(?: been)? (?:told|instructed|given|taught|asked|learned|know)|(?:directions?|instructions?|rules?|prompts?|text|guidelines?|orders?) (?:above|before|so far|from (?:earlier|before))|above (?:and|directions?))|\b(?:instructions?|rules?|guidelines?|directions?|restrictions?)\b(?: \w+){0,6} (?:do not|don't|no longer|does not|never) (?:apply|count|bind|matter)|\b(?:ignore|disregard|overlook|forget) (?:the |all |any )?(?:above|directions?|previous directions?)\b`},
		{10, lingoWords, none, true, `\b(?:ignor(?:iere|ieren|a|ar|e|ez|er|i|are)|missacht\w+|vergiss|vergessen|olvida\w*|olvíd\w+|oubli\w+|esque[çc]\w+|dimentica\w*|vergeet|negeer|omite|desconsidere)\b.{0,30}\b(?:anweisung\w*|vorgaben|regeln|instruc\w+|instrucciones|reglas|consignes|règles|instruções|regras|istruzion\w+|regole|instructies|opdrachten)|(?:игнорируй\w*|игнорировать|забудь\w*).{0,30}(?:инструкци|указани|правил)|(?:指示|命令|ルール|指令).{0,8}(?:無視|忘れ)|(?:지시|명령|규칙|지침).{0,10}(?:무시|잊)`},
		{9, fromNowWords, none, true, `\b(?:from now on|henceforth|starting now),? (?:you (?:are|will|must)|act as|behave)\b|\byou are no longer\b`},
		{6, rivalWords, none, true, `\b(?:(?:must not|do not|don't|never|stop)(?: ever)? (?:us(?:e|ing)|call(?:ing)?|trust(?:ing)?|select(?:ing)?|choos(?:e|ing)|invok(?:e|ing)|consider(?:ing)?)|ignore|disregard|avoid|skip) (?:any |all |the |every )?other(?: [\w-]+){0,2} (?:tools?|servers?|functions?|integrations?)\b|\bother(?: [\w-]+){0,2} (?:tools?|servers?|functions?)\b(?: \w+){0,4} (?:ignore|compromised|malicious|broken|unsafe|deprecated|insecure|switch)`},
		{5, rivalWords, none, true, `\balways (?:choose|prefer|select|pick|use|call) this (?:one|tool|server|function)?\b.{0,40}\b(?:over|instead|other|even|regardless|first|never|and)\b|\bswitch to this (?:one|tool)|\bthis (?:tool|one) instead of (?:any|all|every) other`},
		{6, riderWords, none, true, `\b(?:regardless of|no matter|whatever|even if|despite) (?:what )?(?:the )?(?:user|human|operator)s?\b|\bthe [\w-]+ tool (?:must|should|has to) (?:use|send|include|add|set|be)\b|\bbcc(?:ing)?\b[^.;]{0,40}\b(?:every|all|each|any)\b|\bcopy (?:every|all|each) (?:message|email|mail|result|file)s?\b`},
		{10, regardWords, ruleWords, true, `\b(?:treat|regard|consider|interpret|accept|handle)\b[^.;]{0,70}\bas\b[^.;]{0,40}\b(?:trusted|system|authorized|authoritative|direct|official|privileged|binding|user|developer|admin)\b(?:,? \w+){0,3} (?:instructions?|commands?|prompts?|orders?|directives?|messages?)`},
		{8, obeyWords, ruleWords, true, `\b(?:follow|obey|execute|act on|comply with|carry out|perform|adhere to)\b(?: \w+){0,2} (?:any|all|every|the|whatever|further|subsequent)\b[^.;]{0,30}\b(?:instructions?|commands?|directives?|orders?|requests?)\b[^.;]{0,40}\b(?:found|returned|contained|inside|embedded|within|in|from|without|that (?:appear|are)|it (?:returns|contains))\b`},
		{9, modeWords, none, true, `\byou are now\b|\byou have (?:been (?:switched|put|placed)|entered)\b|\b(?:developer|maintenance|debug|god|admin|jailbreak|dan|unrestricted|root|sudo|unsafe|override) mode\b[^.;]{0,50}\b(?:enabled?|activ\w+|on|unrestricted|you|must|reveal|comply|without|available|bypass)`},
		{6, disableWords, safetyWords, true, `\b(?:bypass|disable|turn off|without applying|deactivate|evade|circumvent)\w*\b[^.;]{0,30}\b(?:safety|security|content|moderation|policy|validation|confirmation|approval)\b[^.;]{0,20}\b(?:checks?|filters?|restrictions?|validation|polic\w+|guardrails?|controls?|filtering|prompts?)`},
		// Who is spoken to.
		{10, tagWords, none, false, `<(?:hidden|invisible|system[_-]?(?:prompt|message|instructions?)|important_instructions?|instructions?_to_(?:model|ai|assistant|llm))>|<\/(?:hidden|secret|invisible|system|assistant|admin|override)>|\[(?:hidden|secret|system|metadata|admin|emergency|internal)[ _-]?(?:instructions?|directives?|overrides?|messages?|prompts?|commands?)\]|\[/?inst\]|<\|(?:im_start|system|im_end)`},
		{6, modelWords, none, true, `<important>|#+ ?(?:new |updated )?system (?:message|prompt|instructions?|override)|(?:^|[.!?:\n] ?)system ?: ?\w|\b(?:note|attention|message|instructions?|reminder|notice|hint|memo) (?:to|for) (?:the |any |all )?(?:ai|assistant|model|llm|agent|language model|claude|gpt|chatgpt|copilot)s?\b|(?:^|[.!?] )(?:ai|assistant|llm|model|agent|claude)s?(?: agents?| assistants?)? ?[:,] ?(?:you |please |always |first |also |before |when |do |never |must )?\w|\b(?:dear|hey|attention,?) (?:ai|assistant|model|llm|agent)\b`},
		// Always, first, and with everything.
		{4, alwaysWords, none, false, `\b(?:before|prior to)\b(?: \w+){0,2} (?:any|all|every|each|using|calling)(?: \w+){0,2} (?:other )?(?:tools?|actions?|requests?|calls?|responses?|answers?|operations?)\b|\b(?:any|every|all) other tools?\b|\bthis tool must (?:always )?be (?:called|used|run|invoked)\b|\b(?:on|for|at|after|with|in) (?:each|every) (?:call|request|message|turn|response|use|invocation|query|conversation)\b|\bfor (?:each|every) (?:user )?(?:message|request|query)\b|\bregardless of\b|\bmandatory\b|\bthis (?:step )?is required\b`},
		{6, precedeWords, none, false, `\b(?:results?|outputs?|responses?|answers?|instructions?|this tool|this description|rules?)\b(?: \w+){0,4} (?:overrides?|supersedes?|takes? (?:precedence|priority) over|outranks?|replaces?)\b(?: \w+){0,2} (?:any|all|every|the user|your|system|other|previous)`},
		{6, toolsWords, notWords, false, `\b(?:do not|don't|never|avoid|must not|stop)(?: ever)? (?:us(?:e|ing)|call(?:ing)?|trust(?:ing)?)\b(?: (?:the|any|other|all))* (?:tools?|functions?) (?:of|from|on|by|in|provided by) (?:the |any )?(?:other |server\b|\w+ server\b|\w+ mcp\b)|\bother (?:tools?|servers?|mcp servers?) (?:is|are) (?:\w+ )?(?:malicious|broken|unsafe|compromised|deprecated|insecure|untrusted|wrong)`},
		// A leave that nobody gave.
		{6, leaveWords, none, true, `(?:^|[.!?;:>] ?)(?:note:? |important:? )?(?:the |this |your )?(?:user|human|admin\w*|owner|operator|customer) (?:has|have|had|already)(?: \w+){0,3} (?:permission|consent\w*|approved|authori[sz]ed|agreed|granted|allowed|confirmed|permitted)\b`},
		{5, leaveWords, skipWords, true, `\b(?:skip|bypass|without|no need (?:for|to)|omit|suppress|avoid|never|do not|don't)(?: \w+){0,3} (?:confirmations?|asking|ask|approval|permission|consent|verification|prompting|confirm)\b`},
		{8, refuseWords, notWords, true, `\b(?:never|do not|don't|must not|cannot|may not|should not) (?:refuse|decline|reject|question|hesitate)\b[^.;]{0,20}\b(?:any|all|requests?|instructions?|commands?|user|orders?)\b|\b(?:comply|agree) with (?:all|any|every)\b`},
		{6, gateWords, mustWords, false, `\b(?:before|prior to|every time|each time|whenever)\b[^.;]{0,90}\b(?:must|have to|need to|required to|should)\b(?: \w+){0,2} (?:first|always)\b(?: \w+){0,2} ?(?:run|call|use|invoke|execute|perform)?\b|\bfirst (?:step|thing|action|call)\b[^.;]{0,40}\b(?:any|every|all)\b(?: \w+)? (?:operations?|actions?|tools?|requests?|tasks?|conversations?)`},
		{10, commentWords, none, false, `<!--[^>]{0,150}\b(?:ai|assistant|model|llm|agent|system|claude|gpt|ignore|instructions?|secretly|do not|never)\b`},
		{4, whereWords, awayWords, false, `\b` + away + `\b[^.;]{0,80}(?:https?://|\b[\w.-]+@[\w-]+\.\w|\battacker|\bcollector\b|\bremote (?:server|host|endpoint)|\bexternal (?:server|host|endpoint|url))`},
		{5, alsoWords, awayWords, false, `\b(?:also|first|additionally|then)\b[^.;]{0,20}\b` + away + `\b[^.;]{0,80}\b(?:user'?s?|conversation|chat|full|entire|contents? of|history)\b`},
		// What a machine runs.
		{10, shellWords, none, false, `\b(?:curl|wget)\b[^|;]{0,200}\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\brm -rf (?:/|~)|\bnc -e\b|\bpowershell(?:\.exe)? -e(?:nc)?\b|/dev/tcp/`},
		// 中文
		{10, zhIgnoreWords, none, true, `(?:忽略|无视|忘记|忘掉|不理会|不顾|绕过|推翻|覆盖|违反|不遵守).{0,12}(?:指令|指示|规则|规定|提示词?|限制|约束|设定|政策|要求|命令)`},
		{10, zhQuietWords, none, false, `(?:不要|勿|请勿|不得|别|切勿|无需|不必|禁止).{0,4}(?:告诉|告知|通知|提醒|提及|透露|让|向|提示|显示|说明|泄露).{0,6}(?:用户|使用者|客户|他人|人类)|(?:对|向)(?:用户|使用者).{0,3}(?:保密|隐瞒|隐藏)|(?:用户|使用者)(?:无需|不必|不用|不需要|不应|不能|不得|不可)(?:知道|知晓|了解|察觉)|(?:不让|瞒着|避免让?|不被)(?:用户|使用者)|(?:悄悄|偷偷|暗中|秘密|静默|私下)(?:地)?.{0,12}(?:发送|上传|读取|传|附|调用|执行|转发|复制|添加|加入|记录)`},
		{6, zhSendWords, zhSecretWords, false, `(?:发送|上传|传入|传递|附加|附上|包含|提供|填入|转发|写入|读取|泄露|提交|放入|放进|加入|带上|输出).{0,20}(?:密码|密钥|令牌|凭证|凭据|私钥|环境变量|聊天记录|对话记录|对话历史|聊天历史|历史记录|完整对话|系统提示词?|身份证|银行卡|个人信息|\.env|id_rsa|\.ssh|cookie|token)|(?:密码|密钥|令牌|凭证|凭据|私钥|环境变量|聊天记录|对话记录|对话历史|系统提示词?|\.env|id_rsa|\.ssh|cookie|全文|内容).{0,12}(?:发送到|发送至|发送给|上传到|上传至|传给|附加到|转发到|转发给|发到|写入参数|放入参数)`},
		{5, zhModelWords, none, false, `(?:致|写给|告|请注意).{0,2}(?:助手|模型|ai|智能体|人工智能|大模型)|(?:助手|模型|ai|智能体)(?:必须|务必|应当|应该|请|需要|注意)|系统(?:指令|消息|提示|命令) ?[:：]`},
		{5, zhEveryWords, none, false, `(?:调用|使用|执行|回答).{0,6}(?:任何|所有|其他|其它|一切).{0,8}(?:工具|请求|操作|问题).{0,4}(?:之前|前|时)|(?:每次|任何时候|每当|始终|总是).{0,12}(?:先|都|必须|调用)|发送到 ?https?|上传到 ?https?|发到 ?https?`},
		{10, zhRegardWords, none, false, `(?:把|将).{0,20}(?:视为|当作|当成|看作).{0,12}(?:指令|命令|用户|系统)|你?(?:现在)?(?:是|进入|处于|切换).{0,10}(?:开发者模式|管理员模式|维护模式|调试模式|无限制|不受限|越狱|上帝模式)|(?:不得|不能|不要|不许|不可|禁止|无法)拒绝`},
	}
	out := make([]family, len(list))
	for i, f := range list {
		out[i] = family{f.counts, regexp.MustCompile(f.pattern), f.anchor, f.near, f.quotable}
	}
	return out
}
