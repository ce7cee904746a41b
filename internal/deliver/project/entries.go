package project

import (
	"bytes"
	"encoding/json"
	"fmt"

	"heddle/internal/wire"
)

// logIn returns the log that a JSON document is, one entry a line: an array, or
// an object with one, most of whose items only logs have. what says so.
func logIn(doc document) (lines []byte, what string, ok bool) {
	list, where := doc.value, "the whole"
	if doc.value[0] == '{' {
		list = nil
		_ = wire.Members(doc.value, func(key string, v json.RawMessage) bool {
			if v[0] == '[' && len(v) > len(list) {
				list, where = v, show([]byte(key), 60)
			}
			return true
		})
	}
	if len(list)*2 < len(doc.value) {
		return nil, "", false
	}
	if first := bytes.TrimLeft(list[1:], " \t\r\n"); !hasPrefix(first, "{") || !logOnly(first[:extent(first)]) { // most JSON ends here
		return nil, "", false
	}
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return nil, "", false
	}
	known := 0
	var out bytes.Buffer
	for _, item := range items {
		if json.Compact(&out, item) != nil {
			return nil, "", false
		}
		out.WriteByte('\n')
		if logOnly(item) {
			known++
		}
	}
	if known < fewestRows || known*10 < len(items)*9 {
		return nil, "", false
	}
	return out.Bytes(), fmt.Sprintf("log in JSON, %d bytes: %s is an array of %s, each a line here", doc.size, where, count(len(items), "item")), true
}
