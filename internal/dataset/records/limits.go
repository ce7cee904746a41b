package records

import "fmt"

// What a table may have at most. What has more is no dataset.
const (
	MaxRows    = 500_000
	MaxColumns = 2_000
	MaxBytes   = 64 << 20 // of Data
)

// maxFields bounds the keys that are looked at. They may be more than columns, for an
// object that is a text in other rows becomes one column.
const maxFields = 10 * MaxColumns

// maxFlat is how many objects may be inside each other and still be columns; what is
// deeper is JSON in one column.
const maxFlat = 16

// maxKeys is how many keys an object in a row may have and still be columns; one with
// more is a map, whose keys are data.
const maxKeys = 500

// LimitError says that a table has too much of something.
type LimitError struct {
	What string // "rows", "columns", "bytes"
	Max  int
}

// Error names the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Max, e.What) }
