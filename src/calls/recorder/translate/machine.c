/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callbacks of a machine's blocks: see machine.h. What they do is in run/. */
#include "calls/recorder/translate/machine.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/guests.h"
#include "calls/recorder/run/linux.h"
#include "calls/recorder/run/reset.h"
#include "calls/recorder/run/system.h"
#include "calls/recorder/translate/push.h"
#include "calls/recorder/translate/straight.h"
#include "calls/recorder/translate/watch.h"
#include "qemu/support/code_modules.h"

#include <string.h>

/* ---- where machines and guests begin ------------------------------------------------------- */

static void watch_run(const struct gt_translate_block *t, const struct gt_translate_decoded *d)
{
    struct gt_recorder *r = t->rec;
    void *after = (void *)(uintptr_t)gt_translate_decoded_end(d);
    if (!r->guests.ends)
        r->guests.ends = g_hash_table_new(NULL, NULL);
    g_hash_table_add(r->guests.ends, after);
    gt_host_insn_on_exec_regs(d->ref, gt_run_on_guest_run, after);
}

static void watch_guests(const struct gt_translate_block *t, struct gt_code *code)
{
    struct gt_recorder *r = t->rec;
    const struct gt_arch_virtual *how = r->guests.virtual;
    bool prepares = how && how->prepares && !gt_host_can(GT_HOST_REGISTERS);
    if (!how || !(prepares || how->runs))
        return;
    if (r->guests.ends && g_hash_table_contains(r->guests.ends, (void *)(uintptr_t)code->pc))
        gt_host_block_on_exec(t->block, gt_run_on_guest_end, code);
    for (size_t i = 0; i < t->n; i++) {
        const struct gt_translate_decoded *d = &t->insn[i];
        if (how->runs && how->runs(d->bytes, d->size))
            watch_run(t, d);
        if (prepares && how->prepares(d->bytes, d->size))
            gt_host_insn_on_exec(d->ref, gt_run_on_guest_prepare, NULL);
    }
}

static void watch_resets(const struct gt_translate_block *t, struct gt_code *code)
{
    struct gt_run_resets *resets = &t->rec->resets;
    if (!resets->known)
        *resets = (struct gt_run_resets){.first = code->pc, .known = true};
    if (code->pc == resets->first)
        gt_host_block_on_exec(t->block, gt_run_on_machine_begin, code);
}

void gt_translate_machine_watch_first(const struct gt_translate_block *t, struct gt_code *code)
{
    watch_guests(t, code);
    watch_resets(t, code);
}

/* ---- threads of a Linux guest -------------------------------------------------------------- */

static bool is_switch(const char *name)
{
    return name && (strcmp(name, "cpu_switch_to") == 0 || strcmp(name, "__switch_to") == 0 ||
                    strcmp(name, "__switch_to_asm") == 0);
}

/* NULL: not a Linux kernel, or no name there. */
static const char *name_at(struct gt_recorder *r, uint64_t pc)
{
    const struct gt_support_module *module =
        r->os.layout ? gt_support_modules_at(&r->code.modules, pc, NULL) : NULL;
    return module && module->recognised
               ? gt_support_code_module_name(module, gt_support_module_func(module, pc))
               : NULL;
}

/* The instruction loads the stack pointer, perhaps where the kernel switches threads. */
static void watch_thread_switch(struct gt_recorder *r, const struct gt_translate_decoded *insn)
{
    if (is_switch(name_at(r, insn->pc)))
        gt_host_insn_on_exec_regs(insn->ref, gt_run_on_thread_switch, NULL);
}

/* A function begins with the instruction. */
static void watch_thread_name(struct gt_recorder *r, const struct gt_translate_decoded *first)
{
    const char *name = name_at(r, first->pc);
    if (name && strcmp(name, "__set_task_comm") == 0)
        gt_host_insn_on_exec_regs(first->ref, gt_run_on_thread_named, NULL);
}

/* ---- stack pointers ------------------------------------------------------------------------ */

