/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: each block's instructions are classified once and the block is instrumented.
 *
 * A block that runs over from one function into the next one's entry without a jump is instrumented
 * as two pieces, so that the second function is seen to begin.
 */
#include "plugin/uftrace.h"

#include <stdlib.h>
#include <string.h>

void gt_code_is_handler(struct gt_func *fn)
{
    fn->flags |= GT_FUNC_HANDLER;
    for (struct gt_kept *k = gt_kept_at(fn->lo); k; k = k->next)
        if (k->code->fn == fn)
            gt_code_set_special(k->code);
}

/* ---- addresses ----------------------------------------------------------------------------- */

/* QEMU translates a block of a machine once for all virtual addresses of its page (8.0 and later);
 * so the page of memory, not the address, says which code it is. Each page's code has the address
 * that it was first expected at, or else seen at, and the block that is being translated is moved
 * there by `shift`: so calls and returns among a library's pages match in each process, wherever
 * that has mapped it. */
static uint64_t shift;

enum { PAGE = 4096 };

uint64_t gt_code_pc(const struct gt_insn_ref *insn)
{
    return gt_insn_pc(insn) + shift;
}

/* A block that is translated again as it was, but for its address: the memory has another use now,
 * or QEMU has thrown all blocks away. */
static bool is_again(struct gt_block *block, uint64_t pc)
{
    size_t n = gt_block_insns(block);
    for (struct gt_kept *k = gt_kept_at(pc); k; k = k->next)
        if (k->code->insns == n)
            return true;
    return false;
}

static void find_shift(struct gt_block *block)
{
    uintptr_t host = (uintptr_t)gt_insn_host_addr(gt_block_insn(block, 0));
    uint64_t pc = gt_block_pc(block);
    shift = 0;
    if (gt_rec.user || !gt_rec.score || !host || pc >> 63) /* a kernel's code is at one address */
        return;
    void *key = (void *)(host / PAGE);
    void *first;
    if (g_hash_table_lookup_extended(gt_rec.memory, key, NULL, &first)) {
        shift = ((uint64_t)(uintptr_t)first - pc / PAGE) * PAGE;
        bool high = (pc + shift) >> 63; /* a kernel runs low before it runs high */
        if (shift == 0 || (!high && !is_again(block, pc + shift)))
            return;
        shift = 0;
    }
    uint64_t expected = gt_vcpu_expects();
    if (expected % PAGE == pc % PAGE)
        shift = expected - pc;
    g_hash_table_insert(gt_rec.memory, key, (void *)(uintptr_t)((pc + shift) / PAGE));
}

static void on_saved(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    if (v->begun && gt_mem_is_store(meminfo))
        gt_track_saved(&v->thread, vaddr);
}

static void on_restored(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    if (!gt_mem_is_store(meminfo))
        gt_track_restored(&gt_vcpu_at(vcpu)->thread, vaddr);
}

static void on_asked(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(vcpu);
    uint64_t ip = 0;
    if (v->begun && !gt_mem_is_store(meminfo) && gt_guest_read(vaddr, &ip, gt_rec.arch->bits / 8))
        gt_track_asked(&v->thread, ip);
}

static void on_switched(unsigned vcpu, void *data)
{
    (void)data;
    gt_track_switched(&gt_vcpu_at(vcpu)->thread);
}

static void classify(struct gt_insn_ref *ref, struct gt_insn *out)
{
    uint8_t bytes[16];
    size_t n = gt_insn_bytes(ref, bytes, sizeof bytes);
    gt_rec.arch->classify(bytes, n, gt_code_pc(ref), out);
}

/* Loads of a stack pointer: what was loaded before it in the block, itself included, may tell which
 * saved context goes on. */
static void watch_stack_switch(struct gt_block *block, size_t at)
{
    for (size_t i = 0; i <= at; i++)
        gt_insn_on_memory(gt_block_insn(block, i), on_restored, GT_MEM_LOADS, NULL);
    gt_insn_on_exec(gt_block_insn(block, at), on_switched, NULL);
}

static void watch_memory(struct gt_block *block, size_t n, gt_mem_fn fn, unsigned which)
{
    for (size_t i = 0; i < n; i++)
        gt_insn_on_memory(gt_block_insn(block, i), fn, which, NULL);
}

