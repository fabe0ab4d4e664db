/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callbacks at accesses to memory: see watch.h. */
#include "calls/recorder/translate/watch.h"

#include "calls/recorder/recorder.h"
#include "qemu/support/kept_callbacks.h"

bool gt_may_watch_memory(const struct gt_translation *t, size_t i)
{
    const struct gt_decoded *d = &t->insn[i];
    return gt_callbacks_end(t->rec->guest.arch, d->pc, d->bytes, d->size, i + 1 == t->n);
}

void gt_watch_memory(const struct gt_translation *t, size_t i, gt_mem_fn fn, unsigned which,
                     void *data)
{
    if (gt_may_watch_memory(t, i))
        gt_insn_on_memory(t->insn[i].ref, fn, which, data);
}

void gt_watch_words(const struct gt_translation *t, size_t end, gt_mem_fn fn, unsigned which)
{
    for (size_t i = 0; i < end; i++)
        gt_watch_memory(t, i, fn, which, NULL);
}
