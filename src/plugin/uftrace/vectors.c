/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks of a machine begin handlers.
 *
 * QEMU 10.2 and later tell when an interrupt or an exception is taken. Before
 * that it is concluded: a block that no code seen so far leads to, reached while nothing is under
 * way that leads there, can only have been reached by an exception. From then on that block is a
 * vector, and so are the others of its table. What is missed so is the first use of a vector that
 * hits between an indirect jump or call and its arrival.
 */
#include "plugin/uftrace/vectors.h"
#include "plugin/uftrace/page.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/vcpu.h"
#include "track/machine.h"

/* Vector tables found so far, by their first vectors. Read without the lock. */
static uint64_t tables[16];
static unsigned n_tables;

static uint64_t table_of(uint64_t pc)
{
    return pc & ~(uint64_t)(gt_rec.arch->vector_table - 1);
}

static bool in_table(uint64_t pc)
{
    unsigned n = __atomic_load_n(&n_tables, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n && gt_rec.arch->vector_table; i++)
        if (tables[i] == table_of(pc))
            return true;
    return false;
}

static bool is_page_offset(uint64_t a, uint64_t b)
{
    return (a - b) % GT_PAGE == 0;
}

static bool is_of_bios(const struct gt_code *code)
{
    return code->pc < gt_rec.arch->vector_lowest;
}

/* True where what is under way does not lead to the block either. Where the host tells of
 * exceptions, only system calls that are none to it are left. Returns that are jumps look the same
 * where vectors may stand anywhere, unless their function is known. */
static bool is_astray(const struct gt_vcpu *v, const struct gt_code *code, uint64_t mark)
{
    bool told = gt_rec.discontinuities, named = code->fn->flags & GT_FUNC_VECTORS;
    if (!(mark & GT_MARK_CODE) && mark & GT_MARK_JUMPED)
        return !told && named;
    if (!(mark & GT_MARK_CODE)) /* resumed elsewhere in its function: a fault has been mended */
        return !told && (!(mark & GT_MARK_RESUME) || gt_mark_func(mark) != code->fn ||
                         code->fn->flags & GT_FUNC_ANON);
    const struct gt_code *from = gt_mark_code(mark);
    switch (from->exit) {
    case GT_EXIT_SYSCALL:
        /* It has ended, and comes back to the program: the block is none of the program's where
         * levels can be read. */
        return gt_code_end(from) != code->pc &&
               (!(mark & GT_MARK_RESUME) || is_of_bios(code) || (!told && from->user));
    case GT_EXIT_EXCEPTION_RETURN: /* those that end no handler lead to lower levels */
        return !told && from->pc >> 63 && code->pc >> 63;
    case GT_EXIT_CALL:
        return !told && !is_page_offset(from->target, code->pc);
    case GT_EXIT_RETURN:
        return !told && (named || gt_rec.arch->vector_align > 1) &&
               !gt_machine_returns(&v->thread, code->pc);
    default:
        return !told && named;
    }
}

/* Of a block that nothing under way leads to. With the lock. */
static uint8_t decide(const struct gt_code *code, uint64_t mark)
{
    bool by_call = gt_mark_is_of(mark, GT_EXIT_SYSCALL);
    if (gt_arrival_is_known(code->pc) || (is_of_bios(code) && !by_call && gt_rec.discontinuities))
        return GT_VECTOR_NO;
    if (n_tables < G_N_ELEMENTS(tables) && !in_table(code->pc)) {
        tables[n_tables] = table_of(code->pc);
        __atomic_store_n(&n_tables, n_tables + 1, __ATOMIC_RELEASE);
    }
    return GT_VECTOR_YES;
}

bool gt_machine_may_be_vector(const struct gt_code *code)
{
    uint64_t high = code->pc >> 63;
    return code->vector != GT_VECTOR_NO &&
           (code->fn->flags & GT_FUNC_VECTORS ||
            code->pc % (high ? gt_rec.arch->vector_align_high : gt_rec.arch->vector_align) == 0);
}

bool gt_machine_is_vector(struct gt_vcpu *v, struct gt_code *code, uint64_t mark)
{
    if (!gt_vcpu_is_recorded(v))
        return false;
    if (code->vector != GT_VECTOR_UNKNOWN || !mark || !gt_machine_may_be_vector(code))
        return code->vector == GT_VECTOR_YES;
    if (in_table(code->pc) || is_astray(v, code, mark)) {
        pthread_mutex_lock(&gt_rec.lock);
        code->vector = decide(code, mark);
        pthread_mutex_unlock(&gt_rec.lock);
    }
    return code->vector == GT_VECTOR_YES;
}