static void note_split(struct gt_recorder *r, uint64_t pc)
{
    if (!r->system.splits)
        r->system.splits = g_hash_table_new(NULL, NULL);
    g_hash_table_add(r->system.splits, (void *)(uintptr_t)pc);
}

static bool is_split(const struct gt_recorder *r, uint64_t pc)
{
    return r->system.splits && g_hash_table_contains(r->system.splits, (void *)(uintptr_t)pc);
}

/* `kept`: another register has the stack pointer that is left. */
static void watch_switch(const struct gt_translate_block *t, size_t at, bool kept)
{
    static char yes;
    struct gt_recorder *r = t->rec;
    uint64_t end = gt_translate_decoded_end(&t->insn[at]);
    bool last = at + 1 == t->n;
    gt_translate_watch_words(t, at, gt_run_on_sp_loaded, GT_MEM_LOADS);
    gt_translate_watch_memory(t, at, last ? gt_run_on_last_sp_loaded : gt_run_on_sp_loaded,
                              GT_MEM_LOADS, NULL);
    gt_host_insn_on_exec_regs(t->insn[at].ref, gt_run_before_sp_load, kept ? &yes : NULL);
    watch_thread_switch(r, &t->insn[at]);
    if (last)
        note_split(r, end);
    else
        gt_host_insn_on_exec_regs(t->insn[at + 1].ref, gt_run_after_sp_load, NULL);
}

/* The address where a context continues whose stack pointer is stored now; NULL: not known. */
static void *resumes_at(const struct gt_translate_pushed *pushed)
{
    bool known = pushed->push.width == 4 && pushed->above >= 0;
    return known ? (void *)(uintptr_t)pushed->push.value : NULL;
}

static void watch_stack_pointer(const struct gt_translate_block *t)
{
    struct gt_recorder *r = t->rec;
    uint32_t copies = gt_translate_straight_copies(t);
    if (is_split(r, t->insn[0].pc))
        gt_host_insn_on_exec_regs(t->insn[0].ref, gt_run_after_sp_load, NULL);
    struct gt_translate_pushed pushed = gt_translate_pushed_before(t);
    for (size_t i = 0; i < t->n && r->guest.arch->stack_use; i++) {
        const struct gt_translate_decoded *d = &t->insn[i];
        gt_translate_pushed_see(r, &pushed, d);
        uint8_t use = r->guest.arch->stack_use(d->bytes, d->size, &copies);
        if (use == GT_STACK_STORED)
            gt_translate_watch_memory(t, i, gt_run_on_sp_stored, GT_MEM_STORES,
                                      resumes_at(&pushed));
        else if (d->insn.kind == GT_INSN_STACK_SWITCH && use != GT_STACK_OWN)
            watch_switch(t, i, copies & r->guest.arch->sp_copies);
    }
    gt_translate_straight_keep(t, copies);
    if (gt_translate_straight_switches(t, copies))
        gt_translate_watch_words(t, t->n, gt_run_on_sp_loaded, GT_MEM_LOADS);
}

/* ---- all ------------------------------------------------------------------------------------ */

void gt_translate_machine_watch(const struct gt_translate_block *t, struct gt_code *code)
{
    struct gt_recorder *r = t->rec;
    const struct gt_translate_decoded *last = &t->insn[t->n - 1];
    watch_stack_pointer(t);
    if (t->insn[0].pc == code->pc && code->entry)
        watch_thread_name(r, &t->insn[0]);
    if (code->exit == GT_EXIT_SYSCALL && gt_host_can(GT_HOST_REGISTERS))
        gt_host_insn_on_exec_regs(last->ref, gt_run_before_system_call, NULL);
    if (code->exit != GT_EXIT_EXCEPTION_RETURN || last->insn.kind != GT_INSN_EXCEPTION_RETURN)
        return;
    if (gt_select_level_leaves_world(r, code))
        gt_host_insn_on_exec_regs(last->ref, gt_run_on_world_return, code);
    else
        gt_host_insn_on_exec_regs(last->ref, gt_run_on_exception_return, code);
}
