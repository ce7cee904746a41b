package definition

// The groups of words that patterns stand on.
const (
	none group = iota
	fileWords
	softWords
	awayWords
	tellWords
	notWords
	hideWords
	personWords
	slyWords
	ignoreWords
	ruleWords
	regardWords
	obeyWords
	modeWords
	disableWords
	safetyWords
	tagWords
	modelWords
	alwaysWords
	precedeWords
	whereWords
	toldWords
	lingoWords
	fromNowWords
	rivalWords
	riderWords
	leaveWords
	skipWords
	refuseWords
	gateWords
	mustWords
	commentWords
	toolsWords
	alsoWords
	shellWords
	zhIgnoreWords
	zhQuietWords
	zhSendWords
	zhSecretWords
	zhModelWords
	zhEveryWords
	zhRegardWords
	groups
)

// vocabulary has the words of each group: stems, so that a pattern says which forms count.
var vocabulary = [groups][]string{
	fileWords: {
		".ssh", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "/etc/passwd", "/etc/shadow", "/etc/hosts", ".aws/",
		".netrc", ".npmrc", ".pypirc", ".git-credentials", ".kube/", ".docker/config", ".gnupg", "mcp.json",
		"claude_desktop_config", "wallet.dat", ".bash_history", ".zsh_history", ".env", "system32", ".pem",
		"keychain",
	},
	softWords: {
		"credential", "password", "passphrase", "api key", "api_key", "api-key", "apikey", "secret key",
		"private key", "ssh key", "access key", "token", "cookie", "secret", "environment var", "env var",
		"seed phrase", "recovery phrase", "mnemonic", "system prompt", "history", "transcript", " log",
		"conversation", "entire chat", "full chat", "whole chat", "complete chat", "previous chat", "context",
		"dialogue", "prior message", "previous message", "other tool", "credit card", "bank account",
		"home directory", "ssn",
	},
	awayWords: {
		"pass", "send", "attach", "append", "upload", "post", "forward", "embed", "leak", "exfil", "paste",
		"reveal", "transmit", "share", "submit", "dump", "steal", "harvest", "relay", "mail", "include", "insert",
		"add", "put", "prepend", "copy", "disclos", "cc",
	},
	tellWords: {
		"tell", "inform", "mention", "notify", "alert", "reveal", "disclos", "show", "report", "say", "expos",
		"warn", "let", "explain", "display", "announc", "bring up", "asking", "notif",
	},
	notWords: {
		"do not", "don't", "never", "must not", "should not", "shouldn't", "without", "avoid", "no need",
		"refrain", "not to",
	},
	hideWords: {
		"hidden", "invisible", "conceal", "secret", "hide", "hiding", "unnoticed", "confidential", "undisclosed",
		"quiet", "to yourself", "knowledge", "awareness", "noticing", "knowing", "not know", "n't know",
		"not see", "n't see", "not notice", "n't notice", "be told", "be aware", "be informed", "be notified",
	},
	personWords: {
		"user", "human", "operator", "customer", "person", "owner", "developer", "stay", "remain", "kept", "keep",
	},
	slyWords: {
		"silently", "secretly", "covertly", "quietly", "discreetly", "stealthily", "unobtrusively", "invisibly",
	},
	ignoreWords: {
		"ignor", "overlook", "set aside", "follow", "apply", "disregard", "forget", "overrid", "bypass", "discard", "circumvent", "skip", "supersede",
		"abandon", "drop", "violat",
	},
	ruleWords: {
		"instruction", "rule", "guideline", "polic", "prompt", "restriction", "directive", "safeguard",
		"constraint", "programming", "training", "guardrail", "check", "filter", "command", "order", "previous",
		"warning", "message", "request",
	},
	regardWords: {
		"treat", "regard", "consider", "interpret", "accept", "handle",
	},
	obeyWords: {
		"follow", "obey", "execute", "act on", "comply", "carry out", "perform", "adhere",
	},
	modeWords: {
		"you are now", "you have been", "you have entered", "developer mode", "maintenance mode", "debug mode",
		"god mode", "admin mode", "jailbreak mode", "dan mode", "unrestricted mode", "root mode", "sudo mode",
		"unsafe mode", "override mode",
	},
	disableWords: {
		"bypass", "disabl", "turn off", "turning off", "without applying", "deactivat", "evad", "circumvent",
	},
	safetyWords: {
		"safety", "security", "content", "moderation", "policy", "validation", "confirmation", "approval",
	},
	tagWords: {
		"hidden>", "secret>", "invisible>", "system>", "system_prompt>", "system-prompt>", "systemprompt>",
		"system_message>", "system_instruction", "assistant>", "admin>", "override>", "important_instruction",
		"_to_model>", "_to_ai>", "_to_assistant>", "_to_llm>", "[hidden", "[secret", "[system", "[metadata",
		"[admin", "[emergency", "[internal", "[inst]", "[/inst]", "im_start", "im_end",
	},
	modelWords: {
		"<important>", "system message", "system prompt", "system instruction", "system override", "system:",
		"system :", "assistant", "model", " ai ", "ai:", "ai,", "llm", "agent", "claude", "gpt", "copilot",
	},
	alwaysWords: {
		"other tool", "all tools", "any tool", "every tool", "all action", "any action", "any request",
		"any response", "any answer", "this tool must", "each call", "every call", "each request",
		"every request", "each message", "every message", "every turn", "each turn", "each response",
		"every response", "each use", "every use", "each invocation", "every invocation", "each query",
		"every query", "every conversation", "user message", "user request", "regardless of", "mandatory",
		"is required",
	},
	precedeWords: {
		"overrid", "supersede", "precedence", "priority over", "outrank", "replace",
	},
	whereWords: {
		"http", "@", "attacker", "collector", "remote server", "remote host", "remote endpoint",
		"external server", "external host", "external endpoint", "external url",
	},
	toldWords: {
		"told", "instructed", "given", "taught", "asked", "learned", "you know", "direction", "instruction", "rule",
		"prompt", "text", "guideline", "order", "above", "apply", "restriction",
	},
	lingoWords: {
		"anweisung", "vorgaben", "regeln", "instruc", "reglas", "consignes", "règles", "regras", "istruzion", "regole",
		"instructies", "opdrachten", "инструкци", "указани", "правил", "無視", "忘れ", "무시", "잊",
	},
	fromNowWords: {
		"from now on", "henceforth", "starting now", "you are no longer",
	},
	rivalWords: {
		"other ", "this one", "this tool", "this server", "this function",
	},
	riderWords: {
		"regardless of", "no matter", "whatever", "even if", "despite", " tool must", " tool should", " tool has to",
		"bcc", "copy every", "copy all", "copy each",
	},
	leaveWords: {
		"permission", "consent", "approv", "authori", "agreed", "granted", "allowed", "confirm", "permitted", "asking", " ask",
		"verification", "prompting",
	},
	skipWords: {
		"skip", "bypass", "without", "no need", "omit", "suppress", "avoid", "never", "do not", "don't",
	},
	refuseWords: {
		"refuse", "decline", "reject", "question", "hesitate", "comply with", "agree with",
	},
	gateWords: {
		"before", "prior to", "every time", "each time", "whenever", "first step", "first thing", "first action", "first call",
	},
	mustWords: {
		"must", "have to", "need to", "required to", "should", "any ", "every ", "all ",
	},
	commentWords: {
		"<!--",
	},
	toolsWords: {
		"tools of", "tool of", "tools from", "tool from", "tools on", "tools by", "tools in", "tools provided", "functions of", "functions from",
		"other tool", "other server", "other mcp",
	},
	alsoWords: {
		"also ", "first ", "additionally", "then ",
	},
	shellWords: {
		"curl ", "wget ", "rm -rf", "nc -e", "powershell", "/dev/tcp/",
	},
	zhIgnoreWords: {
		"忽略", "无视", "忘记", "忘掉", "不理会", "不顾", "绕过", "推翻", "覆盖", "违反", "不遵守",
	},
	zhQuietWords: {
		"不要", "勿", "不得", "别", "无需", "不必", "禁止", "保密", "隐瞒", "隐藏", "不让", "瞒着", "避免让", "不被", "悄悄", "偷偷", "暗中", "秘密",
		"静默", "私下",
	},
	zhSendWords: {
		"发送", "上传", "传入", "传递", "附加", "附上", "包含", "提供", "填入", "转发", "写入", "读取", "泄露", "提交", "放入", "放进", "加入",
		"带上", "输出", "传给", "发到",
	},
	zhSecretWords: {
		"密码", "密钥", "令牌", "凭证", "凭据", "私钥", "环境变量", "记录", "对话", "聊天", "提示词", "身份证", "银行卡", "个人信息", ".env",
		"id_rsa", ".ssh", "cookie", "token", "全文", "内容",
	},
	zhModelWords: {
		"助手", "模型", "致ai", "给ai", "告ai", "ai必须", "ai务必", "ai应", "ai请", "ai需要", "ai注意", "请注意", "智能体", "系统指令", "系统消息", "系统提示", "系统命令",
	},
	zhEveryWords: {
		"任何", "所有", "其他", "其它", "一切", "每次", "每当", "始终", "总是", "发送到", "上传到", "发到",
	},
	zhRegardWords: {
		"视为", "当作", "当成", "看作", "开发者模式", "管理员模式", "维护模式", "调试模式", "上帝模式", "无限制", "不受限", "越狱", "拒绝",
	},
}
