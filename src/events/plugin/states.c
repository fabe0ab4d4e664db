/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that are switched on and off: see states.h. */
#include "events/plugin/states.h"
#include "events/library/control/registry.h"
#include "events/plugin/recorder.h"

static void store_all(struct gt_points *p, unsigned vcpu)
{
    uint64_t *word = gt_host_scoreboard_find(p->states.scoreboard, vcpu);
    for (size_t i = 0; i < p->events.n; i++)
        __atomic_store_n(&word[i], gt_trace_on(&p->events.event[i].state), __ATOMIC_RELAXED);
}

/* With states.lock: the scoreboard does not move meanwhile. */
static bool is_settled(const struct gt_points *p)
{
    return p->user ? !p->states.cloning : p->states.vcpus >= p->host.max_vcpus;
}

/* With the registry's lock. */
static void on_change(const struct gt_trace_event *event)
{
    struct gt_points *p = gt_points_loaded();
    struct gt_points_states *s = &p->states;
    const struct gt_events_dynamic_event *e = (const void *)event;
    if ((uintptr_t)e < (uintptr_t)p->events.event || e >= p->events.event + p->events.n)
        return;
    pthread_mutex_lock(&s->lock);
    if (is_settled(p))
        for (unsigned i = 0; i < s->vcpus; i++) {
            uint64_t *word = gt_host_scoreboard_find(s->scoreboard, i);
            __atomic_store_n(&word[e - p->events.event], gt_trace_on(&e->state), __ATOMIC_RELAXED);
        }
    else
        __atomic_add_fetch(&s->changes, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&s->lock);
}

void gt_points_states_init(struct gt_points *p)
{
    pthread_mutex_init(&p->states.lock, NULL);
    gt_gate_init(&p->gate);
    p->busy = g_new0(struct gt_points_busy, GT_POINTS_MAX_VCPUS);
    p->states.current = g_new0(uint64_t, GT_POINTS_MAX_VCPUS);
    p->states.scoreboard = gt_host_scoreboard_new(MAX(p->events.n, 1) * sizeof(uint64_t));
}

void gt_points_states_begin(struct gt_points *p)
{
    (void)p;
    gt_events_state_changed = on_change;
}

void gt_points_states_refresh(struct gt_points *p, unsigned vcpu)
{
    struct gt_points_states *s = &p->states;
    uint64_t changes = __atomic_load_n(&s->changes, __ATOMIC_ACQUIRE);
    if (vcpu >= GT_POINTS_MAX_VCPUS || s->current[vcpu] == changes)
        return;
    s->current[vcpu] = changes;
    store_all(p, vcpu);
}

void gt_points_on_vcpu_init(void *self, unsigned vcpu)
{
    struct gt_points *p = self;
    struct gt_points_states *s = &p->states;
    if (gt_host_vcpus_correct(&p->host, vcpu, "events may be attributed to the wrong one") !=
        GT_VCPUS_RIGHT)
        s->no_words =
            true; /* before code is translated: all of one thread are there at the start */
    pthread_mutex_lock(&s->lock);
    s->cloning -= s->cloning > 0;
    s->vcpus = MAX(s->vcpus, vcpu + 1);
    store_all(p, vcpu);
    for (unsigned i = 0;
         i < s->vcpus && is_settled(p) && __atomic_load_n(&s->changes, __ATOMIC_RELAXED); i++)
        store_all(p, i);
    pthread_mutex_unlock(&s->lock);
}

void gt_points_on_vcpu_idle(void *self, unsigned vcpu)
{
    gt_points_states_refresh(self, vcpu);
}

void gt_points_states_clone(struct gt_points *p)
{
    pthread_mutex_lock(&p->states.lock);
    p->states.cloning++;
    pthread_mutex_unlock(&p->states.lock);
}

void gt_points_states_clone_failed(struct gt_points *p)
{
    pthread_mutex_lock(&p->states.lock);
    p->states.cloning -= p->states.cloning > 0;
    pthread_mutex_unlock(&p->states.lock);
}

void gt_points_states_fork_child(struct gt_points *p)
{
    pthread_mutex_init(&p->states.lock, NULL);
    p->states.cloning = 0;
    for (unsigned i = 0; i < MIN(p->states.vcpus, GT_POINTS_MAX_VCPUS); i++)
        gt_gate_leave(&p->busy[i].word);
}
