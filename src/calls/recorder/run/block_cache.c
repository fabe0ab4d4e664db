/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of blocks (struct gt_code): listed in the page of their address, and found by their
 * content, so that a block that is translated again gets its old one. They live as long as the
 * process.
 *
 * Each transfer reads one or two of them, from all over the guest's code, so their place in memory
 * decides what a transfer costs. Two share a cache line: a block that ends in a call, and the one
 * that the call returns to. Those of a machine lie in huge pages where the host has them.
 */
#include "calls/recorder/run/block_cache.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/page.h"

#include <stdlib.h>
#include <sys/mman.h>

_Static_assert(2 * sizeof(struct gt_code) == 64, "a cache line");

static bool same_code(const struct gt_code *a, const struct gt_code *b)
{
    return a->size == b->size && a->target == b->target && a->fn == b->fn && a->insns == b->insns &&
           a->exit == b->exit && a->arrival == b->arrival && a->detail == b->detail &&
           gt_code_level(a) == gt_code_level(b);
}

/* Room for two in one cache line, or NULL. */
static struct gt_code *take_line(struct gt_uftrace_recorder *r)
{
    enum { ROOM = 2 << 20 };
    struct gt_block_cache *c = &r->code.cache;
    if (c->at == c->end) {
        void *p;
        if (posix_memalign(&p, ROOM, ROOM) != 0)
            return NULL;
        if (!r->guest.user)
            (void)madvise(p, ROOM, MADV_HUGEPAGE); /* slower without */
        c->at = p;
        c->end = c->at + ROOM / sizeof *c->at;
    }
    c->at += 2;
    return c->at - 2;
}

static struct gt_cached_block *first_at(struct gt_cached_block *cached, uint64_t pc)
{
    while (cached && cached->pc != pc)
        cached = cached->next;
    return cached;
}

struct gt_cached_block *gt_cached_block_at(struct gt_uftrace_recorder *r, uint64_t pc)
{
    return first_at(gt_granule_at(r, pc)->blocks, pc);
}

struct gt_cached_block *gt_cached_block_next(const struct gt_cached_block *cached)
{
    return first_at(cached->next, cached->pc);
}

/* Without memory the description is not found again. */
static void insert(struct gt_uftrace_recorder *r, struct gt_code *code)
{
    struct gt_granule *granule = gt_granule_at(r, code->pc);
    struct gt_cached_block *cached = gt_arena_take(&r->code.cache.cached, sizeof *cached);
    if (!cached)
        return;
    *cached = (struct gt_cached_block){code->pc, code, granule->blocks};
    granule->blocks = cached;
}

static bool is_reserved(const struct gt_code *code)
{
    return code->insns == 0;
}

static bool comes_back(const struct gt_code *code)
{
    return code->exit == GT_EXIT_CALL || code->exit == GT_EXIT_CALL_INDIRECT ||
           code->exit == GT_EXIT_SYSCALL;
}

/* Returns a free description for code at that address. */
static struct gt_code *find_room(struct gt_uftrace_recorder *r, const struct gt_code *want,
                                 struct gt_code *reserved)
{
    if (reserved)
        return reserved;
    struct gt_code *code = r->code.cache.half;
    bool pair = comes_back(want);
    if (code && !pair) {
        r->code.cache.half = NULL;
    } else {
        code = take_line(r);
        if (!code)
            return NULL;
        if (pair) {
            code[1] = (struct gt_code){.pc = gt_code_end(want)};
            insert(r, &code[1]);
        } else {
            r->code.cache.half = code + 1;
        }
    }
    code->pc = want->pc;
    insert(r, code);
    return code;
}

struct gt_code *gt_cache_block(struct gt_uftrace_recorder *r, const struct gt_code *want)
{
    struct gt_code *reserved = NULL;
    for (struct gt_cached_block *k = gt_cached_block_at(r, want->pc); k;
         k = gt_cached_block_next(k)) {
        if (same_code(k->code, want))
            return k->code;
        if (is_reserved(k->code))
            reserved = k->code;
    }
    struct gt_code *code = find_room(r, want, reserved);
    if (!code)
        return NULL;
    *code = *want;
    gt_code_set_slow_flags(code);
    return code;
}

void gt_code_is_handler(struct gt_uftrace_recorder *r, struct gt_func *fn)
{
    fn->flags |= GT_FUNC_HANDLER;
    for (struct gt_cached_block *k = gt_cached_block_at(r, fn->lo); k; k = gt_cached_block_next(k))
        if (k->code->fn == fn)
            gt_code_set_slow_flags(k->code);
}
