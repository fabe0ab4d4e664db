/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack pointer of a program where it is loaded: see stack_pointer.h. */
#include "calls/recorder/translate/stack_pointer.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/translate/straight.h"
#include "calls/recorder/translate/watch.h"
#include "calls/recorder/values/arguments.h"

bool gt_translate_stack_pointer_is_read(const struct gt_recorder *r)
{
    return r->guest.user && gt_host_can(GT_HOST_REGISTERS);
}

/* ---- the tracker's questions ---------------------------------------------------------------- */

static uint64_t read_register(void *self)
{
    struct gt_recorder *r = self;
    uint64_t sp;
    return gt_host_register_read(&r->system.sp, r->guest.arch->sp_register, &sp) ? sp : 0;
}

static bool read_memory(void *self, uint64_t addr, void *out, size_t n)
{
    return gt_recorder_guest_read(self, addr, out, n);
}

void gt_translate_stack_pointer_init(struct gt_recorder *r)
{
    if (!r->guest.user)
        return;
    r->view = (struct gt_track_program_view){
        .stack_pointer = gt_host_can(GT_HOST_REGISTERS) ? read_register : NULL,
        .read = read_memory,
        .signal_pc = r->guest.arch->signal_pc,
        .signal_sp = r->guest.arch->signal_sp,
        .signal_link = r->guest.arch->signal_link,
        .word = r->guest.arch->bits / 8,
        .by_memory = r->guest.arch->pushes != NULL};
    r->tracker.view = &r->view;
}

/* ---- what translated code tells ------------------------------------------------------------- */

static void on_restored(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    uint64_t word = 0;
    if (!v)
        return;
    if (gt_translate_watched_word(r, meminfo, vaddr, &word))
        gt_track_restored_word(&v->thread, vaddr, word);
    gt_vcpu_leave(v);
}

/* The second half of an access of two registers, which some hosts report on its own. */
static bool is_second(uint64_t first, uint64_t sp)
{
    return first && sp - first <= 16;
}

/* An access before the load: data is the distance to the stack pointer that is left. */
static void on_access_before(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *distance)
{
    (void)meminfo;
    struct gt_vcpu *v = gt_vcpu_enter(gt_recorder_installed(), vcpu);
    uint64_t sp = vaddr + (uint64_t)(intptr_t)distance;
    if (!v)
        return;
    if (!is_second(v->left_sp, sp))
        v->left_sp = sp;
    gt_vcpu_leave(v);
}

static void on_access_after(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *distance)
{
    (void)meminfo;
    struct gt_vcpu *v = gt_vcpu_enter(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    if (!v->thread.nonlocal.new_sp)
        v->thread.nonlocal.new_sp = vaddr + (uint64_t)(intptr_t)distance;
    gt_vcpu_leave(v);
}

/* The load itself is from memory: the word there is the new stack pointer. */
static void on_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    uint64_t sp = 0;
    if (!v)
        return;
    if (gt_translate_watched_word(r, meminfo, vaddr, &sp))
        v->thread.nonlocal.new_sp = sp;
    gt_vcpu_leave(v);
}

static void before_load(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_enter(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    gt_track_switched(&v->thread, v->left_sp);
    v->left_sp = 0;
    gt_vcpu_leave(v);
}

static void before_load_by_register(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    gt_track_switched(&v->thread, read_register(r));
    gt_vcpu_leave(v);
}

static void after_load_by_register(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    v->thread.nonlocal.new_sp = read_register(r);
    gt_vcpu_leave(v);
}

/* ---- translation ---------------------------------------------------------------------------- */

static struct gt_arch_sp_step step_of(const struct gt_translate_block *t, size_t i)
{
    struct gt_arch_sp_step step = {.unknown = true};
    if (t->rec->guest.arch->sp_step)
        t->rec->guest.arch->sp_step(t->insn[i].bytes, t->insn[i].size, &step);
    return step;
}

static void *distance(int64_t bytes)
{
    return (void *)(intptr_t)bytes;
}

/* The last access before the load whose distance is known. */
static void watch_before(const struct gt_translate_block *t, size_t at)
{
    int64_t moved = 0;
    for (size_t i = at; i-- > 0;) {
        struct gt_arch_sp_step step = step_of(t, i);
        if (step.unknown)
            return;
        moved += step.by;
        if (step.accesses) {
            gt_translate_watch_memory(t, i, on_access_before, GT_MEM_LOADS | GT_MEM_STORES,
                                      distance(moved - step.at));
            return;
        }
    }
}

/* How far the block moves the stack pointer up from its instruction `first` on. */
static int64_t moved_from(const struct gt_translate_block *t, size_t first)
{
    int64_t moved = 0;
    for (size_t i = first; i < t->n; i++) {
        struct gt_arch_sp_step step = step_of(t, i);
        if (step.unknown)
            break;
        moved += step.by;
    }
    return moved;
}

/* The first access after it. */
static void watch_after(const struct gt_translate_block *t, size_t at)
{
    for (size_t i = at + 1; i < t->n && gt_translate_may_watch_memory(t, i); i++) {
        struct gt_arch_sp_step step = step_of(t, i);
        if (step.unknown)
            break;
        if (step.accesses) {
            gt_translate_watch_memory(t, i, on_access_after, GT_MEM_LOADS | GT_MEM_STORES,
                                      distance(moved_from(t, i) - step.at));
            return;
        }
    }
    gt_translate_watch_memory(t, at, on_loaded, GT_MEM_LOADS, NULL);
}

/* The words loaded before it, itself included, may identify the saved context that continues; not
 * where a register is added to it: that stays on its stack, as the tens of registers that an
 * unwinder loads before. */
static void watch_load(const struct gt_translate_block *t, size_t at)
{
    if (!step_of(t, at).by_register)
        gt_translate_watch_words(t, at + 1, on_restored, GT_MEM_LOADS);
    if (gt_translate_stack_pointer_is_read(t->rec)) {
        gt_host_insn_on_exec_regs(t->insn[at].ref, before_load_by_register, NULL);
        if (at + 1 < t->n)
            gt_host_insn_on_exec_regs(t->insn[at + 1].ref, after_load_by_register, NULL);
        return;
    }
    watch_before(t, at);
    gt_host_insn_on_exec(t->insn[at].ref, before_load, NULL);
    watch_after(t, at);
}

/* What __builtin_eh_return adds to the stack pointer, to leave frames. */
static bool leaves_frames(const struct gt_translate_block *t, size_t i)
{
    if (i + 2 != t->n)
        return false;
    uint8_t last = t->insn[i + 1].insn.kind;
    return (last == GT_INSN_RETURN || last == GT_INSN_JUMP_INDIRECT) && step_of(t, i).by_register;
}

void gt_translate_stack_pointer_watch(const struct gt_translate_block *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->insn[i].insn.kind == GT_INSN_STACK_SWITCH || leaves_frames(t, i))
            watch_load(t, i);
    if (gt_translate_straight_switches(t, 0))
        gt_translate_watch_words(t, t->n, on_restored, GT_MEM_LOADS);
}

bool gt_translate_stack_pointer_may_return(const struct gt_translate_block *t, size_t first,
                                           size_t end)
{
    const struct gt_arch *arch = t->rec->guest.arch;
    const struct gt_translate_decoded *last = &t->insn[end - 1];
    if (arch->jumps_by_link && arch->jumps_by_link(last->bytes, last->size))
        return true;
    for (size_t i = first; i + 1 < end; i++) {
        struct gt_arch_sp_step step = step_of(t, i);
        if (step.by > 0 || step.links || step.unknown)
            return true;
    }
    return false;
}