static enum gt_code_exit exit_of(const struct gt_insn *last, const struct gt_func *target)
{
    switch (last->kind) {
    case GT_INSN_CALL:
        return GT_EXIT_CALL;
    case GT_INSN_CALL_INDIRECT:
        return GT_EXIT_CALL_INDIRECT;
    case GT_INSN_RETURN:
        return GT_EXIT_RETURN;
    case GT_INSN_JUMP_INDIRECT:
        return !gt_rec.user ? GT_EXIT_JUMP_INDIRECT : GT_EXIT_PLAIN;
    case GT_INSN_SYSCALL:
        return !gt_rec.user ? GT_EXIT_SYSCALL : GT_EXIT_PLAIN;
    case GT_INSN_EXCEPTION_RETURN:
        return !gt_rec.user ? GT_EXIT_EXCEPTION_RETURN : GT_EXIT_PLAIN;
    case GT_INSN_JUMP:
    case GT_INSN_BRANCH:
        return target && target->flags & GT_FUNC_HANDLER ? GT_EXIT_JUMP_HANDLER : GT_EXIT_PLAIN;
    default:
        return GT_EXIT_PLAIN;
    }
}

/* Hosts without cells: a callback at each block; with `sparse` at those only that need a look, or
 * end in a call or return. */
static void instrument_by_callbacks(struct gt_block *block, size_t first, struct gt_code *code)
{
    bool special = code->entry && code->fn->flags & GT_FUNC_HANDLER;
    gt_exec_fn fn = special ? gt_on_special_block : gt_on_block;
    enum gt_arrival arrival = first > 0 ? GT_ARRIVAL_LOOK : gt_arrival_of(block, code);
    if (arrival == GT_ARRIVAL_UNKNOWN)
        gt_block_on_exec(block, gt_on_unknown_block, code);
    else if (first > 0)
        gt_insn_on_exec(gt_block_insn(block, first), fn, code);
    else if (!gt_rec.sparse || code->exit != GT_EXIT_PLAIN || arrival != GT_ARRIVAL_NONE)
        gt_block_on_exec(block, fn, code);
    if (gt_rec.sparse && first == 0)
        gt_block_add_shared(block, &gt_rec.insns, gt_block_insns(block));
}

/* The look at a piece that begins a block, which counts its instructions as well. */
static void look_at_block(struct gt_block *block, struct gt_code *code)
{
    struct gt_cell insns = {gt_rec.score, offsetof(struct gt_cells, insns)};
    switch (gt_arrival_of(block, code)) {
    case GT_ARRIVAL_NONE:
        gt_block_add(block, insns, code->insns);
        break;
    case GT_ARRIVAL_LOOK:
        gt_block_on_exec(block, gt_on_landing, code);
        break;
    case GT_ARRIVAL_UNKNOWN:
        gt_block_on_exec(block, gt_on_unknown_block, code);
    }
}

/* Instrumentation of one piece of a block, which begins with instruction `first`. */
static void instrument(struct gt_block *block, size_t first, struct gt_insn_ref *last,
                       struct gt_code *code)
{
    struct gt_cell mark = {gt_rec.score, offsetof(struct gt_cells, mark)};
    bool special = code->entry && code->fn->flags & GT_FUNC_HANDLER;
    if (first > 0)
        gt_insn_on_exec(gt_block_insn(block, first), special ? gt_on_special_block : gt_on_landing,
                        code);
    else if (special)
        gt_block_on_exec(block, gt_on_special_block, code);
    else
        look_at_block(block, code);
    if (code->exit != GT_EXIT_PLAIN)
        gt_insn_store(last, mark, gt_code_mark(code));
}

/* Where the function that instruction `first` is in ends inside the block: the index of the first
 * instruction of the next one. Else n, or as far as a description goes. */
static size_t piece_end(struct gt_block *block, size_t first, size_t n, const struct gt_func *fn)
{
    n = MIN(n, first + GT_CODE_MAX_INSNS);
    if (gt_code_pc(gt_block_insn(block, n - 1)) < fn->hi)
        return n;
    for (size_t i = first + 1; i < n; i++)
        if (gt_code_pc(gt_block_insn(block, i)) >= fn->hi)
            return i;
    return n;
}

