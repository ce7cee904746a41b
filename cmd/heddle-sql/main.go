// Command heddle-sql is the sealed process in which heddle runs SQL. heddle starts
// it; see internal/dataset/worker.
package main

import (
	"context"
	"os"

	"heddle/internal/dataset/worker"
)

func main() {
	os.Exit(worker.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Exit))
}
