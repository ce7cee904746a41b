package search

// Signals are the parts of the ranking that can be left out to measure what they
// are worth.
type Signals uint

// The signals.
const (
	Stems          Signals = 1 << iota // words without their endings
	ServerNames                        // fields of a document
	Titles                             //
	Descriptions                       //
	Parameters                         //
	ParameterTexts                     //
	Abouts                             //
	NameCoverage                       // more for a query that covers a tool's name
	QueryCoverage                      // more for a document that has all of the query
	Verbs                              // verbs that tool authors swap
	Abbreviations                      // short forms
	Compounds                          // two words that tools write as one
	Typos                              // words spelt almost like a known one, or cut short
	Chinese                            // English words for Chinese ones
	Literals                           // a path or URL says what it is, not what its words are

	// All is what everything but a measurement uses.
	All Signals = 1<<iota - 1
)

// reads reports whether a field is read.
func (s Signals) reads(f int) bool {
	by := [fields]Signals{
		fieldServer:      ServerNames,
		fieldTitle:       Titles,
		fieldDescription: Descriptions,
		fieldParams:      Parameters,
		fieldParamTexts:  ParameterTexts,
		fieldAbout:       Abouts,
	}[f]
	return s&by == by
}
