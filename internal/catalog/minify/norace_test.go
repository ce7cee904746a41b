//go:build !race

package minify

const raced = false
