/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handlers and contexts of machines, as translated code and the host show them to the tracker
 * (track/machine.h).
 *
 * Where handlers begin vectors.c says, where the host does not tell.
 *
 * Where they end: at the exception return, before it runs.
 *
 * Stack pointers: their values are read where the host lets us; everywhere the addresses of the
 * words are known that they are stored in and loaded from.
 */
#include "plugin/uftrace/system.h"
#include "guest/arch/privilege.h"
#include "plugin/uftrace/code.h"
#include "plugin/uftrace/installed.h"
#include "plugin/uftrace/level.h"
#include "plugin/uftrace/linux.h"
#include "plugin/uftrace/push.h"
#include "plugin/uftrace/recorder.h"
#include "plugin/uftrace/vcpu.h"
#include "track/machine.h"

static uint64_t read_sp(struct gt_uftrace_recorder *r)
{
    uint64_t sp;
    return gt_register_read(&r->system.sp, r->guest.arch->sp_register, &sp) ? sp : GT_NO_ADDR;
}

/* The stack pointer that the exception return goes on with; 0: not known. */
static uint64_t returned_sp(struct gt_uftrace_recorder *r, const struct gt_code *code)
{
    uint64_t sp = 0;
    if (!code->pops_sp)
        return gt_register_read(&r->system.returned_sp, r->guest.arch->returned_sp, &sp) ? sp : 0;
    uint64_t frame = read_sp(r);
    const size_t word = r->guest.arch->bits / 8;
    return frame != GT_NO_ADDR && gt_memory_number(frame + GT_POPPED_SP * word, word, &sp) ? sp : 0;
}

static void before_syscall(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    if (!gt_vcpu_is_recorded(v))
        return;
    uint64_t sp = read_sp(r);
    v->thread.calling_sp = sp == GT_NO_ADDR ? 0 : sp;
}

/* A callback at an instruction finds the mark that its block's end is to leave on hosts that have
 * no cells: it is set when the block begins. */
static void leave(struct gt_vcpu *v, struct gt_cells *cells, const struct gt_code *code)
{
    struct gt_uftrace_recorder *r = v->rec;
    uint64_t mark = gt_code_mark(code);
    gt_machine_leave(&v->thread, &mark, gt_vcpu_time(v, cells));
    /* Or of one that an interrupt had followed. */
    if (gt_mark_is_of(mark, GT_EXIT_EXCEPTION_RETURN))
        v->thread.returned_sp = returned_sp(r, code);
    cells->mark = mark;
}

static bool first_argument_is_0(struct gt_uftrace_recorder *r)
{
    uint64_t value;
    return gt_register_read(&r->system.first_argument, r->guest.arch->first_argument, &value) &&
           value == 0;
}

static void on_exception_return(unsigned vcpu, void *data)
{
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    if (!gt_vcpu_is_recorded(v))
        return;
    struct gt_cells *cells = gt_vcpu_cells(r, v, vcpu);
    leave(v, cells, data);
    if (gt_mark_is_of(cells->mark, GT_EXIT_SYSCALL))
        v->thread.cleared = first_argument_is_0(r);
}

static void on_world_return(unsigned vcpu, void *data)
{
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    if (!gt_vcpu_is_recorded(v))
        return;
    struct gt_cells *cells = gt_vcpu_cells(r, v, vcpu);
    leave(v, cells, data);
    gt_level_change_world(v, data, &cells->mark, gt_vcpu_time(v, cells));
}

void gt_machine_enter_at(struct gt_vcpu *v, struct gt_cells *cells, struct gt_code *code)
{
    uint64_t time = gt_vcpu_time(v, cells);
    if (v->levels)
        gt_level_enter(v, code, time);
    gt_machine_enter(&v->thread, code->pc, code->fn, code, cells->mark, time);
    cells->mark = gt_mark_of_func(code->fn);
}

void gt_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to)
{
    (void)kind;
    struct gt_uftrace_recorder *r = self;
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    /* From == to: an instruction that the host runs as a call of its own, and what comes before the
     * true event on x86. */
    if (!gt_vcpu_is_recorded(v) || from == to)
        return;
    struct gt_cells *cells = gt_vcpu_cells(r, v, vcpu);
    pthread_mutex_lock(&r->lock);
    const struct gt_func *fn = gt_module_func(gt_modules_at(&r->code.modules, to, NULL), to);
    pthread_mutex_unlock(&r->lock);
    uint64_t time = gt_vcpu_time(v, cells);
    if (v->levels)
        gt_level_enter(v, NULL, time);
    gt_machine_enter(&v->thread, to, fn, NULL, cells->mark, time);
    cells->mark = gt_mark_of_func(fn);
}

/* ---- stack pointers ------------------------------------------------------------------------ */

static void on_stored(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *pushed)
{
    struct gt_vcpu *v = gt_vcpu_at(gt_recorder_installed(), vcpu);
    if (gt_vcpu_is_recorded(v) && gt_mem_is_store(meminfo))
        gt_machine_saved(&v->thread, vaddr, (uint64_t)(uintptr_t)pushed);
}

static void on_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_at(gt_recorder_installed(), vcpu);
    if (gt_vcpu_is_recorded(v) && !gt_mem_is_store(meminfo))
        gt_track_restored(&v->thread, vaddr);
}

