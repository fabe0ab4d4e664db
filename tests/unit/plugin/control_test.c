/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket: lines, many clients, beginning and end. */
#include "base/thread.h"
#include "control_util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

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
    ask(fd, "help\n",
        "ok echo WORD... | fail [WHY] | quiet | info trace-events [PATTERN] | trace-event "
        "NAME|PATTERN on|off [vcpu] | trace-file [on|off|flush|set [PATH]|dump [PATH]]");
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

/* What a command gets of a line: as it was written, or without the blanks around it. In an answer
 * a tab is a question mark. */
static void test_arguments(void **state)
{
    static const struct gt_events_monitor_command said[] = {
        {"said", "LINE", .optional = true, .run = do_echo, .verbatim = true},
        {"echo", "WORDS", .run = do_echo},
        {0},
    };
    static const struct {
        const char *line, *answer; /* NULL: no such command */
    } rows[] = {
        {"said  a\t b ", "< a? b >"},
        {"said ", "<>"},
        {"said", "<>"},
        {"echo  a\t b \r", "<a? b>"},
        {"sai d", NULL},
        {"saids", NULL},
        {"", NULL},
        {"help", NULL},
        {" said a", NULL},
    };
    const struct gt_events_monitor_table table = {said, &echoes};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_events_monitor_answer a = {0};
        char line[32];
        snprintf(line, sizeof line, "%s", rows[i].line);
        assert_int_equal(gt_events_monitor_run(&table, line, &a), rows[i].answer != NULL);
        assert_false(a.failed);
        assert_string_equal(a.text, rows[i].answer ? rows[i].answer : "");
    }
}

/* Before gt_support_control_serve commands wait; what is connected when it stops is closed. */
static void test_ends(void **state)
{
    (void)state;
    const struct gt_support_control_options o = {
        .path = path, .table = {commands, &echoes}, .line = 100};
    assert_int_equal(gt_support_control_start(&control, &o, NULL), 0);
    int fd = client();
    put(fd, "quiet\n");
    char c;
    assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
    gt_support_control_serve(control);
    expect(fd, "ok");
    gt_support_control_stop(control);
    control = NULL;
    assert_int_equal(access(path, F_OK), -1);
    assert_true(recv(fd, &c, 1, 0) <= 0);
    close(fd);
    gt_support_control_stop(NULL);
    gt_support_control_fork_child(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    struct gt_support_control_options o = {.path = path, .table = {commands, &echoes}, .line = 100};
    struct gt_support_control *second = (struct gt_support_control *)&o;
    begin(100, false);
    assert_int_equal(gt_support_control_start(&second, &o, NULL), GT_E_EXISTS);
    assert_null(second);
    o.path = "";
    assert_int_equal(gt_support_control_start(&second, &o, NULL), GT_E_USAGE);
    o.path = "/nosuch/folder/socket";
    struct gt_error err;
    int status = gt_support_control_start(&second, &o, &err);
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
        gt_support_control_fork_child(control);
        if (found != before + 1 + more || descriptors() != before + 1)
            _exit(1);
        _exit(access(path, F_OK) == 0 ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ask(fd, "quiet\n", "ok");
    close(fd);
    gt_support_control_stop(control);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_arguments),   TEST(test_lines), TEST(test_long_lines), TEST(test_greeted),
        TEST(test_slow_reader), TEST(test_crowd), TEST(test_burst),      TEST(test_ends),
        TEST(test_refused),     TEST(test_fork),
    };
    alarm(100);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
