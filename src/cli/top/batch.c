/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of `guesttrace top --batch`, as text or a line of JSON each: see top.h. */
#include "base/json.h"
#include "cli/terminal_text.h"
#include "cli/top/top.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { WIDE = 1000, PATIENCE = 10 }; /* s that the recording may be repaired in */

/* ---- text ---------------------------------------------------------------------------------- */

static void put_line(struct gt_output *out, const char *numbers, const char *text)
{
    g_autofree char *shown = gt_cli_shown(text);
    gt_output_text(out, numbers);
    gt_output_text(out, shown);
    gt_output_text(out, "\n");
}

static void put_table(const struct gt_cli_top *t, struct gt_output *out)
{
    g_autofree char *title = gt_cli_top_title(t);
    g_autoptr(GString) line = g_string_new(NULL);
    put_line(out, "", title);
    gt_cli_top_put_heading(t, WIDE, line);
    put_line(out, line->str, "");
    for (guint i = 0; i < t->follow->rows->len; i++) {
        const struct gt_cli_follow_row *row =
            &g_array_index(t->follow->rows, struct gt_cli_follow_row, i);
        g_autofree char *name = gt_cli_top_name(t, row);
        g_string_truncate(line, 0);
        gt_cli_top_put_numbers(t, row, WIDE, line);
        put_line(out, line->str, name);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_json(const struct gt_cli_top *t, struct gt_output *out)
{
    struct gt_json j;
    gt_json_init(&j, out, GT_JSON_REPLACE);
    gt_json_resume(&j);
    gt_json_begin_object(&j);
    gt_cli_follow_put(t->follow, gt_cli_top_state_name(t), &j);
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_commit(&j);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* Until the next look; the end of the connection comes earlier. */
static void wait_for(const struct gt_cli_top *t, int delay)
{
    struct pollfd p = {t->link.fd, POLLIN, 0};
    poll(&p, t->link.fd >= 0, delay);
}

static int print(struct gt_cli_top *t, bool json, struct gt_output *out, struct gt_error *err)
{
    gt_cli_follow_list(t->follow);
    (json ? put_json : put_table)(t, out);
    return gt_output_finish(out, "standard output", err);
}

int gt_cli_top_batch(struct gt_cli_top *t, const struct gt_cli_top_pace *pace, bool json,
                     struct gt_error *err)
{
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    int64_t since = 0; /* when it was interrupted */
    int status = 0;
    gt_output_init(out, STDOUT_FILENO);
    for (uint64_t i = 0; status == 0 && (!pace->count || i < pace->count); i++) {
        if (i) {
            if (!json)
                gt_output_text(out, "\n");
            wait_for(t, pace->delay);
        }
        status = gt_cli_follow_look(t->follow, err);
        if (status == 0)
            status = print(t, json, out, err);
        since = t->follow->state != GT_FOLLOW_INTERRUPTED ? 0 : since ? since : t->follow->looked;
        if (status == 0 && since && t->follow->looked - since >= PATIENCE * G_USEC_PER_SEC)
            return gt_error_set(err, GT_E_IO, "%s; %s was interrupted: run guesttrace repair on it",
                                t->lost_why->str, t->follow->path);
        if (t->follow->state == GT_FOLLOW_ENDED)
            break;
    }
    return status;
}
