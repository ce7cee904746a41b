package project

import (
	"fmt"
	"strings"
	"testing"
)

// TestAligned reads tables that are aligned by spaces, and nothing else as one.
func TestAligned(t *testing.T) {
	name := func(i int) string { return names(60)[i] }
	for what, c := range map[string]struct {
		text string
		want []string // none: it is no table
	}{
		"kubectl": {fmt.Sprintf("%-20s   %-7s   %s\n", "NAME", "READY", "AGE") + repeat(40, func(i int) string { return fmt.Sprintf("%-20s   %-7s   %dd\n", name(i), "1/1", i) }),
			[]string{"text table aligned by spaces: 40 rows, 3 columns", "READY: always 1/1", "AGE: string, 40 distinct"}},
		"ps": {"USER       PID %CPU COMMAND\n" + repeat(40, func(i int) string { return fmt.Sprintf("root   %7d  0.%d /bin/sh -c %s  x\n", i*99, i%10, name(i)) }),
			[]string{"40 rows, 4 columns", "PID: int 0..3861", "%CPU: float", "/bin/sh -c cache  x"}},
		"docker, with empty cells": {"CONTAINER ID   STATUS        PORTS     NAMES\n" + repeat(40, func(i int) string {
			return fmt.Sprintf("%012x   Up %2d hours   %-7s   %s\n", i*7919, i, []string{"", "80/tcp"}[i%2], name(i))
		}), []string{"40 rows, 4 columns", "PORTS: 80/tcp, empty ×20", "STATUS: string, 40 distinct"}},
		"df": {"Filesystem     1K-blocks  Used Use% Mounted on\n" + repeat(40, func(i int) string {
			return fmt.Sprintf("%-14s %9d %5d %3d%% /mnt/%s\n", fmt.Sprint("/dev/sd", i), i*999, i*7, i, name(i))
		}),
			[]string{"40 rows, 5 columns", "1K-blocks: int", "Mounted on: string"}},
		"ruled": {"name          version  place\n------------- -------- -----\n" + repeat(40, func(i int) string { return fmt.Sprintf("%-13.13s v%-7d /x\n", name(i), i) }), []string{"40 rows, 3 columns", "place: always /x"}},
		"psql":  {" id | kind | n \n----+------+---\n" + repeat(40, func(i int) string { return fmt.Sprintf(" %2d | k%d   | %d\n", i, i%3, i) }) + "(40 rows)\n\n", []string{"table with bars: 40 rows", "id: int 0..39", "after it: (40 rows)"}},
		"ls -l": {"total 12\n" + repeat(40, func(i int) string {
			return fmt.Sprintf("-rw-r--r-- 1 ann staff %6d Jan %2d 10:0%d my %s\n", i*9, 1+i%28, i%10, name(i))
		}),
			[]string{"text of ls -l: 40 rows", "before it: total 12", "size: int 0..351", "owner: always ann", "my cache"}},
		"ls -l of devices": {repeat(40, func(i int) string { return fmt.Sprintf("crw-rw---- 1 root tty 4, %3d 2026-03-01 10:00 tty%d\n", i, i) }), []string{"text of ls -l: 40 rows", "size: string, 40 distinct: 4,   0", "modified: always 2026-03-01 10:00"}},
		"find -ls": {repeat(40, func(i int) string {
			return fmt.Sprintf("%6d  4 drwxr-xr-x 2 a b %d Nov  1  2025 ./%s\n", i, i, name(i))
		}), []string{"inode: int 0..39", "name: string"}},

		"ls -lR": {repeat(2, func(int) string {
			return "./sub:\ntotal 4\n" + repeat(20, func(i int) string { return fmt.Sprintf("-rw-r--r-- 1 a b %d Jan  1 10:00 f%d\n", i, i) }) + "\n"
		}), nil},
		"no header": {repeat(40, func(i int) string {
			return fmt.Sprintf("%-20s  %-20s  %s\n", strings.ToUpper(name(i)[:1])+name(i)[1:], "Paris", "Doctor")
		}), nil},
		"a header of words":  {"Name          City          Job\n" + repeat(40, func(i int) string { return fmt.Sprintf("%-13.13s Paris         doctor\n", name(i)) }), nil},
		"the same line":      {strings.Repeat("The Words  Of A Title\n", 40), nil},
		"a cell too long":    {"NAME       READY   AGE\n" + repeat(40, func(i int) string { return fmt.Sprintf("%-8d   1/1     5d\n", i) }) + "much too long for it   1/1   5d\n" + repeat(9, func(i int) string { return "x          1/1     5d\n" }), nil},
		"spaces in a column": {"NAME       KIND       AGE\n" + repeat(40, func(i int) string { return fmt.Sprintf("a b c d e f g h i %d 5d\n", i) }), nil},
	} {
		in := Input{Text: []byte(c.text), Budget: 400}
		if c.want != nil {
			expect(t, what, in, KindTable, c.want, nil)
		} else if p, _ := Project(in); p.Kind == KindTable {
			t.Errorf("%s is taken for a table:\n%s", what, p.Text)
		}
	}
}

