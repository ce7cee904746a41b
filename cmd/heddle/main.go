// Command heddle is one MCP server in front of all of yours.
package main

import (
	"os"

	"heddle/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
