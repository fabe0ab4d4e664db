/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executed instructions: see exec.h. */
#include "execlog/plugin/exec.h"

#include "execlog/plugin/recorder.h"

struct gt_exlog gt_exlog_of_plugin;

/* The vCPU of this thread; where one thread runs several, its lines come before the next one's.
 */
static __thread __attribute__((tls_model("initial-exec"))) struct gt_exlog_vcpu *running;

static void __attribute__((noinline)) switch_vcpu(struct gt_exlog_vcpu *next)
{
    struct gt_exlog_vcpu *v = running;
    running = next;
    if (!v || !gt_exlog_enter(v->recorder, v))
        return;
    gt_exlog_deliver(v->recorder, v);
    v->recorder->sink->hand_over(v);
    gt_exlog_leave(v);
}

static inline struct gt_exlog_vcpu *vcpu_at(struct gt_exlog *e, unsigned vcpu)
{
    if (__builtin_expect(vcpu >= GT_EXLOG_MAX_VCPUS, 0))
        return NULL;
    struct gt_exlog_vcpu *v = &e->vcpus[vcpu];
    return __builtin_expect(gt_exlog_enter(e, v), 1) ? v : NULL;
}

/* The same where an instruction begins. */
static inline struct gt_exlog_vcpu *vcpu_begins(struct gt_exlog *e, unsigned vcpu)
{
    if (__builtin_expect(e->many, 0) && vcpu < GT_EXLOG_MAX_VCPUS && running != &e->vcpus[vcpu])
        switch_vcpu(&e->vcpus[vcpu]);
    return vcpu_at(e, vcpu);
}

static inline uint64_t *started(struct gt_exlog *e, struct gt_exlog_vcpu *v)
{
    if (__atomic_load_n(&e->scoreboard_moves, __ATOMIC_RELAXED))
        gt_exlog_set_started(v, gt_host_scoreboard_find(e->scoreboard, v->index));
    return __atomic_load_n(&v->started, __ATOMIC_RELAXED);
}

/* Delivers each `every`-th line up to `to`; while the recording is off, none. */
static void __attribute__((noinline))
deliver_some(struct gt_exlog *e, struct gt_exlog_vcpu *v, uint64_t to)
{
    uint64_t at = v->delivered;
    bool off = __atomic_load_n(&e->off, __ATOMIC_RELAXED);
    v->delivered = to;
    v->muted = true;
    if (off)
        return;
    while (to - at > v->until_next) {
        at += v->until_next;
        e->sink->lines(v, v->block, at, at + 1);
        at++;
        v->open = true;
        v->muted = at < to;
        v->until_next = e->every ? e->every - 1 : 0;
    }
    v->until_next -= to - at;
}

static inline void deliver_lines(struct gt_exlog *e, struct gt_exlog_vcpu *v, uint64_t to)
{
    if (v->delivered >= to)
        return;
    if (__builtin_expect(e->selective, 0)) {
        deliver_some(e, v, to);
        return;
    }
    e->sink->lines(v, v->block, v->delivered, to);
    v->delivered = to;
    v->open = true;
}

void gt_exlog_deliver(struct gt_exlog *e, struct gt_exlog_vcpu *v)
{
    if (v->block)
        deliver_lines(e, v, *started(e, v));
}

void gt_exlog_on_block(unsigned vcpu, void *data)
{
    struct gt_exlog *e = gt_exlog_loaded();
    struct gt_exlog_vcpu *v = vcpu_begins(e, vcpu);
    const struct gt_exlog_block *b = data;
    if (!v)
        return;
    uint64_t *n = started(e, v);
    if (v->block)
        deliver_lines(e, v, *n);
    v->block = b;
    v->delivered = 0;
    *n = b->begun;
    gt_exlog_leave(v);
}

static inline void begin_line(struct gt_exlog *e, struct gt_exlog_vcpu *v,
                              const struct gt_exlog_line *line)
{
    uint64_t *n = started(e, v);
    if (v->block == line->block && *n == line->number) {
        ++*n;
        return;
    }
    if (v->block)
        deliver_lines(e, v, *n);
    v->block = line->block;
    v->delivered = line->number;
    *n = line->number + 1;
}

void gt_exlog_on_line(unsigned vcpu, void *line)
{
    struct gt_exlog *e = gt_exlog_loaded();
    struct gt_exlog_vcpu *v = vcpu_begins(e, vcpu);
    if (!v)
        return;
    begin_line(e, v, line);
    gt_exlog_leave(v);
}

void gt_exlog_on_line_regs(unsigned vcpu, void *line)
{
    struct gt_exlog *e = gt_exlog_loaded();
    struct gt_exlog_vcpu *v = vcpu_begins(e, vcpu);
    if (!v)
        return;
    gt_exlog_deliver(e, v);
    if (v->open && !v->muted)
        gt_exlog_check_registers(v);
    begin_line(e, v, line);
    gt_exlog_leave(v);
}

void gt_exlog_on_check(unsigned vcpu, void *nothing)
{
    struct gt_exlog *e = gt_exlog_loaded();
    (void)nothing;
    struct gt_exlog_vcpu *v = vcpu_begins(e, vcpu);
    if (!v)
        return;
    gt_exlog_deliver(e, v);
    if (v->open && !v->muted) {
        gt_exlog_check_registers(v);
        e->sink->complete(v);
        v->open = false;
    }
    gt_exlog_leave(v);
}

void gt_exlog_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *data)
{
    struct gt_exlog *e = gt_exlog_loaded();
    struct gt_exlog_vcpu *v = vcpu_at(e, vcpu);
    const struct gt_exlog_line *line = data;
    if (!v)
        return;
    if (v->block == line->block)
        deliver_lines(e, v, line->number + 1);
    else
        gt_exlog_deliver(e, v);
    if (v->muted || !v->open) {
        gt_exlog_leave(v);
        return;
    }
    struct gt_exlog_access a = {.store = gt_host_mem_is_store(meminfo), .address = vaddr};
    struct gt_host_mem_target target;
    if (e->physical && gt_host_mem_find(meminfo, vaddr, &target)) {
        a.address = target.physical;
        a.region = target.device ? target.name ? target.name : "device" : "RAM";
    }
    if (e->values) {
        a.size = (uint8_t)gt_host_mem_size(meminfo);
        a.has_value = true;
        gt_host_mem_value(meminfo, a.value);
    }
    e->sink->access(v, &a);
    gt_exlog_leave(v);
}

/* Delivers the last lines of all vCPUs. */
static void deliver_last(struct gt_exlog *e)
{
    if (!gt_exlog_hold(e))
        return;
    const unsigned n = __atomic_load_n(&e->n_vcpus, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < n; i++)
        if (e->vcpus[i].known)
            gt_exlog_last_deliver(&e->vcpus[i]);
    gt_gate_open(&e->gate);
}

void gt_exlog_on_trigger(unsigned vcpu, void *data)
{
    struct gt_exlog *e = gt_exlog_loaded();
    struct gt_exlog_vcpu *v = vcpu_at(e, vcpu);
    struct gt_exlog_trigger *t = data;
    if (!v)
        return;
    gt_exlog_deliver(e, v);
    bool works = __atomic_add_fetch(&t->seen, 1, __ATOMIC_RELAXED) >= t->count;
    if (works && t->stop && e->registers.globs && v->open && !v->muted)
        gt_exlog_check_registers(v);
    bool was_off = works && __atomic_exchange_n(&e->off, t->stop, __ATOMIC_RELAXED);
    gt_exlog_leave(v);
    if (works && t->stop && !was_off && e->last.lines)
        deliver_last(e);
}
