package search

// Document is what search knows of a tool.
type Document struct {
	Server, Name, Title, Description string
	// Params are the names of its parameters, ParamTexts their descriptions and
	// allowed values.
	Params, ParamTexts []string
	// About is what the server says of itself.
	About string
}

// The fields of a document.
const (
	fieldName = iota
	fieldServer
	fieldTitle
	fieldDescription
	fieldParams
	fieldParamTexts
	fieldAbout
	fields
)

// field says what a word in a field counts and how many terms such a field has
// in a usual tool. A longer one is diluted.
type field struct {
	weight, usual float64
	prose         bool // it holds sentences
}

// fieldOf returns the constants of a field. The usual lengths are about the mean
// of 1,200 real tools. They are constants so that the weight of a word in a
// document does not depend on the other documents.
func fieldOf(f int) field {
	return [fields]field{
		fieldName:        {1, 3, false},
		fieldServer:      {1, 1, false},
		fieldTitle:       {1, 3, true},
		fieldDescription: {1, 20, true},
		fieldParams:      {1, 4, false},
		fieldParamTexts:  {1, 20, true},
		fieldAbout:       {0.3, 25, true},
	}[f]
}

// texts returns the texts of each field.
func (d Document) texts() [fields][]string {
	return [fields][]string{
		fieldName:        {d.Name},
		fieldServer:      {d.Server},
		fieldTitle:       {d.Title},
		fieldDescription: {d.Description},
		fieldParams:      d.Params,
		fieldParamTexts:  d.ParamTexts,
		fieldAbout:       {d.About},
	}
}
