/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The double's blocks: what the plugin registers while one is translated, and running it. */
#include "host_double.h"

#include <assert.h>
#include <string.h>

/* ---- the test's side ------------------------------------------------------------------------ */

void host_double_block(struct gt_host_block *b, uint64_t pc)
{
    *b = (struct gt_host_block){.pc = pc};
}

struct gt_host_insn *host_double_insn(struct gt_host_block *b, size_t size, const char *text)
{
    assert(b->n_insns < HOST_DOUBLE_INSNS && size <= sizeof b->insns[0].bytes);
    struct gt_host_insn *insn = &b->insns[b->n_insns];
    const struct gt_host_insn *last = b->n_insns ? insn - 1 : NULL;
    *insn = (struct gt_host_insn){
        .pc = last ? last->pc + last->size : b->pc, .size = size, .text = text};
    memcpy(insn->bytes, &insn->pc, MIN(size, sizeof insn->pc));
    b->n_insns++;
    return insn;
}

void host_double_nops(struct gt_host_block *b, uint64_t pc, size_t n)
{
    host_double_block(b, pc);
    for (size_t i = 0; i < n; i++)
        host_double_insn(b, 4, "nop");
}

void host_double_translate(struct gt_host_block *b)
{
    assert(!host_double.translating);
    b->n_hooks = 0;
    host_double.translating = b;
    host_double.events->translate(host_double.self, b);
    host_double.translating = NULL;
}

static uint64_t *entry_at(struct gt_host_scoreboard_entry entry, unsigned vcpu)
{
    return (uint64_t *)(void *)((char *)gt_host_scoreboard_find(entry.scoreboard, vcpu) +
                                entry.offset);
}

static void run_hook(const struct host_double_hook *h, unsigned vcpu)
{
    switch (h->kind) {
    case HOST_DOUBLE_EXEC:
    case HOST_DOUBLE_EXEC_REGS:
        h->exec(vcpu, h->data);
        break;
    case HOST_DOUBLE_EXEC_NE:
        if (*entry_at(h->entry, vcpu) != h->value)
            h->exec(vcpu, h->data);
        break;
    case HOST_DOUBLE_ADD:
        *entry_at(h->entry, vcpu) += h->value;
        break;
    case HOST_DOUBLE_ADD_SHARED:
        *h->shared += h->value;
        break;
    case HOST_DOUBLE_STORE:
        *entry_at(h->entry, vcpu) = h->value;
        break;
    case HOST_DOUBLE_MEMORY:
        break;
    }
}

static void run_hooks(const struct gt_host_block *b, unsigned vcpu, int insn)
{
    host_double.vcpu = vcpu;
    for (size_t i = 0; i < b->n_hooks; i++)
        if (b->hooks[i].insn == insn)
            run_hook(&b->hooks[i], vcpu);
}

void host_double_enter(struct gt_host_block *b, unsigned vcpu)
{
    run_hooks(b, vcpu, -1);
}

void host_double_step(struct gt_host_block *b, unsigned vcpu, size_t i)
{
    assert(i < b->n_insns);
    run_hooks(b, vcpu, (int)i);
}

void host_double_run(struct gt_host_block *b, unsigned vcpu)
{
    host_double_enter(b, vcpu);
    for (size_t i = 0; i < b->n_insns; i++)
        host_double_step(b, vcpu, i);
}

const struct host_double_hook *host_double_find(const struct gt_host_block *b,
                                                enum host_double_kind kind, int insn)
{
    for (size_t i = 0; i < b->n_hooks; i++)
        if (b->hooks[i].kind == kind && b->hooks[i].insn == insn)
            return &b->hooks[i];
    return NULL;
}

size_t host_double_count(const struct gt_host_block *b, enum host_double_kind kind, int insn)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n_hooks; i++)
        n += b->hooks[i].kind == kind && b->hooks[i].insn == insn;
    return n;
}

/* ---- the plugin's side ---------------------------------------------------------------------- */

static struct host_double_hook *add_hook(enum host_double_kind kind, int insn, void *data)
{
    struct gt_host_block *b = host_double.translating;
    assert(b && b->n_hooks < HOST_DOUBLE_HOOKS);
    struct host_double_hook *h = &b->hooks[b->n_hooks++];
    *h = (struct host_double_hook){.kind = kind, .insn = insn, .data = data};
    return h;
}

static struct host_double_hook *add_to_block(struct gt_host_block *b, enum host_double_kind kind,
                                             void *data)
{
    assert(b == host_double.translating);
    return add_hook(kind, -1, data);
}

static struct host_double_hook *add_to_insn(const struct gt_host_insn *insn,
                                            enum host_double_kind kind, void *data)
{
    const struct gt_host_block *b = host_double.translating;
    assert(b && insn >= b->insns && insn < b->insns + b->n_insns);
    return add_hook(kind, (int)(insn - b->insns), data);
}

