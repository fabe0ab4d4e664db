/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: each block's instructions are classified once and the block is instrumented.
 *
 * A block that falls through from one function to the next one's entry is instrumented as two
 * pieces, so that the entry of the second function is recorded.
 */
#include "calls/recorder/translate/code.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/blocks.h"
#include "calls/recorder/run/transfer.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/filters.h"
#include "calls/recorder/select/level.h"
#include "calls/recorder/translate/arrival.h"
#include "calls/recorder/translate/block_entry.h"
#include "calls/recorder/translate/machine.h"
#include "calls/recorder/translate/memory.h"
#include "calls/recorder/translate/push.h"
#include "calls/recorder/translate/stack_pointer.h"
#include "calls/recorder/translate/straight.h"
#include "calls/recorder/translate/watch.h"

#include <stdlib.h>
#include <string.h>

/* The block, its instructions read and classified once; valid until the next one. */
static void decode(struct gt_recorder *r, struct gt_host_block *block,
                   struct gt_translate_block *out)
{
    struct gt_translate_decoder *to = &r->code.decoder;
    uint64_t shift = gt_translate_memory_shift(r, block);
    size_t n = gt_host_block_insns(block);
    if (n > to->room) {
        to->room = MAX(n, 512);
        to->insn = g_renew(struct gt_translate_decoded, to->insn, to->room);
    }
    for (size_t i = 0; i < n; i++) {
        struct gt_translate_decoded *d = &to->insn[i];
        d->ref = gt_host_block_insn(block, i);
        d->pc = gt_host_insn_pc(d->ref) + shift;
        d->size = (uint8_t)gt_host_insn_bytes(d->ref, d->bytes, sizeof d->bytes);
        r->guest.arch->classify(d->bytes, d->size, d->pc, &d->insn);
    }
    *out = (struct gt_translate_block){.rec = r, .block = block, .n = n, .insn = to->insn};
}

/* A program's unwinder continues in the frame that catches: on aarch64 by a return or, from GCC 14
 * on, a jump. */
static bool is_transfer(const struct gt_recorder *r, const struct gt_arch_insn *last,
                        const struct gt_track_func *fn)
{
    return r->guest.user && r->guest.arch == &gt_arch_aarch64 &&
           last->kind == GT_INSN_JUMP_INDIRECT &&
           fn->flags & (GT_FUNC_UNWIND_RAISE | GT_FUNC_UNWIND_RESUME) &&
           !(fn->flags & GT_FUNC_STUB);
}

/* Indirect jumps are tagged where they may be returns by their form; all of a machine's, which may
 * have popped the return address in another block, or are distinguished from handlers so. */
static enum gt_code_exit exit_of_jump(const struct gt_translate_block *t, size_t first, size_t end,
                                      const struct gt_track_func *fn)
{
    const struct gt_recorder *r = t->rec;
    if (!(fn->flags & GT_FUNC_STUB) && gt_translate_stack_pointer_may_return(t, first, end))
        return GT_EXIT_JUMP_BACK;
    return r->guest.user ? GT_EXIT_PLAIN : GT_EXIT_JUMP_INDIRECT;
}

/* How [first, end), the last piece of the block, ends. */
static enum gt_code_exit exit_of(const struct gt_translate_block *t, size_t first, size_t end,
                                 const struct gt_track_func *fn)
{
    struct gt_recorder *r = t->rec;
    const struct gt_arch_insn *last = &t->insn[end - 1].insn;
    const struct gt_track_func *target = gt_support_modules_entry(&r->code.modules, last->target);
    if (is_transfer(r, last, fn))
        return GT_EXIT_RETURN;
    switch (last->kind) {
    case GT_INSN_CALL:
        return GT_EXIT_CALL;
    case GT_INSN_CALL_INDIRECT:
        return GT_EXIT_CALL_INDIRECT;
    case GT_INSN_RETURN:
        return GT_EXIT_RETURN;
    case GT_INSN_JUMP_INDIRECT:
        return exit_of_jump(t, first, end, fn);
    case GT_INSN_SYSCALL:
        return !r->guest.user ? GT_EXIT_SYSCALL : GT_EXIT_PLAIN;
    case GT_INSN_EXCEPTION_RETURN:
        return !r->guest.user ? GT_EXIT_EXCEPTION_RETURN : GT_EXIT_PLAIN;
    case GT_INSN_JUMP:
    case GT_INSN_BRANCH:
        return target && target->flags & GT_FUNC_HANDLER ? GT_EXIT_JUMP_HANDLER : GT_EXIT_PLAIN;
    default:
        return GT_EXIT_PLAIN;
    }
}

