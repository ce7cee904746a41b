package mcptest

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
)

// Options say what a [Server] offers and how it misbehaves. They travel to a
// child process as JSON. The zero value is a well-behaved server with the
// built-in tools, which are listed in tools.go.
type Options struct {
	// Tools are raw definitions. If it is not nil they are listed in place of the
	// built-in ones, which still answer when called.
	Tools []json.RawMessage `json:",omitempty"`
	// Results are raw result objects by tool name, Errors raw JSON-RPC error objects.
	Results map[string]json.RawMessage `json:",omitempty"`
	Errors  map[string]json.RawMessage `json:",omitempty"`
	// Extra lists the further built-in tools too.
	Extra bool `json:",omitempty"`
	// Resources, Templates and Prompts are raw items of those lists. Nil lists say
	// that there is no such thing, in the handshake as well.
	Resources, Templates, Prompts []json.RawMessage `json:",omitempty"`
	// Contents are raw results of resources/read by URI, Messages of prompts/get by
	// name; what is in neither is not found. Completion is the raw result of each
	// completion/complete; nil completes nothing.
	Contents, Messages map[string]json.RawMessage `json:",omitempty"`
	Completion         json.RawMessage            `json:",omitempty"`
	// Logging takes logging/setLevel, Subscribe resources/subscribe.
	Logging, Subscribe bool `json:",omitempty"`
	// Hang are methods that are never answered.
	Hang []string `json:",omitempty"`
	// Instructions are sent with the handshake.
	Instructions string `json:",omitempty"`

	// PageSize splits lists into pages; 0 is one page. Pages lists that many pages
	// of one generated item each instead. RepeatCursor answers every page
	// with the same cursor, EmptyCursor ends the list with "".
	PageSize, Pages           int  `json:",omitempty"`
	RepeatCursor, EmptyCursor bool `json:",omitempty"`
	// ListError answers tools/list with this error object, ListHang never does.
	ListError json.RawMessage `json:",omitempty"`
	ListHang  bool            `json:",omitempty"`
	// ListErrorFrom spares the first pages from ListError.
	ListErrorFrom int `json:",omitempty"`

	// InitDelay is how many milliseconds pass before initialize is answered;
	// NeverInit never answers it, InitError with this error object.
	InitDelay int             `json:",omitempty"`
	NeverInit bool            `json:",omitempty"`
	InitError json.RawMessage `json:",omitempty"`
	// Version is the protocol version that initialize answers: "" is the client's,
	// "-" none at all.
	Version string `json:",omitempty"`
	// Discover is what server/discover does: "" is an unknown method, "modern"
	// answers, "die" exits, "ignore" never answers. DiscoverDelay is how many
	// milliseconds an answer takes, during which nothing else is read, as in a
	// server that is still loading. ModernOnly refuses initialize.
	Discover      string `json:",omitempty"`
	DiscoverDelay int    `json:",omitempty"`
	ModernOnly    bool   `json:",omitempty"`

	// Noise is written to stdout at the start, as it is; NoiseBetween before each
	// answer. FloodKiB is that much more noise at the start, FloodLine without any
	// newline but the last.
	Noise, NoiseBetween string `json:",omitempty"`
	FloodKiB            int    `json:",omitempty"`
	FloodLine           bool   `json:",omitempty"`
	// Stderr is written to stderr at the start. StderrKiB is that much noise on
	// stderr at the start and again with each call, StderrLine without newlines.
	Stderr     string `json:",omitempty"`
	StderrKiB  int    `json:",omitempty"`
	StderrLine bool   `json:",omitempty"`

	// Chunk writes stdout in pieces of that many bytes; CRLF ends lines so.
	Chunk int  `json:",omitempty"`
	CRLF  bool `json:",omitempty"`
	// WrongIDs sends answers to requests that were never sent before each answer.
	WrongIDs bool `json:",omitempty"`

	// Stubborn ignores the end of stdin and SIGTERM.
	Stubborn bool `json:",omitempty"`
	// ExitAtStart exits with this status before reading anything; 0 does not.
	ExitAtStart int `json:",omitempty"`
	// ExitOnce exits with status 1 at the start unless this file exists, and makes
	// it; ExitUntil exits so while it does not exist.
	ExitOnce, ExitUntil string `json:",omitempty"`
	// CloseStdin stops reading after the first call and closes stdin, Deaf stops
	// reading then and keeps it open.
	CloseStdin, Deaf bool `json:",omitempty"`
	// BurnCPU is how many milliseconds of CPU time a start costs.
	BurnCPU int `json:",omitempty"`
	// Children are processes to start: "group" stays in the server's process group,
	// "setsid" leaves it, "stubborn" leaves it and ignores SIGTERM.
	Children []string `json:",omitempty"`

	// Log is a file that gets one JSON line an [Event]; "" is none.
	Log string `json:",omitempty"`
}

// envVar makes a process a server: it holds the options.
const envVar = "HEDDLE_MCPTEST_SERVER"

// Main turns the process into the server that [Command] asked for and exits; in
// any other process it returns at once. Call it first in TestMain.
func Main() {
	text, ok := os.LookupEnv(envVar)
	if !ok {
		return
	}
	var o Options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		_, _ = io.WriteString(os.Stderr, "mcptest: "+err.Error()+"\n")
		os.Exit(2)
	}
	s := NewServer(o)
	s.exit = os.Exit
	s.Serve(os.Stdin, os.Stdout)
	os.Exit(0)
}

// Command returns what starts the running test binary as a server with these
// options. env is complete: the process needs nothing else.
func Command(o Options) (command string, args, env []string) {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic("mcptest: options are not JSON: " + err.Error()) // a raw message of the test is broken
	}
	path, _ := syscall.Getenv("PATH")
	return exe, nil, []string{"PATH=" + path, "GOMAXPROCS=2", envVar + "=" + string(text)}
}
