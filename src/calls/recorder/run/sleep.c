/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the recorder falls asleep and wakes up, and what it watches while it sleeps: see dormant.h.
 */
#include "calls/recorder/installed.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/dormant.h"
#include "calls/recorder/select/filtered.h"
#include "track/unfollowed.h"

/* ---- changes: no vCPU runs code ------------------------------------------------------------ */

static void fall_asleep(struct gt_recorder *r)
{
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *v = &r->hot.vcpu[i];
        struct gt_recorder_score *score = v->begun ? gt_run_vcpu_score(r, v, i) : NULL;
        v->halted = v->begun && v->in_syscall;
        if (v->halted)
            gt_select_filtered_stop(&gt_recorder_task_of(v->thread.stack)->filtered,
                                    gt_run_vcpu_time_after_block(v, score));
        else if (v->begun)
            gt_run_vcpu_stop_following(v, score);
    }
    gt_track_end_suspended(&r->tracker, r->vcpus.last_time);
}

static void wake_up(struct gt_recorder *r)
{
    r->tracker.unfollowed = true;
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *v = &r->hot.vcpu[i];
        v->met |= v->rec && !v->begun;
        if (v->begun && !v->halted)
            gt_run_vcpu_follow_again(v, gt_run_vcpu_score(r, v, i));
        v->halted = false;
    }
}

/* The request may have been taken back. */
static void change(void *self)
{
    struct gt_recorder *r = self;
    pthread_mutex_lock(&r->dormant.lock);
    bool sleeps = gt_select_dormant_is_due(r), slept = gt_select_dormant_is_asleep(r);
    if (!gt_gate_ends(&r->gate) && sleeps && !slept)
        fall_asleep(r);
    else if (!gt_gate_ends(&r->gate) && !sleeps && slept)
        wake_up(r);
    __atomic_store_n(&r->dormant.asleep, sleeps, __ATOMIC_RELEASE);
    gt_host_subscribe(sleeps ? &r->dormant.events : &r->events, r);
    pthread_mutex_unlock(&r->dormant.lock);
    gt_select_dormant_changed(r); /* not before: frames that end look, too */
}

/* ---- asleep -------------------------------------------------------------------------------- */

static void on_exception_return(unsigned vcpu, void *data)
{
    (void)vcpu, (void)data;
    gt_select_dormant_look(gt_recorder_installed());
}

/* Where the host does not report interrupts, their ends are seen. */
static void watch_interrupts(const struct gt_recorder *r, struct gt_host_block *block)
{
    uint8_t bytes[16];
    struct gt_arch_insn insn;
    size_t n = gt_host_block_insns(block);
    if (n == 0)
        return;
    struct gt_host_insn *last = gt_host_block_insn(block, n - 1);
    r->guest.arch->classify(bytes, (uint8_t)gt_host_insn_bytes(last, bytes, sizeof bytes),
                            gt_host_insn_pc(last), &insn);
    if (insn.kind == GT_INSN_EXCEPTION_RETURN)
        gt_host_insn_on_exec(last, on_exception_return, NULL);
}

static void on_translate(void *self, struct gt_host_block *block)
{
    struct gt_recorder *r = self;
    if (!r->guest.user && !gt_host_can(GT_HOST_DISCONTINUITY))
        watch_interrupts(r, block);
    gt_select_dormant_look(r);
}

static void on_idle(void *self, unsigned vcpu)
{
    (void)vcpu;
    gt_select_dormant_look(self);
}

static void on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from, uint64_t to)
{
    (void)vcpu, (void)kind, (void)from, (void)to;
    gt_select_dormant_look(self);
}

bool gt_select_dormant_init(struct gt_recorder *r)
{
    struct gt_select_dormant *d = &r->dormant;
    d->possible = gt_select_filters_current(&r->filters) && gt_host_can(GT_HOST_START_AGAIN);
    if (!d->possible)
        return false;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->change = change;
    d->events = r->events;
    d->events.translate = on_translate;
    d->events.vcpu_idle = on_idle;
    if (gt_host_can(GT_HOST_DISCONTINUITY))
        d->events.discontinuity = on_discontinuity;
    d->asleep = gt_select_dormant_is_due(r);
    d->wakes = r->guest.user;
    return d->asleep;
}
