package project

import "bytes"

// listing returns the names of what a line of ls -l or find -ls has, or nil if it
// is none.
func listing(line []byte) [][]byte {
	names := [][]byte{[]byte("inode"), []byte("blocks"), []byte("mode"), []byte("links"), []byte("owner"), []byte("group"), []byte("size"), []byte("modified"), []byte("name")}
	switch cells := listed(bytes.TrimRight(line, "\r"), nil); len(cells) {
	case len(names):
		return names
	case len(names) - 2:
		return names[2:]
	}
	return nil
}

// listed cuts a line of ls -l, or of find -ls, which has two numbers in front.
func listed(line []byte, cells [][]byte) [][]byte {
	at := 0
	take := func(words int) []byte {
		for at < len(line) && line[at] == ' ' {
			at++
		}
		start := at
		for ; words > 0; words-- {
			for at < len(line) && line[at] == ' ' {
				at++
			}
			for at < len(line) && line[at] != ' ' {
				at++
			}
		}
		return line[start:at]
	}
	first := take(1)
	if digits(first) > 0 && digits(first) == len(first) {
		cells = append(cells, first, take(1))
		first = take(1)
	}
	if !mode(first) {
		return nil
	}
	cells = append(cells, first, take(1), take(1), take(1))
	size := take(1)
	if bytes.HasSuffix(size, []byte(",")) { // a device's two numbers
		start := at - len(size)
		take(1)
		size = line[start:at]
	}
	if digits(size) == 0 || digits(cells[len(cells)-3]) == 0 {
		return nil
	}
	when := at
	switch next := take(1); {
	case month(next):
		take(2)
	case len(next) == 10 && next[4] == '-':
		take(1)
		if at+1 < len(line) && (line[at+1] == '+' || line[at+1] == '-') && digits(line[min(len(line), at+2):]) == 4 {
			take(1)
		}
	default:
		return nil
	}
	modified := bytes.TrimSpace(line[when:at])
	if at+1 >= len(line) {
		return nil
	}
	return append(cells, size, modified, line[at+1:])
}

// mode reports whether a word is what ls writes of a file's kind and rights.
func mode(w []byte) bool {
	return (len(w) == 10 || len(w) == 11) && bytes.IndexByte([]byte("-dlbcpsD"), w[0]) >= 0 && len(bytes.Trim(w[1:10], "rwxsStT-")) == 0
}
