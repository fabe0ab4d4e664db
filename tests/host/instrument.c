/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin asked for at a block and its instructions; scoreboards. See host.h. */
#include "host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__thread struct tb *gt_translating;
__thread int gt_callback_flags = -1;
__thread const struct access *gt_this_access;
__thread unsigned gt_this_vcpu;

/* Few, so that a test with few vCPUs sees scoreboards grow. */
static unsigned room = 4;
static struct score *scores;

void gt_add_op(struct ops *ops, struct op op)
{
    ops->at = gt_grow(ops->at, ops->n, sizeof *ops->at);
    ops->at[ops->n++] = op;
}

void gt_free_tb(struct tb *tb)
{
    for (uint32_t i = 0; i < tb->n; i++)
        free(tb->insns[i].ops.at);
    free(tb->insns);
    free(tb->ops.at);
    free(tb);
}

static uint8_t *score_map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        gt_die("no memory for a scoreboard");
    return p;
}

struct score *gt_score_new(size_t element)
{
    struct score *s = calloc(1, sizeof *s);
    s->element = element;
    s->mapped = element * room;
    s->memory = score_map(s->mapped);
    s->next = scores;
    scores = s;
    return s;
}

void *gt_score_find(const struct score *s, unsigned vcpu)
{
    if (vcpu >= room)
        gt_die("scoreboard entry of vCPU %u, which does not exist", vcpu);
    return s->memory + vcpu * s->element;
}

bool gt_scores_grow(unsigned vcpu)
{
    if (vcpu < room)
        return false;
    while (vcpu >= room)
        room *= 2;
    for (struct score *s = scores; s; s = s->next) {
        uint8_t *moved = score_map(s->element * room);
        memcpy(moved, s->memory, s->mapped);
        mprotect(s->memory, s->mapped, PROT_NONE);
        s->memory = moved;
        s->mapped = s->element * room;
    }
    return true;
}

static uint64_t *cell(const struct op *op, unsigned vcpu)
{
    return (uint64_t *)(void *)((uint8_t *)gt_score_find(op->score, vcpu) + op->offset);
}

static void run_op(const struct op *op, unsigned vcpu)
{
    switch (op->kind) {
    case OP_CALL:
        if (op->cond == COND_NE && *cell(op, vcpu) == op->value)
            break;
        assert(op->cond == COND_NE || op->cond == COND_ALWAYS);
        gt_callback_flags = op->flags;
        op->fn(vcpu, op->data);
        gt_callback_flags = -1;
        break;
    case OP_ADD:
        *cell(op, vcpu) += op->value;
        break;
    case OP_STORE:
        *cell(op, vcpu) = op->value;
        break;
    case OP_ADD_SHARED:
        *op->shared += op->value;
        break;
    case OP_MEMORY:
        break;
    }
}

void gt_run_ops(const struct ops *ops, unsigned vcpu)
{
    for (size_t i = 0; i < ops->n; i++)
        run_op(&ops->at[i], vcpu);
}

/* QEMU 7.2 takes "loads" for stores, and "stores" for both. */
static bool is_wanted(int rw, bool store)
{
    if (GT_SCRIPT_ABI == 1)
        return rw != 1 || store;
    return rw & (store ? 2 : 1);
}

void gt_run_memory(const struct ops *ops, unsigned vcpu, const struct access *a)
{
    bool store = a->kind == 'w' || a->kind == 'W';
    uint32_t info = a->wide ? 4 : 3;
    info |= (a->big_endian ? MEM_BIG_BIT : 0) | (store ? MEM_STORE_BIT : 0);
    gt_this_access = a;
    for (size_t i = 0; i < ops->n; i++) {
        const struct op *op = &ops->at[i];
        if (op->kind != OP_MEMORY || !is_wanted(op->rw, store))
            continue;
        gt_callback_flags = op->flags;
        op->memory_fn(vcpu, info, a->addr, op->data);
        gt_callback_flags = -1;
    }
}
