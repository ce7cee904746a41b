package records

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf16"
)

// longLine is a line of ls -l: mode, links, owner, group, size, date, name. The size
// of a device is two numbers, which is no such line.
var longLine = regexp.MustCompile(`^([-dlcbpsD][-rwxsStT]{9}[.+@]?) +(\d+) +(\S+) +(\S+) +(\d+) ` +
	`([A-Z][a-z]{2} [ \d]\d (?:\d\d:\d\d| \d{4})|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d\.\d+ [+-]\d{4})?) (.+)$`)

// longListing finds the output of ls -l for one directory.
func longListing(p *page) (m match, ok bool) {
	from := slices.IndexFunc(p.top(), func(l line) bool { return longLine.Match(l.text) })
	if from < 0 {
		return m, false
	}
	var w cellWriter
	w.header([]string{"mode", "links", "owner", "group", "size", "date", "name", "target"})
	to := from
	for ; to < len(p.lines) && !p.lines[to].blank(); to++ {
		f := longLine.FindSubmatch(p.lines[to].text)
		if f == nil {
			return m, false
		}
		name, target, ok := linkTarget(f[1], f[7])
		if !ok {
			return m, false
		}
		w.row(f[1], f[2], f[3], f[4], f[5], f[6], name, target)
	}
	for _, l := range p.lines[to:] {
		if longLine.Match(l.text) { // of another directory
			return m, false
		}
	}
	m = match{from: from, to: to, table: w.table(sourceDelimited)}
	return m, w.rows >= minText && p.few(from, to)
}

// linkTarget splits the name of a symbolic link; ok is false if it can be split in
// several ways.
func linkTarget(mode, text []byte) (name, target []byte, ok bool) {
	arrow := []byte(" -> ")
	if mode[0] != 'l' {
		return text, nil, true
	}
	name, target, found := bytes.Cut(text, arrow)
	return name, target, found && !bytes.Contains(target, arrow)
}

var (
	// sizeLine is a line of a directory as the reference filesystem server prints it.
	sizeLine = regexp.MustCompile(`^\[(FILE|DIR)\] (.+?) +(\d+(?:\.\d+)? [KMGT]?B)?$`)
)

// sizeListing finds a directory of files with their sizes: a name that is padded to 30
// places, and a size that is padded to 10.
func sizeListing(p *page) (m match, ok bool) {
	var w cellWriter
	w.header([]string{"kind", "name", "size"})
	dirs, to := 0, 0
	for ; to < len(p.lines) && !p.lines[to].blank(); to++ {
		f := sizeLine.FindSubmatch(p.lines[to].text)
		if f == nil || (f[3] == nil) != (f[1][0] == 'D') || !bytes.Equal(p.lines[to].text, sizeEntry(f[1], f[2], f[3])) {
			return m, false
		}
		if f[1][0] == 'D' {
			dirs++
		}
		w.row(f[1:]...)
	}
	if to+1 >= len(p.lines) || w.rows < minText {
		return m, false
	}
	sum := fmt.Sprintf("Total: %d files, %d directories", w.rows-dirs, dirs)
	m = match{from: 0, to: to, table: w.table(sourceDelimited)}
	return m, string(p.lines[to+1].text) == sum && p.few(0, to)
}

// sizeEntry is the line for a file, which tells padding from what is part of a name.
func sizeEntry(kind, name, size []byte) []byte {
	b := fmt.Appendf(nil, "[%s] %s", kind, name)
	for n := len(utf16.Encode([]rune(string(name)))); n < 30; n++ { // it counts as JavaScript does
		b = append(b, ' ')
	}
	b = append(b, ' ')
	if size != nil {
		b = fmt.Appendf(b, "%10s", size)
	}
	return b
}
