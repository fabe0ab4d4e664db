/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket of the recording that `guesttrace top` shows: see top.h. */
#include "cli/top/top.h"

#include "cli/terminal_text.h"

#include <string.h>

enum { TIMEOUT = 30 }; /* seconds for an answer */

/* A recording is a file or a directory: others may never end to be opened. */
static int take_path(struct gt_cli_top *t, const char *answer, char **out, struct gt_error *err)
{
    static const char done[] = "ok ";
    g_autofree char *line = g_strndup(answer, strcspn(answer, "\r\n"));
    g_autofree char *shown = gt_cli_shown(line);
    if (!g_str_has_prefix(line, done) || line[strlen(done)] != '/' || strcmp(line, shown) != 0)
        return gt_error_set(err, GT_E_FORMAT, "%s: not a recording's answer to path: %.64s",
                            t->socket, shown);
    const char *path = line + strlen(done);
    if (!g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: there is no such file; is the recording on "
                            "this machine?",
                            path);
    *out = g_strdup(path);
    return 0;
}

static int ask_path(struct gt_cli_top *t, char **out, struct gt_error *err)
{
    static const char prefix[] = "path: "; /* of its errors */
    struct gt_error why = {0};
    g_autoptr(GString) answer = g_string_new(NULL);
    int status = gt_cli_ctl_command(&t->link, "path", answer, &why);
    if (status == GT_E_USAGE && g_str_has_prefix(why.text, prefix))
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: %s", t->socket, why.text + strlen(prefix));
    if (status == GT_E_USAGE)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: not the socket of a recording of calls: %s",
                            t->socket, why.text);
    if (status < 0)
        return gt_error_set(err, status, "%s", why.text);
    return take_path(t, answer->str, out, err);
}

/* GT_E_USAGE: the recording refused. Else the connection is gone where that is not 0. */
static int ask(void *self, struct gt_error *err)
{
    struct gt_cli_top *t = self;
    struct gt_error why = {0};
    g_autoptr(GString) answer = g_string_new(NULL);
    int status = gt_cli_ctl_command(&t->link, "flush", answer, &why);
    g_string_truncate(answer, 0);
    if (status == 0)
        status = gt_cli_ctl_command(&t->link, "status", answer, &why);
    t->is_on = !strstr(answer->str, "recording=off");
    if (status == GT_E_USAGE)
        return gt_error_set(err, status, "%s: %s", t->socket, why.text);
    if (status < 0) {
        g_string_assign(t->lost_why, why.text);
        gt_cli_ctl_close(&t->link);
    }
    return status;
}

static void take_notice(void *self, const char *line)
{
    const struct gt_cli_top *t = self;
    if (t->held)
        g_ptr_array_add(t->held, g_strdup(line));
    else
        gt_error_notice(&t->notices, "%s", line);
}

int gt_cli_top_open(struct gt_cli_top *t, const char *socket, uint64_t most, bool demangle,
                    struct gt_error *err)
{
    g_autofree char *path = NULL;
    t->socket = socket;
    t->link.fd = -1;
    int status = gt_cli_ctl_open(&t->link, socket, TIMEOUT, err);
    if (status == 0)
        status = ask_path(t, &path, err);
    if (status < 0)
        return status;
    t->follow =
        gt_cli_follow_create(path, most, demangle, &(struct gt_error_notices){take_notice, t});
    t->follow->state = GT_FOLLOW_CONNECTED;
    t->follow->ask = ask;
    t->follow->asked = t;
    t->lost_why = g_string_new(NULL);
    return 0;
}

void gt_cli_top_close(struct gt_cli_top *t)
{
    gt_cli_ctl_close(&t->link);
    gt_cli_follow_destroy(t->follow);
    for (guint i = 0; t->held && i < t->held->len; i++)
        gt_error_notice(&t->notices, "%s", (const char *)t->held->pdata[i]);
    if (t->held)
        g_ptr_array_free(t->held, TRUE);
    if (t->lost_why)
        g_string_free(t->lost_why, TRUE);
}