/* True at a signal handler's entry, where no transfer is plain. */
static bool is_slow(const struct gt_code *code)
{
    return code->entry && code->fn->flags & GT_FUNC_HANDLER;
}

static gt_host_exec_fn callback(const struct gt_recorder *r, enum gt_recorder_entry entry)
{
    return gt_recorder_plan(r)->entry[entry].fn;
}

/* The callback of a piece that begins with instruction `first`. */
static void call_at(const struct gt_translate_block *t, size_t first, enum gt_recorder_entry entry,
                    void *data)
{
    const struct gt_recorder_plan_entry *e = &gt_recorder_plan(t->rec)->entry[entry];
    if (first > 0)
        (e->registers ? gt_host_insn_on_exec_regs : gt_host_insn_on_exec)(t->insn[first].ref, e->fn,
                                                                          data);
    else
        (e->registers ? gt_host_block_on_exec_regs : gt_host_block_on_exec)(t->block, e->fn, data);
}

/* Hosts without a scoreboard: a callback at each block; with `sparse` only at those that transfers
 * may reach, or that end in a call or return. */
static void instrument_by_callbacks(const struct gt_translate_block *t, size_t first,
                                    struct gt_code *code, enum gt_translate_block_entry entry)
{
    struct gt_recorder *r = t->rec;
    enum gt_recorder_entry place = is_slow(code) ? GT_ENTRY_SLOW
                                   : first       ? GT_ENTRY_INSIDE
                                                 : GT_ENTRY_BLOCK;
    if (entry == GT_BLOCK_ENTRY_UNKNOWN)
        call_at(t, 0, GT_ENTRY_UNKNOWN, code);
    else if (first > 0 || !r->hot.sparse || code->exit != GT_EXIT_PLAIN ||
             entry != GT_BLOCK_ENTRY_NONE)
        call_at(t, first, place, code);
    if (r->hot.sparse && first == 0 && !r->hot.host_clock)
        gt_host_block_add_shared(t->block, &r->hot.insns, t->n);
}

static struct gt_host_scoreboard_entry last_exit_word(const struct gt_recorder *r)
{
    return (struct gt_host_scoreboard_entry){r->hot.scoreboard,
                                             offsetof(struct gt_recorder_score, last_exit)};
}

/* Adds to the instruction clock. */
static void count_insns(const struct gt_recorder *r, struct gt_host_block *block,
                        const struct gt_code *code)
{
    struct gt_host_scoreboard_entry insns = {r->hot.scoreboard,
                                             offsetof(struct gt_recorder_score, insns)};
    if (!r->hot.host_clock)
        gt_host_block_add(block, insns, code->insns);
}

/* A callback unless the last exit is `stays`, which it mostly is: control came from the function
 * itself. */
static void look_unless(const struct gt_recorder *r, struct gt_host_block *block,
                        struct gt_code *code, uint64_t stays, gt_host_exec_fn fn)
{
    gt_host_block_on_exec_ne(block, fn, last_exit_word(r), stays, code);
    count_insns(r, block, code);
}

/* A callback each time. It counts instructions, whose number is in its data: the description may
 * not be in the cache yet. */
static void look_always(struct gt_recorder *r, struct gt_host_block *block, struct gt_code *code)
{
    void *data = gt_run_transfer_data(code);
    const struct gt_recorder_plan *plan = gt_recorder_plan(r);
    const struct gt_recorder_plan_entry *e =
        &plan->entry[data ? GT_ENTRY_BLOCK : GT_ENTRY_BLOCK_COUNTED];
    if (e->registers || (plan->asks && code->entry && gt_select_filters_reads(r, code)))
        gt_host_block_on_exec_regs(block, e->fn, data ? data : code);
    else
        gt_host_block_on_exec(block, e->fn, data ? data : code);
    if (!data)
        count_insns(r, block, code);
}

