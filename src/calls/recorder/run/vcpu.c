/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vCPUs: their words, their time, their beginning and end. See vcpu.h. */
#include "calls/recorder/run/vcpu.h"
#include "base/clock.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/output/tasks.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/select/level.h"
#include "recording/texts/tasks.h"
#include "track/unfollowed.h"

#include <unistd.h>

struct gt_recorder gt_recorder_instance;

/* The vCPU that the calling thread runs: a fact about the thread, not about a recorder. Each vCPU
 * knows its recorder; a vCPU of another recorder is not taken for the caller's. */
static __thread struct gt_vcpu *current;

struct gt_vcpu *gt_run_vcpu_current(const struct gt_recorder *r)
{
    return current && current->rec == r ? current : NULL;
}

struct gt_recorder_score *gt_run_vcpu_score(struct gt_recorder *r, struct gt_vcpu *v,
                                            unsigned index)
{
    if (!r->hot.scoreboard)
        return &v->own;
    return gt_host_scoreboard_find(r->hot.scoreboard, index);
}

void gt_run_vcpus_forget_scores(struct gt_recorder *r)
{
    unsigned n = __atomic_load_n(&r->vcpus.n, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < n; i++)
        r->hot.vcpu[i].score = NULL;
}

uint64_t gt_run_host_clock(const struct gt_recorder *r)
{
    return gt_base_clock_monotonic() + r->hot.host_offset;
}

uint64_t gt_run_vcpu_time(const struct gt_vcpu *v, const struct gt_recorder_score *score)
{
    const struct gt_recorder *r = v->rec;
    return __builtin_expect(r->hot.host_clock, 0) ? gt_run_host_clock(r)
                                                  : v->insn_base + score->insns;
}

void gt_run_use_host_clock(struct gt_recorder *r, uint64_t offset)
{
    r->hot.host_clock = true;
    r->hot.host_offset = offset;
    for (unsigned i = 0; i < r->vcpus.n; i++)
        r->hot.vcpu[i].thread.slow_flags |= GT_VCPU_CLOCK;
}

uint64_t gt_run_process_time(struct gt_recorder *r)
{
    struct gt_vcpu *v = gt_run_vcpu_current(r);
    return v ? gt_run_vcpu_time(v, gt_run_vcpu_score(r, v, gt_vcpu_index(v))) : r->vcpus.last_time;
}

void gt_run_vcpu_note_time(struct gt_recorder *r, uint64_t time)
{
    if (time > r->vcpus.last_time)
        r->vcpus.last_time = time;
}

/* Hosts without a scoreboard count a block when the next one begins. */
uint64_t gt_run_vcpu_time_after_block(const struct gt_vcpu *v,
                                      const struct gt_recorder_score *score)
{
    return gt_run_vcpu_time(v, score) + (v->rec->hot.host_clock ? 0 : v->block_insns);
}

uint64_t gt_run_vcpus_newest(struct gt_recorder *r)
{
    uint64_t newest = r->vcpus.last_time;
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *v = &r->hot.vcpu[i];
        uint64_t time = v->begun ? gt_run_vcpu_time_after_block(v, gt_run_vcpu_score(r, v, i)) : 0;
        newest = time > newest ? time : newest;
    }
    return newest;
}

void gt_run_vcpu_refuse(struct gt_recorder *r, struct gt_vcpu *v)
{
    v->rec = r;
    v->refused = true;
    v->thread.slow_flags |= GT_VCPU_IDLE;
}

/* Before the first translation: all further code works without the scoreboard. */
static void give_scoreboard_up(struct gt_recorder *r)
{
    r->hot.scoreboard = NULL;
    gt_run_vcpus_forget_scores(r);
}

/* The vCPUs cannot be distinguished. On the thread that runs them. */
static void refuse_all(struct gt_recorder *r)
{
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *v = &r->hot.vcpu[i];
        gt_run_vcpu_end(v, gt_run_vcpu_score(r, v, i));
        gt_run_vcpu_refuse(r, v);
    }
}

/* The newest time before that of the vCPU that is being announced. */
static uint64_t begins_after(struct gt_recorder *r)
{
    if (!r->guest.user)
        return gt_run_vcpus_newest(r);
    return r->hot.host_clock ? r->vcpus.last_time : gt_run_clones_begin(r, gt_run_vcpu_current(r));
}

void gt_run_on_vcpu_init(void *self, unsigned vcpu)
{
    struct gt_recorder *r = self;
    if (vcpu >= r->hot.max_vcpus) {
        __atomic_fetch_add(&r->totals.refused, 1, __ATOMIC_RELAXED);
        return;
    }
    enum gt_host_vcpus vcpus =
        gt_host_vcpus_correct(&r->host, vcpu, "their calls are not recorded");
    pthread_mutex_lock(&r->lock);
    const uint64_t newest = begins_after(r);
    if (gt_gate_ends(&r->gate)) { /* it is ended without this vCPU */
        pthread_mutex_unlock(&r->lock);
        return;
    }
    if (vcpus != GT_VCPUS_RIGHT)
        give_scoreboard_up(r);
    if (vcpu >= r->vcpus.n)
        __atomic_store_n(&r->vcpus.n, vcpu + 1, __ATOMIC_RELEASE);
    struct gt_vcpu *v = &r->hot.vcpu[vcpu];
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    v->rec = r;
    score->last_exit = 0;
    v->block_insns = 0;
    v->name[0] = v->last_name[0] = '\0';
    v->refused = v->in_syscall = v->clones = v->halted = v->met = false;
    v->thread.slow_flags = GT_VCPU_IDLE | (r->hot.host_clock ? GT_VCPU_CLOCK : 0) |
                           (gt_recorder_plan(r)->asks ? GT_VCPU_ASKS : 0);
    v->insn_base = newest + 1 - score->insns;
    pthread_mutex_unlock(&r->lock);
    if (vcpus == GT_VCPUS_WRONG)
        refuse_all(r);
}

