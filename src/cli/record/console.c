/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine's console on standard output: see console.h. */
#include "cli/record/console.h"
#include "base/clock.h"
#include "recording/texts/extern_data.h"
#include "recording/texts/files.h"

#include "calls/repair/stats.h"
#include "cli/record/console_lines.h"
#include "cli/record/machine_files.h"

#include "base/bytes.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 4096 /* a pipe that poll(2) calls writable takes so much without blocking */

struct gt_record_console {
    struct gt_record_child_output child;
    int in;        /* our end */
    int out;       /* our standard output */
    bool terminal; /* in is a pseudo-terminal's master */
    char *dir;     /* with the recording's text files */
    char pending[AT_ONCE];
    size_t n, at; /* of pending; at: written already */
    struct gt_record_console_lines lines;
    struct gt_repair_mark clock_before; /* .now of an earlier run */
    const volatile uint64_t *now;       /* mapped; NULL: not there yet */
    uint64_t started;                   /* CLOCK_MONOTONIC */
};

/* ---- time ---------------------------------------------------------------------------------- */

/* The plugin makes its file when the machine starts: an earlier recording's is still there before.
 */
static void map_live_clock(struct gt_record_console *c)
{
    struct gt_repair_mark mark;
    gt_repair_mark(c->dir, GT_LIVE_CLOCK_FILE, &mark);
    if (!mark.ino || gt_repair_mark_same(&mark, &c->clock_before))
        return;
    g_autofree char *path = g_build_filename(c->dir, GT_LIVE_CLOCK_FILE, NULL);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (lseek(fd, 0, SEEK_END) >= (off_t)sizeof *c->now) {
        void *p = mmap(NULL, sizeof *c->now, PROT_READ, MAP_SHARED, fd, 0);
        c->now = p == MAP_FAILED ? NULL : p;
    }
    close(fd);
}

static struct gt_record_console_time take_time(struct gt_record_console *c)
{
    if (!c->now && c->dir)
        map_live_clock(c);
    return (struct gt_record_console_time){gt_base_clock_monotonic(), c->now ? *c->now : 0};
}

/* A first record says which clock the trace has: instructions are counted from 0. */
static bool is_host_clock(const struct gt_record_console *c, const struct gt_recording_records *at)
{
    uint64_t time;
    return gt_repair_records_begin(at, &time, NULL) == 1 && time >= c->started &&
           time <= gt_base_clock_monotonic();
}

/* ---- copying ------------------------------------------------------------------------------- */

static void close_in(struct gt_record_console *c)
{
    if (c->in >= 0)
        close(c->in);
    c->in = -1;
}

static void read_in(struct gt_record_console *c)
{
    const struct gt_record_console_time time = take_time(c); /* of what poll(2) has reported */
    ssize_t n = read(c->in, c->pending, sizeof c->pending);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) { /* EIO: the other end of a pseudo-terminal is closed */
        close_in(c);
        return;
    }
    c->n = (size_t)n;
    c->at = 0;
    gt_record_console_lines_add(&c->lines, c->pending, c->n, &time);
}

static void write_out(struct gt_record_console *c)
{
    ssize_t n = write(c->out, c->pending + c->at, c->n - c->at);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {
        c->n = c->at = 0;
        close_in(c);
        return;
    }
    c->at += (size_t)n;
}

static void wants(void *self, struct pollfd *p)
{
    const struct gt_record_console *c = self;
    *p = c->at < c->n ? (struct pollfd){c->out, POLLOUT, 0} : (struct pollfd){c->in, POLLIN, 0};
}

static void ready(void *self)
{
    struct gt_record_console *c = self;
    if (c->at < c->n)
        write_out(c);
    else if (c->in >= 0)
        read_in(c);
}

static bool done(void *self)
{
    const struct gt_record_console *c = self;
    return c->in < 0 && c->at == c->n;
}

static void resize(void *self)
{
    struct gt_record_console *c = self;
    struct winsize size;
    if (c->terminal && c->in >= 0 && ioctl(c->out, TIOCGWINSZ, &size) == 0)
        ioctl(c->in, TIOCSWINSZ, &size);
}

/* ---- start and end ------------------------------------------------------------------------- */

static int open_terminal(struct gt_record_console *c)
{
    char name[64];
    struct termios mode;
    c->in = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (c->in < 0 || grantpt(c->in) != 0 || unlockpt(c->in) != 0 ||
        ptsname_r(c->in, name, sizeof name) != 0)
        return -1;
    c->child.fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (c->child.fd < 0 || tcgetattr(c->child.fd, &mode) != 0)
        return -1;
    cfmakeraw(&mode);
    c->terminal = true;
    resize(c);
    return tcsetattr(c->child.fd, TCSANOW, &mode);
}

static int open_pipe(struct gt_record_console *c)
{
    int fd[2];
    if (pipe2(fd, O_CLOEXEC) != 0)
        return -1;
    c->in = fd[0];
    c->child.fd = fd[1];
    return 0;
}