// TestHeaders tells names of columns from rows, and takes nothing for a table where
// nobody can.
func TestHeaders(t *testing.T) {
	number := func(i int) string { return fmt.Sprintf("%d,a%d,b%d,%d.5\n", i, i, i%3, i) }
	text := func(i int) string { return fmt.Sprintf("%s,%s,x%d\n", names(60)[i], names(60)[59-i], i) }
	for what, c := range map[string]struct {
		text string
		want []string // none: it is no table
	}{
		"a name twice":        {"id,name,name,n\n" + repeat(40, number), []string{"40 rows", "name: string, 40", "name (column 3): string: b0", "0\ta0\tb0\t0.5"}},
		"an empty name":       {",name,kind,n\n" + repeat(40, number), []string{"40 rows", "column 1: int 0..39"}},
		"names with signs":    {"id,name,km/h,e@x\n" + repeat(40, number), []string{"40 rows", "km/h: "}},
		"no header":           {repeat(40, number), []string{"40 rows", "no line with the columns' names", "column 1: int 0..39", "0\ta0\tb0\t0.5"}},
		"no header, a gap":    {"-,a,b,NA\n" + repeat(40, number), []string{"column 1"}},
		"text with a header":  {"name,friend,code\n" + repeat(40, text), []string{"40 rows", "friend: string, 40 distinct"}},
		"text, no header":     {"cache,cache,x9\n" + repeat(40, text), []string{"41 rows", "no line with the columns' names"}},
		"text, a name twice":  {"name,name,code\n" + repeat(40, text), nil},
		"text, an empty name": {"name,,code\n" + repeat(40, text), nil},
		"years":               {"place,2019,2020,2021\n" + repeat(40, func(i int) string { return fmt.Sprintf("%s,%d,%d,%d\n", names(60)[i], i, i, i) }), []string{"40 rows", "2020: int 0..39"}},
		"years in years":      {"a,2019,2020,2021\n" + repeat(40, func(i int) string { return fmt.Sprintf("%s,%d,%d,%d\n", names(60)[i], 1980+i, 1981+i, 1982+i) }), nil},
		"Markdown":            {"| | a | a |\n|---|---|---|\n" + repeat(40, func(i int) string { return fmt.Sprintf("| %d | b | c |\n", i) }), []string{"40 rows", "column 1: int", "a (column 3): always c"}},

		"prose":                  {repeat(60, func(i int) string { return fmt.Sprintf("In week %d, as before, we met, talked and left.\n", i) }), nil},
		"prose without a stop":   {repeat(60, func(i int) string { return "The " + names(60)[i] + " came in, looked around, and went away\n" }), nil},
		"prose with a number":    {repeat(60, func(i int) string { return fmt.Sprintf("Day, %d, was fine, as the %s said.\n", i, names(60)[i]) }), nil},
		"prose with semicolons":  {repeat(60, func(i int) string { return "It rained; the " + names(60)[i] + " stayed; we slept!\n" }), nil},
		"CSV with spaces":        {"id, name, n\n" + repeat(40, func(i int) string { return fmt.Sprintf("%d, %s, %d\n", i, names(60)[i], i) }), []string{"40 rows", "n: int 0..39"}},
		"CSV whose cells end so": {"id,name,n\n" + repeat(40, func(i int) string { return fmt.Sprintf("%d,%s,Inc.\n", i, names(60)[i]) }), []string{"40 rows"}},
	} {
		in := Input{Text: []byte(c.text), Budget: 300}
		if c.want != nil {
			expect(t, what, in, KindTable, c.want, nil)
		} else if p, _ := Project(in); p.Kind == KindTable {
			t.Errorf("%s is taken for a table:\n%s", what, p.Text)
		}
	}
}
