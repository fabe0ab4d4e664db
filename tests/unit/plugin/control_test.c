/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket: lines and QMP, from clients of all kinds. */
#include "../sanitizer.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "plugin/common/control.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[32], path[64];
static struct gt_control *control;

/* ---- the server ---------------------------------------------------------------------------- */

static void do_echo(void *self, const char *args, struct gt_control_answer *a)
{
    ++*(unsigned *)self;
    gt_control_succeed(a, "<%s>", args);
}

static void do_fail(void *self, const char *args, struct gt_control_answer *a)
{
    (void)self;
    gt_control_fail(a, "it fails: %s", args);
}

static void do_quiet(void *self, const char *args, struct gt_control_answer *a)
{
    (void)self, (void)args, (void)a;
}

static const struct gt_control_command commands[] = {
    {"echo", "WORD...", "words", false, do_echo},
    {"fail", "[WHY]", "why", true, do_fail},
    {"quiet", .run = do_quiet},
    {0},
};

static unsigned echoes;

static void begin(size_t line, bool greets)
{
    const struct gt_control_options o = {
        .path = path, .table = {commands, &echoes}, .line = line, .greets = greets};
    echoes = 0;
    assert_int_equal(gt_control_start(&control, &o, NULL), 0);
    gt_control_serve(control);
}

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/control-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/socket", folder);
    control = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    gt_control_stop(control);
    control = NULL;
    return rmdir(folder); /* the socket's file is gone */
}

/* ---- clients ------------------------------------------------------------------------------- */

static int client(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void put_bytes(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t done = send(fd, text, n, MSG_NOSIGNAL);
        assert_true(done > 0);
        text += done;
        n -= (size_t)done;
    }
}

static void put(int fd, const char *text)
{
    put_bytes(fd, text, strlen(text));
}

/* The next line, without its end; "" at the end of the connection. */
static const char *line_of(int fd)
{
    static char line[70000];
    size_t n = 0;
    while (n < sizeof line - 1 && recv(fd, line + n, 1, 0) == 1 && line[n] != '\n')
        n++;
    n -= n && line[n - 1] == '\r';
    line[n] = '\0';
    return line;
}

static void expect(int fd, const char *want)
{
    assert_string_equal(line_of(fd), want);
}

static void expect_part(int fd, const char *part)
{
    const char *line = line_of(fd);
    if (!strstr(line, part))
        fail_msg("%s: not in: %s", part, line);
    for (size_t left = strlen(line), k; left; line += k, left -= k) {
        k = gt_utf8_length(line, left);
        assert_int_not_equal(k, 0);
    }
}

static void ask(int fd, const char *text, const char *want)
{
    put(fd, text);
    expect(fd, want);
}

static void ask_part(int fd, const char *text, const char *part)
{
    put(fd, text);
    expect_part(fd, part);
}

/* ---- lines --------------------------------------------------------------------------------- */

static void test_lines(void **state)
{
    (void)state;
    begin(4095, false);
    int fd = client();
    ask(fd, "quiet\n", "ok");
    ask(fd, "  echo \t one  two \r\n", "ok <one  two>");
    ask(fd, "fail\n", "error: it fails: ");
    ask(fd, "fail because\n", "error: it fails: because");
    ask(fd, "echo\n", "error: echo: expected WORD...");
    ask(fd, "quiet now\n", "error: quiet: takes no arguments");
    ask(fd, "help\n", "ok echo WORD... | fail [WHY] | quiet");
    ask(fd, "\n", "error: unknown command : expected echo, fail or quiet");
    ask(fd, "stop it\n", "error: unknown command stop: expected echo, fail or quiet");
    ask(fd, "{\"execute\": \"quiet\"}\n",
        "error: unknown command {\"execute\":: expected echo, fail or quiet");
    put(fd, "echo a\necho b\nquiet\necho");
    expect(fd, "ok <a>");
    expect(fd, "ok <b>");
    expect(fd, "ok");
    for (const char *at = " slow\n"; *at; at++)
        put_bytes(fd, at, 1);
    expect(fd, "ok <slow>");
    put_bytes(fd, "quiet\0x\n", 8);
    expect(fd, "error: a NUL in a command");
    ask(fd, "echo a\x01\x7f\n",
        "ok <a?"
        "?>");
    put(fd, "echo last\nquiet"); /* the rest is no command */
    shutdown(fd, SHUT_WR);
    expect(fd, "ok <last>");
    expect(fd, "");
    close(fd);
}

