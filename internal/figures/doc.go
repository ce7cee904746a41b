// Package figures owns the figures that heddle gives people about itself: what the
// ledger's rows come to ([Sum], [Read], [Last]) and what catalogs cost a model
// ([Analyze]).
//
// It starts nothing, writes nothing and knows no terminal: its types have stable
// JSON, and internal/cli shows them.
//
// Start reading at [Tokens], which is what heddle is measured by; there is a file a
// command.
package figures
