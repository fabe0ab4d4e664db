/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text: an event's line is formatted once, for all text backends that take it. Lines of usual
 * length are formatted on the stack.
 */
#include "events/library/text/text.h"

#include "events/library/control/registry.h"
#include "guesttrace/events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

enum { USUAL = 2048 };

static void send_line(unsigned on, char *line, size_t size)
{
    if (on & GT_TRACE_LOG)
        gt_events_log_line(line, size);
    if (on & GT_TRACE_FTRACE)
        gt_events_ftrace_line(line, size);
    if (on & GT_TRACE_SYSLOG)
        gt_events_syslog_line(line, size);
}

/* Without memory for all of it: as much as there is room for. */
static __attribute__((format(printf, 4, 0))) void send_long(unsigned on, char *usual, size_t size,
                                                            const char *format, va_list args)
{
    char *line = malloc(GT_EVENTS_LOG_PREFIX + size + 1);
    if (line) {
        gt_events_format(line + GT_EVENTS_LOG_PREFIX, size + 1, format, args);
        send_line(on, line + GT_EVENTS_LOG_PREFIX, size);
        free(line);
        return;
    }
    usual[USUAL - 2] = '\n';
    send_line(on, usual, USUAL - 1);
}

void gt_trace_text(unsigned on, const char *format, ...)
{
    int e = errno;
    char buffer[GT_EVENTS_LOG_PREFIX + USUAL], *line = buffer + GT_EVENTS_LOG_PREFIX;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = gt_events_format(line, USUAL, format, args);
    if (n >= USUAL)
        send_long(on, line, (size_t)n, format, again);
    else if (n > 0)
        send_line(on, line, (size_t)n);
    va_end(again);
    va_end(args);
    errno = e;
}

uint32_t gt_trace_string_length(const char *s)
{
    return s ? (uint32_t)strnlen(s, GT_TRACE_STRING_MAX) : 0;
}

enum { NUMBER_MAX = 24, WIDTH_MAX = 64, NOT_OURS = -1 };

struct conversion {
    bool zero, alternative;
    int width;
    int bytes; /* of the argument; 0: an int */
    char kind;
};

/* A pair of digits at a time. */
static char *put_decimal(char *end, uint64_t v)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233"
        "34353637383940414243444546474849505152535455565758596061626364656667"
        "6869707172737475767778798081828384858687888990919293949596979899";
    while (v >= 100) {
        end -= 2;
        memcpy(end, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v < 10) {
        *--end = (char)('0' + v);
        return end;
    }
    end -= 2;
    memcpy(end, pairs + v * 2, 2);
    return end;
}

static char *put_hex(char *end, uint64_t v, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    do {
        *--end = digits[v & 15];
        v >>= 4;
    } while (v);
    return end;
}

/* Parses the conversion after a `%`; returns its end, or NULL if it is not supported. */
static const char *read_conversion(const char *at, struct conversion *c)
{
    *c = (struct conversion){0};
    for (; *at == '0' || *at == '#'; at++)
        *(*at == '0' ? &c->zero : &c->alternative) = true;
    for (; *at >= '0' && *at <= '9' && c->width <= WIDTH_MAX; at++)
        c->width = c->width * 10 + (*at - '0');
    if (*at == 'h') {
        c->bytes = at[1] == 'h' ? 1 : 2;
        at += at[1] == 'h' ? 2 : 1;
    } else if (*at == 'l') {
        c->bytes = 8;
        at += at[1] == 'l' ? 2 : 1;
    } else if (*at == 'z' || *at == 'j' || *at == 't') {
        c->bytes = 8;
        at++;
    }
    c->kind = *at;
    if (c->width > WIDTH_MAX || sizeof(long) != 8)
        return NULL;
    switch (*at) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
        return at + 1;
    case 'c':
    case 's':
    case 'p':
    case '%':
        return c->zero || c->alternative || c->bytes ? NULL : at + 1;
    default:
        return NULL;
    }
}

static uint64_t narrow(uint64_t v, int bytes, bool is_signed)
{
    if (bytes == 1)
        return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
    if (bytes == 2)
        return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
    return v;
}

/* The text of a number, in `text`, its sign or prefix apart. */
static char *number_text(const struct conversion *c, uint64_t v, char *end, const char **before)
{
    *before = "";
    if (c->kind == 'd' || c->kind == 'i') {
        v = narrow(v, c->bytes, true);
        if ((int64_t)v < 0) {
            *before = "-";
            v = 0 - v;
        }
        return put_decimal(end, v);
    }
    v = narrow(v, c->bytes, false);
    if (c->kind == 'u')
        return put_decimal(end, v);
    if ((c->alternative && v) || c->kind == 'p')
        *before = c->kind == 'X' ? "0X" : "0x";
    return put_hex(end, v, c->kind == 'X');
}

