/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks and the names of events.
 *
 * extern.dat: recording/texts/extern_data.h. events.txt: `EVENT: ID NAME`.
 */
#include "calls/read/recording.h"

#include "base/cursor.h"
#include "recording/texts/extern_data.h"

#include <stdlib.h>
#include <string.h>

static gint compare_marks(gconstpointer a, gconstpointer b)
{
    const struct gt_calls_mark *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

/* The texts stay in the file's copy, each line ended by a 0. Lines that are not marks are left out,
 * as uftrace does. */
int gt_calls_marks_read(struct gt_calls *c, struct gt_error *err)
{
    size_t size;
    c->marks = g_array_new(FALSE, FALSE, sizeof(struct gt_calls_mark));
    if (!gt_calls_texts_have(&c->texts, GT_EXTERN_FILE))
        return 0;
    int status = gt_calls_texts_read(&c->texts, GT_EXTERN_FILE, &c->marks_text, &size, err);
    if (status < 0)
        return status;
    for (char *at = c->marks_text, *end = at + size; at < end;) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        *line_end = '\0';
        struct gt_text_cursor line = {at, (size_t)(line_end - at)};
        struct gt_calls_mark mark;
        if (gt_recording_extern_take_time(&line, &mark.time)) {
            mark.text = line.at;
            g_array_append_val(c->marks, mark);
        }
        at = line_end + 1;
    }
    g_array_sort(c->marks, compare_marks);
    return 0;
}

static bool is_vcpu(const struct gt_calls *c, uint32_t vcpu)
{
    const size_t id = GT_UFTRACE_EV_VCPU + (size_t)vcpu;
    const char *name = g_hash_table_lookup(c->events, GSIZE_TO_POINTER(id));
    char expected[32];
    g_snprintf(expected, sizeof expected, GT_UFTRACE_EV_VCPU_NAME, vcpu);
    return name && strcmp(name, expected) == 0;
}

int gt_calls_events_read(struct gt_calls *c, struct gt_error *err)
{
    struct gt_text_cursor all, line;
    char *text;
    size_t size;
    bool whole;
    c->events = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    if (!gt_calls_texts_have(&c->texts, "events.txt"))
        return 0;
    int status = gt_calls_texts_read(&c->texts, "events.txt", &text, &size, err);
    if (status < 0)
        return status;
    all = (struct gt_text_cursor){text, size};
    while (gt_text_take_line(&all, &line, &whole)) {
        uint64_t id;
        if (gt_text_take(&line, "EVENT: ") && gt_text_take_dec(&line, UINT32_MAX, &id) &&
            gt_text_take(&line, " "))
            g_hash_table_replace(c->events, GSIZE_TO_POINTER((size_t)id),
                                 g_strndup(line.at, line.left));
    }
    free(text);
    const char *lost = g_hash_table_lookup(c->events, GSIZE_TO_POINTER(GT_UFTRACE_EV_LOST));
    c->lost_event = lost && strcmp(lost, GT_UFTRACE_EV_LOST_NAME) == 0 ? GT_UFTRACE_EV_LOST : 0;
    while (is_vcpu(c, c->n_vcpus))
        c->n_vcpus++;
    return 0;
}
