/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of events and its memory: see event.h. */
#include "events/tracetool/event.h"

const char *gt_event_list_string(struct gt_event_list *events, const char *text, size_t length)
{
    if (!events->strings)
        events->strings = g_string_chunk_new(64 << 10);
    return g_string_chunk_insert_len(events->strings, text, (gssize)length);
}

struct gt_event *gt_event_list_add(struct gt_event_list *events)
{
    if (events->n == events->room) {
        events->room = events->room ? events->room * 2 : 64;
        events->list = g_realloc_n(events->list, events->room, sizeof *events->list);
    }
    struct gt_event *e = &events->list[events->n++];
    *e = (struct gt_event){0};
    return e;
}

void gt_event_list_free(struct gt_event_list *events)
{
    for (size_t i = 0; i < events->n; i++)
        g_free((void *)events->list[i].arguments);
    g_free(events->list);
    if (events->strings)
        g_string_chunk_free(events->strings);
    *events = (struct gt_event_list){0};
}