static void before_switch(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    v->left_sp = read_sp(r);
    v->loads_sp = true;
}

/* Of no code: a block's own mark is another. */
static const struct gt_func leaping = {.flags = GT_FUNC_ANON};

static void switch_to(struct gt_vcpu *v, unsigned vcpu, uint64_t sp)
{
    struct gt_uftrace_recorder *r = v->rec;
    v->loads_sp = false;
    struct gt_cells *cells = gt_vcpu_cells(r, v, vcpu);
    uint64_t time = gt_vcpu_time(v, cells);
    gt_machine_switch(&v->thread, v->left_sp, sp, time);
    if (gt_machine_has_leapt(&v->thread) && !(cells->mark & GT_MARK_CODE))
        cells->mark = gt_mark_of_func(&leaping); /* the next look asks where that was to */
    gt_machine_landed(v, time);
}

static void after_switch(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_uftrace_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_at(r, vcpu);
    if (gt_vcpu_is_recorded(v) && v->loads_sp)
        switch_to(v, vcpu, read_sp(r));
}

/* A block ends with the load: an interrupt may come before what is next. */
static void on_last_loaded(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_vcpu *v = gt_vcpu_at(gt_recorder_installed(), vcpu);
    on_loaded(vcpu, meminfo, vaddr, data);
    if (gt_vcpu_is_recorded(v) && !gt_mem_is_store(meminfo))
        switch_to(v, vcpu, GT_NO_ADDR);
}

static void note_split(struct gt_uftrace_recorder *r, uint64_t pc)
{
    if (!r->system.splits)
        r->system.splits = g_hash_table_new(NULL, NULL);
    g_hash_table_add(r->system.splits, (void *)(uintptr_t)pc);
}

static bool is_split(const struct gt_uftrace_recorder *r, uint64_t pc)
{
    return r->system.splits && g_hash_table_contains(r->system.splits, (void *)(uintptr_t)pc);
}

static void watch_switch(const struct gt_translation *t, size_t at)
{
    struct gt_uftrace_recorder *r = t->rec;
    uint64_t end = gt_decoded_end(&t->insn[at]);
    bool last = at + 1 == t->n;
    for (size_t i = 0; i <= at; i++)
        gt_insn_on_memory(t->insn[i].ref, last && i == at ? on_last_loaded : on_loaded,
                          GT_MEM_LOADS, NULL);
    gt_insn_on_exec_regs(t->insn[at].ref, before_switch, NULL);
    gt_linux_watch(r, &t->insn[at]);
    if (last)
        note_split(r, end);
    else
        gt_insn_on_exec_regs(t->insn[at + 1].ref, after_switch, NULL);
}

/* Where a context goes on whose stack pointer is stored now; NULL: not known. */
static void *resumes_at(const struct gt_pushed *pushed)
{
    bool known = pushed->push.width == 4 && pushed->above >= 0;
    return known ? (void *)(uintptr_t)pushed->push.value : NULL;
}

static void watch_stack_pointer(const struct gt_translation *t)
{
    struct gt_uftrace_recorder *r = t->rec;
    uint32_t copies = 0;
    if (is_split(r, t->insn[0].pc))
        gt_insn_on_exec_regs(t->insn[0].ref, after_switch, NULL);
    struct gt_pushed pushed = gt_pushed_before(t);
    for (size_t i = 0; i < t->n && r->guest.arch->stack_use; i++) {
        const struct gt_decoded *d = &t->insn[i];
        gt_pushed_see(r, &pushed, d);
        uint8_t use = r->guest.arch->stack_use(d->bytes, d->size, &copies);
        if (use == GT_STACK_STORED)
            gt_insn_on_memory(d->ref, on_stored, GT_MEM_STORES, resumes_at(&pushed));
        else if (d->insn.kind == GT_INSN_STACK_SWITCH && use != GT_STACK_OWN)
            watch_switch(t, i);
    }
}

void gt_machine_watch(const struct gt_translation *t, struct gt_code *code)
{
    struct gt_uftrace_recorder *r = t->rec;
    const struct gt_decoded *last = &t->insn[t->n - 1];
    watch_stack_pointer(t);
    if (t->insn[0].pc == code->pc && code->entry)
        gt_linux_watch_entry(r, &t->insn[0]);
    if (code->exit == GT_EXIT_SYSCALL && gt_host_can(GT_HOST_REGISTERS))
        gt_insn_on_exec_regs(last->ref, before_syscall, NULL);
    if (code->exit != GT_EXIT_EXCEPTION_RETURN || last->insn.kind != GT_INSN_EXCEPTION_RETURN)
        return;
    if (gt_level_leaves_world(r, code))
        gt_insn_on_exec_regs(last->ref, on_world_return, code);
    else
        gt_insn_on_exec_regs(last->ref, on_exception_return, code);
}

/* ---- tasks --------------------------------------------------------------------------------- */

void gt_machine_landed(struct gt_vcpu *v, uint64_t time)
{
    struct gt_uftrace_recorder *r = v->rec;
    const struct gt_stack *s = v->thread.stack;
    if (s == v->seen)
        return;
    v->seen = s;
    /* A context that comes from a vCPU whose clock is ahead takes its time along. */
    if (!r->hot.host_clock && s->last_time > time)
        v->insn_base += s->last_time - time;
    gt_linux_landed(v, time);
}
