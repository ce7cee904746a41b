//go:build cgo

package worker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"heddle/internal/dataset/protocol"
)

// simple are the types whose name says all of them.
var simple = map[duck.Type]string{
	duck.TypeBoolean: "BOOLEAN", duck.TypeTinyInt: "TINYINT", duck.TypeSmallInt: "SMALLINT", duck.TypeInteger: "INTEGER",
	duck.TypeBigInt: "BIGINT", duck.TypeUTinyInt: "UTINYINT", duck.TypeUSmallInt: "USMALLINT", duck.TypeUInteger: "UINTEGER",
	duck.TypeUBigInt: "UBIGINT", duck.TypeHugeInt: "HUGEINT", duck.TypeUHugeInt: "UHUGEINT", duck.TypeFloat: "FLOAT",
	duck.TypeDouble: "DOUBLE", duck.TypeTimestamp: "TIMESTAMP", duck.TypeDate: "DATE", duck.TypeTime: "TIME",
	duck.TypeInterval: "INTERVAL", duck.TypeTimestampS: "TIMESTAMP_S", duck.TypeTimestampMS: "TIMESTAMP_MS",
	duck.TypeTimestampNS: "TIMESTAMP_NS", duck.TypeUUID: "UUID", duck.TypeTimeTZ: "TIME WITH TIME ZONE",
	duck.TypeTimestampTZ: "TIMESTAMP WITH TIME ZONE", duck.TypeBit: "BIT",
}

// typeName is the type of a column as SQL has it, "" if the C interface does not say.
func (s *statement) typeName(i int) string {
	id := s.typeID(i)
	if name, ok := simple[id]; ok {
		return name
	}
	if id != duck.TypeVarchar && id != duck.TypeDecimal {
		return ""
	}
	l := duck.PreparedStatementColumnLogicalType(s.stmt, duck.IdxT(i))
	defer duck.DestroyLogicalType(&l)
	switch alias := duck.LogicalTypeGetAlias(l); {
	case id == duck.TypeDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", duck.DecimalWidth(l), duck.DecimalScale(l))
	case alias != "":
		return alias // JSON
	}
	return "VARCHAR"
}

// nested reports whether a value of a type has parts.
func nested(typ string) bool {
	return strings.HasSuffix(typ, "]") || strings.HasPrefix(typ, "STRUCT(") || strings.HasPrefix(typ, "MAP(") || strings.HasPrefix(typ, "UNION(")
}

// shownAs is the text of a column as models and people see it.
func shownAs(name, typ string) string {
	switch {
	case typ == "VARCHAR":
		return name
	case typ == "BLOB":
		return "lower(hex(" + name + "))"
	case nested(typ):
		return "CAST(to_json(" + name + ") AS VARCHAR)"
	}
	return "CAST(" + name + " AS VARCHAR)"
}

// lossy reports whether the engine cannot read a type again from what it prints: a
// union does not say which member it is.
func lossy(typ string) bool {
	return strings.Contains(typ, "UNION(") || strings.Contains(typ, "VARIANT") || strings.Contains(typ, "GEOMETRY") || strings.Contains(typ, "TIME_NS")
}

// plan is a query that is ready to run. It returns each column as it is, and as text
// that the engine makes of it; the text that the engine reads again is another for
// some types.
type plan struct {
	stmt   *statement
	fields []protocol.Field
	shown  []int // index of the text that is shown, one a field
	stored []int // index of the text that is read again
}

func (p *plan) close() { p.stmt.close() }

// plan prepares a query that passed the gate. The types of its columns are known
// only when it is prepared, so one with types that need more care is prepared again.
func (c *conn) plan(sql string) (*plan, error) {
	stmt, err := c.prepare("SELECT *, COLUMNS(*)::VARCHAR FROM (\n" + sql + "\n)")
	if err != nil {
		return nil, err
	}
	n := stmt.columns() / 2
	if n > protocol.MaxColumns {
		stmt.close()
		return nil, tooLarge("%d columns: at most %d", n, protocol.MaxColumns)
	}
	p := &plan{stmt: stmt}
	special := false
	for i := range n {
		name := stmt.typeName(i)
		special = special || name == "" || name == "BLOB"
		p.fields = append(p.fields, protocol.Field{Name: stmt.name(i), Type: name})
		p.shown = append(p.shown, n+i)
	}
	distinctNames(p.fields)
	p.stored = p.shown
	if !special {
		return p, nil
	}
	stmt.close()
	return p, c.planSpecial(sql, p)
}

// planSpecial prepares a query with columns that are nested, or of other types that
// only the engine can name.
func (c *conn) planSpecial(sql string, p *plan) error {
	types, err := c.texts("SELECT column_type FROM (DESCRIBE FROM (\n" + sql + "\n))")
	if err != nil {
		return err
	}
	if len(types) != len(p.fields) {
		return fmt.Errorf("%d columns have %d types", len(p.fields), len(types))
	}
	names, as, shown, stored := []string(nil), []string(nil), []string(nil), []string(nil)
	p.shown, p.stored = nil, nil
	n := len(types)
	for i, t := range types {
		name := "c" + strconv.Itoa(i)
		names = append(names, name)
		text, typ := "CAST("+name+" AS VARCHAR)", *t[0]
		p.fields[i].Type = typ
		shown = append(shown, shownAs(name, typ))
		p.shown = append(p.shown, n+i)
		if lossy(typ) {
			as = append(as, shown[i])
			p.stored = append(p.stored, n+i)
			p.fields[i].Type = "VARCHAR"
			continue
		}
		as = append(as, name)
		p.stored = append(p.stored, 2*n+len(stored))
		stored = append(stored, text)
	}
	all := strings.Join(slices.Concat(as, shown, stored), ", ")
	p.stmt, err = c.prepare("SELECT " + all + " FROM (\n" + sql + "\n) AS q(" + strings.Join(names, ", ") + ")")
	return err
}

// distinctNames makes names differ whatever their case, as a table has to have them.
func distinctNames(fields []protocol.Field) {
	seen := map[string]bool{}
	for i := range fields {
		name := fields[i].Name
		for n := 1; seen[strings.ToLower(name)]; n++ {
			name = fields[i].Name + "_" + strconv.Itoa(n)
		}
		seen[strings.ToLower(name)] = true
		fields[i].Name = name
	}
}