struct gt_func *gt_code_func_at(uint64_t pc)
{
    return gt_module_func(gt_modules_at(&gt_rec.modules, pc, NULL), pc);
}

/* A call of the next instruction only reads the pc; one a little further on may fill the CPU's
 * predictor. */
static bool is_no_call(const struct gt_insn_ref *last, const struct gt_code *code)
{
    enum { NEAR = 32 };
    uint64_t over = code->target - gt_code_end(code);
    if (over == 0 || over > NEAR || gt_rec.user || !gt_rec.arch->drops_return)
        return over == 0;
    const uint8_t *bytes = gt_insn_host_addr(last);
    uint64_t at = gt_code_pc(last);
    size_t left = PAGE - (size_t)(code->target % PAGE); /* on the same page: readable */
    return bytes && at / PAGE == code->target / PAGE &&
           gt_rec.arch->drops_return(bytes + (gt_code_end(code) - at), over, left);
}

/* Of the block that is being translated. */
static unsigned level;

static void translate_piece(struct gt_block *block, const struct gt_module *module, size_t first,
                            size_t end, bool is_last, const struct gt_insn *insn)
{
    struct gt_insn_ref *from = gt_block_insn(block, first);
    struct gt_insn_ref *last = gt_block_insn(block, end - 1);
    uint64_t pc = gt_code_pc(from);
    struct gt_func *fn = gt_module_func(module, pc);
    struct gt_code want = {
        .pc = pc,
        .size = gt_code_pc(last) + gt_insn_size(last) - pc,
        .fn = fn,
        .insns = end - first,
        .entry = !(fn->flags & GT_FUNC_ANON) && fn->lo == pc,
        .special = (uint8_t)(level << GT_CODE_LEVEL_SHIFT),
    };
    if (is_last) {
        want.target = insn->target;
        want.exit = exit_of(insn, gt_modules_entry(&gt_rec.modules, insn->target));
    }
    if (want.exit == GT_EXIT_CALL && is_no_call(last, &want))
        want.exit = GT_EXIT_PLAIN;
    struct gt_code *code = gt_keep_code(&want);
    if (!code)
        return;
    if (!gt_rec.user && code->vector == GT_VECTOR_UNKNOWN && gt_level_is_user())
        code->vector = GT_VECTOR_NO;
    if (gt_rec.score)
        instrument(block, first, last, code);
    else
        instrument_by_callbacks(block, first, code);
    if (is_last && !gt_rec.user)
        gt_machine_watch(block, insn, code);
    if (fn->flags & GT_FUNC_SAVER)
        watch_memory(block, end, on_saved, GT_MEM_STORES);
    if (fn->flags & GT_FUNC_ASKED && gt_rec.user)
        watch_memory(block, end, on_asked, GT_MEM_LOADS);
}

static void translate(struct gt_block *block)
{
    size_t n = gt_block_insns(block);
    if (n == 0)
        return;
    find_shift(block);
    uint64_t pc = gt_code_pc(gt_block_insn(block, 0));
    struct gt_module *module =
        gt_modules_at(&gt_rec.modules, pc, gt_insn_host_addr(gt_block_insn(block, 0)));
    struct gt_insn insn = {0};
    bool known = false;
    level = gt_rec.privilege_levels ? gt_level_translated() : 0;
    for (size_t i = 0; i < n; i++) {
        classify(gt_block_insn(block, i), &insn);
        if (insn.kind == GT_INSN_STACK_SWITCH && gt_rec.user)
            watch_stack_switch(block, i);
    }
    if (!gt_rec.user)
        gt_pushed_classify(block, &insn);
    for (size_t first = 0, end; first < n; first = end) {
        const struct gt_func *fn = gt_module_func(module, gt_code_pc(gt_block_insn(block, first)));
        end = piece_end(block, first, n, fn);
        translate_piece(block, module, first, end, end == n, &insn);
        known = !(fn->flags & GT_FUNC_ANON);
    }
    gt_arrivals_note(block, &insn, known);
}

void gt_on_translate(void *self, struct gt_block *block)
{
    (void)self;
    pthread_mutex_lock(&gt_rec.lock);
    translate(block);
    pthread_mutex_unlock(&gt_rec.lock);
}