void gt_run_vcpu_begin(struct gt_vcpu *v, struct gt_recorder_score *score,
                       const struct gt_code *code)
{
    struct gt_recorder *r = v->rec;
    gt_recorder_output_start(r);
    v->resets = __atomic_load_n(&r->resets.n, __ATOMIC_RELAXED);
    v->tid = r->guest.user ? (uint32_t)gettid() : gt_recording_task_of_vcpu(gt_vcpu_index(v));
    if (r->options.privilege_levels)
        gt_select_levels_begin(v, code);
    uint64_t time = gt_run_vcpu_time(v, score);
    v->begun = gt_track_thread_init(&v->thread, &r->tracker, time);
    if (v->begun) {
        v->thread.slow_flags &= ~(uint32_t)GT_VCPU_IDLE;
        v->thread.stack->cut = v->met || r->vmstates.middle;
    } else {
        gt_run_vcpu_refuse(r, v);
    }
    current = v;
}

void gt_run_vcpu_stop_following(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    struct gt_recorder *r = v->rec;
    uint64_t time = gt_run_vcpu_time_after_block(v, score);
    if (v->levels)
        gt_select_levels_end(v, time);
    gt_track_stop_following(&v->thread, time);
    v->loads_sp = false;
    v->left = v->seen = NULL;
    v->left_sp = 0;
    score->last_exit = 0;
    if (!r->hot.scoreboard && !r->hot.sparse)
        score->insns += v->block_insns;
    v->block_insns = 0;
    pthread_mutex_lock(&r->lock);
    gt_run_vcpu_note_time(r, time);
    pthread_mutex_unlock(&r->lock);
}

void gt_run_vcpu_begin_again(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    gt_run_vcpu_stop_following(v, score);
    gt_track_begin_again(&v->thread, gt_run_vcpu_time(v, score));
}

void gt_run_vcpu_follow_again(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    score->last_exit = 0;
    gt_track_follow_again(&v->thread, gt_run_vcpu_time(v, score));
}

void gt_run_vcpu_end(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    struct gt_recorder *r = v->rec;
    if (!v->begun)
        return;
    v->begun = false;
    uint64_t time = gt_run_vcpu_time_after_block(v, score);
    if (v->levels)
        gt_select_levels_end(v, time);
    gt_track_thread_finish(&v->thread, time);
    v->thread.stack = NULL;
    v->thread.slow_flags |= GT_VCPU_IDLE;
    v->out = NULL;
    if (r->guest.user)
        gt_recorder_output_name(v, NULL, gt_run_vcpu_current(r) == v, time);
    pthread_mutex_lock(&r->lock);
    gt_run_vcpu_note_time(r, time);
    r->totals.calls += v->thread.calls;
    r->totals.matched += v->thread.matched;
    r->totals.unrecorded += v->thread.unrecorded;
    for (int i = 0; i < GT_COUNTERS; i++)
        r->totals.counters[i] += v->thread.counters[i];
    pthread_mutex_unlock(&r->lock);
}

void gt_run_on_vcpu_exit(void *self, unsigned vcpu)
{
    struct gt_recorder *r = self;
    if (vcpu >= r->hot.max_vcpus)
        return;
    struct gt_vcpu *v = gt_vcpu_enter(r, vcpu);
    if (v) {
        gt_select_dormant_lock(r);
        gt_run_vcpu_end(v, gt_run_vcpu_score(r, v, vcpu));
        gt_select_dormant_unlock(r);
        gt_vcpu_leave(v);
    }
    if (current == &r->hot.vcpu[vcpu])
        current = NULL;
}

uint64_t gt_run_vcpu_expects(struct gt_recorder *r)
{
    struct gt_vcpu *v = gt_run_vcpu_current(r);
    if (!v || !v->begun)
        return GT_NO_ADDR;
    uint64_t last_exit = gt_run_vcpu_score(r, v, gt_vcpu_index(v))->last_exit;
    if (!(last_exit & GT_LAST_EXIT_CODE))
        return GT_NO_ADDR;
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    return from->exit == GT_EXIT_CALL ? from->target : GT_NO_ADDR;
}

void gt_run_vcpus_forked(struct gt_vcpu *v)
{
    struct gt_recorder *r = v->rec;
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *other = &r->hot.vcpu[i];
        if (other == v)
            continue;
        other->begun = false;
        gt_gate_leave(&other->thread.busy);
    }
    gt_run_clones_forked(r);
}
