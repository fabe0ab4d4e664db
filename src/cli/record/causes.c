/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports about a machine: see causes.h. */
#include "cli/record/causes.h"

#include "cli/record/child.h"
#include "cli/record/console.h"
#include "cli/record/qmp.h"
#include "filter/state.h"
#include "recording/texts/files.h"
#include "recording/texts/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct gt_record_causes {
    struct gt_filter_set *set;
    char *fifo;
    bool all; /* not only what fits the set */
    bool console, flight;
    struct gt_record_qmp *qmp; /* NULL: not needed */
    struct gt_record_child_input input;
    unsigned snapshots, left_out; /* for events */
    unsigned lost, late;          /* sent in vain: the plugin was behind; it had ended */
};

static bool sees_console(const struct gt_record_recording *r)
{
    return !r->opt->no_console && gt_record_console_is_seen(r->machine);
}

uint32_t gt_record_causes_missing(const struct gt_record_recording *r)
{
    return (sees_console(r) ? 0 : GT_FILTER_NEEDS_CONSOLE) | (r->machine ? 0 : GT_FILTER_NEEDS_QMP);
}

static void send(struct gt_record_causes *c, const char *message, const char *text)
{
    int e = gt_recording_message_send(c->fifo, message, text);
    c->lost += e == EAGAIN;
    c->late += e && e != EAGAIN;
}

/* ---- events -------------------------------------------------------------------------------- */

static bool ends_all(const char *event)
{
    static const char *const names[] = {"RESET", "GUEST_PANICKED", "GUEST_CRASHLOADED", "WATCHDOG"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(event, names[i]) == 0)
            return true;
    return false;
}

static void on_event(void *self, const char *name)
{
    struct gt_record_causes *c = self;
    if (c->all || gt_filter_listens(c->set, GT_FILTER_QMP, name))
        send(c, GT_MESSAGE_QMP, name);
    if (!c->flight || !ends_all(name))
        return;
    if (c->snapshots == GT_CAUSES_SNAPSHOTS) {
        c->left_out++;
        return;
    }
    c->snapshots++;
    send(c, GT_MESSAGE_SNAPSHOT, NULL);
}

void gt_record_causes_line(void *causes, const char *line)
{
    struct gt_record_causes *c = causes;
    if (c->console && (c->all || gt_filter_listens(c->set, GT_FILTER_CONSOLE, line)))
        send(c, GT_MESSAGE_CONSOLE, line);
}

/* ---- the run ------------------------------------------------------------------------------- */

int gt_record_causes_open(struct gt_record_recording *r, struct gt_filter_set *set,
                          struct gt_error *err)
{
    uint32_t uses = gt_filter_set_uses(set);
    bool all = r->opt->control != NULL, flight = r->opt->last != NULL;
    struct gt_record_causes *c = r->causes = g_new0(struct gt_record_causes, 1);
    *c = (struct gt_record_causes){
        .set = set,
        .fifo = g_build_filename(r->dir, GT_MESSAGE_FIFO, NULL),
        .all = all,
        .flight = flight,
        .console = sees_console(r) && (uses & GT_FILTER_NEEDS_CONSOLE || all),
    };
    if (!r->machine || !(flight || uses & GT_FILTER_NEEDS_QMP))
        return 0;
    int status = gt_record_qmp_open(&c->qmp, on_event, c, err);
    if (status == 0)
        c->input = (struct gt_record_child_input){gt_record_qmp_wants, gt_record_qmp_ready, c->qmp};
    return status;
}

void gt_record_causes_arguments(const struct gt_record_causes *c, GString *out)
{
    if (c && c->console)
        g_string_append(out, ",console=on");
    if (c && c->qmp)
        g_string_append(out, ",qmp=on");
}

const char *gt_record_causes_config(const struct gt_record_causes *c)
{
    return c && c->qmp ? gt_record_qmp_config(c->qmp) : NULL;
}

const struct gt_record_child_input *gt_record_causes_input(const struct gt_record_causes *c)
{
    return c && c->qmp ? &c->input : NULL;
}

void gt_record_causes_report(const struct gt_record_recording *r)
{
    const struct gt_record_causes *c = r->causes;
    if (c && !r->compact)
        unlink(c->fifo); /* of a QEMU that was killed */
    if (c && c->lost)
        gt_record_say("%u lines and events did not reach their triggers: too many came at once",
                      c->lost);
    if (c && c->late)
        gt_record_say("%u lines and events came too late for their triggers: the recording had "
                      "ended",
                      c->late);
    if (c && c->left_out)
        gt_record_say("%u resets and panics made no snapshot: there were %d before", c->left_out,
                      GT_CAUSES_SNAPSHOTS);
}

void gt_record_causes_free(struct gt_record_causes *c)
{
    if (!c)
        return;
    gt_filter_set_free(c->set);
    gt_record_qmp_free(c->qmp);
    g_free(c->fifo);
    g_free(c);
}
