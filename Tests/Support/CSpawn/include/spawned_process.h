#ifndef POLYSTORE_SPAWNED_PROCESS_H
#define POLYSTORE_SPAWNED_PROCESS_H

#include <sys/types.h>

/// Starts a program with posix_spawn. The process inherits `input`, `output` and `errors` as its standard streams, and no other file.
///
/// `path` is the path of the program; without a slash, PATH is searched. `arguments` ends with NULL and begins with the name of the program. `directory` is the
/// current folder of the process, or NULL for that of the caller.
///
/// Returns 0, and the id of the process in `process`, or the error number.
int polystore_spawn(
    pid_t *process, const char *path, char *const arguments[], const char *directory, int input, int output, int errors);

/// Makes a pipe whose ends programs do not inherit. Returns 0, and the reading and the writing end in `ends`, or the error number.
int polystore_spawn_pipe(int ends[2]);

/// Waits for the end of a process, whose id stays valid. Returns 0 or the error number.
int polystore_spawn_await(pid_t process);

/// Waits for the end of a process and releases its id. Returns its exit status, 128 and the number of the signal that ended it, or the negative error number.
int polystore_spawn_reap(pid_t process);

#endif
