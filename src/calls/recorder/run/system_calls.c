/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's system calls as calls: see system_calls.h. */
#include "calls/recorder/run/system_calls.h"
#include "calls/recorder/output/live_clock.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/filters.h"
#include "track/system_calls.h"

/* One that was made. */
struct gt_run_system_call {
    struct gt_code code; /* of no instructions: what values are read at */
    struct gt_track_func *fn;
    const struct gt_recorder_argument_function *of; /* NULL: it has no values */
};

int gt_run_system_calls_check(const struct gt_recorder *r, struct gt_error *err)
{
    if (!r->options.system_calls)
        return 0;
    if (!r->guest.user)
        return gt_error_set(err, GT_E_USAGE,
                            "argument syscalls=on: only programs in user mode have system calls "
                            "that QEMU reports, this is a machine");
    if (!gt_host_can(GT_HOST_SYSCALLS) || !r->guest.syscalls)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "argument syscalls=on: the system calls of %s are not known",
                            r->host.target);
    return 0;
}

static void add_symbol(struct gt_elf_symbols *s, unsigned number, const char *name)
{
    s->sym[s->n_sym++] = (struct gt_elf_symbol){.addr = number * (uint64_t)GT_SYSCALLS_STEP,
                                                .size = GT_SYSCALLS_STEP,
                                                .name = (char *)name,
                                                .type = 'T'};
}

/* After the program's own module, which `info` names. */
static struct gt_support_module *make_module(struct gt_recorder *r)
{
    struct gt_elf_symbols *s = g_new0(struct gt_elf_symbols, 1);
    s->path = g_strdup(GT_SYSCALLS_MODULE);
    s->sym = g_new0(struct gt_elf_symbol, GT_SYSCALLS_NUMBER + 1);
    s->load_size = (GT_SYSCALLS_NUMBER + 1) * (uint64_t)GT_SYSCALLS_STEP;
    for (unsigned i = 0; i < GT_SYSCALLS_NUMBER; i++) {
        const char *name = gt_abi_syscall_name(r->host.target, i);
        if (name)
            add_symbol(s, i, name);
    }
    add_symbol(s, GT_SYSCALLS_NUMBER, GT_SYSCALLS_UNKNOWN);
    return gt_support_modules_add_made(&r->code.modules, GT_SYSCALLS_BASE, GT_SYSCALLS_MODULE, s);
}

static struct gt_run_system_call *make_call(struct gt_recorder *r, unsigned number)
{
    struct gt_support_module *module = r->calls.module;
    uint64_t addr = GT_SYSCALLS_BASE + number * (uint64_t)GT_SYSCALLS_STEP;
    struct gt_run_system_call *call =
        g_aligned_alloc0(1, sizeof *call, _Alignof(struct gt_run_system_call));
    call->fn = gt_support_module_func(module, addr);
    call->code = (struct gt_code){.pc = addr, .fn = call->fn, .entry = 1};
    if (gt_select_filters_current(&r->filters))
        gt_select_filters_know(r, addr, module, call->fn);
    call->of = r->arguments.on ? gt_recorder_arguments_of(r, module, call->fn) : NULL;
    return call;
}

/* NULL: the worker cannot run. */
static struct gt_run_system_call *find_call(struct gt_recorder *r, int64_t number)
{
    bool known = number >= 0 && number < GT_SYSCALLS_NUMBER &&
                 gt_abi_syscall_name(r->host.target, (uint64_t)number);
    unsigned i = known ? (unsigned)number : GT_SYSCALLS_NUMBER;
    struct gt_run_system_calls *c = &r->calls;
    pthread_mutex_lock(&r->lock);
    if (!c->module)
        c->module = make_module(r);
    if (c->module && !c->known[i])
        c->known[i] = make_call(r, i);
    struct gt_run_system_call *call = c->known[i];
    pthread_mutex_unlock(&r->lock);
    return call;
}

static void end(struct gt_vcpu *v, struct gt_recorder_score *score, const int64_t *result)
{
    struct gt_run_system_call *call = v->call;
    struct gt_recorder_transfer t = {
        .vcpu = v, .code = &call->code, .time = gt_run_vcpu_time_after_block(v, score)};
    uint64_t given = result ? (uint64_t)*result : 0;
    v->call = NULL;
    if (call->of && result)
        gt_recorder_arguments_give(&t, call->of, &given, true);
    gt_track_syscall_return(&v->thread, call->fn, t.time);
    gt_recorder_arguments_after(&t);
}

void gt_run_system_call(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t number,
                        const uint64_t args[8])
{
    struct gt_recorder *r = v->rec;
    const struct gt_arch_syscalls *sys = r->guest.syscalls;
    struct gt_run_system_call *call = v->begun ? find_call(r, number) : NULL;
    v->call = call;
    if (!call)
        return;
    struct gt_recorder_transfer t = {
        .vcpu = v, .code = &call->code, .time = gt_run_vcpu_time_after_block(v, score)};
    gt_recorder_live_clock_set(&r->hot.live, t.time);
    if (call->of)
        gt_recorder_arguments_give(&t, call->of, args, false);
    gt_track_syscall(&v->thread, call->fn, t.time);
    gt_recorder_arguments_after(&t);
    if (number == sys->rt_sigreturn || number == sys->sigreturn) /* other frames go on */
        end(v, score, NULL);
}

void gt_run_system_call_return(struct gt_vcpu *v, struct gt_recorder_score *score, int64_t result)
{
    if (v->call && v->begun)
        end(v, score, &result);
}
