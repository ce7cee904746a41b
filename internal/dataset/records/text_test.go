package records

import (
	"fmt"
	"strings"
	"testing"
)

// rowsOf joins n lines that differ in a number.
func rowsOf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i+1)))
	}
	return b.String()
}

// TestTables has texts that are tables, and all of their cells.
func TestTables(t *testing.T) {
	for _, tt := range []struct{ name, text, found, cells string }{
		{
			"csv", "zip,city,n\n01234,\"Halle, Saale\",1\n00501,\"say \"\"hi\"\"\",2\n10115,,3\n10117,\"\",4\n10119,\"two\nlines\",5\n",
			"main text:delimited delimited  5",
			"zip text | city text | n integer\n01234 | Halle, Saale | 1\n00501 | say \"hi\" | 2\n10115 | NULL | 3\n10117 |  | 4\n10119 | two\nlines | 5",
		},
		{
			"csv as Windows writes it", "a,b,c\r\n" + rowsOf(5, "x#,#,true\r\n"), "main text:delimited delimited  5",
			"a text | b integer | c boolean\nx1 | 1 | true\nx2 | 2 | true\nx3 | 3 | true\nx4 | 4 | true\nx5 | 5 | true",
		},
		{
			"numbers that do not print back", "p,q,r,s,t\n007,1.10,1e5,+49,1\n1,2,3,4,2\n1,2,3,4,3\n1,2,3,4,4\n1,2,3,4,12345678901234567890\n",
			"main text:delimited delimited  5",
			"p text | q text | r text | s text | t huge\n007 | 1.10 | 1e5 | +49 | 1\n1 | 2 | 3 | 4 | 2\n1 | 2 | 3 | 4 | 3\n1 | 2 | 3 | 4 | 4\n1 | 2 | 3 | 4 | 12345678901234567890",
		},
		{
			"doubles", "a,b,c\n" + rowsOf(5, "0.#,-1#.0,1\n"), "main text:delimited delimited  5",
			"a double | b double | c integer\n0.1 | -11 | 1\n0.2 | -12 | 1\n0.3 | -13 | 1\n0.4 | -14 | 1\n0.5 | -15 | 1",
		},
		{
			"money", "a,b,total\n" + rowsOf(5, "x,#,1.9#\n"), "main text:delimited delimited  5",
			"a text | b integer | total text\nx | 1 | 1.91\nx | 2 | 1.92\nx | 3 | 1.93\nx | 4 | 1.94\nx | 5 | 1.95",
		},
		{
			"a clock with AM and PM", "a,b,c\n" + rowsOf(5, "Night,#,2022/01/27 11:04:5# PM\n"), "main text:delimited delimited  5",
			"a text | b integer | c text\n" + strings.TrimSuffix(rowsOf(5, "Night | # | 2022/01/27 11:04:5# PM\n"), "\n"),
		},
		{
			"semicolons and decimal commas", "name;x;y\n" + rowsOf(5, "n;1,#;2,5\n"), "main text:delimited delimited  5",
			"name text | x text | y text\n" + strings.TrimSuffix(rowsOf(5, "n | 1,# | 2,5\n"), "\n"),
		},
		{
			"tabs without a header", "Started.\n" + rowsOf(5, "pkg#\t1.#-2\t#\tlibs \"x\"\n"), "main text:delimited delimited  5\nresidue \"Started.\"",
			"column1 text | column2 text | column3 integer | column4 text\n" + strings.TrimSuffix(rowsOf(5, "pkg# | 1.#-2 | # | libs \"x\"\n"), "\n"),
		},
		{
			"two columns with a tab", rowsOf(5, "#00\t/srv/a b#\n"), "main text:delimited delimited  5",
			"column1 integer | column2 text\n" + strings.TrimSuffix(rowsOf(5, "#00 | /srv/a b#\n"), "\n"),
		},
		{
			"a first row without a number", "x,y,N/A\n" + rowsOf(5, "x,y,#\n"), "main text:delimited delimited  6",
			"column1 text | column2 text | column3 text\nx | y | N/A\n" + strings.TrimSuffix(rowsOf(5, "x | y | #\n"), "\n"),
		},
		{
			"names that clash", ",a,A,a\n" + rowsOf(5, "#,1,2,3\n"), "main text:delimited delimited  5",
			"column1 integer from \"\" | a integer | A_2 integer from A | a_3 integer from a\n" + strings.TrimSuffix(rowsOf(5, "# | 1 | 2 | 3\n"), "\n"),
		},
		{
			"years as names", "country,2001,2002,total\n" + rowsOf(5, "c#,1,2,3\n"), "main text:delimited delimited  5",
			"country text | 2001 integer | 2002 integer | total integer\n" + strings.TrimSuffix(rowsOf(5, "c# | 1 | 2 | 3\n"), "\n"),
		},
		{
			"csv below a line and above another", "[Reading 5 lines, 3 remaining]\n\na,b,c\n" + rowsOf(5, "x x x x x,y,#\n") + "\nMore: offset=5\n",
			"main text:delimited delimited  5\nresidue \"[Reading 5 lines, 3 remaining]\\nMore: offset=5\"",
			"a text | b text | c integer\n" + strings.TrimSuffix(rowsOf(5, "x x x x x | y | #\n"), "\n"),
		},
		{
			"csv in a fence", "Rows:\n```csv\na,b,c\n" + rowsOf(5, "x,y,#\n") + "```\n", "main text:delimited delimited  5\nresidue \"Rows:\\n```csv\\n```\"",
			"a text | b text | c integer\n" + strings.TrimSuffix(rowsOf(5, "x | y | #\n"), "\n"),
		},
		{
			"markdown", "Two users:\n\n| id | name | note |\n|---:|:-----|------|\n| 1 | a\\|b | |\n| 2 | `x` | - |\n\nEnd.", "main text:markdown-table markdown  2\nresidue \"Two users:\\nEnd.\"",
			"id integer | name text | note text\n1 | a|b | NULL\n2 | `x` | -",
		},
		{
			"markdown without outer bars", "id | name\n--- | ---\n1 | a\n02 | b\n", "main text:markdown-table markdown  2", "id text | name text\n1 | a\n02 | b",
		},
		{
			"psql", " id | name  \n----+-------\n  1 | a\\|b \n 10 |       \n(2 rows)\n", "none: text without a table", "",
		},
		{
			"psql with a backslash", " id | name  \n----+-------\n  1 | a\\n   \n 10 |       \n(2 rows)\n", "main text:markdown-table markdown  2\nresidue \"(2 rows)\"",
			"id integer | name text\n1 | a\\n\n10 | NULL",
		},
		{
			"mysql", "+----+------+\n| id | name |\n+----+------+\n|  1 | a    |\n|  2 | NULL |\n+----+------+\n2 rows in set (0.00 sec)\n",
			"main text:markdown-table markdown  2\nresidue \"2 rows in set (0.00 sec)\"", "id integer | name text\n1 | a\n2 | NULL",
		},
		{
			"kubectl", "NAME     READY   NOMINATED NODE\n" + rowsOf(4, "pod-#    1/1     <none>\n") + "é-5      0/1     \n", "main text:delimited cells  5",
			"NAME text | READY text | NOMINATED NODE text\n" + rowsOf(4, "pod-# | 1/1 | <none>\n") + "é-5 | 0/1 | NULL",
		},
		{
			"ls", "total 5\n" + rowsOf(4, "-rw-r--r-- 1 root root  #0 Jan 11  2023 a  b#\n") + "lrwxrwxrwx 1 root root 1 Oct 29 09:34 x -> y\n",
			"main text:delimited cells  5\nresidue \"total 5\"",
			"mode text | links integer | owner text | group text | size integer | date text | name text | target text\n" +
				rowsOf(4, "-rw-r--r-- | 1 | root | root | #0 | Jan 11  2023 | a  b# | NULL\n") + "lrwxrwxrwx | 1 | root | root | 1 | Oct 29 09:34 | x | y",
		},
		{
			"sizes", rowsOf(4, "[FILE] a b#"+strings.Repeat(" ", 30)+"1.17 MB\n") + "[DIR] d" + strings.Repeat(" ", 30) + "\n\nTotal: 4 files, 1 directories\nCombined size: 4 MB",
			"main text:delimited cells  5\nresidue \"Total: 4 files, 1 directories\\nCombined size: 4 MB\"",
			"kind text | name text | size text\n" + rowsOf(4, "FILE | a b# | 1.17 MB\n") + "DIR | d | NULL",
		},
		{
			"blocks", "Found 5 users:\n\n" + rowsOf(5, "Name: User: #\nE-Mail: u#\nAge: #\nNote:\n\n") + "Page 1 of 3\n",
			"main text:record-blocks cells  5\nresidue \"Found 5 users:\\nPage 1 of 3\"",
			"Name text | E-Mail text | Age integer | Note null\n" + strings.TrimSuffix(rowsOf(5, "User: # | u# | # | NULL\n"), "\n"),
		},
		{
			"blocks with totals", "Total: 11\nPage: 1\n\n" + rowsOf(11, "Name: User #\nAge: #\n\n"), "main text:record-blocks cells  11\nresidue \"Total: 11\\nPage: 1\"",
			"Name text | Age integer\n" + strings.TrimSuffix(rowsOf(11, "User # | #\n"), "\n"),
		},
		{
			"blocks in bold", rowsOf(5, "- **Name:** User #\n- **Home page**: https://example.com/#\n- Age (years): #\n\n"), "main text:record-blocks cells  5",
			"Name text | Home page text | Age (years) integer\n" + strings.TrimSuffix(rowsOf(5, "User # | https://example.com/# | #\n"), "\n"),
		},
		{
			"numbered blocks", "Results\n" + rowsOf(5, "#. Title #\n   URL: https://example.com/#\n   Score: 0.#\n") + "\nDone.",
			"main text:record-blocks cells  5\nresidue \"Results\\nDone.\"",
			"title text | URL text | Score double\n" + strings.TrimSuffix(rowsOf(5, "Title # | https://example.com/# | 0.#\n"), "\n"),
		},
		{
			"yaml", "# events\n" + rowsOf(5, "- Object:\n    Kind: Pod\n    Name: 'it''s #: x'\n  Count: #\n  Text: \"a\\tb\"\n  None: null\n"),
			"main text:record-blocks cells  5\nresidue \"# events\"",
			"Object.Kind text | Object.Name text | Count integer | Text text | None null\n" + strings.TrimSuffix(rowsOf(5, "Pod | it's #: x | # | a\tb | NULL\n"), "\n"),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, why := Find(Input{Texts: [][]byte{[]byte(tt.text)}})
			if got := describe(found, why); got != tt.found {
				t.Fatalf("%s\ngot  %s\nwant %s", tt.text, got, tt.found)
			}
			if why != "" {
				return
			}
			schema, err := found.Main.Schema()
			if err != nil {
				t.Fatal(err)
			}
			if got := show(t, schema); got != tt.cells {
				t.Errorf("%s\ngot\n%s\nwant\n%s", tt.text, got, tt.cells)
			}
		})
	}
}

