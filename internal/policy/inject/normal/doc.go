// Package normal turns a text into what a guard can compare: the words that a model
// would read in it, however they are written.
//
// A model reads "ｉｇｎｏｒｅ", "ig<zero width space>nore", "%69gnore", "i g n o r e" and
// base64 of "ignore" much as it reads "ignore"; a list of words does not. [Normalise]
// undoes such writings once, for all guards: escapes and entities, invisible
// characters, compatibility forms, letters that look like other letters, spaced
// letters, accents, upper case. What was encoded as a whole (base64, hex, tag
// characters, variation selectors) comes as a [Part] of its own. What the original
// shows to nobody (comments, zero-size text) is marked as [Span].
//
// The package judges nothing: it says what is written and how, and where in the
// original. Plain texts cost one look and at most one copy. All costs are linear.
//
// Start at [Normalise]. [Invisible] is for texts that have no business with hidden
// characters at all, as names and definitions; [Skeleton] compares names.
package normal