struct text {
    char *at, *end; /* at may be after end: then it only counts */
};

static inline void put(struct text *t, const char *s, size_t n)
{
    if (t->at < t->end)
        memcpy(t->at, s, n < (size_t)(t->end - t->at) ? n : (size_t)(t->end - t->at));
    t->at += n;
}

static void put_padding(struct text *t, char with, int n)
{
    for (; n > 0; n--)
        put(t, &with, 1);
}

/* Where there is room, a copy of fixed size, of which the digits are kept. */
static inline void put_digits(struct text *t, const char *digits, size_t n)
{
    if (t->end - t->at >= NUMBER_MAX) {
        memcpy(t->at, digits, NUMBER_MAX);
        t->at += n;
    } else {
        put(t, digits, n);
    }
}

static void put_number(struct text *t, const struct conversion *c, uint64_t v)
{
    char room[2 * NUMBER_MAX], *end = room + NUMBER_MAX;
    const char *before;
    memset(end, 0, NUMBER_MAX);
    char *text = number_text(c, v, end, &before);
    size_t sign = *before ? strlen(before) : 0, digits = (size_t)(end - text);
    int padding = c->width - (int)(sign + digits);
    if (!c->zero)
        put_padding(t, ' ', padding);
    if (sign)
        put(t, before, sign);
    if (c->zero)
        put_padding(t, '0', padding);
    put_digits(t, text, digits);
}

static void put_string(struct text *t, const struct conversion *c, const char *s)
{
    if (!s)
        s = c->kind == 'p' ? "(nil)" : "(null)";
    size_t n = strlen(s);
    put_padding(t, ' ', n < WIDTH_MAX ? c->width - (int)n : 0);
    put(t, s, n);
}

static void convert(struct text *t, const struct conversion *c, va_list *args)
{
    char byte;
    void *p;
    switch (c->kind) {
    case '%':
        put(t, "%", 1);
        return;
    case 's':
        put_string(t, c, va_arg(*args, const char *));
        return;
    case 'c':
        byte = (char)va_arg(*args, int);
        put_padding(t, ' ', c->width - 1);
        put(t, &byte, 1);
        return;
    case 'p':
        p = va_arg(*args, void *);
        if (p)
            put_number(t, c, (uintptr_t)p);
        else
            put_string(t, c, NULL);
        return;
    default:
        if (c->bytes == 8)
            put_number(t, c, va_arg(*args, uint64_t));
        else if (c->kind == 'd' || c->kind == 'i')
            put_number(t, c, (uint64_t)va_arg(*args, int));
        else
            put_number(t, c, va_arg(*args, unsigned));
    }
}

static int try_format(char *out, size_t size, const char *format, va_list *args)
{
    struct text t = {out, out + size - 1};
    struct conversion c;
    for (;;) {
        for (; *format && *format != '%'; format++, t.at++) {
            if (t.at < t.end)
                *t.at = *format;
        }
        if (!*format)
            break;
        format = read_conversion(format + 1, &c);
        if (!format)
            return NOT_OURS;
        convert(&t, &c, args);
    }
    *(t.at < t.end ? t.at : t.end) = 0;
    return t.at - out > INT32_MAX ? NOT_OURS : (int)(t.at - out);
}

int gt_events_format(char *out, size_t size, const char *format, va_list args)
{
    va_list ours;
    va_copy(ours, args);
    int n = try_format(out, size, format, &ours);
    va_end(ours);
    return n == NOT_OURS ? vsnprintf(out, size, format, args) : n;
}

/* The syslog backend: LOG_INFO of LOG_DAEMON, with the process id. */

static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_once(void)
{
    openlog(NULL, LOG_PID, LOG_DAEMON);
}

void gt_events_syslog_line(const char *line, size_t size)
{
    pthread_once(&opened, open_once);
    syslog(LOG_INFO, "%.*s", (int)(size - 1), line);
}

/*
 * The ftrace backend: a write of each line to trace_marker, in the tracefs that /proc/mounts names,
 * or in the folder "tracing" of a debugfs. The first event looks for it, unless
 * gt_trace_ftrace_set() was called before. The kernel accepts at most a page of a line.
 */

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