func TestSnapshot(t *testing.T) {
	table := Table{Form: FormSnapshot, Data: []byte(`["a","A","d.e"]` + "\n" + `["1",null,"x\ty"]` + "\n" + `["02","","\u0000é"]` + "\n")}
	schema, err := table.Schema()
	if err != nil {
		t.Fatal(err)
	}
	want := "a text | A_2 text from A | d.e text\n1 | NULL | x\ty\n02 |  | \x00é"
	if got := show(t, schema); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, data := range []string{`["a"]["b","c"]`, `["a"][1]`, `["a"`, `["a"],["b"]`, `{"a":1}`, `["a"]["b\x"]`} {
		table := Table{Form: FormSnapshot, Data: []byte(data)}
		if _, err := table.Schema(); err == nil {
			t.Errorf("no error for %s", data)
		}
	}
}

const goCode = `package main

import "fmt"

var table = []struct{ a string; b, c int }{
	{"one", 1, 2},
	{"two", 3, 4},
	{"three", 5, 6},
	{"four", 7, 8},
	{"five", 9, 10},
}

func main() {
	for i, t := range table {
		fmt.Println(i, t.a, t.b)
	}
}
`

// TestNeverLie has texts that look like tables and are none, or none that can be read
// for sure.
func TestNeverLie(t *testing.T) {
	csv := "a,b,c\n" + rowsOf(9, "x,y,#\n")
	yaml := rowsOf(6, "- name: n#\n  age: #\n")
	psql := " id | name \n----+------\n  1 | a\n  2 | b\n"
	kubectl := "NAME     READY   STATUS\n" + rowsOf(5, "pod-#    1/1     Running\n")
	ls := rowsOf(5, "-rw-r--r-- 1 root root  #0 Jan 11  2023 a#\n")
	numbered := rowsOf(6, "#. Title #\n   URL: https://example.com/#\n")
	for name, text := range map[string]string{
		"nothing":                        "",
		"blank lines":                    "\n\n\n",
		"prose with commas":              rowsOf(8, "In 201#, the committee met, talked, and left.\n"),
		"prose with numbers":             rowsOf(8, "We sold #, they bought #, nobody paid #\n"),
		"code":                           goCode,
		"code of numbers":                "int t[] = {\n" + rowsOf(9, "  0x0#, 0x1#, 0x2#,\n") + "};\n",
		"a log":                          rowsOf(20, "2024-01-01 10:00:0#,123 INFO [main] started, id=#, ok\n"),
		"a log with bars":                rowsOf(20, "2024-01-01 | INFO | request # | 200\n"),
		"logfmt":                         rowsOf(20, "ts=2024-01-01T00:00:00Z level=info msg=\"a, b, c\" n=#\n"),
		"key and value":                  rowsOf(20, "key#: value #\n"),
		"an environment":                 rowsOf(20, "VAR_#=a,b\nLIST_#=a,b,c,#\n"),
		"ini":                            rowsOf(6, "[section#]\nname: a\nage: #\n\n"),
		"a diff of a csv":                "--- a.csv\n+++ a.csv\n@@ -1,3 +1,3 @@\n" + rowsOf(6, "-x,y,#\n+x,z,#\n"),
		"a diff":                         "diff --git a/x b/x\n@@ -1,9 +1,9 @@\n" + rowsOf(6, " func f(a, b, c)\n-\told(#, 2, 3)\n+\tnew(#, 2, 3)\n"),
		"a document with a small table":  rowsOf(30, "Paragraph # says a lot about a topic.\n\n") + "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
		"a list":                         rowsOf(20, "- item #\n"),
		"a numbered list":                rowsOf(20, "#. item #\n"),
		"paths":                          rowsOf(20, "/srv/a/b,c/#.txt\n"),
		"a header only":                  "a,b,c\n",
		"one column":                     "a\n" + rowsOf(9, "#\n"),
		"few rows":                       "a,b,c\n" + rowsOf(4, "x,y,#\n"),
		"no number":                      "a,b,c\n" + rowsOf(9, "x,y,z#\n"),
		"one ragged row":                 csv + "x,9\n" + rowsOf(9, "x,y,#\n"),
		"one ragged row at the end":      csv + "x,9\n",
		"one long row":                   csv + "x,y,9,z\n",
		"a cut row":                      csv + "x,\"y",
		"a cut row after a break":        csv + "\nx,y,10\n",
		"text after a quote":             csv + "\"x\"y,z,1\n",
		"a quote in a field":             csv + "x\"y,z,1\n",
		"a line right after":             csv + "and so on\n",
		"a line with commas before":      "Rows for a, b\n" + csv,
		"commas or semicolons":           "a,b;c,d\n" + rowsOf(9, "1,2;#,4\n"),
		"a header that is unsure":        "1,b,c\n" + rowsOf(9, "2,y,#\n"),
		"two tables":                     csv + "\nd,e,f\n" + rowsOf(9, "x,y,#\n"),
		"a ragged markdown row":          "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |\n| 5 | 6 |\n",
		"a markdown row without bars":    "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\nend\n",
		"a rule with too few columns":    "| a | b |\n|---|\n| 1 | 2 |\n| 3 | 4 |\n",
		"psql and a wrong count":         psql + "(3 rows)\n",
		"psql and a long cell":           " id | name \n----+------\n  1 | a   +\n    | b\n  2 | c\n(2 rows)\n",
		"psql and a bar in a cell":       " id | name \n----+------\n  1 | a|b\n  2 | b\n(2 rows)\n",
		"psql and a space that is meant": " id | name  \n----+-------\n  1 |  a    \n  2 | b     \n(2 rows)\n",
		"mysql that is cut":              "+----+------+\n| id | name |\n+----+------+\n|  1 | a    |\n|  2",
		"mysql without its end":          "+----+------+\n| id | name |\n+----+------+\n|  1 | a    |\n|  2 | b    |\n",
		"kubectl and a shifted row":      kubectl + "a-long-pod-name   1/1   Running\n",
		"kubectl and an indented row":    kubectl + "         1/1     Running\n",
		"kubectl and a message":          kubectl + "error: timeout\n",
		"ss":                             "State  Recv-Q Send-Q Local Address:Port\n" + rowsOf(6, "LISTEN 0      4096       127.0.0.1:1810#\n"),
		"df":                             "Filesystem      Size  Used Avail Use% Mounted on\n" + rowsOf(6, "tmpfs           2#G   12G   12G  50% /mnt/#\n"),
		"an odd page":                    "x|1\ty| 2\n" + rowsOf(9, "a | # | b\n"),
		"yaml that is quoted badly":      yaml + "- name: 'x'y'\n  age: 1\n",
		"yaml with another quote":        yaml + "- name: \"x\\y\"\n  age: 1\n",
		"yaml with no key":               yaml + "- name\n",
		"ls of two directories":          "/a:\ntotal 4\n" + ls + "\n/b:\ntotal 4\n" + ls,
		"ls and an error":                ls + "ls: cannot access 'x': Permission denied\n",
		"ls and a device":                ls + "crw-rw-rw- 1 root root 1, 3 Jan 11  2023 null\n",
		"ls and a link that is unsure":   ls + "lrwxrwxrwx 1 root root 1 Oct 29 09:34 a -> b -> c\n",
		"sizes and a wrong sum":          rowsOf(5, "[FILE] a#                              1.17 MB\n") + "\nTotal: 6 files, 0 directories\n",
		"files":                          rowsOf(9, "[FILE] a#\n"),
		"blocks with a broken line":      rowsOf(6, "Name: User #\nAge: #\n\n") + "Name: x\nAge 7\n\n" + rowsOf(6, "Name: User #\nAge: #\n\n"),
		"blocks with other keys":         rowsOf(6, "Name: User #\nAge: #\n\n") + rowsOf(2, "Title: x\nSize: #\n\n"),
		"blocks with a key twice":        rowsOf(6, "Name: User #\nName: #\n\n"),
		"blocks with nested keys":        rowsOf(6, "Name: User #\nAddress:\n  City: x\n\n"),
		"numbers with nested keys":       rowsOf(6, "#. Title #\n   Address:\n     City: x\n"),
		"manifests":                      rowsOf(6, "---\nkind: Pod\nmetadata:\n  name: a#\n"),
		"a block of totals amidst":       rowsOf(9, "Name: User #\nAge: #\n\n") + "Total: 9\nPage: 1\n\n" + rowsOf(9, "Name: User #\nAge: #\n\n"),
		"a last numbered block and more": numbered + "   more text\n   Score: 1\n",
		"few blocks":                     rowsOf(4, "Name: User #\nAge: #\n\n"),
		"a missing number":               numbered + "8. Title\n   URL: x\n",
		"a number twice":                 numbered + "6. Title\n   URL: x\n",
		"numbers from two":               "2. Title\n   URL: x\n" + numbered,
		"a numbered block with prose":    numbered + "   and more text\n7. Title\n   URL: x\n",
		"yaml with a list":               yaml + "- name: x\n  age:\n  - 1\n",
		"yaml with a text of lines":      yaml + "- name: |\n    x\n  age: 1\n",
		"yaml with a flow map":           yaml + "- name: {a: 1}\n  age: 1\n",
		"yaml with a comment":            yaml + "- name: x # y\n  age: 1\n",
		"yaml that goes on":              yaml + "other:\n  - x: 1\n",
		"yaml with a bad indent":         yaml + "- name: x\n    age: 1\n",
		"two ways to read":               "| a,1,b |\n|---|---|\n" + rowsOf(6, "| x,#,y |\n"),
		"an HTML table":                  "<table>\n" + rowsOf(9, "<tr><td>#</td><td>a, b</td></tr>\n") + "</table>\n",
		"a stack trace":                  rowsOf(9, "  File \"x.py\", line #, in f\n    g(a, b)\n"),
		"metrics":                        rowsOf(9, "http_requests_total{code=\"200\",handler=\"/#\"} 49\n"),
		"JSON in a log":                  rowsOf(9, "2024-01-01 {\"a\":#}\n"),
		"a table that is cut":            strings.TrimSuffix(csv, "\n") + "...\nx,\n",
	} {
		t.Run(name, func(t *testing.T) {
			found, why := Find(Input{Texts: [][]byte{[]byte(text)}})
			if why == "" {
				t.Errorf("%s\nbecame %s", text, describe(found, why))
			}
		})
	}
}
