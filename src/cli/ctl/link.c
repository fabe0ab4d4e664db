/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connection to a monitor: see ctl.h. */
#include "base/socket.h"
#include "cli/ctl/ctl.h"
#include "cli/terminal_text.h"
#include "events/library/monitor/json.h"
#include "recording/file_kind.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_LIMIT = 256 << 20 };

static int wait_for(struct gt_cli_ctl *c, short events, gint64 until, struct gt_error *err)
{
    for (;;) {
        struct pollfd p = {c->fd, events, 0};
        gint64 left = (until - g_get_monotonic_time()) / 1000;
        int n = poll(&p, 1, left > 0 ? (int)left : 0);
        if (n > 0)
            return 0;
        if (n == 0)
            return gt_error_set(err, GT_E_IO, "%s: no answer within %u s", c->path, c->timeout);
        if (errno != EINTR)
            return gt_error_errno(err, errno, "%s: cannot wait for the socket", c->path);
    }
}

static gint64 deadline(const struct gt_cli_ctl *c)
{
    return g_get_monotonic_time() + (gint64)c->timeout * G_USEC_PER_SEC;
}

static int send_all(struct gt_cli_ctl *c, const char *text, size_t n, struct gt_error *err)
{
    gint64 until = deadline(c);
    while (n) {
        ssize_t done = send(c->fd, text, n, MSG_NOSIGNAL);
        if (done < 0 && errno == EAGAIN) {
            int status = wait_for(c, POLLOUT, until, err);
            if (status < 0)
                return status;
        } else if (done < 0 && errno != EINTR) {
            return gt_error_errno(err, errno, "%s: cannot be written to", c->path);
        }
        text += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* More bytes; GT_E_IO at the end. */
static int receive(struct gt_cli_ctl *c, gint64 until, struct gt_error *err)
{
    char data[16384];
    for (;;) {
        int status = wait_for(c, POLLIN, until, err);
        if (status < 0)
            return status;
        ssize_t n = recv(c->fd, data, sizeof data, 0);
        if (n > 0 && c->in->len + (size_t)n > ANSWER_LIMIT)
            return gt_error_set(err, GT_E_RANGE, "%s: an answer of more than %d bytes", c->path,
                                ANSWER_LIMIT);
        if (n > 0) {
            g_string_append_len(c->in, data, n);
            return 0;
        }
        if (n == 0)
            return gt_error_set(err, GT_E_IO, "%s: the connection was closed", c->path);
        if (errno != EAGAIN && errno != EINTR)
            return gt_error_errno(err, errno, "%s: cannot be read", c->path);
    }
}

/* Until c->in has a line from `seen` bytes on; *end is after its newline. */
static int read_line(struct gt_cli_ctl *c, gint64 until, size_t seen, size_t *end,
                     struct gt_error *err)
{
    const char *newline;
    while (!(newline = memchr(c->in->str + seen, '\n', c->in->len - seen))) {
        seen = c->in->len;
        int status = receive(c, until, err);
        if (status < 0)
            return status;
    }
    *end = (size_t)(newline - c->in->str) + 1;
    return 0;
}

/* Anybody may listen at a socket: quotations of an answer are made fit for a terminal. */
static int refuse_answer(const struct gt_cli_ctl *c, struct gt_error *err)
{
    g_autofree char *line = g_strndup(c->in->str, MIN(strcspn(c->in->str, "\r\n"), 64u));
    g_autofree char *shown = gt_cli_shown(line);
    return gt_error_set(err, GT_E_FORMAT, "%s: not a monitor's answer: %s", c->path, shown);
}

/* The next object; it stays in c->in, of which it takes *taken bytes. Each ends with a newline. */
static int read_object(struct gt_cli_ctl *c, struct gt_events_monitor_json *object, size_t *taken,
                       struct gt_error *err)
{
    gint64 until = deadline(c);
    for (size_t seen = 0;;) {
        int status = read_line(c, until, seen, &seen, err);
        if (status < 0)
            return status;
        const char *why, *where,
            *end = gt_events_monitor_json_parse(c->in->str, seen, object, &why, &where);
        if (end && object->type == GT_MONITOR_JSON_OBJECT) {
            *taken = (size_t)(end - c->in->str);
            return 0;
        }
        if (end || where < c->in->str + seen)
            return refuse_answer(c, err);
    }
}

static void drop(struct gt_cli_ctl *c, size_t n)
{
    while (n < c->in->len && g_ascii_isspace(c->in->str[n]))
        n++;
    g_string_erase(c->in, 0, (gssize)n);
}

static bool member(const struct gt_events_monitor_json *object, const char *name,
                   struct gt_events_monitor_json *value)
{
    struct gt_events_monitor_json key;
    const char *at = object->at;
    while (gt_events_monitor_json_member(object, &at, &key, value))
        if (key.n == strlen(name) + 2 && memcmp(key.at + 1, name, key.n - 2) == 0)
            return true;
    return false;
}

static char *text_of(const struct gt_events_monitor_json *value)
{
    if (value->type != GT_MONITOR_JSON_STRING)
        return g_strndup(value->at, value->n);
    char *text = g_malloc(value->n + 8);
    if (gt_events_monitor_json_text(value, text, value->n + 8) < 0)
        text[0] = '\0';
    return text;
}

/* Passes over events until there is a return or an error. */
static int read_answer(struct gt_cli_ctl *c, GString *out, struct gt_error *err)
{
    for (;;) {
        struct gt_events_monitor_json object, value, desc;
        size_t taken;
        int status = read_object(c, &object, &taken, err);
        if (status < 0)
            return status;
        bool done = true;
        if (member(&object, "return", &value)) {
            g_autofree char *text = text_of(&value);
            g_string_append(out, text);
        } else if (member(&object, "error", &value)) {
            bool described = value.type == GT_MONITOR_JSON_OBJECT && member(&value, "desc", &desc);
            g_autofree char *text = text_of(described ? &desc : &value);
            g_autofree char *shown = gt_cli_shown(text);
            status = gt_error_set(err, GT_E_USAGE, "%s", shown);
        } else {
            done = false;
        }
        drop(c, taken);
        if (done)
            return status;
    }
}

static int exchange(struct gt_cli_ctl *c, const char *request, GString *out, struct gt_error *err)
{
    int status = send_all(c, request, strlen(request), err);
    return status < 0 ? status : read_answer(c, out, err);
}

static int refuse_client(const struct gt_cli_ctl *c, const char *why, size_t n,
                         struct gt_error *err)
{
    g_autofree char *text = g_strndup(why, n);
    g_autofree char *shown = gt_cli_shown(text);
    return gt_error_set(err, GT_E_USAGE, "%s: %s", c->path, shown);
}

/* A monitor greets at once; a control socket may wait for what a monitor's client says first. One
 * that has too many clients answers with a line, "error: ...". */
static int greet(struct gt_cli_ctl *c, struct gt_error *err)
{
    static const char hello[] = "{\"execute\": \"qmp_capabilities\"}\n", refusal[] = "error: ";
    g_autoptr(GString) ignored = g_string_new(NULL);
    struct gt_events_monitor_json object, value;
    size_t taken;
    struct gt_error late = {0};
    int sent = send_all(c, hello, strlen(hello), &late); /* it may have said why it goes */
    int status = read_line(c, deadline(c), 0, &taken, err);
    if (status < 0)
        return status;
    if (g_str_has_prefix(c->in->str, refusal))
        return refuse_client(c, c->in->str + strlen(refusal), taken - sizeof refusal, err);
    status = read_object(c, &object, &taken, err);
    if (status < 0)
        return status;
    if (!member(&object, "QMP", &value))
        return gt_error_set(err, GT_E_FORMAT, "%s: not a monitor: no greeting", c->path);
    drop(c, taken);
    return sent < 0 ? gt_error_set(err, sent, "%s", late.text) : read_answer(c, ignored, err);
}

/* Rather than a socket without a listener. */
static bool is_file(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_REGULAR) || g_file_test(path, G_FILE_TEST_IS_DIR);
}

int gt_cli_ctl_open(struct gt_cli_ctl *c, const char *path, unsigned timeout, struct gt_error *err)
{
    *c = (struct gt_cli_ctl){.path = path, .fd = -1, .timeout = timeout};
    int status = gt_socket_check_path(path, err);
    if (status < 0)
        return status;
    c->fd = gt_socket_connect(path);
    if (c->fd == -ECONNREFUSED && is_file(path))
        return gt_recording_kind_refuse(path, 0, "the socket of a monitor or of record --control",
                                        err);
    if (c->fd < 0)
        return gt_error_errno(err, -c->fd, "%s: cannot be connected to", path);
    c->in = g_string_new(NULL);
    status = greet(c, err);
    if (status < 0)
        gt_cli_ctl_close(c);
    return status;
}

void gt_cli_ctl_close(struct gt_cli_ctl *c)
{
    if (c->fd >= 0)
        close(c->fd);
    if (c->in)
        g_string_free(c->in, TRUE);
    *c = (struct gt_cli_ctl){.fd = -1};
}

/* An object of JSON goes as it is. */
static int send_object(struct gt_cli_ctl *c, const char *line, GString *out, struct gt_error *err)
{
    struct gt_events_monitor_json object;
    const char *why, *where,
        *end = gt_events_monitor_json_parse(line, strlen(line), &object, &why, &where);
    if (!end || end[strspn(end, " \t\r")])
        return gt_error_set(err, GT_E_USAGE, "%.200s: at character %zu: %s", line,
                            (size_t)((end ? end : where) - line) + 1,
                            end ? "expected the end of the command" : why);
    g_autofree char *request = g_strdup_printf("%.*s\n", (int)object.n, object.at);
    return exchange(c, request, out, err);
}

int gt_cli_ctl_command(struct gt_cli_ctl *c, const char *line, GString *out, struct gt_error *err)
{
    struct gt_events_monitor_text request = {0};
    if (*line == '{')
        return send_object(c, line, out, err);
    gt_events_monitor_printf(&request, "{\"execute\": \"human-monitor-command\", "
                                       "\"arguments\": {\"command-line\": ");
    gt_events_monitor_add_json(&request, line);
    gt_events_monitor_printf(&request, "}}\n");
    int status = request.failed ? gt_error_set(err, GT_E_NOMEM, "out of memory")
                                : exchange(c, request.data, out, err);
    gt_events_monitor_free(&request);
    return status;
}
