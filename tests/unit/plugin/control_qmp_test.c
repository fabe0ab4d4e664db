/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QMP on the control socket, of clients that keep to it and of others. */
#include "control_util.h"

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
        "{\"name\": \"query-version\"}, {\"name\": \"trace-event-get-state\"}, "
        "{\"name\": \"trace-event-set-state\"}, {\"name\": \"human-monitor-command\"}, "
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
        {"{\"execute\": \"guesttrace-quiet\", \"execute\": \"a\"}",
         "member \\\"execute\\\" is given twice"},
        {"{\"execute\": \"guesttrace-quiet\", \"exec-oob\": 1}", "unknown member"},
        {"{\"execute\": \"guesttrace-quiet\", \"arguments\": []}", "must be an object"},
        {"{\"execute\": \"guesttrace-quiet\", \"arguments\": {\"a\": 1}}", "has no argument"},
        {"{\"execute\": \"guesttrace-echo\"}", "argument 'words' is missing"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": [1]}}",
         "a string, not [1]"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"\"}}", "expected WORD"},
        {"{\"execute\": \"guesttrace-echo\", \"arguments\": {\"words\": \"a\", \"words\": \"b\"}}",
         "argument 'words' is given twice"},
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
    ask_part(fd, text, "has a NUL, or more than");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_qmp),
        TEST(test_qmp_refused),
        TEST(test_qmp_large),
    };
    alarm(100);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
