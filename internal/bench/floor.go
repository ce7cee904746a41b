package bench

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

//go:embed floor.json
var floorJSON []byte

// floors are the figures that a run must reach, by name.
type floors struct {
	// Least must be reached, Most must not be passed.
	Least map[string]float64 `json:"least"`
	Most  map[string]float64 `json:"most"`
}

// Verify compares the figures of the report with those recorded in this build, and
// returns a sentence for each that is worse; an error if nothing is recorded of
// what was run.
func (r *Report) Verify() ([]string, error) {
	var f floors
	if err := json.Unmarshal(floorJSON, &f); err != nil {
		return nil, fmt.Errorf("floor.json: %w", err)
	}
	return f.compare(r.figures())
}

func (f *floors) compare(got floors) (worse []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(got.Least)) {
		floor, ok := f.Least[name]
		if !ok {
			return nil, fmt.Errorf("floor.json has no %s", name)
		}
		if got.Least[name] < floor {
			worse = append(worse, fmt.Sprintf("%s is %v, at least %v was recorded", name, got.Least[name], floor))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got.Most)) {
		ceiling, ok := f.Most[name]
		if !ok {
			return nil, fmt.Errorf("floor.json has no %s", name)
		}
		if got.Most[name] > ceiling {
			worse = append(worse, fmt.Sprintf("%s is %v, at most %v was recorded", name, got.Most[name], ceiling))
		}
	}
	return worse, nil
}

// figures are those of a report that are compared.
func (r *Report) figures() floors {
	f := floors{map[string]float64{}, map[string]float64{}}
	if r.Task != nil {
		for mode, t := range r.Task.Modes {
			f.Least["task."+mode+".saved_percent"] = t.Saved
			f.Least["task."+mode+".answered"] = float64(t.Answered)
			f.Most["task."+mode+".reads"] = float64(t.Reads)
		}
	}
	if c := r.Compression; c != nil {
		at := "compression." + c.Mode + "."
		f.Least[at+"saved_percent"] = c.Saved
		f.Least[at+"equal"] = float64(c.Equal)
		f.Most[at+"paged_ratio"] = c.Ratio
		for _, one := range c.Results {
			f.Least[at+one.Name+".saved_percent"] = one.Saved
		}
	}
	if s := r.Stress; s != nil {
		at := "stress." + s.Mode + "."
		f.Least[at+"saved_percent"] = s.Saved
		f.Least[at+"equal"] = number(s.Equal)
		f.Most[at+"paged_ratio"] = s.Ratio
		f.Most[at+"upstream_calls"] = float64(s.Calls)
	}
	return f
}

// number is 1 for true.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
