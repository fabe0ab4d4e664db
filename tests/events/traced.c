/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See traced.h. */
#include "traced.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

const char *traced_program;

pid_t traced_start(const char *options, const char *on, const char *action)
{
    static char words[256];
    const char *argv[16] = {traced_program, options, on, "--"};
    int n = 4;
    snprintf(words, sizeof words, "%s", action);
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        argv[n++] = w;
    /* The signals' handlers are ours; who looks for leaks in a child of fork() would wait for the
     * parent's threads. */
    setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    setenv("TSAN_OPTIONS", "handle_segv=0:handle_abort=0", 1);
    pid_t pid = fork();
    if (pid == 0) {
        execv(traced_program, (char **)argv);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

int traced_finish(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return status;
}