size_t gt_host_block_insns(const struct gt_host_block *b)
{
    return b->n_insns;
}

uint64_t gt_host_block_pc(const struct gt_host_block *b)
{
    return b->pc;
}

struct gt_host_insn *gt_host_block_insn(const struct gt_host_block *b, size_t i)
{
    assert(i < b->n_insns);
    return (struct gt_host_insn *)&b->insns[i];
}

void gt_host_block_on_exec(struct gt_host_block *b, gt_host_exec_fn fn, void *data)
{
    add_to_block(b, HOST_DOUBLE_EXEC, data)->exec = fn;
}

void gt_host_block_on_exec_regs(struct gt_host_block *b, gt_host_exec_fn fn, void *data)
{
    add_to_block(b, HOST_DOUBLE_EXEC_REGS, data)->exec = fn;
}

static void set_condition(struct host_double_hook *h, gt_host_exec_fn fn,
                          struct gt_host_scoreboard_entry entry, uint64_t value)
{
    assert(gt_host_can(GT_HOST_CONDITIONAL));
    h->exec = fn;
    h->entry = entry;
    h->value = value;
}

void gt_host_block_on_exec_ne(struct gt_host_block *b, gt_host_exec_fn fn,
                              struct gt_host_scoreboard_entry entry, uint64_t value, void *data)
{
    set_condition(add_to_block(b, HOST_DOUBLE_EXEC_NE, data), fn, entry, value);
}

void gt_host_block_add(struct gt_host_block *b, struct gt_host_scoreboard_entry entry,
                       uint64_t value)
{
    assert(gt_host_can(GT_HOST_SCOREBOARD));
    struct host_double_hook *h = add_to_block(b, HOST_DOUBLE_ADD, NULL);
    h->entry = entry;
    h->value = value;
}

bool gt_host_block_add_shared(struct gt_host_block *b, uint64_t *counter, uint64_t value)
{
    if (host_double.info.abi > 1)
        return false;
    struct host_double_hook *h = add_to_block(b, HOST_DOUBLE_ADD_SHARED, NULL);
    h->shared = counter;
    h->value = value;
    return true;
}

void gt_host_block_count(struct gt_host_block *b, void *set, size_t i, uint64_t value)
{
    if (gt_host_can(GT_HOST_SCOREBOARD))
        gt_host_block_add(b, (struct gt_host_scoreboard_entry){set, i * sizeof(uint64_t)}, value);
    else
        gt_host_block_add_shared(b, (uint64_t *)set + i, value);
}

uint64_t gt_host_insn_pc(const struct gt_host_insn *insn)
{
    return insn->pc;
}

size_t gt_host_insn_size(const struct gt_host_insn *insn)
{
    return insn->size;
}

void *gt_host_insn_host_addr(const struct gt_host_insn *insn)
{
    return insn->host_addr;
}

char *gt_host_insn_text(const struct gt_host_insn *insn)
{
    return g_strdup(insn->text);
}

size_t gt_host_insn_bytes(const struct gt_host_insn *insn, uint8_t *out, size_t n)
{
    n = MIN(n, insn->size);
    memcpy(out, insn->bytes, n);
    return n;
}

void gt_host_insn_store(struct gt_host_insn *insn, struct gt_host_scoreboard_entry entry,
                        uint64_t value)
{
    assert(gt_host_can(GT_HOST_SCOREBOARD));
    struct host_double_hook *h = add_to_insn(insn, HOST_DOUBLE_STORE, NULL);
    h->entry = entry;
    h->value = value;
}

void gt_host_insn_on_exec(struct gt_host_insn *insn, gt_host_exec_fn fn, void *data)
{
    add_to_insn(insn, HOST_DOUBLE_EXEC, data)->exec = fn;
}

void gt_host_insn_on_exec_regs(struct gt_host_insn *insn, gt_host_exec_fn fn, void *data)
{
    add_to_insn(insn, HOST_DOUBLE_EXEC_REGS, data)->exec = fn;
}

void gt_host_insn_on_exec_ne(struct gt_host_insn *insn, gt_host_exec_fn fn,
                             struct gt_host_scoreboard_entry entry, uint64_t value, void *data)
{
    set_condition(add_to_insn(insn, HOST_DOUBLE_EXEC_NE, data), fn, entry, value);
}

void gt_host_insn_on_memory(struct gt_host_insn *insn, gt_host_mem_fn fn, unsigned which,
                            void *data)
{
    struct host_double_hook *h = add_to_insn(insn, HOST_DOUBLE_MEMORY, data);
    h->memory = fn;
    h->which = host_double.info.abi > 1 ? which : GT_MEM_LOADS | GT_MEM_STORES;
}
