/* delay LISTEN TARGET MICROSECONDS: forwards the connections of one Unix socket to another, and delivers what arrives after a time, in both directions, in order.
   As a network does: the time is added to each message, and any number can be under way. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024, PIECE = 1 << 16 };

/* Bytes under way, with the time of their arrival. */
typedef struct piece {
    struct piece* next;
    long long due;
    size_t n, sent;
    char bytes[PIECE];
} piece;

/* One end of a connection: what has been read from `fd` goes to `peer`. */
typedef struct {
    int fd, peer, ended;
    piece *first, *last;
} end;

static end ends[MOST];
static int count;
static long long delay;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}
static int unix_socket(const char* path, struct sockaddr_un* a) {
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX;
    snprintf(a->sun_path, sizeof a->sun_path, "%s", path);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}
static void add(int fd, int peer) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ends[count++] = (end){.fd = fd, .peer = peer};
}
static void serve(int listener, const char* target) {
    struct sockaddr_un a;
    int client = accept(listener, 0, 0), server = unix_socket(target, &a);
    if (client < 0 || server < 0 || count + 2 > MOST || connect(server, (struct sockaddr*)&a, sizeof a)) {
        if (client >= 0) close(client);
        if (server >= 0) close(server);
        return;
    }
    add(client, server);
    add(server, client);
}
static void take(end* e) {
    piece* p = (piece*)malloc(sizeof *p);
    ssize_t n = read(e->fd, p->bytes, PIECE);
    if (n <= 0) {
        free(p);
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) e->ended = 1;
        return;
    }
    p->next = 0;
    p->n = (size_t)n;
    p->sent = 0;
    p->due = now() + delay;
    if (e->last) e->last->next = p;
    else e->first = p;
    e->last = p;
}
/* Delivers what is due. Returns the time until the next piece is due, or -1. */
static long long deliver(end* e) {
    while (e->first) {
        piece* p = e->first;
        long long rest = p->due - now();
        if (rest > 0) return rest;
        ssize_t n = send(e->peer, p->bytes + p->sent, p->n - p->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) return 100000;
        if (n < 0) {
            e->ended = 1;
            p->sent = p->n;
        } else {
            p->sent += (size_t)n;
        }
        if (p->sent < p->n) continue;
        e->first = p->next;
        if (!e->first) e->last = 0;
        free(p);
    }
    return -1;
}
/* Closes a connection when an end of it has ended and nothing is under way from there. */
static void sweep(void) {
    for (int i = 0; i < count; i += 2) {
        end *a = &ends[i], *b = &ends[i + 1];
        if (!(a->ended && !a->first) && !(b->ended && !b->first)) continue;
        close(a->fd);
        close(b->fd);
        for (end* e = a; e <= b; e++)
            for (piece *p = e->first, *next; p; p = next) {
                next = p->next;
                free(p);
            }
        ends[i] = ends[count - 2];
        ends[i + 1] = ends[count - 1];
        count -= 2;
        i -= 2;
    }
}

int main(int argc, char** argv) {
    struct sockaddr_un a;
    if (argc != 4) return 2;
    delay = atoll(argv[3]) * 1000;
    int listener = unix_socket(argv[1], &a);
    unlink(argv[1]);
    if (listener < 0 || bind(listener, (struct sockaddr*)&a, sizeof a) || listen(listener, 128)) return 1;
    struct pollfd polled[MOST + 1];
    for (;;) {
        long long wait = -1;
        for (int i = 0; i < count; i++) {
            long long rest = deliver(&ends[i]);
            if (rest >= 0 && (wait < 0 || rest < wait)) wait = rest;
        }
        sweep();
        polled[count] = (struct pollfd){listener, POLLIN, 0};
        for (int i = 0; i < count; i++) polled[i] = (struct pollfd){ends[i].ended ? -1 : ends[i].fd, POLLIN, 0};
        int known = count;
        struct timespec t = {wait / 1000000000, wait % 1000000000};
        if (ppoll(polled, (nfds_t)known + 1, wait < 0 ? 0 : &t, 0) < 0 && errno != EINTR) return 1;
        for (int i = 0; i < known; i++)
            if (polled[i].revents) take(&ends[i]);
        if (polled[known].revents) serve(listener, argv[2]);
    }
}
