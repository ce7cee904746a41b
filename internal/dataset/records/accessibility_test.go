package records

import "testing"

const pageHead = `- generic [ref=e1]:
  - table "Orders" [ref=e2]:
    - rowgroup [ref=e3]:
      - row "ID Name" [ref=e4]:
        - columnheader "ID" [ref=e5]
        - columnheader "Name" [ref=e6]
        - columnheader [ref=e7]
    - rowgroup [ref=e8]:
`

const pageRow = `      - row "# x" [ref=f#]:
        - cell "0#" [ref=g#]
        - 'cell "a: \"b\" it''s" [ref=h#]':
          - link "open" [ref=i#]
        - cell [ref=j#]:
          - button "x"
          - text: y
`

func TestAccessibility(t *testing.T) {
	for _, tt := range []struct{ name, text, found, cells string }{
		{
			"cells with more in them", pageHead + rowsOf(6, pageRow),
			"main text:record-blocks cells  6\nother : roles and refs of the elements\nother : what is inside 6 cells\nresidue \"- generic [ref=e1]:\"",
			"ID text | Name text | column3 text from \"\"" + rowsOf(6, "\n0# | a: \"b\" it's | - button \"x\"\n- text: y"),
		},
		{
			"cells with text", pageHead + rowsOf(5, "      - row:\n        - cell: #\n        - cell: 'it''s'\n        - cell\n"),
			"main text:record-blocks cells  5\nother : roles and refs of the elements\nresidue \"- generic [ref=e1]:\"",
			"ID integer | Name text | column3 null from \"\"" + rowsOf(5, "\n# | it's | NULL"),
		},
		{"few rows", pageHead + rowsOf(4, pageRow), "none: text without a table", ""},
		{"a row that is short", pageHead + rowsOf(6, pageRow) + "      - row:\n        - cell: 1\n", "none: text without a table", ""},
		{"a row with something else", pageHead + rowsOf(6, pageRow) + "      - row:\n        - link: 1\n        - cell: 1\n        - cell: 1\n", "none: text without a table", ""},
		{"no headers", rowsOf(1, "- table:\n") + rowsOf(9, "  - row:\n    - cell: #\n    - cell: x\n"), "none: text without a table", ""},
		{"no row", rowsOf(1, "- table:\n") + rowsOf(9, "  - text: #\n"), "none: text without a table", ""},
		{"no table", "- tables are nice\n", "none: text without a table", ""},
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
				t.Errorf("got\n%s\nwant\n%s", got, tt.cells)
			}
		})
	}
}
