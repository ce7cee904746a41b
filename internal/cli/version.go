package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"heddle"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactArgs(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return json.NewEncoder(a.out).Encode(map[string]any{
					"version": heddle.Version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"protocols": mcp.SupportedProtocolVersions(),
				})
			}
			_, err := fmt.Fprintf(a.out, "heddle %s (%s, %s/%s)\n", heddle.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	a.jsonFlag(c)
	return c
}

func (a *app) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.json, "json", false, "print JSON")
}
