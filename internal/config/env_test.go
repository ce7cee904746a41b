package config

import (
	"errors"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestOSEnv(t *testing.T) {
	t.Setenv("HEDDLE_TEST_VARIABLE", "here")
	env := OSEnv()
	if v, ok := env.Lookup("HEDDLE_TEST_VARIABLE"); !ok || v != "here" {
		t.Errorf("Lookup = %q, %v; want here, true", v, ok)
	}
	keyring.MockInit()
	if err := keyring.Set("heddle", "github", "from the keyring"); err != nil {
		t.Fatal(err)
	}
	if got, err := env.Keyring("github"); err != nil || got != "from the keyring" {
		t.Errorf("Keyring(github) = %q, %v; want the value", got, err)
	}
	if _, err := env.Keyring("other"); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("Keyring(other) = %v, want %v", err, keyring.ErrNotFound)
	}
	if _, ok := (Env{}).lookup("HOME"); ok {
		t.Error("an Env without Lookup knows a variable")
	}
}
