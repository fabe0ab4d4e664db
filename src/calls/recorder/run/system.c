/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers and contexts of machines: what the tracker (track/machine.h) gets from translated code
 * and the host.
 *
 * A handler begins where the host reports it, or else where vectors.c concludes it. It ends at the
 * exception return, before that runs.
 *
 * Values of stack pointers are read where the host allows it. The addresses of the words that they
 * are stored to and loaded from are known everywhere.
 */
#include "calls/recorder/run/system.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/guests.h"
#include "calls/recorder/run/linux.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/level.h"
#include "guest/arch/privilege.h"
#include "track/machine.h"
#include "track/unfollowed.h"

static uint64_t read_sp(struct gt_recorder *r)
{
    uint64_t sp;
    return gt_host_register_read(&r->system.sp, r->guest.arch->sp_register, &sp) ? sp : GT_NO_ADDR;
}

/* The stack pointer after the exception return; 0: not known. */
static uint64_t returned_sp(struct gt_recorder *r, const struct gt_code *code)
{
    uint64_t sp = 0;
    if (!gt_code_pops_sp(code))
        return gt_host_register_read(&r->system.returned_sp, r->guest.arch->returned_sp, &sp) ? sp
                                                                                              : 0;
    uint64_t frame = read_sp(r);
    const size_t word = r->guest.arch->bits / 8;
    return frame != GT_NO_ADDR && gt_host_memory_number(frame + GT_POPPED_SP * word, word, &sp) ? sp
                                                                                                : 0;
}

void gt_run_before_system_call(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    if (!v)
        return;
    uint64_t sp = read_sp(r);
    v->thread.calling_sp = sp == GT_NO_ADDR ? 0 : sp;
    gt_vcpu_leave(v);
}

/* True of rsm, whose handler may have replaced all that it loads: SeaBIOS changes to 32 bit code
 * and back by system management interrupts. */
static bool loads_all_registers(const struct gt_recorder *r, const struct gt_code *code)
{
    return r->guest.arch->smi_entry && !gt_code_pops_sp(code);
}

/* On hosts without a scoreboard a callback at an instruction finds the last exit of its block's
 * end: it is set when the block begins. */
static void leave(struct gt_vcpu *v, struct gt_recorder_score *score, const struct gt_code *code)
{
    struct gt_recorder *r = v->rec;
    uint64_t last_exit = gt_code_last_exit(code);
    gt_select_dormant_interrupted(r);
    uint64_t time = gt_run_vcpu_time(v, score);
    if (gt_run_guests_entered(v, &last_exit, time)) {
        score->last_exit = last_exit;
        return;
    }
    if (gt_machine_leave(&v->thread, &last_exit, time) && loads_all_registers(r, code) &&
        !(last_exit & GT_LAST_EXIT_CODE))
        last_exit |= GT_LAST_EXIT_JUMPED;
    /* Or that of a handler which an interrupt had followed. */
    if (gt_recorder_last_exit_is_of(last_exit, GT_EXIT_EXCEPTION_RETURN))
        v->thread.returned_sp = returned_sp(r, code);
    score->last_exit = last_exit;
}

static enum gt_track_passed passed(struct gt_recorder *r)
{
    enum { SIGNALS = 64 };
    uint64_t value;
    if (!gt_host_register_read(&r->system.first_argument, r->guest.arch->first_argument, &value))
        return GT_PASSED_UNKNOWN;
    return value == 0 ? GT_PASSED_ZERO : value <= SIGNALS ? GT_PASSED_SIGNAL : GT_PASSED_OTHER;
}

void gt_run_on_exception_return(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    if (!v)
        return;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    leave(v, score, data);
    if (gt_recorder_last_exit_is_of(score->last_exit, GT_EXIT_SYSCALL))
        v->thread.passed = (uint8_t)passed(r);
    gt_vcpu_leave(v);
}

void gt_run_on_world_return(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    if (!v)
        return;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    leave(v, score, data);
    gt_select_level_change_world(v, data, &score->last_exit, gt_run_vcpu_time(v, score));
    gt_vcpu_leave(v);
}

