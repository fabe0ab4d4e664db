/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks of a machine begin handlers.
 *
 * QEMU 10.2 and later report interrupts and exceptions. Before that they are concluded: a block to
 * which no code seen so far leads, reached while no call, return or jump under way leads there, can
 * only have been reached by an exception. From then on that block is a vector, and so are the
 * others of its table. The first use of a vector is missed if it hits between an indirect jump or
 * call and the block that it enters.
 *
 * No host reports system management interrupts (SMI) of a PC. They begin in real mode at a fixed
 * distance from the base of CS, with flags and segments that hardly any other code has there; QEMU
 * does not share their blocks with other modes. So registers tell at translation.
 */
#include "calls/recorder/run/vectors.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/vcpu.h"
#include "track/machine.h"

static uint64_t table_of(const struct gt_recorder *r, uint64_t pc)
{
    return pc & ~(uint64_t)(r->guest.arch->vector_table - 1);
}

static bool in_table(const struct gt_recorder *r, uint64_t pc)
{
    unsigned n = __atomic_load_n(&r->vectors.n, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n && r->guest.arch->vector_table; i++)
        if (r->vectors.table[i] == table_of(r, pc))
            return true;
    return false;
}

static bool is_page_offset(uint64_t a, uint64_t b)
{
    return (a - b) % GT_PAGE == 0;
}

static bool is_of_bios(const struct gt_recorder *r, const struct gt_code *code)
{
    return code->pc < r->guest.arch->vector_lowest;
}

/* True where the last exit does not lead to the block either. Where the host reports exceptions,
 * only system calls that it does not count as such remain. Where vectors may be anywhere, returns
 * that are used as jumps look the same, unless their function is known, or registers or its form
 * tell (translate/handler_form.c). */
static bool is_astray(const struct gt_vcpu *v, const struct gt_code *code, uint64_t last_exit)
{
    struct gt_recorder *r = v->rec;
    bool reported = r->options.discontinuities, named = code->fn->flags & GT_FUNC_VECTORS,
         likely = code->vector == GT_VECTOR_LIKELY;
    if (!(last_exit & GT_LAST_EXIT_CODE) && last_exit & GT_LAST_EXIT_JUMPED)
        return !reported && named;
    if (!(last_exit &
          GT_LAST_EXIT_CODE)) /* resumed elsewhere in its function: a fault was handled */
        return !reported &&
               (!(last_exit & GT_LAST_EXIT_RESUME) ||
                gt_track_last_exit_func(last_exit) != code->fn || code->fn->flags & GT_FUNC_ANON);
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    switch (from->exit) {
    case GT_EXIT_SYSCALL:
        /* The system call has ended and returns to the program: where levels can be read, the block
         * must not be the program's. */
        return gt_code_end(from) != code->pc &&
               (!(last_exit & GT_LAST_EXIT_RESUME) || is_of_bios(r, code) ||
                (!reported && gt_code_is_users(from)));
    case GT_EXIT_EXCEPTION_RETURN: /* one that ends no handler leads to a lower level */
        return !reported && from->pc >> 63 && code->pc >> 63 && !v->thread.stack->cut;
    case GT_EXIT_CALL:
        return !reported && !is_page_offset(from->target, code->pc);
    case GT_EXIT_RETURN:
        return !reported && (named || likely) && !gt_machine_returns(&v->thread, code->pc);
    default:
        return !reported && named;
    }
}

/* Decides for a block that the last exit does not lead to. With the lock. */
static uint8_t decide(struct gt_recorder *r, const struct gt_code *code, uint64_t last_exit)
{
    bool by_call = gt_recorder_last_exit_is_of(last_exit, GT_EXIT_SYSCALL);
    if (gt_run_block_entry_is_known(r, code->pc) ||
        (is_of_bios(r, code) && !by_call && r->options.discontinuities))
        return GT_VECTOR_NO;
    if (r->vectors.n < G_N_ELEMENTS(r->vectors.table) && !in_table(r, code->pc)) {
        r->vectors.table[r->vectors.n] = table_of(r, code->pc);
        __atomic_store_n(&r->vectors.n, r->vectors.n + 1, __ATOMIC_RELEASE);
    }
    return GT_VECTOR_YES;
}

bool gt_run_machine_may_be_vector(const struct gt_recorder *r, const struct gt_code *code)
{
    const struct gt_arch *arch = r->guest.arch;
    uint64_t align = code->pc >> 63 ? arch->vector_align_high : arch->vector_align;
    return code->vector != GT_VECTOR_NO &&
           (code->fn->flags & GT_FUNC_VECTORS || code->pc % align == 0);
}

bool gt_run_machine_is_smi(struct gt_recorder *r, const struct gt_code *code)
{
    static const char *const names[GT_SMI_REGISTERS] = {"cr0", "cs", "eflags", "ss", "ds"};
    enum { PARAGRAPH = 16, PROTECTED = 1, NO_FLAG = 2 };
    uint64_t base = code->pc - r->guest.arch->smi_entry, value[GT_SMI_REGISTERS];
    if (!r->guest.arch->smi_entry || base % PARAGRAPH || !base || !gt_host_can(GT_HOST_REGISTERS))
        return false;
    for (size_t i = 0; i < GT_SMI_REGISTERS; i++)
        if (!gt_host_register_read(&r->vectors.smi[i], names[i], &value[i]) ||
            (i == 0 && value[i] & PROTECTED))
            return false;
    return value[1] == (base / PARAGRAPH & 0xffff) && value[2] == NO_FLAG && !value[3] && !value[4];
}

bool gt_run_machine_is_vector(struct gt_vcpu *v, struct gt_code *code, uint64_t last_exit)
{
    struct gt_recorder *r = v->rec;
    if (!v->begun)
        return false;
    if (code->vector == GT_VECTOR_UNREPORTED)
        return true;
    bool open = code->vector == GT_VECTOR_UNKNOWN || code->vector == GT_VECTOR_LIKELY;
    if (!open || !last_exit || !gt_run_machine_may_be_vector(r, code))
        return code->vector == GT_VECTOR_YES;
    if (in_table(r, code->pc) || is_astray(v, code, last_exit)) {
        pthread_mutex_lock(&r->lock);
        code->vector = decide(r, code, last_exit);
        pthread_mutex_unlock(&r->lock);
    }
    return code->vector == GT_VECTOR_YES;
}
