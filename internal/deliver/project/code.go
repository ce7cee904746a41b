package project

import (
	"bytes"
	"fmt"
)

// Keep reports whether text is source code, a diff or Markdown, which a model
// reads whole or not at all: up to four times the usual threshold it should stay.
// JSON and logs end in brackets as code does, but a projection serves them.
func Keep(text []byte) bool {
	text = plain(text)
	if kindOf(text) == "" || survey(text).hasLevels() {
		return false
	}
	_, isJSON := documentIn(text)
	return !isJSON
}

// kindOf returns KindDiff, KindMarkdown or KindCode, or "".
func kindOf(text []byte) string {
	const enough = 64 << 10
	var s style
	part := text[:min(len(text), enough)]
	for line := range bytes.Lines(part) {
		s.look(bytes.TrimRight(line, "\r\n"))
	}
	switch {
	case s.lines < 5:
		return ""
	case s.hunks > 0 && s.files+s.hunks > 0 && s.changed*3 >= s.lines-s.files*4 || s.hunks > 0 && s.files > 0:
		return KindDiff
	case s.inFence*2 > s.lines: // something else, with a frame around it
		return ""
	case s.headings >= 2 && (s.inFence*10 >= s.lines || s.headings*40 >= s.lines || s.marks*10 >= s.lines) && s.headings*5 < s.lines*2 && s.code*2 < s.lines,
		s.headings >= 1 && s.marks*5 >= s.lines && s.code*2 < s.lines:
		return KindMarkdown
	case s.declared > 0 && s.code*3 >= s.lines-s.blank, s.code*10 >= (s.lines-s.blank)*6 && s.code >= 8:
		return KindCode
	}
	return ""
}

// style counts what lines look like.
type style struct {
	lines, blank, hunks, files, changed, headings, marks, code, declared, inFence int
	fenced                                                                        bool
}

func (s *style) look(line []byte) {
	s.lines++
	t := bytes.TrimSpace(line)
	if len(t) == 0 {
		s.blank++
		return
	}
	if hasPrefix(t, "```") || hasPrefix(t, "~~~") {
		s.fenced = !s.fenced
		s.marks++
		return
	}
	switch {
	case hunk(line):
		s.hunks++
	case hasPrefix(line, "diff --git ") || hasPrefix(line, "--- ") || hasPrefix(line, "+++ ") || hasPrefix(line, "Index: "):
		s.files++
	case line[0] == '+' || line[0] == '-' && !hasPrefix(line, "- "):
		s.changed++
	}
	if s.fenced {
		s.inFence++
		return
	}
	switch {
	case heading(line) > 0:
		s.headings++
	case hasPrefix(t, "- ") || hasPrefix(t, "* ") || hasPrefix(t, "> ") || hasPrefix(t, "| ") || bytes.Contains(t, []byte("](")) || bytes.Contains(t, []byte("**")):
		s.marks++
	}
	if declares(line) {
		s.declared++
		s.code++
	} else if codeLine(t) {
		s.code++
	}
}

func hunk(line []byte) bool {
	return hasPrefix(line, "@@ -") && bytes.Contains(line[3:], []byte(" @@"))
}

// heading returns the level of a Markdown heading, or 0.
func heading(line []byte) int {
	n := 0
	for n < len(line) && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n+1 >= len(line) || line[n] != ' ' || line[n+1] == '!' {
		return 0
	}
	return n
}

// codeLine reports whether a line ends or begins as statements do.
func codeLine(t []byte) bool {
	switch t[len(t)-1] {
	case '{', '}', ';':
		return true
	case ')', ',', '(', ':', ']', '[':
		return bytes.ContainsAny(t, "=(") || len(t) < 3
	}
	for _, w := range [...]string{"//", "/*", "* ", "*/", "#include", "import ", "from ", "return", "if ", "if(", "for ", "else", "use ", "package ", "using ", "let ", "var ", "const ", "def ", "end", "elif ", "while ", "case ", "#!", "@"} {
		if hasPrefix(t, w) {
			return true
		}
	}
	return bytes.Contains(t, []byte(" = ")) || bytes.Contains(t, []byte(" := ")) || bytes.Contains(t, []byte("();"))
}

