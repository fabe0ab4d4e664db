/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes single lines to standard error. In user mode descriptor 2 belongs to the guest, which may
 * close it and open another file there, or close its reader: a message is written only while the
 * descriptor is the same file as at load, never raises SIGPIPE or, where the guest has limited the
 * size of files, SIGXFSZ, and is dropped if it would block.
 */
#include "qemu/message.h"
#include "qemu/host.h"

#include <glib.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_US = 200000 };

static struct {
    unsigned long long device, file;
} at_load;
static bool known;

void gt_qemu_message_init(void)
{
    const char *given = getenv(GT_HOST_MESSAGES_VARIABLE);
    struct stat st;
    known = fstat(STDERR_FILENO, &st) == 0;
    at_load.device = known ? st.st_dev : 0;
    at_load.file = known ? st.st_ino : 0;
    if (given)
        known = sscanf(given, "%llu:%llu", &at_load.device, &at_load.file) == 2;
}

char *gt_host_messages_to(void)
{
    return known ? g_strdup_printf("%llu:%llu", at_load.device, at_load.file) : NULL;
}

static bool unchanged(void)
{
    struct stat now;
    return known && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == at_load.device &&
           now.st_ino == at_load.file;
}

/* A pipe whose reader is stuck, a terminal that is stopped: the guest's end does not wait for them.
 * Not poll(), which takes no more descriptors than the guest's limit allows, which may be none. */
static bool takes_a_line(void)
{
    fd_set wanted;
    FD_ZERO(&wanted);
    FD_SET(STDERR_FILENO, &wanted);
    return select(STDERR_FILENO + 1, NULL, &wanted, NULL, &(struct timeval){.tv_usec = WAIT_US}) ==
           1;
}

static const int of_writes[] = {SIGPIPE, SIGXFSZ};

void gt_qemu_signals_hold(struct gt_qemu_held_signals *h)
{
    sigset_t pending, set;
    sigemptyset(&set);
    sigemptyset(&h->own);
    sigpending(&pending);
    for (size_t i = 0; i < sizeof of_writes / sizeof of_writes[0]; i++) {
        sigaddset(&set, of_writes[i]);
        if (!sigismember(&pending, of_writes[i]))
            sigaddset(&h->own, of_writes[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, &h->mask);
}

void gt_qemu_signals_release(const struct gt_qemu_held_signals *h)
{
    while (sigtimedwait(&h->own, NULL, &(struct timespec){0}) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
}

static void write_quietly(const char *text, size_t n)
{
    struct gt_qemu_held_signals held;
    gt_qemu_signals_hold(&held);
    ssize_t done = write(STDERR_FILENO, text, n);
    (void)done; /* the message has no reader */
    gt_qemu_signals_release(&held);
}

void gt_host_message(const char *format, ...)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "guesttrace-%s: ", gt_host_tool_name);
    va_list ap;
    va_start(ap, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, ap);
    va_end(ap);
    if ((size_t)n > sizeof line - 2)
        n = sizeof line - 2;
    for (int i = 0; i < n; i++) /* a path may have anything: one line stays one */
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[n++] = '\n';
    if (unchanged() && takes_a_line())
        write_quietly(line, (size_t)n);
}