void gt_run_machine_enter_at(struct gt_vcpu *v, struct gt_recorder_score *score,
                             struct gt_code *code)
{
    uint64_t time = gt_run_vcpu_time(v, score);
    if (v->levels)
        gt_select_level_enter(v, code, time);
    gt_machine_enter(&v->thread, code->pc, code->fn, code, score->last_exit, time);
    score->last_exit = gt_track_last_exit_of_func(code->fn);
}

void gt_run_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to)
{
    (void)kind;
    struct gt_recorder *r = self;
    /* From == to: an instruction that the host runs as a call of its own, and what comes before the
     * true event on x86. */
    struct gt_vcpu *v = from != to ? gt_vcpu_enter_begun(r, vcpu) : NULL;
    if (!v)
        return;
    if (gt_run_guests_end_at(v, to)) {
        gt_vcpu_leave(v);
        return;
    }
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    pthread_mutex_lock(&r->lock);
    const struct gt_support_module *module = gt_support_modules_at(&r->code.modules, to, NULL);
    struct gt_track_func *fn = gt_support_module_func(module, to);
    if (gt_select_filters_current(&r->filters))
        gt_select_filters_know(r, to, module, fn);
    pthread_mutex_unlock(&r->lock);
    gt_select_dormant_interrupted(r);
    uint64_t time = gt_run_vcpu_time(v, score);
    if (v->levels)
        gt_select_level_enter(v, NULL, time);
    gt_machine_enter(&v->thread, to, fn, NULL, score->last_exit, time);
    score->last_exit = gt_track_last_exit_of_func(fn);
    gt_vcpu_leave(v);
}

/* ---- stack pointers ------------------------------------------------------------------------ */

void gt_run_on_sp_stored(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *pushed)
{
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    if (gt_host_mem_is_store(meminfo))
        gt_machine_saved(&v->thread, vaddr, (uint64_t)(uintptr_t)pushed);
    gt_vcpu_leave(v);
}

void gt_run_on_sp_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    if (!gt_host_mem_is_store(meminfo))
        gt_track_restored(&v->thread, vaddr);
    gt_vcpu_leave(v);
}

void gt_run_before_sp_load(unsigned vcpu, void *kept)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (!v)
        return;
    v->left_sp = read_sp(r);
    v->loads_sp = true;
    if (kept && v->begun)
        gt_machine_kept(&v->thread);
    gt_vcpu_leave(v);
}

/* A function without code: no block has it as its last exit. */
static const struct gt_track_func leaping = {.flags = GT_FUNC_ANON};

static void switch_to(struct gt_vcpu *v, unsigned vcpu, uint64_t sp)
{
    struct gt_recorder *r = v->rec;
    v->loads_sp = false;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    uint64_t time = gt_run_vcpu_time(v, score);
    gt_machine_switch(&v->thread, v->left_sp, sp, time);
    if (v->rec->tracker.unfollowed && v->left && v->left == v->thread.stack)
        gt_track_go_on_unknown(&v->thread, time); /* a thread that was suspended while it slept */
    if (gt_machine_sp_reloaded(&v->thread) && !(score->last_exit & GT_LAST_EXIT_CODE))
        score->last_exit = gt_track_last_exit_of_func(
            &leaping); /* so the next block with a callback is a transfer */
    gt_run_machine_transferred(v, time);
}

void gt_run_after_sp_load(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    if (!v)
        return;
    if (v->loads_sp)
        switch_to(v, vcpu, read_sp(r));
    gt_vcpu_leave(v);
}

/* A block ends with the load: an interrupt may come before the next instruction. */
void gt_run_on_last_sp_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    gt_run_on_sp_loaded(vcpu, meminfo, vaddr, data);
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    if (!gt_host_mem_is_store(meminfo))
        switch_to(v, vcpu, GT_NO_ADDR);
    gt_vcpu_leave(v);
}

/* ---- tasks --------------------------------------------------------------------------------- */

void gt_run_machine_transferred(struct gt_vcpu *v, uint64_t time)
{
    struct gt_recorder *r = v->rec;
    const struct gt_stack *s = v->thread.stack;
    if (s == v->seen)
        return;
    v->seen = s;
    /* A context that comes from a vCPU whose clock is ahead keeps that time. */
    if (!r->hot.host_clock && s->last_time > time)
        v->insn_base += s->last_time - time;
    gt_run_linux_transferred(v, time);
}
