/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A control socket with three commands, and its clients. */
#ifndef TESTS_PLUGIN_CONTROL_UTIL_H
#define TESTS_PLUGIN_CONTROL_UTIL_H

#include "base/text.h"
#include "qemu/support/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define GREETING "{\"QMP\": {\"version\": {\"qemu\": "
#define ERROR    "{\"error\": {\"class\": \"GenericError\", \"desc\": \""

static char folder[32], path[64];
static struct gt_support_control *control;

/* ---- the server ---------------------------------------------------------------------------- */

static inline void do_echo(void *self, const char *args, struct gt_events_monitor_answer *a)
{
    ++*(unsigned *)self;
    gt_events_monitor_succeed(a, "<%s>", args);
}

static inline void do_fail(void *self, const char *args, struct gt_events_monitor_answer *a)
{
    (void)self;
    gt_events_monitor_fail(a, "it fails: %s", args);
}

static inline void do_quiet(void *self, const char *args, struct gt_events_monitor_answer *a)
{
    (void)self, (void)args, (void)a;
}

static const struct gt_events_monitor_command commands[] = {
    {"echo", "WORD...", "words", false, do_echo},
    {"fail", "[WHY]", "why", true, do_fail},
    {"quiet", .run = do_quiet},
    {0},
};

static unsigned echoes;

static inline void begin(size_t line, bool greets)
{
    const struct gt_support_control_options o = {
        .path = path, .table = {commands, &echoes}, .line = line, .greets = greets};
    echoes = 0;
    assert_int_equal(gt_support_control_start(&control, &o, NULL), 0);
    gt_support_control_serve(control);
}

static inline int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/control-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/socket", folder);
    control = NULL;
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    gt_support_control_stop(control);
    control = NULL;
    return rmdir(folder); /* the socket's file is gone */
}

/* ---- clients ------------------------------------------------------------------------------- */

static inline int client(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static inline void put_bytes(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t done = send(fd, text, n, MSG_NOSIGNAL);
        assert_true(done > 0);
        text += done;
        n -= (size_t)done;
    }
}

static inline void put(int fd, const char *text)
{
    put_bytes(fd, text, strlen(text));
}

/* The next line, without its end; "" at the end of the connection. */
static inline const char *line_of(int fd)
{
    static char line[70000];
    size_t n = 0;
    while (n < sizeof line - 1 && recv(fd, line + n, 1, 0) == 1 && line[n] != '\n')
        n++;
    n -= n && line[n - 1] == '\r';
    line[n] = '\0';
    return line;
}

static inline void expect(int fd, const char *want)
{
    assert_string_equal(line_of(fd), want);
}

static inline void expect_part(int fd, const char *part)
{
    const char *line = line_of(fd);
    if (!strstr(line, part))
        fail_msg("%s: not in: %s", part, line);
    for (size_t left = strlen(line), k; left; line += k, left -= k) {
        k = gt_text_utf8_length(line, left);
        assert_int_not_equal(k, 0);
    }
}

static inline void ask(int fd, const char *text, const char *want)
{
    put(fd, text);
    expect(fd, want);
}

static inline void ask_part(int fd, const char *text, const char *part)
{
    put(fd, text);
    expect_part(fd, part);
}

static inline int qmp_client(void)
{
    int fd = client();
    put(fd, "{\"execute\": \"qmp_capabilities\"}\n");
    expect_part(fd, GREETING);
    expect(fd, "{\"return\": {}}");
    return fd;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
