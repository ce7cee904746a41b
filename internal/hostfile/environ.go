package hostfile

// Start returns the directory that the host starts a server of that scope in, and
// the variables that it gives it. It is the least that hosts agree on: some give
// all of theirs, but one that was opened from a window has hardly more.
func (h *Host) Start(env Env, scope Scope) (dir string, environ []string) {
	dir = env.Cwd
	if h.Window && scope == User {
		dir = env.Home
	}
	for _, name := range given(env.OS) {
		value := env.getenv(name)
		if name == "PATH" && h.Window {
			value = WindowPath(env.OS, value)
		}
		if value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return dir, environ
}

// given are the variables that every host passes on.
func given(os string) []string {
	if os == "windows" {
		return []string{
			"APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE",
			"PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
		}
	}
	return []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
}

// WindowPath is the PATH of a program that was opened from a window and not from a
// shell, whose own PATH is shell. What a shell's start-up files add, as version
// managers for Node and Python do, is not in it.
func WindowPath(os, shell string) string {
	switch os {
	case "windows":
		return shell // there is one for all
	case "darwin":
		return "/usr/bin:/bin:/usr/sbin:/sbin"
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}