/* Instruments the beginning of a block: its callback and its count of instructions. */
static void look_at_block(struct gt_recorder *r, struct gt_host_block *block, struct gt_code *code,
                          enum gt_translate_block_entry entry)
{
    gt_host_exec_fn counted = callback(r, GT_ENTRY_BLOCK_COUNTED);
    switch (entry) {
    case GT_BLOCK_ENTRY_NONE:
        count_insns(r, block, code);
        break;
    case GT_BLOCK_ENTRY_MIXED:
        look_unless(r, block, code, gt_track_last_exit_of_func(code->fn), counted);
        break;
    case GT_BLOCK_ENTRY_JUMP:
        look_unless(r, block, code, gt_track_last_exit_of_jump(code->fn), counted);
        gt_host_insn_store(gt_host_block_insn(block, 0), last_exit_word(r),
                           gt_track_last_exit_of_func(code->fn));
        break;
    case GT_BLOCK_ENTRY_LOOK:
        look_always(r, block, code);
        break;
    case GT_BLOCK_ENTRY_UNKNOWN:
        if (r->options.discontinuities && code->vector != GT_VECTOR_UNREPORTED)
            /* a handler changes the last exit before it begins */
            look_unless(r, block, code, gt_track_last_exit_of_func(code->fn),
                        callback(r, GT_ENTRY_UNKNOWN_COUNTED));
        else
            gt_host_block_on_exec(block, callback(r, GT_ENTRY_UNKNOWN), code);
    }
}

/* Instruments the piece of a block that begins with instruction `first`. */
static void instrument(const struct gt_translate_block *t, size_t first, size_t end,
                       struct gt_code *code, enum gt_translate_block_entry entry)
{
    struct gt_recorder *r = t->rec;
    if (is_slow(code))
        call_at(t, first, GT_ENTRY_SLOW, code);
    else if (first > 0)
        call_at(t, first, GT_ENTRY_INSIDE, code);
    else
        look_at_block(r, t->block, code, entry);
    if (code->exit != GT_EXIT_PLAIN)
        gt_host_insn_store(t->insn[end - 1].ref, last_exit_word(r), gt_code_last_exit(code));
}

/* The index of the first instruction after the function of instruction `first`. If that does not
 * end inside the block: n, or less, as many as one description covers. */
static size_t piece_end(const struct gt_translate_block *t, size_t first,
                        const struct gt_track_func *fn)
{
    size_t n = MIN(t->n, first + GT_CODE_MAX_INSNS);
    if (t->module->recognised && fn->flags & GT_FUNC_ANON) /* which has no end */
        return gt_translate_runs_on_until(t, first, n);
    if (t->insn[n - 1].pc < fn->hi)
        return n;
    for (size_t i = first + 1; i < n; i++)
        if (t->insn[i].pc >= fn->hi)
            return i;
    return n;
}

/* What gt_code_is_over_trap and others say. */
static bool detail_of(struct gt_recorder *r, const struct gt_translate_decoded *last,
                      enum gt_code_exit exit)
{
    switch (exit) {
    case GT_EXIT_CALL:
        return gt_translate_call_is_over_trap(r->guest.arch, last);
    case GT_EXIT_EXCEPTION_RETURN:
        return r->guest.arch->pops_sp && r->guest.arch->pops_sp(last->bytes, last->size);
    case GT_EXIT_SYSCALL:
        return gt_select_level_is_user(r);
    default:
        return false;
    }
}

