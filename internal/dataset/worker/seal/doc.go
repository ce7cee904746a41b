// Package seal takes from the worker process what running SQL does not need: files
// but for one directory, sockets, other programs, other processes, and memory beyond
// its share. What a process has given up it cannot take back, nor can anything that
// runs in it.
//
// What stays: whether a file exists can be seen, because Landlock does not hide names,
// and the limits of the process's control group can be read, because the engine asks
// for them when it is opened.
//
// It is the last wall, behind the gate and the engine's own settings, and it cannot
// tell SQL from SQL. Linux has what it takes; elsewhere [Seal] says what is lacking.
package seal
