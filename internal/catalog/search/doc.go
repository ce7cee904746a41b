// Package search ranks tools for a query by their words, and says whether any of
// them fits it at all. It owns an immutable index over documents that stand for
// tools; it knows nothing of names that are asked for exactly, of authorization
// or of definitions.
//
// The ranking is BM25 over fields (BM25F) with stemmed words, lifted where a
// query covers a tool's name. A word of a query may be met by another one: a
// verb that tool authors swap with it, what an abbreviation stands for, a word
// spelt almost like it, an English word for a Chinese one. The best of them
// counts, never their sum.
//
// What a document weighs does not depend on its neighbours, so that an index of
// other documents takes over what it has in common with the one before.
//
// Start at [New] and [Index.Rank]; then terms.go for how texts become terms,
// query.go for what a query asks, rank.go for what a match is worth and
// verdict.go for when nothing fits. docs/search.md says what each signal is worth.
package search
