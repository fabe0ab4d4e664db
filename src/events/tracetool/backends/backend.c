/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The backends, in the order in which they are listed. */
#include "events/tracetool/backends/backend.h"

#include <string.h>

static const struct gt_backend *const backends[] = {
    &gt_backend_nop,    &gt_backend_dtrace, &gt_backend_ftrace, &gt_backend_log,
    &gt_backend_simple, &gt_backend_syslog, &gt_backend_ust,
};

const struct gt_backend *gt_backend_at(size_t index)
{
    return index < sizeof backends / sizeof *backends ? backends[index] : NULL;
}

const struct gt_backend *gt_backend_find(const char *name)
{
    const struct gt_backend *b;
    for (size_t i = 0; (b = gt_backend_at(i)); i++)
        if (!strcmp(b->name, name))
            return b;
    return NULL;
}

bool gt_backends_do(const struct gt_backend *const *list)
{
    for (; *list; list++)
        if ((*list)->bit)
            return true;
    return false;
}

bool gt_backends_have_state(const struct gt_backend *const *list)
{
    for (; *list; list++)
        if ((*list)->has_state)
            return true;
    return false;
}

bool gt_backends_have_text(const struct gt_backend *const *list)
{
    for (; *list; list++)
        if ((*list)->is_text)
            return true;
    return false;
}

bool gt_event_is_sent(const struct gt_generator *g, const struct gt_event *e)
{
    return !e->disable && gt_backends_do(g->options->backends);
}
