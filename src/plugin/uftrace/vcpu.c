/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vCPUs: their words, their time, how they begin and end. */
#include "plugin/uftrace/vcpu.h"
#include "base/clock.h"
#include "format/recording/tasks.h"
#include "plugin/common/round_robin.h"
#include "plugin/uftrace/level.h"
#include "plugin/uftrace/output.h"
#include "plugin/uftrace/recorder.h"

#include <time.h>
#include <unistd.h>

/* The vCPU that the calling thread runs: a fact about the thread, not about a recorder. Each vCPU
 * knows its recorder; those of another one are not taken for the caller's. */
static __thread struct gt_vcpu *current;

struct gt_vcpu *gt_vcpu_current(const struct gt_uftrace_recorder *r)
{
    return current && current->rec == r ? current : NULL;
}

struct gt_cells *gt_vcpu_cells(struct gt_uftrace_recorder *r, struct gt_vcpu *v, unsigned index)
{
    if (!r->hot.score)
        return &v->own;
    if (v->cells)
        return v->cells;
    struct gt_cells *cells = gt_cells_find(r->hot.score, index);
    if (__atomic_load_n(&r->hot.cells_stay, __ATOMIC_RELAXED))
        v->cells = cells;
    return cells;
}

uint64_t gt_host_clock(const struct gt_uftrace_recorder *r)
{
    return gt_clock_monotonic() + r->hot.host_offset;
}

uint64_t gt_vcpu_time(const struct gt_vcpu *v, const struct gt_cells *cells)
{
    const struct gt_uftrace_recorder *r = v->rec;
    return __builtin_expect(r->hot.host_clock, 0) ? gt_host_clock(r) : v->insn_base + cells->insns;
}

void gt_use_host_clock(struct gt_uftrace_recorder *r, uint64_t offset)
{
    r->hot.host_clock = true;
    r->hot.host_offset = offset;
    for (unsigned i = 0; i < r->vcpus.n; i++)
        r->hot.vcpu[i].thread.attention |= GT_ATTENTION_CLOCK;
}

uint64_t gt_process_time(struct gt_uftrace_recorder *r)
{
    struct gt_vcpu *v = gt_vcpu_current(r);
    return v ? gt_vcpu_time(v, gt_vcpu_cells(r, v, gt_vcpu_index(v))) : r->vcpus.last_time;
}

void gt_vcpu_note_time(struct gt_uftrace_recorder *r, uint64_t time)
{
    if (time > r->vcpus.last_time)
        r->vcpus.last_time = time;
}

/* The time in a system call: hosts without cells count a block when the next one begins. */
uint64_t gt_vcpu_time_after_block(const struct gt_vcpu *v, const struct gt_cells *cells)
{
    return gt_vcpu_time(v, cells) + (v->rec->hot.host_clock ? 0 : v->block_insns);
}

void gt_vcpus_init(struct gt_uftrace_recorder *r)
{
    pthread_cond_init(&r->vcpus.none_ends, NULL);
    r->vcpus.no_stack = (struct gt_stack){.out = &r->vcpus.no_stream, .data = &r->vcpus.no_task};
}

void gt_vcpu_refuse(struct gt_uftrace_recorder *r, struct gt_vcpu *v)
{
    v->rec = r;
    v->refused = true;
    v->thread.stack = &r->vcpus.no_stack;
}

/* Before anything is translated: what works without cells does. */
static void give_cells_up(struct gt_uftrace_recorder *r)
{
    r->hot.score = NULL;
    for (unsigned i = 0; i < r->vcpus.n; i++)
        r->hot.vcpu[i].cells = NULL;
}

