/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hypervisors in machines: see guests.h. */
#include "calls/recorder/run/guests.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/recorder.h"
#include "track/guests.h"

void gt_run_guests_init(struct gt_recorder *r)
{
    r->guests.virtual = r->guest.user ? NULL : gt_arch_virtual_by_arch(r->guest.arch->name);
}

/* ---- exception returns --------------------------------------------------------------------- */

/* False: there are no such registers, or the first one says that there is nothing to find. */
static bool read_registers(struct gt_vcpu *v, uint64_t *values)
{
    struct gt_run_guests *g = &v->rec->guests;
    for (size_t i = 0; i < GT_VIRTUAL_REGISTERS && g->virtual->registers[i]; i++)
        if (!gt_host_register_read(&g->registers[i], g->virtual->registers[i], &values[i]) ||
            (i == 0 && !v->thread.guest && !(values[0] & g->virtual->first_bit)))
            return false;
    return true;
}

/* Once. */
static void report_unread(struct gt_run_guests *g)
{
    if (!__atomic_exchange_n(&g->reported, true, __ATOMIC_RELAXED))
        gt_host_message(
            "the guest runs virtual machines, and this QEMU does not show which: calls of several "
            "virtual CPUs that one thread runs are not distinguished; QEMU 9.0 and later do");
}

static enum gt_arch_virtual_target target_of(struct gt_vcpu *v, struct gt_arch_virtual_id *id)
{
    uint64_t values[GT_VIRTUAL_REGISTERS] = {0};
    if (!gt_host_can(GT_HOST_REGISTERS))
        return gt_track_guest_is_prepared(&v->thread) ? GT_VIRTUAL_GUEST : GT_VIRTUAL_SAME;
    return read_registers(v, values) ? v->rec->guests.virtual->target(values, id) : GT_VIRTUAL_SAME;
}

bool gt_run_guests_entered(struct gt_vcpu *v, uint64_t *last_exit, uint64_t time)
{
    const struct gt_arch_virtual *how = v->rec->guests.virtual;
    struct gt_arch_virtual_id which = {0};
    if (!how || !how->target)
        return false;
    enum gt_arch_virtual_target target = target_of(v, &which);
    if (target == GT_VIRTUAL_HOST)
        gt_track_guest_leave_all(&v->thread, time);
    struct gt_track_guest_id id = {.vm = which.vm, .vcpu = which.vcpu};
    if (target != GT_VIRTUAL_GUEST || gt_track_guest_goes_on(&v->thread, &id, time) ||
        !gt_track_guest_may_be_entered(&v->thread))
        return false;
    uint64_t continues = gt_track_guest_enter(&v->thread, &id, time);
    if (!continues)
        return false;
    if (!gt_host_can(GT_HOST_REGISTERS))
        report_unread(&v->rec->guests);
    *last_exit = continues;
    return true;
}

void gt_run_on_guest_prepare(unsigned vcpu, void *data)
{
    (void)data;
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    gt_track_guest_prepare(&v->thread);
    gt_vcpu_leave(v);
}

/* ---- instructions that enter guests -------------------------------------------------------- */

void gt_run_on_guest_run(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    if (!v)
        return;
    struct gt_track_guest_id id = {.after = (uint64_t)(uintptr_t)data};
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    if (!gt_host_register_read(&r->guests.registers[0], r->guests.virtual->registers[0], &id.vm))
        id.vm = 0;
    uint64_t continues = gt_track_guest_enter(&v->thread, &id, gt_run_vcpu_time(v, score));
    if (continues)
        score->last_exit = continues;
    gt_vcpu_leave(v);
}

void gt_run_on_guest_end(unsigned vcpu, void *data)
{
    struct gt_recorder *r = gt_recorder_installed();
    struct gt_vcpu *v = gt_vcpu_enter_begun(r, vcpu);
    const struct gt_code *code = data;
    if (!v)
        return;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    if (gt_track_guest_ends_at(&v->thread, code->pc, score->last_exit, gt_run_vcpu_time(v, score)))
        score->last_exit = gt_track_last_exit_of_func(code->fn);
    gt_vcpu_leave(v);
}

bool gt_run_guests_end_at(const struct gt_vcpu *v, uint64_t pc)
{
    const struct gt_track_guest_vcpu *g = v->thread.guest;
    return g && g->after && g->after == pc;
}
