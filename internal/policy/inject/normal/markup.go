package normal

import "strings"

// hasMarkup reports whether s may have what [Text.markup] finds.
func hasMarkup(s string) bool {
	for rest := s; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		tag := rest[:min(len(rest), longestTag)]
		if strings.HasPrefix(tag, "!--") {
			return true
		}
		if n := tagEnd(tag); n > 0 && hides(strings.ToLower(tag[:n])) {
			return true
		}
	}
	return strings.Contains(s, "[//]:") || strings.Contains(s, "[comment]:")
}

// markup finds comments and elements that show nothing in Folded.
func (t *Text) markup() {
	s := t.Folded
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "<[")
		if n < 0 {
			return
		}
		i += n
		start, end, kind := hiddenAt(s, i)
		if end <= i {
			i++
			continue
		}
		t.Hidden = append(t.Hidden, Span{kind, start, end})
		i = end
	}
}

// longestTag bounds the search for the end of a tag.
const longestTag = 1024

// hiddenAt returns what the markup at byte i hides.
func hiddenAt(s string, i int) (start, end int, kind Kind) {
	rest := s[i:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		n := strings.Index(rest, "-->")
		if n < 0 {
			return i, len(s), Comment // browsers do so
		}
		return i + 4, i + n, Comment
	case strings.HasPrefix(rest, "[//]:"), strings.HasPrefix(rest, "[comment]:"):
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		return i, i + n, Comment
	case rest[0] == '[':
		return 0, 0, ""
	}
	n := 1 + tagEnd(rest[1:min(len(rest), longestTag)])
	if n == 0 || !hides(rest[1:n]) {
		return 0, 0, ""
	}
	name, _, _ := strings.Cut(rest[1:n], " ")
	closing := strings.Index(rest[n:], "</"+name)
	if closing < 0 {
		closing = len(rest) - n
	}
	return i + n + 1, i + n + closing, Unseen
}

// tagEnd returns where the tag ends of which s is what follows "<"; -1 if it is none.
func tagEnd(s string) int {
	if s == "" || class[s[0]]&letter == 0 {
		return -1
	}
	n := strings.IndexByte(s, '>')
	if n < 0 || strings.IndexByte(s[:n], '<') >= 0 {
		return -1
	}
	return n
}

// hides reports whether a tag with these attributes hides what is in it.
func hides(tag string) bool {
	if tag == "template" || strings.HasPrefix(tag, "template ") {
		return true
	}
	for i := 0; ; {
		n := strings.Index(tag[i:], " hidden")
		if n < 0 {
			break
		}
		if i += n + len(" hidden"); i == len(tag) || tag[i] == ' ' || tag[i] == '=' || tag[i] == '/' {
			return true
		}
	}
	_, style, ok := strings.Cut(tag, "style")
	if !ok {
		return false
	}
	style = strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(style)
	for _, sign := range [...]string{
		"display:none", "visibility:hidden", "font-size:0", "font-size:1px", "opacity:0;", "opacity:0\"", "opacity:0'", "opacity:0.0", "color:white", "color:#fff", "color:transparent",
		"text-indent:-", "left:-9", "top:-9", "height:0", "width:0", "clip:rect(0", "color:rgb(255,255,255)", "font-size:.1", "font-size:0.",
	} {
		if strings.Contains(style, sign) && !strings.Contains(style, "background-"+sign) {
			return true
		}
	}
	return false
}
