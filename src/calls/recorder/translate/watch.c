/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callbacks at accesses to memory: see watch.h. */
#include "calls/recorder/translate/watch.h"

#include "calls/recorder/installed.h"
#include "calls/recorder/recorder.h"
#include "qemu/support/kept_callbacks.h"

bool gt_translate_may_watch_memory(const struct gt_translate_block *t, size_t i)
{
    const struct gt_translate_decoded *d = &t->insn[i];
    return gt_support_callbacks_end(t->rec->guest.arch, d->pc, d->bytes, d->size, i + 1 == t->n);
}

void gt_translate_watch_memory(const struct gt_translate_block *t, size_t i, gt_host_mem_fn fn,
                               unsigned which, void *data)
{
    if (gt_translate_may_watch_memory(t, i))
        gt_host_insn_on_memory(t->insn[i].ref, fn, which, data);
}

void gt_translate_watch_words(const struct gt_translate_block *t, size_t end, gt_host_mem_fn fn,
                              unsigned which)
{
    for (size_t i = 0; i < end; i++)
        gt_translate_watch_memory(t, i, fn, which, NULL);
}

bool gt_translate_watched_word(const struct gt_recorder *r, uint32_t meminfo, uint64_t vaddr,
                               uint64_t *out)
{
    uint64_t value[2];
    *out = 0;
    if (gt_host_mem_is_store(meminfo))
        return false;
    if (!gt_host_can(GT_HOST_MEMORY_VALUES))
        return gt_recorder_guest_read(r, vaddr, out, r->guest.arch->bits / 8);
    gt_host_mem_value(meminfo, value);
    *out = r->guest.arch->bits == 32 ? (uint32_t)value[0] : value[0];
    return true;
}

/* ---- saved contexts ------------------------------------------------------------------------ */

static void on_saved(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    if (gt_host_mem_is_store(meminfo))
        gt_track_saved(&v->thread, vaddr);
    gt_vcpu_leave(v);
}

static void on_asked(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    uint64_t ip = 0;
    if (!v)
        return;
    if (gt_translate_watched_word(r, meminfo, vaddr, &ip))
        gt_track_get_ip(&v->thread, ip);
    gt_vcpu_leave(v);
}

void gt_translate_watch_contexts(const struct gt_translate_block *t, size_t end,
                                 const struct gt_track_func *fn)
{
    if (fn->flags & GT_FUNC_SAVER)
        gt_translate_watch_words(t, end, on_saved, GT_MEM_STORES);
    if (fn->flags & GT_FUNC_GET_IP && t->rec->guest.user)
        gt_translate_watch_words(t, end, on_asked, GT_MEM_LOADS);
}
