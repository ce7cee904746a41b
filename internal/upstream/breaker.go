package upstream

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"heddle"

	"github.com/sony/gobreaker/v2"
)

// errNotCounted is an outcome that says nothing about the server.
var errNotCounted = errors.New("not counted")

// breaker refuses calls at once while a server keeps failing. Only timeouts and
// ended sessions count as failures; any answer of the server, errors included,
// is a success.
type breaker struct {
	cb       *gobreaker.TwoStepCircuitBreaker[any]
	cooldown time.Duration
	opened   atomic.Int64 // when it last opened, in nanoseconds since 1970
}

func newBreaker(c Config) *breaker {
	b := &breaker{cooldown: c.Cooldown}
	b.cb = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		MaxRequests:  1,
		Timeout:      c.Cooldown,
		ReadyToTrip:  func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= c.Failures },
		IsSuccessful: func(err error) bool { return !counts(err) },
		IsExcluded:   excluded,
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				b.opened.Store(time.Now().UnixNano())
			}
		},
	})
	return b
}

// counts reports whether err is a failure of the server.
func counts(err error) bool {
	if err == nil {
		return false
	}
	var late *timeoutError
	var ended *exitedError
	var link *linkError
	if errors.As(err, &link) {
		return !link.refusal()
	}
	return errors.As(err, &late) || errors.As(err, &ended)
}

// excluded reports whether err says nothing about the server: the call was
// cancelled, or it is one more victim of an exit that was already counted.
func excluded(err error) bool {
	if err == nil {
		return false
	}
	var ended *exitedError
	if errors.As(err, &ended) {
		return !ended.first.CompareAndSwap(false, true)
	}
	var late *timeoutError
	var own *heddle.Error
	var rpc *heddle.RPCError
	return !errors.As(err, &late) && !errors.As(err, &own) && !errors.As(err, &rpc)
}

// allow lets a call through, or says when to try again. done must be called
// with the call's outcome.
func (b *breaker) allow(server string) (done func(error), err error) {
	done, err = b.cb.Allow()
	if err == nil {
		return done, nil
	}
	left := max(0, time.Until(time.Unix(0, b.opened.Load()).Add(b.cooldown)))
	return nil, &heddle.Error{
		Kind: heddle.KindCircuitOpen, Op: "upstream.call", RetryAfter: left, Err: err,
		Public: fmt.Sprintf("Server %s failed several times in a row, so calls to it are refused for now. Try again in %d s.", server, max(1, seconds(left))),
	}
}

func (b *breaker) state() string { return b.cb.State().String() }