// declares reports whether a line declares a function, a type or the like, at the
// outer levels.
func declares(line []byte) bool {
	indent := 0
	for indent < len(line) && (line[indent] == ' ' || line[indent] == '\t') {
		indent++
	}
	if indent == len(line) || indent > 4 || line[0] == '\t' && indent > 1 {
		return false
	}
	t := line[indent:]
	for range 4 {
		word, rest, ok := bytes.Cut(t, []byte(" "))
		if !ok {
			return false
		}
		switch string(word) {
		case "export", "default", "public", "private", "protected", "static", "abstract", "final", "async", "pub", "pub(crate)", "unsafe", "extern", "inline", "override", "sealed", "internal", "open", "data", "declare":
			t = rest
			continue
		case "func", "function", "def", "class", "interface", "struct", "enum", "trait", "impl", "fn", "module", "namespace", "fun", "protocol", "extension", "mod":
			return nameFollows(rest)
		case "type", "record", "object":
			return nameFollows(rest) && (bytes.ContainsAny(rest, "={(") || bytes.HasSuffix(rest, []byte("struct {")) || indent == 0 && len(bytes.Fields(rest)) == 2)
		case "const", "let", "var":
			return indent == 0 && (bytes.Contains(rest, []byte("=> {")) || bytes.Contains(rest, []byte("function")))
		case "CREATE", "create":
			return indent == 0
		}
		return indent == 0 && bytes.HasSuffix(bytes.TrimSpace(t), []byte("{")) && bytes.IndexByte(t, '(') > 0 && letter(t[0])
	}
	return false
}

// nameFollows reports whether what follows a keyword is a name or a receiver.
func nameFollows(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	c := rest[0]
	if !letter(c) && c != '_' && c != '(' && c != '<' && c < 0x80 {
		return false
	}
	return bytes.ContainsAny(rest, "({:<=") || len(bytes.Fields(rest)) <= 2
}

// code projects source by its declarations.
func (in Input) code(text []byte) Projection {
	p := in.page(Budget)
	p.addf("source code: %s, %d bytes", count(lineCount(text), "line"), len(text))
	return in.listed(p, KindCode, text, "declarations", func(line []byte) string {
		if !declares(line) {
			return ""
		}
		return show(bytes.TrimRight(line, " {"), 120)
	})
}

// markdown projects a document by its headings.
func (in Input) markdown(text []byte) Projection {
	p := in.page(Budget)
	p.addf("Markdown: %s, %d bytes", count(lineCount(text), "line"), len(text))
	fenced := false
	return in.listed(p, KindMarkdown, text, "headings", func(line []byte) string {
		if hasPrefix(bytes.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced || heading(line) == 0 {
			return ""
		}
		return show(line, 100)
	})
}

// listed projects a text by the lines that pick chooses, numbered, and as much of
// its beginning as there is room for.
func (in Input) listed(p *page, kind string, text []byte, what string, pick func(line []byte) string) Projection {
	var lines []string
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if s := pick(bytes.TrimRight(line, "\r\n")); s != "" {
			lines = append(lines, fmt.Sprintf("L%d %s", n, s))
		}
	}
	if len(lines) == 0 {
		return in.headTail(text)
	}
	part := p.part(p.tokens * 7 / 10)
	had := part.tokens
	shown := part.some(lines, what)
	p.join(part, had)
	p.add("the text begins and ends:")
	left := p.ends(text)
	if left == "" {
		return Projection{}
	}
	return Projection{Kind: kind, Text: p.b.String(), Note: fmt.Sprintf("%s; %s", shown, left)}
}

// some adds lines from the first on, and says how many.
func (p *page) some(lines []string, what string) string {
	const rest = 15
	p.tokens -= rest
	p.addf("%d %s (with line numbers):", len(lines), what)
	n := 0
	for n < len(lines) && p.add(lines[n]) {
		n++
	}
	p.tokens += rest
	if n < len(lines) {
		p.addf("… %d more %s", len(lines)-n, what)
		return fmt.Sprintf("%d of %d %s", n, len(lines), what)
	}
	return fmt.Sprintf("all %d %s", n, what)
}

// diff projects a diff by its files, with how much changes in each.
func (in Input) diff(text []byte) Projection {
	p := in.page(Budget)
	p.addf("diff: %s, %d bytes", count(lineCount(text), "line"), len(text))
	type change struct {
		name           string
		line           int
		hunks, in, out int
	}
	var files []change
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case hasPrefix(line, "diff --git "):
			files = append(files, change{name: show(line[len("diff --git "):], 160), line: n})
		case hasPrefix(line, "+++ "):
			if len(files) == 0 || files[len(files)-1].hunks > 0 {
				files = append(files, change{name: show(line[4:], 160), line: n})
			}
		case len(files) == 0 || hasPrefix(line, "--- "):
		case hunk(line):
			files[len(files)-1].hunks++
		case hasPrefix(line, "+"):
			files[len(files)-1].in++
		case hasPrefix(line, "-"):
			files[len(files)-1].out++
		}
	}
	var lines []string
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("L%d %s: %s, +%d -%d", f.line, f.name, count(f.hunks, "hunk"), f.in, f.out))
	}
	part := p.part(p.tokens * 6 / 10)
	had := part.tokens
	shown := part.some(lines, "files")
	p.join(part, had)
	p.add("the text begins and ends:")
	left := p.ends(text)
	if left == "" {
		return Projection{}
	}
	return Projection{Kind: KindDiff, Text: p.b.String(), Note: shown + "; " + left}
}
