/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vCPUs: their words, their time, how they begin and end. */
#include "base/clock.h"
#include "format/recording/tasks.h"
#include "plugin/common/round_robin.h"
#include "plugin/uftrace/uftrace.h"

#include <time.h>
#include <unistd.h>

static __thread struct gt_vcpu *current;

struct gt_cells *gt_vcpu_cells(struct gt_vcpu *v, unsigned index)
{
    if (!gt_rec.score)
        return &v->own;
    if (v->cells)
        return v->cells;
    struct gt_cells *cells = gt_cells_find(gt_rec.score, index);
    if (__atomic_load_n(&gt_rec.cells_stay, __ATOMIC_RELAXED))
        v->cells = cells;
    return cells;
}

uint64_t gt_host_clock(void)
{
    return gt_clock_monotonic() + gt_rec.host_offset;
}

uint64_t gt_vcpu_time(const struct gt_vcpu *v, const struct gt_cells *cells)
{
    return __builtin_expect(gt_rec.host_clock, 0) ? gt_host_clock() : v->insn_base + cells->insns;
}

void gt_use_host_clock(uint64_t offset)
{
    gt_rec.host_clock = true;
    gt_rec.host_offset = offset;
    for (unsigned i = 0; i < gt_rec.n_vcpus; i++)
        gt_rec.vcpus[i].thread.attention |= GT_ATTENTION_CLOCK;
}

uint64_t gt_process_time(void)
{
    if (!current)
        return gt_rec.last_time;
    return gt_vcpu_time(current, gt_vcpu_cells(current, (unsigned)(current - gt_rec.vcpus)));
}

void gt_vcpu_note_time(uint64_t time)
{
    if (time > gt_rec.last_time)
        gt_rec.last_time = time;
}

/* The time in a system call: hosts without cells count a block when the next one begins. */
uint64_t gt_vcpu_time_after_block(const struct gt_vcpu *v, const struct gt_cells *cells)
{
    return gt_vcpu_time(v, cells) + (gt_rec.host_clock ? 0 : v->block_insns);
}

/* The stack of a vCPU that is not recorded: there is never room, so that no landing is plain. */
static struct gt_stream no_stream;
static struct gt_task no_task;
static struct gt_stack no_stack = {.out = &no_stream, .data = &no_task};

void gt_vcpu_refuse(struct gt_vcpu *v)
{
    v->refused = true;
    v->thread.stack = &no_stack;
}

/* Before anything is translated: what works without cells does. */
static void give_cells_up(void)
{
    gt_rec.score = NULL;
    for (unsigned i = 0; i < gt_rec.n_vcpus; i++)
        gt_rec.vcpus[i].cells = NULL;
}

void gt_on_vcpu_init(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= gt_rec.max_vcpus) {
        __atomic_fetch_add(&gt_rec.tasks_refused, 1, __ATOMIC_RELAXED);
        return;
    }
    bool no_cells = gt_round_robin_check(&gt_rec.host, "calls may be attributed to the wrong one");
    pthread_mutex_lock(&gt_rec.lock);
    if (no_cells)
        give_cells_up();
    if (vcpu >= gt_rec.n_vcpus)
        __atomic_store_n(&gt_rec.n_vcpus, vcpu + 1, __ATOMIC_RELAXED);
    if (!gt_rec.user && gt_rec.n_vcpus >= gt_rec.host.max_vcpus)
        __atomic_store_n(&gt_rec.cells_stay, true, __ATOMIC_RELAXED);
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    struct gt_cells *cells = gt_vcpu_cells(v, vcpu);
    cells->mark = 0;
    v->block_insns = 0;
    v->name[0] = v->last_name[0] = '\0';
    v->refused = false;
    v->thread.stack = &no_stack;
    v->thread.attention = gt_rec.host_clock ? GT_ATTENTION_CLOCK : 0;
    v->insn_base = gt_rec.last_time + 1 - cells->insns;
    pthread_mutex_unlock(&gt_rec.lock);
}

void gt_vcpu_begin(struct gt_vcpu *v, struct gt_cells *cells, const struct gt_code *code)
{
    static pthread_once_t started = PTHREAD_ONCE_INIT;
    pthread_once(&started, gt_output_start);
    v->tid = gt_rec.user ? (uint32_t)gettid() : gt_task_of_vcpu((unsigned)(v - gt_rec.vcpus));
    if (gt_rec.privilege_levels)
        gt_levels_begin(v, code);
    uint64_t time = gt_vcpu_time(v, cells);
    v->begun = gt_thread_init(&v->thread, &gt_rec.tracker, time);
    if (!v->begun)
        gt_vcpu_refuse(v);
    current = v;
}

/* Threads that record their own end; `closed`: the recording's end comes first. */
static struct {
    unsigned n;
    bool closed;
    pthread_cond_t none;
} ending = {.none = PTHREAD_COND_INITIALIZER};

/* True for the one caller that is to end the vCPU's calls: its thread, or the end of all. */
static bool take_end(struct gt_vcpu *v)
{
    pthread_mutex_lock(&gt_rec.lock);
    bool mine = v->begun && !ending.closed;
    v->begun &= !mine;
    ending.n += mine;
    pthread_mutex_unlock(&gt_rec.lock);
    return mine;
}

void gt_vcpus_close(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&gt_rec.lock);
    ending.closed = true;
    while (ending.n > 0 && pthread_cond_timedwait(&ending.none, &gt_rec.lock, &until) == 0)
        ;
    pthread_mutex_unlock(&gt_rec.lock);
}

void gt_vcpu_end(struct gt_vcpu *v, struct gt_cells *cells)
{
    if (!take_end(v))
        return;
    uint64_t time = gt_vcpu_time_after_block(v, cells);
    if (v->levels)
        gt_levels_end(v, time);
    gt_thread_finish(&v->thread, time);
    v->thread.stack = &no_stack;
    if (gt_rec.user)
        gt_output_name(v, NULL, time);
    pthread_mutex_lock(&gt_rec.lock);
    gt_vcpu_note_time(time);
    gt_rec.calls += v->thread.calls;
    gt_rec.matched += v->thread.matched;
    for (int i = 0; i < GT_COUNTERS; i++)
        gt_rec.counters[i] += v->thread.counters[i];
    if (--ending.n == 0)
        pthread_cond_signal(&ending.none);
    pthread_mutex_unlock(&gt_rec.lock);
}

void gt_on_vcpu_exit(void *self, unsigned vcpu)
{
    (void)self;
    if (vcpu >= gt_rec.max_vcpus)
        return;
    struct gt_vcpu *v = &gt_rec.vcpus[vcpu];
    gt_vcpu_end(v, gt_vcpu_cells(v, vcpu));
    if (current == v)
        current = NULL;
}

uint64_t gt_vcpu_expects(void)
{
    if (!current || !current->begun)
        return GT_NO_ADDR;
    uint64_t mark = gt_vcpu_cells(current, (unsigned)(current - gt_rec.vcpus))->mark;
    if (!(mark & GT_MARK_CODE))
        return GT_NO_ADDR;
    const struct gt_code *from = gt_mark_code(mark);
    return from->exit == GT_EXIT_CALL ? from->target : GT_NO_ADDR;
}

struct gt_vcpu *gt_vcpu_current(void)
{
    return current;
}

void gt_vcpus_forked(void)
{
    ending.n = 0;
}