void gt_on_vcpu_init(void *self, unsigned vcpu)
{
    struct gt_uftrace_recorder *r = self;
    if (vcpu >= r->hot.max_vcpus) {
        __atomic_fetch_add(&r->totals.refused, 1, __ATOMIC_RELAXED);
        return;
    }
    bool no_cells = gt_round_robin_check(&r->host, "calls may be attributed to the wrong one");
    pthread_mutex_lock(&r->lock);
    if (no_cells)
        give_cells_up(r);
    if (vcpu >= r->vcpus.n)
        __atomic_store_n(&r->vcpus.n, vcpu + 1, __ATOMIC_RELAXED);
    if (!r->guest.user && r->vcpus.n >= r->host.max_vcpus)
        __atomic_store_n(&r->hot.cells_stay, true, __ATOMIC_RELAXED);
    struct gt_vcpu *v = &r->hot.vcpu[vcpu];
    struct gt_cells *cells = gt_vcpu_cells(r, v, vcpu);
    v->rec = r;
    cells->mark = 0;
    v->block_insns = 0;
    v->name[0] = v->last_name[0] = '\0';
    v->refused = false;
    v->thread.stack = &r->vcpus.no_stack;
    v->thread.attention = r->hot.host_clock ? GT_ATTENTION_CLOCK : 0;
    v->insn_base = r->vcpus.last_time + 1 - cells->insns;
    pthread_mutex_unlock(&r->lock);
}

void gt_vcpu_begin(struct gt_vcpu *v, struct gt_cells *cells, const struct gt_code *code)
{
    struct gt_uftrace_recorder *r = v->rec;
    gt_output_start(r);
    v->tid = r->guest.user ? (uint32_t)gettid() : gt_task_of_vcpu(gt_vcpu_index(v));
    if (r->options.privilege_levels)
        gt_levels_begin(v, code);
    uint64_t time = gt_vcpu_time(v, cells);
    v->begun = gt_thread_init(&v->thread, &r->tracker, time);
    if (!v->begun)
        gt_vcpu_refuse(r, v);
    current = v;
}

/* True for the one caller that is to end the vCPU's calls: its thread, or the end of all. */
static bool take_end(struct gt_vcpu *v)
{
    struct gt_uftrace_recorder *r = v->rec;
    pthread_mutex_lock(&r->lock);
    bool mine = v->begun && !r->vcpus.closed;
    v->begun &= !mine;
    r->vcpus.ending += mine;
    pthread_mutex_unlock(&r->lock);
    return mine;
}

void gt_vcpus_close(struct gt_uftrace_recorder *r)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&r->lock);
    r->vcpus.closed = true;
    while (r->vcpus.ending > 0 &&
           pthread_cond_timedwait(&r->vcpus.none_ends, &r->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&r->lock);
}

void gt_vcpu_end(struct gt_vcpu *v, struct gt_cells *cells)
{
    struct gt_uftrace_recorder *r = v->rec;
    if (!take_end(v))
        return;
    uint64_t time = gt_vcpu_time_after_block(v, cells);
    if (v->levels)
        gt_levels_end(v, time);
    gt_thread_finish(&v->thread, time);
    v->thread.stack = &r->vcpus.no_stack;
    if (r->guest.user)
        gt_output_name(v, NULL, time);
    pthread_mutex_lock(&r->lock);
    gt_vcpu_note_time(r, time);
    r->totals.calls += v->thread.calls;
    r->totals.matched += v->thread.matched;
    for (int i = 0; i < GT_COUNTERS; i++)
        r->totals.counters[i] += v->thread.counters[i];
    if (--r->vcpus.ending == 0)
        pthread_cond_signal(&r->vcpus.none_ends);
    pthread_mutex_unlock(&r->lock);
}

void gt_on_vcpu_exit(void *self, unsigned vcpu)
{
    struct gt_uftrace_recorder *r = self;
    if (vcpu >= r->hot.max_vcpus)
        return;
    struct gt_vcpu *v = &r->hot.vcpu[vcpu];
    gt_vcpu_end(v, gt_vcpu_cells(r, v, vcpu));
    if (current == v)
        current = NULL;
}

uint64_t gt_vcpu_expects(struct gt_uftrace_recorder *r)
{
    struct gt_vcpu *v = gt_vcpu_current(r);
    if (!v || !v->begun)
        return GT_NO_ADDR;
    uint64_t mark = gt_vcpu_cells(r, v, gt_vcpu_index(v))->mark;
    if (!(mark & GT_MARK_CODE))
        return GT_NO_ADDR;
    const struct gt_code *from = gt_mark_code(mark);
    return from->exit == GT_EXIT_CALL ? from->target : GT_NO_ADDR;
}

void gt_vcpus_forked(struct gt_uftrace_recorder *r)
{
    r->vcpus.ending = 0;
}
