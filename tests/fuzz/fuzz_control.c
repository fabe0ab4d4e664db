/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a client sends to a control socket, in pieces of the size that the first byte says: there is
 * always room for more or an answer, an answer is a line, and answers of QMP are UTF-8 and JSON.
 */
#include "base/text.h"
#include "events/library/monitor/json.h"
#include "qemu/support/control_client.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void do_echo(void *self, const char *args, struct gt_events_monitor_answer *a)
{
    (void)self;
    gt_events_monitor_succeed(a, "%s", args);
}

static void do_fail(void *self, const char *args, struct gt_events_monitor_answer *a)
{
    (void)self;
    gt_events_monitor_fail(a, "no: %s", args);
}

static const struct gt_events_monitor_command commands[] = {
    {"echo", "WORD", "word", true, do_echo}, {"fail", "WORD", "word", false, do_fail}, {0}};
static const struct gt_events_monitor_table table = {.commands = commands};

static void check_json(const char *at, size_t left)
{
    struct gt_events_monitor_json value;
    const char *why, *where;
    while (left) {
        const char *end = gt_events_monitor_json_parse(at, left, &value, &why, &where);
        if (!end || end + 2 > at + left || memcmp(end, "\r\n", 2) != 0)
            abort();
        left -= (size_t)(end + 2 - at);
        at = end + 2;
    }
}

static void check_answer(const struct gt_support_control_client *c)
{
    const char *at = c->out.data;
    size_t left = c->out.n;
    if (c->out.failed)
        return;
    if (at[left - 1] != '\n')
        abort();
    if (!c->qmp)
        return;
    check_json(at, left);
    for (size_t n; left; at += n, left -= n)
        if (!(n = gt_text_utf8_length(at, left)))
            abort();
}

static void work(struct gt_support_control_client *c)
{
    while (gt_support_control_client_work(c))
        if (c->out.n) {
            check_answer(c);
            c->out.n = 0;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!data || !size)
        return 0;
    struct gt_support_control_client *c = malloc(sizeof *c);
    size_t piece = (size_t)*data++ * 64 + 1, n;
    if (!c)
        return 0;
    gt_support_control_client_init(c, &table, 4095, false);
    for (size--; size; data += n, size -= n) {
        size_t room = sizeof c->in - c->fill;
        n = size < piece ? size : piece;
        n = n < room ? n : room;
        if (!n)
            abort();
        memcpy(c->in + c->fill, data, n);
        c->fill += n;
        work(c);
    }
    gt_support_control_client_free(c);
    free(c);
    return 0;
}
