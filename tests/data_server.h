/* A web server on the loopback for the download tests: one process, one connection at a time, with
 * the manners of good and bad mirrors. */
#ifndef LOCKSTEP_TESTS_DATA_SERVER_H
#define LOCKSTEP_TESTS_DATA_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/data_fixture.h"

typedef enum Manner {
    SERVE_RANGES,    /* as it should be */
    SERVE_NO_RANGES, /* always the whole file */
    SERVE_SHORT,     /* ends each answer after half of what it promised */
    SERVE_STALL,     /* sends half, tells the test, and waits for ever */
    SERVE_WRONG,     /* changes a byte in the middle */
    SERVE_ENDLESS,   /* promises nothing and does not end */
    SERVE_404,
} Manner;

typedef struct Server {
    pid_t pid;
    char url[64];
    int told; /* SERVE_STALL writes a byte here when half is sent; SERVE_RANGES each range's start
               */
} Server;

static void send_all(int connection, const void *content, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t sent = send(connection, (const char *)content + done, count - done, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        done += (size_t)sent;
    }
}

static void send_endless(int connection) {
    static const char zeros[1 << 16];
    const char *head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    send_all(connection, head, strlen(head));
    while (send(connection, zeros, sizeof zeros, MSG_NOSIGNAL) > 0) {
    }
}

static void send_file(int connection, const char *path, size_t start, Manner manner, int tell) {
    static unsigned char content[FIXTURE_FILE_BYTES];
    char head[256];
    size_t count = read_file(content, path);
    start = manner == SERVE_NO_RANGES || start > count ? 0 : start;
    size_t rest = count - start;
    bool half = manner == SERVE_SHORT || manner == SERVE_STALL;
    content[count / 2] ^= manner == SERVE_WRONG;
    int length =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
                 "Content-Range: bytes %zu-%zu/%zu\r\n\r\n",
                 start > 0 ? "206 Partial Content" : "200 OK", rest, start, count - 1, count);
    send_all(connection, head, (size_t)length);
    send_all(connection, content + start, half ? rest / 2 : rest);
    if (manner == SERVE_STALL || (manner == SERVE_RANGES && start > 0)) {
        uint32_t note = (uint32_t)start;
        cr_assert_eq(write(tell, &note, sizeof note), (ssize_t)sizeof note);
    }
    if (manner == SERVE_STALL) {
        for (;;) {
            pause();
        }
    }
}

/* Reads one request's head and answers it from the mirror folder. */
static void answer(int connection, Manner manner, int tell) {
    char request[4096] = "", name[128] = "", path[FIXTURE_PATH_BYTES * 2];
    size_t used = 0;
    unsigned long start = 0;
    while (strstr(request, "\r\n\r\n") == NULL && used < sizeof request - 1) {
        ssize_t got = recv(connection, request + used, sizeof request - 1 - used, 0);
        if (got <= 0) {
            return;
        }
        used += (size_t)got;
        request[used] = '\0';
    }
    const char *range = strstr(request, "Range: bytes=");
    if (sscanf(request, "GET /%100[^ ]", name) != 1 ||
        (range != NULL && sscanf(range, "Range: bytes=%lu", &start) != 1)) {
        return;
    }
    snprintf(path, sizeof path, "%s/mirror/%s", fixture_folder, name);
    if (manner == SERVE_ENDLESS) {
        send_endless(connection);
    } else if (manner == SERVE_404 || !exists(path)) {
        const char *none = "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nnone\n";
        send_all(connection, none, strlen(none));
    } else {
        send_file(connection, path, start, manner, tell);
    }
}

/* Starts a server in a process of its own; end it with server_stop. */
FIXTURE Server server_start(Manner manner) {
    Server server = {0};
    int pipe_ends[2], listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    cr_assert_eq(pipe(pipe_ends), 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(listener, 8), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    snprintf(server.url, sizeof server.url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    server.told = pipe_ends[0];
    server.pid = fork();
    cr_assert_geq(server.pid, 0);
    while (server.pid == 0) {
        int connection = accept(listener, NULL, NULL);
        answer(connection, manner, pipe_ends[1]);
        close(connection);
    }
    close(listener);
    close(pipe_ends[1]);
    return server;
}

FIXTURE void server_stop(Server *server) {
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    close(server->told);
}

#endif
