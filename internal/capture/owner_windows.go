package capture

import "io/fs"

// ours reports whether a file is this user's. The temporary directory is, here.
func ours(fs.FileInfo) bool { return true }