static void test_long_lines(void **state)
{
    (void)state;
    static char text[1 << 20];
    memset(text, 'x', sizeof text);
    begin(100, false);
    int fd = client();
    text[100] = '\n';
    put_bytes(fd, text, 101);
    expect_part(fd, "error: unknown command xxx");
    text[100] = 'x';
    text[101] = '\n';
    put_bytes(fd, text, 102);
    expect(fd, "error: too many bytes in a command: at most 100");
    text[101] = 'x';
    put_bytes(fd, text, sizeof text); /* a megabyte */
    expect(fd, "error: too many bytes in a command: at most 100");
    put(fd, "\n");
    ask(fd, "quiet\n", "ok");
    close(fd);
}

/* ---- QMP ----------------------------------------------------------------------------------- */

#define GREETING "{\"QMP\": {\"version\": {\"qemu\": "
#define ERROR    "{\"error\": {\"class\": \"GenericError\", \"desc\": \""

static int qmp_client(void)
{
    int fd = client();
    put(fd, "{\"execute\": \"qmp_capabilities\"}\n");
    expect_part(fd, GREETING);
    expect(fd, "{\"return\": {}}");
    return fd;
}

static void test_qmp(void **state)
{
    (void)state;
    begin(4095, false);
    int fd = qmp_client();
    ask(fd, "{\"execute\": \"guesttrace-quiet\"}\n", "{\"return\": {\"answer\": \"\"}}");
    ask(fd,
        "{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"a \\\"\\u00e9\\\"\"}, "
        "\"id\": [1, {\"a\": null}]}",
        "{\"return\": {\"answer\": \"<a \\\"\xc3\xa9\\\">\"}, \"id\": [1, {\"a\": null}]}");
    ask(fd, "{\"execute\": \"guesttrace-fail\", \"id\": 7}", ERROR "it fails: \"}, \"id\": 7}");
    ask(fd, "{\"execute\": \"query-commands\"}",
        "{\"return\": [{\"name\": \"qmp_capabilities\"}, {\"name\": \"query-commands\"}, "
        "{\"name\": \"query-version\"}, {\"name\": \"human-monitor-command\"}, "
        "{\"name\": \"guesttrace-echo\"}, {\"name\": \"guesttrace-fail\"}, "
        "{\"name\": \"guesttrace-quiet\"}]}");
    ask_part(fd, "{\"execute\": \"query-version\"}", "\"package\": \"guesttrace\"");
    ask(fd,
        "{\"execute\": \"human-monitor-command\", \"arguments\": {\"command-line\": \"echo b\"}}",
        "{\"return\": \"ok <b>\\n\"}");
    ask(fd, "{\"execute\": \"human-monitor-command\", \"arguments\": {\"command-line\": \"stop\"}}",
        ERROR "unknown command stop: expected echo, fail or quiet\"}}");
    ask(fd, "{\"execute\": \"echo\"}",
        "{\"error\": {\"class\": \"CommandNotFound\", \"desc\": \"unknown command "
        "\\\"echo\\\"\"}}");
    put(fd, "{\"execute\": \"guesttrace-quiet\", \"id\": 1} {\"execute\": ");
    expect_part(fd, "\"id\": 1}");
    ask_part(fd, "\"guesttrace-quiet\", \"id\": \"{[\\\"\"}\r\n", "\"id\": \"{[\\\"\"}");
    close(fd);
}