int gt_record_console_open(const char *dir, struct gt_record_console **out, struct gt_error *err)
{
    struct gt_record_console *c = g_new0(struct gt_record_console, 1);
    c->child = (struct gt_record_child_output){
        .fd = -1, .wants = wants, .ready = ready, .done = done, .resize = resize, .self = c};
    c->in = -1;
    c->out = STDOUT_FILENO;
    c->dir = g_strdup(dir);
    c->started = gt_base_clock_monotonic();
    if (dir)
        gt_repair_mark(dir, GT_LIVE_CLOCK_FILE, &c->clock_before);
    gt_record_console_lines_init(&c->lines);
    c->lines.passes = !dir;
    int failed = isatty(c->out) ? open_terminal(c) : open_pipe(c);
    if (failed == 0 && fcntl(c->in, F_SETFL, fcntl(c->in, F_GETFL) | O_NONBLOCK) == 0) {
        *out = c;
        return 0;
    }
    gt_error_errno(err, errno, "the console's output");
    gt_record_console_free(c);
    return GT_E_IO;
}

void gt_record_console_on_line(struct gt_record_console *c,
                               void (*complete)(void *self, const char *line), void *self)
{
    c->lines.complete = complete;
    c->lines.self = self;
}

void gt_record_console_on_text(struct gt_record_console *c,
                               void (*text)(void *self, const char *line), void *self)
{
    c->lines.part = text;
    c->lines.self = self;
}

struct gt_record_child_output *gt_record_console_output(struct gt_record_console *c)
{
    return &c->child;
}

void gt_record_console_end(struct gt_record_console *c)
{
    gt_record_console_lines_end(&c->lines);
}

int gt_record_console_finish(struct gt_record_console *c, const struct gt_recording_records *at,
                             struct gt_error *err)
{
    g_autofree char *now = g_build_filename(c->dir, GT_LIVE_CLOCK_FILE, NULL);
    g_autofree char *path = g_build_filename(at->dir, GT_EXTERN_FILE, NULL);
    gt_record_console_lines_end(&c->lines);
    unlink(now);
    bool guest = c->now != NULL;
    if (c->lines.line->len == 0 || (!guest && !is_host_clock(c, at)))
        return 0;
    struct gt_text text = {0};
    gt_record_console_lines_write(&c->lines, guest, &text);
    int status = text.failed ? gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path)
                             : gt_recording_extern_add(path, &text, err);
    gt_text_free(&text);
    return status;
}

void gt_record_console_free(struct gt_record_console *c)
{
    if (!c)
        return;
    close_in(c);
    if (c->child.fd >= 0)
        close(c->child.fd);
    if (c->now)
        munmap((void *)(uintptr_t)c->now, sizeof *c->now);
    gt_record_console_lines_clear(&c->lines);
    g_free(c->dir);
    g_free(c);
}

/* ---- what the command line says ------------------------------------------------------------ */

static const char *word_of(const char *argument)
{
    return *argument == '-' ? argument + strspn(argument, "-") : "";
}

/* A serial port or a device has the chardev: "chardev:ID", "...,chardev=ID,...". */
static bool has_chardev(char *const *argv, const char *id)
{
    g_autofree char *port = g_strconcat("chardev:", id, NULL);
    for (; *argv && argv[1]; argv++) {
        g_autofree char *of_device = NULL;
        if (strcmp(word_of(*argv), "serial") == 0 && strcmp(argv[1], port) == 0)
            return true;
        if (strcmp(word_of(*argv), "device") == 0)
            of_device = gt_record_machine_option(argv[1], "chardev");
        if (of_device && strcmp(of_device, id) == 0)
            return true;
    }
    return false;
}

static bool is_on_stdio(char *const *all, const char *option, const char *value)
{
    if (strcmp(option, "serial") == 0)
        return strcmp(value, "stdio") == 0 || strcmp(value, "mon:stdio") == 0;
    if (strcmp(option, "chardev") != 0 ||
        (strncmp(value, "stdio,", 6) != 0 && strstr(value, "backend=stdio") == NULL))
        return false;
    g_autofree char *id = gt_record_machine_option(value, "id");
    return id && has_chardev(all, id);
}

bool gt_record_console_on_stdio(char *const *argv)
{
    bool stdio = false, serial = false, nographic = false, other = false;
    for (char *const *a = argv; *a; a++) {
        const char *option = word_of(*a), *value = a[1] ? a[1] : "";
        nographic = nographic || strcmp(option, "nographic") == 0;
        serial = serial || strcmp(option, "serial") == 0;
        other = other || strcmp(option, "daemonize") == 0 || strcmp(option, "curses") == 0 ||
                (strcmp(option, "display") == 0 && strncmp(value, "curses", 6) == 0);
        stdio = stdio || is_on_stdio(argv, option, value);
    }
    return !other && (stdio || (nographic && !serial));
}

bool gt_record_console_is_seen(char *const *machine)
{
    return machine && gt_record_console_on_stdio(machine) && fcntl(STDOUT_FILENO, F_GETFD) >= 0;
}
