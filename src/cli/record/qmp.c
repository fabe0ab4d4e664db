/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of QEMU: see qmp.h. */
#include "cli/record/qmp.h"

#include "base/socket.h"
#include "events/library/monitor/json.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1 << 20, EVENT_NAME = 80, READ_SIZE = 4096 };

struct gt_record_qmp {
    void (*event)(void *self, const char *name);
    void *self;
    char *folder, *config, *path; /* NULL: removed */
    struct gt_socket_listener listener;
    int fd;        /* -1: not connected */
    GString *line; /* what has come of it */
    bool skips;    /* it is too long */
};

static int make_config(struct gt_record_qmp *q, struct gt_error *err)
{
    g_autofree char *text = g_strdup_printf("[chardev \"guesttrace-qmp\"]\n"
                                            "  backend = \"socket\"\n"
                                            "  path = \"%s\"\n"
                                            "[mon \"guesttrace-qmp\"]\n"
                                            "  mode = \"control\"\n"
                                            "  chardev = \"guesttrace-qmp\"\n",
                                            q->path);
    g_autoptr(GError) why = NULL;
    return g_file_set_contents(q->config, text, -1, &why)
               ? 0
               : gt_error_set(err, GT_E_IO, "%s: %s", q->config, why->message);
}

/* In the folder for temporary files, or in /tmp where a socket's address cannot hold that. */
static int make_folder(struct gt_record_qmp *q, struct gt_error *err)
{
    const char *tmp = strlen(g_get_tmp_dir()) < 60 ? g_get_tmp_dir() : "/tmp";
    q->folder = g_build_filename(tmp, "guesttrace-XXXXXX", NULL);
    if (!g_mkdtemp(q->folder)) {
        int e = errno;
        gt_error_errno(err, e, "%s", q->folder);
        g_clear_pointer(&q->folder, g_free);
        return err->status;
    }
    q->config = g_build_filename(q->folder, "config", NULL);
    q->path = g_build_filename(q->folder, "qmp", NULL);
    return 0;
}

static void remove_folder(struct gt_record_qmp *q)
{
    gt_socket_listener_close(&q->listener);
    if (!q->folder)
        return;
    unlink(q->config);
    rmdir(q->folder);
    g_clear_pointer(&q->folder, g_free);
}

int gt_record_qmp_open(struct gt_record_qmp **out, void (*event)(void *self, const char *name),
                       void *self, struct gt_error *err)
{
    struct gt_record_qmp *q = g_new0(struct gt_record_qmp, 1);
    *q = (struct gt_record_qmp){.event = event, .self = self, .listener = {.fd = -1}, .fd = -1};
    q->line = g_string_new(NULL);
    int status = make_folder(q, err);
    if (status == 0)
        status = gt_socket_check_path(q->path, err);
    if (status == 0)
        status = gt_socket_listener_open(&q->listener, q->path, err);
    if (status == 0)
        status = make_config(q, err);
    if (status == 0)
        *out = q;
    else
        gt_record_qmp_free(q);
    return status;
}

const char *gt_record_qmp_config(const struct gt_record_qmp *q)
{
    return q->config;
}

/* ---- messages ------------------------------------------------------------------------------ */

static bool is_event(const struct gt_events_monitor_json *key)
{
    char name[EVENT_NAME];
    return gt_events_monitor_json_text(key, name, sizeof name) >= 0 && strcmp(name, "event") == 0;
}

/* {"event": NAME, ...}; answers and the greeting are none. */
static void take_line(const struct gt_record_qmp *q)
{
    struct gt_events_monitor_json message, key, value;
    const char *why, *where, *at;
    char name[EVENT_NAME];
    if (!gt_events_monitor_json_parse(q->line->str, q->line->len, &message, &why, &where) ||
        message.type != GT_MONITOR_JSON_OBJECT)
        return;
    at = message.at;
    while (gt_events_monitor_json_member(&message, &at, &key, &value))
        if (is_event(&key) && value.type == GT_MONITOR_JSON_STRING &&
            gt_events_monitor_json_text(&value, name, sizeof name) >= 0)
            q->event(q->self, name);
}

static void take(struct gt_record_qmp *q, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (data[i] != '\n') {
            q->skips |= q->line->len == LINE_MAX_BYTES;
            if (!q->skips)
                g_string_append_c(q->line, data[i]);
            continue;
        }
        if (!q->skips)
            take_line(q);
        q->skips = false;
        g_string_truncate(q->line, 0);
    }
}

static void disconnect(struct gt_record_qmp *q)
{
    if (q->fd >= 0)
        close(q->fd);
    q->fd = -1;
}

/* QEMU sends events once capabilities are negotiated. */
static void connected(struct gt_record_qmp *q)
{
    static const char hello[] = "{\"execute\": \"qmp_capabilities\"}\n";
    q->fd = gt_socket_listener_accept(&q->listener);
    if (q->fd < 0)
        return;
    remove_folder(q);
    if (send(q->fd, hello, sizeof hello - 1, MSG_NOSIGNAL) != (ssize_t)sizeof hello - 1)
        disconnect(q);
}

void gt_record_qmp_wants(void *qmp, struct pollfd *p)
{
    const struct gt_record_qmp *q = qmp;
    *p = (struct pollfd){q->fd >= 0 ? q->fd : q->listener.fd, POLLIN, 0};
}

void gt_record_qmp_ready(void *qmp)
{
    struct gt_record_qmp *q = qmp;
    char data[READ_SIZE];
    if (q->fd < 0) {
        connected(q);
        return;
    }
    ssize_t n = read(q->fd, data, sizeof data);
    if (n > 0)
        take(q, data, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        disconnect(q);
}

void gt_record_qmp_free(struct gt_record_qmp *q)
{
    if (!q)
        return;
    disconnect(q);
    remove_folder(q);
    g_free(q->config);
    g_free(q->path);
    g_string_free(q->line, TRUE);
    g_free(q);
}
