/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ftrace backend: a write of each line to trace_marker, in the tracefs that /proc/mounts names,
 * or in the folder "tracing" of a debugfs. The first event looks for it, unless
 * gt_trace_ftrace_set() was called before. The kernel accepts at most a page of a line.
 */
#include "events/library/control/registry.h"
#include "events/library/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

enum { UNKNOWN = -2, NONE = -1, LINE_MAX_BYTES = 4096 };

static int marker = UNKNOWN; /* the number stays once there is one */

/* /proc/mounts writes blanks and such as \ooo. */
static void unescape(char *s)
{
    char *to = s;
    for (; *s; s++, to++) {
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
            s[3] >= '0' && s[3] <= '7') {
            *to = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
            s += 3;
        } else {
            *to = *s;
        }
    }
    *to = 0;
}

/* The folder of the last mount of a type. */
static bool find_mount(const char *wanted, char *folder, size_t size)
{
    FILE *f = fopen("/proc/mounts", "re");
    char line[PATH_MAX + 256], where[PATH_MAX], type[64];
    bool found = false;
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%*s %4095s %63s", where, type) == 2 && strcmp(type, wanted) == 0) {
            unescape(where);
            found = (size_t)snprintf(folder, size, "%s", where) < size;
        }
    }
    if (f)
        fclose(f);
    return found;
}

static void write_word(const char *folder, const char *name, const char *word)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, word, strlen(word));
    close(fd);
}

static int open_marker(const char *folder, struct gt_trace_error *error)
{
    char found[PATH_MAX], path[PATH_MAX + 32];
    const char *tracing = "";
    if (!folder) {
        if (!find_mount("tracefs", found, sizeof found)) {
            tracing = "/tracing";
            if (!find_mount("debugfs", found, sizeof found))
                return gt_events_fail(error, GT_TRACE_E_NOT_FOUND,
                                      "/proc/mounts: no tracefs and no debugfs is mounted");
        }
        folder = found;
    }
    snprintf(path, sizeof path, "%s%s/trace_marker", folder, tracing);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_APPEND);
    if (fd < 0)
        return gt_events_fail_errno(error, errno, "%s: cannot be opened", path);
    path[strlen(path) - strlen("/trace_marker")] = 0;
    write_word(path, "tracing_on", "1");
    int old = UNKNOWN;
    if (!__atomic_compare_exchange_n(&marker, &old, fd, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        if (old == NONE) {
            __atomic_store_n(&marker, fd, __ATOMIC_RELEASE);
        } else {
            dup3(fd, old, O_CLOEXEC);
            close(fd);
        }
    }
    return GT_TRACE_OK;
}

int gt_trace_ftrace_set(const char *folder, struct gt_trace_error *error)
{
    gt_events_lock();
    int status = open_marker(folder, error);
    gt_events_unlock();
    return status;
}

void gt_events_ftrace_forget(void)
{
    __atomic_store_n(&marker, UNKNOWN, __ATOMIC_RELEASE);
}

void gt_events_ftrace_line(const char *line, size_t size)
{
    int fd = __atomic_load_n(&marker, __ATOMIC_ACQUIRE);
    if (fd == UNKNOWN && open_marker(NULL, NULL) != GT_TRACE_OK) {
        int old = UNKNOWN;
        __atomic_compare_exchange_n(&marker, &old, NONE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    fd = __atomic_load_n(&marker, __ATOMIC_ACQUIRE);
    if (fd >= 0)
        (void)!write(fd, line, size < LINE_MAX_BYTES ? size : LINE_MAX_BYTES);
}
