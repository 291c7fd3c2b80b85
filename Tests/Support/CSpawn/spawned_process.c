#define _GNU_SOURCE

#include "spawned_process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
#define HAS_CLOSEFROM 1
#endif

int polystore_spawn(
    pid_t *process, const char *path, char *const arguments[], const char *directory, int input, int output, int errors) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    if ((error = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    int streams[3] = {input, output, errors};
    for (int stream = 0; stream < 3 && !error; stream++) error = posix_spawn_file_actions_adddup2(&actions, streams[stream], stream);
    if (!error && directory) error = posix_spawn_file_actions_addchdir_np(&actions, directory);
    // Where neither exists, files that were opened without O_CLOEXEC are inherited.
#ifdef __APPLE__
    if (!error) error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_CLOEXEC_DEFAULT);
#elif defined(HAS_CLOSEFROM)
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
    if (!error) error = posix_spawnp(process, path, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int polystore_spawn_pipe(int ends[2]) {
#ifdef __APPLE__
    if (pipe(ends)) return errno;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    return 0;
#else
    return pipe2(ends, O_CLOEXEC) ? errno : 0;
#endif
}

int polystore_spawn_await(pid_t process) {
    siginfo_t information;
    while (waitid(P_PID, (id_t)process, &information, WEXITED | WNOWAIT)) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

int polystore_spawn_reap(pid_t process) {
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) return -errno;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
