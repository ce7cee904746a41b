package config

import (
	"errors"
	"os"
	"time"

	"github.com/zalando/go-keyring"
)

// Env is what loading takes from the outside besides files. Tests give their own.
type Env struct {
	// Lookup returns an environment variable, and whether it is set; nil means that
	// none is.
	Lookup func(name string) (string, bool)
	// Keyring returns the secret of that name; nil means that there is no keyring.
	Keyring func(name string) (string, error)
	// Home is the user's home directory; "" if it is not known.
	Home string
}

// OSEnv returns the process's environment and the keyring of the user's session.
func OSEnv() Env {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // Only paths that begin with ~ need it.
	}
	return Env{Lookup: os.LookupEnv, Keyring: osKeyring, Home: home}
}

// lookup is Lookup for an Env that may lack it.
func (e Env) lookup(name string) (string, bool) {
	if e.Lookup == nil {
		return "", false
	}
	return e.Lookup(name)
}

const (
	keyringService = "heddle"
	// keyringWait is long enough for a person to unlock a keyring, and short enough
	// for a start that nobody watches.
	keyringWait = 20 * time.Second
)

var (
	errNoKeyring      = errors.New("there is no keyring here")
	errKeyringTimeout = errors.New("the keyring did not answer; is it locked?")
)

// osKeyring asks the operating system's keyring. The library cannot be
// cancelled, and a locked keyring waits for its owner: after keyringWait the
// question is abandoned, and its goroutine ends whenever the keyring answers.
func osKeyring(name string) (string, error) {
	type answer struct {
		value string
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := keyring.Get(keyringService, name)
		done <- answer{v, err}
	}()
	timer := time.NewTimer(keyringWait)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-timer.C:
		return "", errKeyringTimeout
	}
}