static void test_qmp_refused(void **state)
{
    (void)state;
    begin(4095, false);
    int fd = qmp_client();
    static const char *const cases[][2] = {
        {"{\"execute\": 1}", "expected a member"},
        {"{}", "expected a member"},
        {"{\"execute\": \"guesttrace-quiet\", \"execute\": \"a\"}", "given twice: member"},
        {"{\"execute\": \"guesttrace-quiet\", \"exec-oob\": 1}", "unknown member"},
        {"{\"execute\": \"guesttrace-quiet\", \"arguments\": []}", "must be an object"},
        {"{\"execute\": \"guesttrace-quiet\", \"arguments\": {\"a\": 1}}", "unknown argument"},
        {"{\"execute\": \"guesttrace-echo\"}", "argument 'words' is missing"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": [1]}}",
         "a string, not [1]"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"\"}}", "expected WORD"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"a\", \"words\": \"b\"}}",
         "given twice: argument"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"a\\u0000\"}}", "NUL"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"a\\ud800\"}}",
         "{\"return\": {\"answer\": \"<a\xef\xbf\xbd>\"}}"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"\xc3\"}}",
         "byte 56: not UTF-8"},
        {"{\"a\": \x01}", "no JSON, byte 7"},
        {"{\"a\" 1}", "expected ':'"},
        {"nonsense}\n", "expected an object"},
        {"\"{\"\n", "expected an object"},
        {"}}}}\n", "expected an object"},
        {"[{}]\n", "expected an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ask_part(fd, cases[i][0], cases[i][1]);
    assert_int_equal(echoes, 1);
    ask_part(fd, "{\"execute\": \"guesttrace-quiet\"}", "return");
    close(fd);
}

static void test_qmp_large(void **state)
{
    (void)state;
    static char text[1 << 20];
    begin(4095, false);
    int fd = qmp_client();
    memset(text, '[', sizeof text);
    memcpy(text, "{\"a\": ", 6);
    put_bytes(fd, text, sizeof text); /* a megabyte of brackets that open */
    expect(fd, ERROR "too many bytes in a message: at most 32767\"}}");
    put(fd, "\n");
    memset(text + 6 + 40, ']', 40);
    text[6 + 80] = '}';
    put_bytes(fd, text, 6 + 81); /* 40 levels */
    expect_part(fd, "too many levels");
    memset(text, '{', 15000);
    put_bytes(fd, text, 15000);
    memset(text, '}', 15000);
    put_bytes(fd, text, 15000);
    expect_part(fd, "expected the name of a member");
    int n = snprintf(text, sizeof text,
                     "{\"execute\": \"guesttrace-echo\", \"arguments\": "
                     "{\"words\": \"");
    memset(text + n, 'y', 4096);
    strcpy(text + n + 4096, "\"}}");
    ask_part(fd, text, "too long, or with a NUL");
    strcpy(text + n + 4000, "\"}}");
    ask_part(fd, text, "<yyy");
    for (int i = n + 1; i < n + 4000; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    strcpy(text + n + 3001, "\"}}");
    ask_part(fd, text, "?\"}}"); /* an answer that is too long is cut, here in a character */
    memset(text + n, 'y', 4000);
    put(fd, "{\"a\": \""); /* a string that never ends */
    for (int i = 0; i < 40; i++)
        put_bytes(fd, text + n, 1000);
    expect_part(fd, "too many bytes in a message");
    ask_part(fd, "\n{\"execute\": \"guesttrace-quiet\"}", "return");
    close(fd);
}

static void test_greeted(void **state)
{
    (void)state;
    begin(4095, true);
    int fd = client();
    expect_part(fd, GREETING);
    ask(fd, "quiet\n", "ok");
    close(fd);
    fd = client();
    expect_part(fd, GREETING);
    ask(fd, "{\"execute\": \"qmp_capabilities\"}", "{\"return\": {}}");
    close(fd);
}

/* ---- many clients -------------------------------------------------------------------------- */

/* One that sends and does not read gets its answers later, in their order; the others are served.
 */
static void test_slow_reader(void **state)
{
    (void)state;
    begin(4095, false);
    int slow = client(), fd = client();
    char text[64];
    fcntl(slow, F_SETFL, O_NONBLOCK);
    unsigned sent = 0, left = 0, begun = 0;
    for (ssize_t n = 0; n >= 0;) {
        if (left == 0) {
            begun = sent;
            left = (unsigned)snprintf(text, sizeof text, "echo %u\n", sent++);
        }
        n = send(slow, text + strlen(text) - left, left, MSG_NOSIGNAL);
        left -= n > 0 ? (unsigned)n : 0;
        ask(fd, "quiet\n", "ok");
    }
    assert_int_equal(errno, EAGAIN);
    assert_true(sent > 200);
    fcntl(slow, F_SETFL, 0);
    for (unsigned i = 0; i < begun; i++) {
        snprintf(text, sizeof text, "ok <%u>", i);
        expect(slow, text);
    }
    close(slow);
    ask(fd, "quiet\n", "ok");
    close(fd);
}

/* More commands at once than there is room for. */
static void test_burst(void **state)
{
    (void)state;
    enum { BURST = 10000 };
    static char text[6 * BURST + 1];
    begin(4095, false);
    int fd = client();
    for (unsigned i = 0; i < BURST; i++)
        memcpy(text + 6 * i, "quiet\n", 6);
    put_bytes(fd, text, 6 * BURST);
    for (unsigned i = 0; i < BURST; i++)
        expect(fd, "ok");
    ask(fd, "quiet\n", "ok");
    close(fd);
}

static void test_crowd(void **state)
{
    (void)state;
    begin(4095, true);
    int crowd[GT_CONTROL_CLIENTS];
    for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
        crowd[i] = client();
        expect_part(crowd[i], GREETING);
        put(crowd[i], i % 2 ? "echo" : "{\"execute\":"); /* they stop halfway */
    }
    int late = client();
    expect(late, "error: too many clients: at most 32");
    expect(late, "");
    close(late);
    ask(crowd[1], " 1\n", "ok <1>");
    close(crowd[0]);
    for (const char *line = ""; !strstr(line, "QMP"); close(late)) {
        late = client(); /* once it is seen that one has gone */
        line = line_of(late);
    }
    for (size_t i = 1; i < GT_CONTROL_CLIENTS; i++)
        close(crowd[i]);
}

/* ---- beginning and end --------------------------------------------------------------------- */

/* Before gt_control_serve commands wait; what is connected when it stops is closed. */
static void test_ends(void **state)
{
    (void)state;
    const struct gt_control_options o = {.path = path, .table = {commands, &echoes}, .line = 100};
    assert_int_equal(gt_control_start(&control, &o, NULL), 0);
    int fd = client();
    put(fd, "quiet\n");
    char c;
    assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
    gt_control_serve(control);
    expect(fd, "ok");
    gt_control_stop(control);
    control = NULL;
    assert_int_equal(access(path, F_OK), -1);
    assert_true(recv(fd, &c, 1, 0) <= 0);
    close(fd);
    gt_control_stop(NULL);
    gt_control_fork_child(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    struct gt_control_options o = {.path = path, .table = {commands, &echoes}, .line = 100};
    struct gt_control *second = (struct gt_control *)&o;
    begin(100, false);
    assert_int_equal(gt_control_start(&second, &o, NULL), GT_E_EXISTS);
    assert_null(second);
    o.path = "";
    assert_int_equal(gt_control_start(&second, &o, NULL), GT_E_USAGE);
    o.path = "/nosuch/folder/socket";
    struct gt_error err;
    int status = gt_control_start(&second, &o, &err);
    assert_true(status < 0 && status == err.status);
    assert_non_null(strstr(err.text, "/nosuch/folder/socket"));
    int fd = client();
    ask(fd, "quiet\n", "ok");
    close(fd);
}

static int refuse_range(unsigned first, unsigned last, int flags)
{
    (void)first, (void)last, (void)flags;
    errno = ENOSYS;
    return -1;
}

static int refuse(int flags)
{
    (void)flags;
    errno = EPERM;
    return -1;
}

static unsigned descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* A child of a process with clients; `more`: descriptors that it finds open and must not keep. */
static void check_fork(unsigned more)
{
    unsigned before = descriptors();
    begin(100, false);
    int fd = client();
    ask(fd, "quiet\n", "ok");
    pid_t child = fork();
    if (child == 0) {
        unsigned found = descriptors();
        gt_control_fork_child(control);
        if (found != before + 1 + more || descriptors() != before + 1)
            _exit(1);
        _exit(access(path, F_OK) == 0 ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ask(fd, "quiet\n", "ok");
    close(fd);
    gt_control_stop(control);
    control = NULL;
}

static void test_fork(void **state)
{
    (void)state;
    const struct gt_thread_sys sys = gt_thread_sys;
    check_fork(0);
    gt_thread_sys = (struct gt_thread_sys){refuse_range, refuse};
    check_fork(2); /* the thread has no table of its own */
    gt_thread_sys = sys;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines),     TEST(test_long_lines), TEST(test_qmp),         TEST(test_qmp_refused),
        TEST(test_qmp_large), TEST(test_greeted),    TEST(test_slow_reader), TEST(test_crowd),
        TEST(test_burst),     TEST(test_ends),       TEST(test_refused),     TEST(test_fork),
    };
    alarm(100);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
