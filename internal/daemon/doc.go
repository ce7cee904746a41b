// Package daemon builds everything from a configuration, runs it and takes it
// down in reverse order; on a change of the configuration it builds anew, swaps
// and drains.
//
// It never handles a call: once built, calls go from the surface to the gateway
// without it.
//
// Start reading at [Run]; [Daemon.apply] is build and swap, state.go what
// `heddle status` reads.
package daemon
