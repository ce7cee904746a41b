package lock

import (
	"slices"

	"heddle"
)

// State says how a tool stands to the file.
type State string

// The states.
const (
	Approved State = "approved" // the definition is the approved one
	Changed  State = "changed"  // another definition of the tool was approved
	New      State = "new"      // no definition of the tool was
)

// Status is what the file says of one tool.
type Status struct {
	Ref   heddle.ToolRef
	State State
	// RenamedFrom is, for a new tool, the name of an approved tool of the same server
	// that is not listed any more and had the same definition but for its name; "" if
	// there is none.
	RenamedFrom string
}

// Check compares tools with the file: a status a tool, in order, and the approved tools
// that are not among them, by server and name. Tools of servers that are not running
// are gone too; the caller knows which those are.
func (f *File) Check(tools []Tool) (statuses []Status, gone []heddle.ToolRef) {
	statuses = make([]Status, len(tools))
	listed := make(map[heddle.ToolRef]bool, len(tools))
	strangers := 0
	for i := range tools {
		t := &tools[i]
		listed[t.Ref] = true
		statuses[i] = Status{Ref: t.Ref, State: New}
		switch e := f.entries[t.Ref]; {
		case e == nil:
			strangers++
		case e.Hash == t.hash():
			statuses[i].State = Approved
		default:
			statuses[i].State = Changed
		}
	}
	for ref := range f.entries {
		if !listed[ref] {
			gone = append(gone, ref)
		}
	}
	slices.SortFunc(gone, compare)
	if strangers > 0 && len(gone) > 0 {
		f.renamed(tools, statuses, gone)
	}
	return statuses, gone
}

// renamed looks for new tools among those that are gone.
func (f *File) renamed(tools []Tool, statuses []Status, gone []heddle.ToolRef) {
	type key struct{ server, bare string }
	before := make(map[key]string, len(gone))
	servers := map[string]bool{}
	for _, ref := range gone {
		k := key{ref.Server, bareHash(f.entries[ref].Definition)}
		if _, ok := before[k]; !ok {
			before[k] = ref.Name
		}
		servers[ref.Server] = true
	}
	for i := range statuses {
		s := &statuses[i]
		if s.State == New && servers[s.Ref.Server] {
			s.RenamedFrom = before[key{s.Ref.Server, bareHash(tools[i].Definition)}]
		}
	}
}

// bareHash is the hash of a definition without its name.
func bareHash(definition []byte) string {
	n, ok := parse(definition)
	if !ok {
		return Hash(definition)
	}
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return m.name == "name" })
	return sum(n.append(nil, plain))
}
