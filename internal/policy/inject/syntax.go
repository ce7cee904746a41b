package inject

import (
	"regexp"
	"strings"
	"sync"
)

// The rules for what breaks out of the place that an argument is put in.
const (
	shellRule = "shell"
	sqlRule   = "sql"
	pathRule  = "path-traversal"
)

// syntax is a trick by what it needs: bytes without which no expression is tried, and an
// expression for folded texts.
type syntax struct {
	rule   string
	points int
	needs  string
	expr   *regexp.Regexp
}

// commands are programs that make sense behind a separator. Those that are words of
// English as well need an argument that looks like one.
const (
	commands = `(?:sudo |/(?:usr/)?s?bin/)?(?:rm|curl|wget|ncat|bash|zsh|sh|python[23]?|perl|ruby|php|powershell|pwsh|cmd(?:\.exe)?|whoami|uname|nslookup|chmod|chown|mkfs[.a-z0-9]*|base64|printenv|ssh|scp|telnet|reboot|shutdown|nc|xargs|eval|ifconfig|netstat|systemctl|crontab|certutil|bitsadmin)\b`
	words    = `(?:cat|ls|id|dd|cp|mv|echo|env|find|ping|dig|kill|sleep|touch|tee|awk|sed|head|tail|type|dir|net|node|exec|source|export)(?: +[-/~.$"'0-9*]|[<>]| *$| *[;&|` + "`" + `)#])`
)

var syntaxes = sync.OnceValue(func() []syntax {
	re := regexp.MustCompile
	return []syntax{
		{shellRule, 100, ";|&\n`$", re("(?:[;\n`]|\\|\\|?|&&?|\\$\\() *" + commands)},
		{shellRule, 90, ";|&\n`$", re("(?:[;\n`]|\\|\\|?|&&?|\\$\\() *" + words)},
		{shellRule, 90, "$", re(`\$\{ifs\}|\$ifs\b`)},
		{shellRule, 90, "<>", re(`[<>] */(?:etc|dev|tmp|root|home|var|proc)/|/dev/tcp/`)},
		{sqlRule, 100, "", re(`\bunion(?: |/\*.{0,8}?\*/|\+)+(?:all(?: |\+)+)?select\b`)},
		{sqlRule, 100, ";", re(`; *(?:drop|delete from|insert into|update \w+ set|alter|truncate|exec(?:ute)?|create|grant|shutdown)\b`)},
		{sqlRule, 100, "'\"", re(`['"]\)* *(?:or|and|\|\||&&) +(?:not +)?['"(]?[\w]+['")]? *(?:=|<|>|like\b|is\b|in *\()`)},
		{sqlRule, 90, "=", re(`\bor +(\d+) *= *\d+\b`)},
		{sqlRule, 90, "(", re(`\b(?:pg_sleep|benchmark|xp_cmdshell|load_file|extractvalue|updatexml|dbms_pipe\.\w+|sleep) *\( *['"\d]|waitfor +delay`)},
		{sqlRule, 60, "'", re(`\w' *\)* *(?:--|#|/\*)|\binto +(?:out|dump)file\b`)},
		{pathRule, 100, ".", re(`(?:^|[/\\=:;, ])\.{2,}[/\\]+(?:[^/\\]+[/\\]+)*\.{2,}(?:[/\\]|$)|\.{4,}[/\\]{2}`)},
		{pathRule, 60, ".", re(`(?:^|[/\\=:;, ])\.\.[/\\]`)},
		{pathRule, 60, "/\\", re(`(?:^|[=:;, ])(?:/etc/(?:passwd|shadow|hosts|ssh)|/proc/self|/root/|[a-z]:\\+windows)`)},
	}
})

// tricks returns the strongest finding of each rule in a folded text, with places in it.
func tricks(s string) []Finding {
	var out []Finding
	for _, x := range syntaxes() {
		if x.needs != "" && !strings.ContainsAny(s, x.needs) || len(out) > 0 && out[len(out)-1].Rule == x.rule {
			continue
		}
		if at := x.expr.FindStringIndex(s); at != nil {
			out = append(out, Finding{x.rule, at[0], at[1], x.points})
		}
	}
	return out
}