/* Describes the piece of a block in the function. */
static struct gt_code describe(const struct gt_translate_block *t, size_t first, size_t end,
                               const struct gt_track_func *fn)
{
    struct gt_recorder *r = t->rec;
    const struct gt_translate_decoded *last = &t->insn[end - 1];
    uint64_t pc = t->insn[first].pc;
    struct gt_code code = {
        .pc = pc,
        .size = gt_translate_decoded_end(last) - pc,
        .fn = fn,
        .insns = end - first,
        .entry = !(fn->flags & GT_FUNC_ANON) && fn->lo == pc,
        .slow_flags = (uint8_t)(t->level << GT_CODE_LEVEL_SHIFT),
    };
    code.arrival = gt_translate_arrival_at(t, first, end, &code);
    if (end < t->n)
        return code;
    code.target = last->insn.target;
    code.exit = exit_of(t, first, end, fn);
    if (code.exit == GT_EXIT_CALL && code.target == gt_code_end(&code))
        code.exit = GT_EXIT_PLAIN; /* a call of the next instruction only reads the pc */
    code.detail = detail_of(r, last, code.exit);
    if (gt_code_is_over_trap(&code) && gt_translate_call_is_nothing(r->guest.arch, last, fn))
        code.exit = GT_EXIT_PLAIN;
    return code;
}

/* The function's values are read where the piece enters it, and where it returns. False: the piece
 * is instrumented as any other. */
static bool instrument_values(const struct gt_translate_block *t, size_t first, size_t end,
                              struct gt_code *code)
{
    struct gt_recorder *r = t->rec;
    const struct gt_recorder_argument_function *of =
        callback(r, GT_ENTRY_VALUED) ? gt_recorder_arguments_of(r, t->module, code->fn) : NULL;
    if (!of)
        return false;
    if (of->spec.n_returns && code->exit == GT_EXIT_RETURN)
        gt_host_insn_on_exec_regs(t->insn[end - 1].ref, callback(r, GT_ENTRY_RESULT),
                                  gt_recorder_argument_point_new(code, of, 0));
    if (!of->spec.n_arguments || !code->entry || is_slow(code))
        return false;
    call_at(t, first, GT_ENTRY_VALUED, gt_recorder_argument_point_new(code, of, code->insns));
    if (code->exit != GT_EXIT_PLAIN)
        gt_host_insn_store(t->insn[end - 1].ref, last_exit_word(r), gt_code_last_exit(code));
    return true;
}

static void translate_piece(const struct gt_translate_block *t, size_t first, size_t end,
                            const struct gt_track_func *fn)
{
    struct gt_recorder *r = t->rec;
    struct gt_code want = describe(t, first, end, fn), *code = gt_run_cache_block(r, &want);
    if (!code)
        return;
    if (first == 0 && !r->guest.user)
        gt_translate_machine_watch_first(t, code);
    enum gt_translate_block_entry entry =
        first > 0 ? GT_BLOCK_ENTRY_LOOK : gt_translate_block_entry_of(t, code);
    if (instrument_values(t, first, end, code))
        (void)entry;
    else if (r->hot.scoreboard)
        instrument(t, first, end, code, entry);
    else
        instrument_by_callbacks(t, first, code, entry);
    if (end == t->n && !r->guest.user)
        gt_translate_machine_watch(t, code);
    gt_translate_watch_contexts(t, end, fn);
}

static void translate(struct gt_recorder *r, struct gt_host_block *block)
{
    struct gt_translate_block t;
    if (gt_host_block_insns(block) == 0)
        return;
    decode(r, block, &t);
    if (r->guest.user)
        gt_translate_stack_pointer_watch(&t);
    t.module = gt_support_modules_at(&r->code.modules, t.insn[0].pc,
                                     gt_host_insn_host_addr(t.insn[0].ref));
    t.level = r->options.privilege_levels ? gt_select_level_translated(r) : 0;
    if (!r->guest.user)
        gt_translate_pushed_classify(&t);
    bool known = false;
    for (size_t first = 0, end; first < t.n; first = end) {
        struct gt_track_func *fn = gt_support_module_func(t.module, t.insn[first].pc);
        if (gt_select_filters_current(&r->filters))
            gt_select_filters_know(r, t.insn[first].pc, t.module, fn);
        end = piece_end(&t, first, fn);
        translate_piece(&t, first, end, fn);
        known = !(fn->flags & GT_FUNC_ANON);
    }
    gt_translate_block_entries_note(&t, known);
}

void gt_translate_on_block(void *self, struct gt_host_block *block)
{
    struct gt_recorder *r = self;
    gt_run_vmstates_run(&r->vmstates);
    pthread_mutex_lock(&r->lock);
    if (!gt_gate_ends(&r->gate))
        translate(r, block);
    pthread_mutex_unlock(&r->lock);
}
