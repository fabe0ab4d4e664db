/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that run: the hot path.
 *
 * An access to a device may make QEMU run its instruction again, alone, without telling that it
 * begins: then an access comes from a block that has not begun. It belongs to the newest line.
 */
#include "plugin/execlog/execlog.h"

/* On this thread; where one thread runs several vCPUs, its lines come before those of the next. */
static __thread __attribute__((tls_model("initial-exec"))) struct gt_exlog_vcpu *running;

static void __attribute__((noinline)) leave_running(struct gt_exlog_vcpu *next)
{
    struct gt_exlog_vcpu *v = running;
    running = next;
    if (!v || !gt_exlog_enter(v))
        return;
    gt_exlog_tell(v);
    gt_exlog.sink->hand_over(v);
    gt_exlog_leave(v);
}

static inline struct gt_exlog_vcpu *vcpu_at(unsigned vcpu)
{
    if (__builtin_expect(vcpu >= GT_EXLOG_MAX_VCPUS, 0))
        return NULL;
    struct gt_exlog_vcpu *v = &gt_exlog.vcpus[vcpu];
    return __builtin_expect(gt_exlog_enter(v), 1) ? v : NULL;
}

/* The same where an instruction begins. */
static inline struct gt_exlog_vcpu *vcpu_begins(unsigned vcpu)
{
    if (__builtin_expect(gt_exlog.many, 0) && vcpu < GT_EXLOG_MAX_VCPUS &&
        running != &gt_exlog.vcpus[vcpu])
        leave_running(&gt_exlog.vcpus[vcpu]);
    return vcpu_at(vcpu);
}

static inline uint64_t *started(struct gt_exlog_vcpu *v)
{
    if (__atomic_load_n(&gt_exlog.cells_move, __ATOMIC_RELAXED))
        gt_exlog_set_started(v, gt_cells_find(gt_exlog.cells, v->index));
    return __atomic_load_n(&v->started, __ATOMIC_RELAXED);
}

/* Of those that were not told, each `every`-th is; none while the recording is off. */
static void __attribute__((noinline)) tell_some(struct gt_exlog_vcpu *v, uint64_t to)
{
    uint64_t at = v->told;
    bool off = __atomic_load_n(&gt_exlog.off, __ATOMIC_RELAXED);
    v->told = to;
    v->muted = true;
    if (off)
        return;
    while (to - at > v->until_next) {
        at += v->until_next;
        gt_exlog.sink->lines(v, v->block, at, at + 1);
        at++;
        v->waits = true;
        v->muted = at < to;
        v->until_next = gt_exlog.every ? gt_exlog.every - 1 : 0;
    }
    v->until_next -= to - at;
}

static inline void tell_lines(struct gt_exlog_vcpu *v, uint64_t to)
{
    if (v->told >= to)
        return;
    if (__builtin_expect(gt_exlog.chosen, 0)) {
        tell_some(v, to);
        return;
    }
    gt_exlog.sink->lines(v, v->block, v->told, to);
    v->told = to;
    v->waits = true;
}

void gt_exlog_tell(struct gt_exlog_vcpu *v)
{
    if (v->block)
        tell_lines(v, *started(v));
}

void gt_exlog_on_block(unsigned vcpu, void *data)
{
    struct gt_exlog_vcpu *v = vcpu_begins(vcpu);
    const struct gt_exlog_block *b = data;
    if (!v)
        return;
    uint64_t *n = started(v);
    if (v->block)
        tell_lines(v, *n);
    v->block = b;
    v->told = 0;
    *n = b->begun;
    gt_exlog_leave(v);
}

static inline void begin_line(struct gt_exlog_vcpu *v, const struct gt_exlog_line *line)
{
    uint64_t *n = started(v);
    if (v->block == line->block && *n == line->number) {
        ++*n;
        return;
    }
    if (v->block)
        tell_lines(v, *n);
    v->block = line->block;
    v->told = line->number;
    *n = line->number + 1;
}

void gt_exlog_on_line(unsigned vcpu, void *line)
{
    struct gt_exlog_vcpu *v = vcpu_begins(vcpu);
    if (!v)
        return;
    begin_line(v, line);
    gt_exlog_leave(v);
}

void gt_exlog_on_line_regs(unsigned vcpu, void *line)
{
    struct gt_exlog_vcpu *v = vcpu_begins(vcpu);
    if (!v)
        return;
    gt_exlog_tell(v);
    if (v->waits && !v->muted)
        gt_exlog_check_registers(v);
    begin_line(v, line);
    gt_exlog_leave(v);
}

void gt_exlog_on_check(unsigned vcpu, void *nothing)
{
    (void)nothing;
    struct gt_exlog_vcpu *v = vcpu_begins(vcpu);
    if (!v)
        return;
    gt_exlog_tell(v);
    if (v->waits && !v->muted) {
        gt_exlog_check_registers(v);
        gt_exlog.sink->complete(v);
        v->waits = false;
    }
    gt_exlog_leave(v);
}

void gt_exlog_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_exlog_vcpu *v = vcpu_at(vcpu);
    const struct gt_exlog_line *line = data;
    if (!v)
        return;
    if (v->block == line->block)
        tell_lines(v, line->number + 1);
    else
        gt_exlog_tell(v);
    if (v->muted || !v->waits) {
        gt_exlog_leave(v);
        return;
    }
    struct gt_exlog_access a = {.store = gt_mem_is_store(meminfo), .address = vaddr};
    struct gt_mem_place place;
    if (gt_exlog.physical && gt_mem_find(meminfo, vaddr, &place)) {
        a.address = place.physical;
        a.place = place.device ? place.name ? place.name : "device" : "RAM";
    }
    if (gt_exlog.values) {
        a.size = (uint8_t)gt_mem_size(meminfo);
        a.has_value = true;
        gt_mem_value(meminfo, a.value);
    }
    gt_exlog.sink->access(v, &a);
    gt_exlog_leave(v);
}

/* What was kept of all vCPUs goes out. */
static void tell_last(void)
{
    if (!gt_exlog_shut(GT_EXLOG_HELD))
        return;
    const unsigned n = __atomic_load_n(&gt_exlog.n_vcpus, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n; i++)
        if (gt_exlog.vcpus[i].known)
            gt_exlog_last_tell(&gt_exlog.vcpus[i]);
    gt_exlog_reopen();
}

void gt_exlog_on_trigger(unsigned vcpu, void *data)
{
    struct gt_exlog_vcpu *v = vcpu_at(vcpu);
    struct gt_exlog_trigger *t = data;
    if (!v)
        return;
    gt_exlog_tell(v);
    bool works = __atomic_add_fetch(&t->seen, 1, __ATOMIC_RELAXED) >= t->count;
    if (works && t->stop && gt_exlog.register_globs && v->waits && !v->muted)
        gt_exlog_check_registers(v);
    bool was_off = works && __atomic_exchange_n(&gt_exlog.off, t->stop, __ATOMIC_RELAXED);
    gt_exlog_leave(v);
    if (works && t->stop && !was_off && gt_exlog.last)
        tell_last();
}
