package records

import (
	"bytes"
	"regexp"
	"strings"

	"heddle/internal/wire"
)

// node is a line of a page's accessibility tree: a role, a name and what is below it.
type node struct {
	indent   int
	role     string
	name     []byte // nil if there is none
	from, to int    // the lines of all of it
}

// nodeLine is a node: - cell "Customer 1" [ref=e27]: with attributes, and a text or a
// colon if there is more.
var nodeLine = regexp.MustCompile(`^( *)- (\w+)( "(?:[^"\\]|\\.)*")?((?: \[[^\]]*\])*)(:(?: (.+))?)?$`)

// accessibility finds the table of a page as browsers' servers print it, if it has one
// with rows of cells below one row of column headers.
func accessibility(p *page) (best match, ok bool) {
	for i, l := range p.lines {
		if t := bytes.TrimLeft(l.text, " "); !bytes.HasPrefix(t, []byte("- table")) && !bytes.HasPrefix(t, []byte("- grid")) {
			continue
		}
		n, isNode := p.node(i)
		if !isNode || n.role != "table" && n.role != "grid" {
			continue
		}
		if m, found := p.accessibleTable(n); found && m.table.Count > best.table.Count {
			best, ok = m, true
		}
	}
	return best, ok
}

// node reads the line i as a node.
func (p *page) node(i int) (n node, ok bool) {
	text, quoted := unquoteNode(p.lines[i].text)
	f := nodeLine.FindSubmatch(text)
	if f == nil {
		return n, false
	}
	n = node{indent: len(f[1]), role: string(f[2]), from: i, to: i + 1}
	switch {
	case len(f[3]) > 0:
		n.name, ok = wire.Text(bytes.TrimSpace(f[3]))
	case len(f[6]) > 0 && !quoted:
		n.name, ok = yamlScalar(f[6])
	default:
		ok = len(f[6]) == 0
	}
	for n.to < len(p.lines) && indent(p.lines[n.to].text) > n.indent {
		n.to++
	}
	return n, ok
}

// unquoteNode takes the quotes from a line that YAML wants quoted: - 'cell "a: b"'.
func unquoteNode(text []byte) (plain []byte, quoted bool) {
	at := indent(text) + len("- ")
	if len(text) <= at || text[at] != '\'' {
		return text, false
	}
	end := bytes.LastIndexByte(text, '\'')
	if end <= at {
		return text, false
	}
	inner := bytes.ReplaceAll(text[at+1:end], []byte("''"), []byte("'"))
	return append(append(bytes.Clone(text[:at]), inner...), text[end+1:]...), true
}

// children calls f for the nodes right below n.
func (p *page) children(n node, f func(node) bool) bool {
	for i := n.from + 1; i < n.to; {
		child, ok := p.node(i)
		if !ok || !f(child) {
			return false
		}
		i = child.to
	}
	return true
}

// accessibleTable reads a table. Its rows may stand in groups.
func (p *page) accessibleTable(n node) (m match, ok bool) {
	var rows []node
	ok = p.children(n, func(n node) bool {
		if n.role == "rowgroup" {
			return p.children(n, func(n node) bool {
				rows = append(rows, n)
				return n.role == "row"
			})
		}
		rows = append(rows, n)
		return n.role == "row"
	})
	if !ok || len(rows) <= minText {
		return m, false
	}
	var header []string
	if !p.children(rows[0], func(n node) bool {
		header = append(header, string(n.name))
		return n.role == "columnheader"
	}) || len(header) < 2 {
		return m, false
	}
	var w cellWriter
	w.header(header)
	dropped := 0
	for _, row := range rows[1:] {
		var cells [][]byte
		if !p.children(row, func(n node) bool {
			text, rest := p.content(n)
			if rest {
				dropped++
			}
			cells = append(cells, text)
			return n.role == "cell" || n.role == "gridcell" || n.role == "rowheader"
		}) || len(cells) != len(header) {
			return m, false
		}
		w.row(cells...)
	}
	m = match{from: n.from, to: n.to, table: w.table(sourceBlocks)}
	m.others = []Part{{"", "roles and refs of the elements"}}
	if dropped > 0 {
		m.others = append(m.others, Part{"", "what is inside " + counted(dropped, "cell")})
	}
	return m, true
}

// content is a cell's text: its name, or the lines of what is in it. more says that it
// has lines beside its name.
func (p *page) content(n node) (text []byte, more bool) {
	if n.name != nil || n.to == n.from+1 {
		return n.name, n.to > n.from+1
	}
	var lines []string
	at := indent(p.lines[n.from+1].text)
	for _, l := range p.lines[n.from+1 : n.to] {
		lines = append(lines, string(l.text[min(at, indent(l.text)):]))
	}
	return []byte(strings.Join(lines, "\n")), false
}
