// Package inject finds texts that try to take control: instructions to the model in
// results, descriptions and arguments, and shell, SQL and path tricks in arguments.
//
// A text is normalised (package normal), one keyword pass finds words of the lexicons,
// and each word stands for concepts: "ignore", "olvida" and "忽略" are all drop. Rules
// are about concepts in order and near each other, so that one table serves all
// languages (rules.go); a language is a table of words (lexicon/). No rule decides:
// each adds to the score of its family, and a text is found out when the families
// within one window add up to the threshold of the level. What was hidden counts more,
// what is quoted where attacks are discussed counts less.
//
// The package keeps no text: findings name a rule and a place. It reads nothing and asks
// nobody; all costs are linear, and tables are built when first used. Start at
// [Detector.Text].
package inject
