package doctor

import (
	"context"
	"errors"
	"fmt"

	"heddle/internal/config"
)

// configuration says whether there is one, and what is wrong in it.
func configuration(_ context.Context, m *Machine) []Finding {
	if m.ConfigErr != nil {
		return broken(m.ConfigErr)
	}
	c := m.Config
	out := []Finding{{Level: OK, Subject: c.Path, What: fmt.Sprintf("%s is valid: %s", c.Path, count(len(c.Servers), "server"))}}
	if m.Fileless {
		out[0] = Finding{Level: OK, What: "there is no heddle.yml; the files of hosts have " + count(len(c.Servers), "server")}
	}
	if len(c.Servers) == 0 && m.Fileless {
		out[0].Level, out[0].Remedy = Warning, "add some to a host, or write a heddle.yml with `heddle init`"
	} else if len(c.Servers) == 0 {
		out[0] = Finding{Level: Warning, Subject: c.Path, What: c.Path + " is valid, but lists no server", Remedy: "add some, or import those of a host with `heddle init`"}
	}
	for _, w := range c.Warnings {
		out = append(out, Finding{Level: Warning, Subject: w.Path, What: w.String(), Remedy: w.Hint})
	}
	return out
}

// broken makes findings of why there is no configuration.
func broken(err error) []Finding {
	var missing *config.NotFoundError
	var bad *config.ProblemsError
	switch {
	case errors.As(err, &missing):
		f := Finding{Level: Problem, What: "there is no configuration", Remedy: "write one with `heddle init`, or name one with --config", Details: missing.Looked}
		if missing.Asked != "" {
			f.What = fmt.Sprintf("%s names a file that does not exist", missing.Asked)
		}
		return []Finding{f}
	case errors.As(err, &bad):
		var out []Finding
		for _, p := range bad.Problems {
			out = append(out, Finding{Level: Problem, Subject: p.Path, What: p.String(), Remedy: p.Hint})
		}
		return out
	}
	return []Finding{{Level: Problem, What: err.Error(), Remedy: "make the file readable, or name another with --config"}}
}

// wanted returns the servers that are meant to run.
func (m *Machine) wanted() []config.Server {
	if m.Config == nil {
		return nil
	}
	var out []config.Server
	for _, s := range m.Config.Servers {
		if !s.Disabled {
			out = append(out, s)
		}
	}
	return out
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
