package gate

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The engine folds constants while it prepares, in one call that cannot be
// interrupted: range(50000000) takes 25 seconds. So calls whose literals say that
// they make something huge are refused. This sees through arithmetic and casts of
// literals, no further; a value that is computed costs its query the time limit.
const (
	maxList = 1_000_000   // elements of a list
	maxText = 100_000     // characters of a string
	maxRows = 100_000_000 // rows of a table function
)

// sized are the functions with an argument that says how large the result is.
var sized = map[string]struct {
	arg  int
	most float64
}{
	"lpad":         {1, maxText},
	"rpad":         {1, maxText},
	"bitstring":    {1, maxText},
	"to_base":      {2, maxText},
	"list_resize":  {1, maxList},
	"array_resize": {1, maxList},
	"factorial":    {0, 33}, // what fits the engine's largest integer
}

// bounded looks at the arguments of a function, in FROM or in an expression.
func bounded(function string, args []map[string]any, from bool) *Error {
	most, size := float64(maxText), 0.0
	switch function {
	case "range", "generate_series":
		most, size = maxList, steps(args)
	case "repeat":
		size = argument(args, 1)
		if !from && len(args) > 0 {
			size *= long(args[0])
		}
	case "repeat_row":
		size = named(args, "num_rows")
	case "printf", "format":
		size = width(args)
	default:
		s, ok := sized[function]
		if !ok {
			return nil
		}
		most, size = s.most, argument(args, s.arg)
	}
	if from {
		most = maxRows
	}
	if size > most {
		return refuse("%s asks for %.6g; at most %.0f is allowed here. Use a smaller number, or a dataset's rows.", function, size, most)
	}
	return nil
}

// argument returns the value of an argument, not a number if it is none or unknown.
func argument(args []map[string]any, i int) float64 {
	if i >= len(args) {
		return math.NaN()
	}
	return value(args[i])
}

func named(args []map[string]any, name string) float64 {
	for _, arg := range args {
		if strings.EqualFold(str(arg, "alias"), name) {
			return value(arg)
		}
	}
	return math.NaN()
}

// steps returns how many values range(stop), range(start, stop) and
// range(start, stop, step) have.
func steps(args []map[string]any) float64 {
	start, step := 0.0, 1.0
	switch len(args) {
	case 1:
		return value(args[0])
	case 3:
		step = value(args[2])
		fallthrough
	case 2:
		start = value(args[0])
		return (value(args[1]) - start) / step
	}
	return math.NaN()
}

// value computes an expression of literals; it is not a number for any other.
func value(e map[string]any) float64 {
	switch str(e, "class") {
	case "CONSTANT":
		return constant(e)
	case "CAST":
		child, _ := e["child"].(map[string]any)
		return value(child)
	case "FUNCTION":
		return arithmetic(str(e, "function_name"), children(e))
	}
	return math.NaN()
}

func constant(e map[string]any) float64 {
	v, _ := e["value"].(map[string]any)
	typ, _ := v["type"].(map[string]any)
	info, _ := typ["type_info"].(map[string]any)
	switch n := v["value"].(type) {
	case float64:
		scale, _ := info["scale"].(float64)
		return n / math.Pow(10, scale)
	case string:
		if f, err := strconv.ParseFloat(strings.TrimSpace(n), 64); err == nil {
			return f
		}
	case map[string]any: // of 128 bits
		upper, _ := n["upper"].(float64)
		lower, _ := n["lower"].(float64)
		return upper*(1<<64) + lower
	}
	return math.NaN()
}

func arithmetic(function string, args []map[string]any) float64 {
	switch len(args) {
	case 1:
		switch function {
		case "-":
			return -value(args[0])
		case "+", "abs", "round", "floor", "ceil", "trunc":
			return value(args[0])
		}
	case 2:
		a, b := value(args[0]), value(args[1])
		switch function {
		case "+", "add":
			return a + b
		case "-", "subtract":
			return a - b
		case "*", "multiply":
			return a * b
		case "/", "//", "divide":
			return a / b
		case "^", "**", "pow", "power":
			return math.Pow(a, b)
		case "<<":
			return a * math.Exp2(b)
		}
	}
	return math.NaN()
}

// length adds up how long the strings are that literals make; what is not known
// counts as one character.
func length(args []map[string]any) float64 {
	sum := 0.0
	for _, e := range args {
		sum += long(e)
	}
	return sum
}

func long(e map[string]any) float64 {
	args := children(e)
	switch str(e, "class") {
	case "CONSTANT":
		v, _ := e["value"].(map[string]any)
		return max(1, float64(utf8.RuneCountInString(str(v, "value"))))
	case "CAST":
		child, _ := e["child"].(map[string]any)
		return long(child)
	case "FUNCTION":
		switch n := argument(args, 1); str(e, "function_name") {
		case "repeat":
			if n > 0 {
				return n * length(args[:1])
			}
		case "lpad", "rpad":
			return max(1, n)
		case "||", "concat", "concat_ws", "list_value":
			return length(args)
		}
	}
	return 1
}

// width returns the largest number in a format: how wide a field of it may be.
func width(args []map[string]any) float64 {
	if len(args) == 0 {
		return math.NaN()
	}
	v, _ := args[0]["value"].(map[string]any)
	largest := 0.0
	for digits := range strings.FieldsFuncSeq(str(v, "value"), func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.ParseFloat(digits, 64)
		largest = max(largest, n)
	}
	return largest
}
