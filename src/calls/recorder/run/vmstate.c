/* SPDX-License-Identifier: GPL-2.0-or-later */
/* States of a machine that are loaded: see vmstate.h. */
#include "calls/recorder/run/vmstate.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/linux.h"
#include "calls/recorder/run/vcpu.h"
#include "calls/recorder/select/marks.h"
#include "track/checkpoint.h"
#include "track/unfollowed.h"

/* The clock begins to run just before the host says so: usually less than the first before, hardly
 * ever more than the second. At the beginning it is 0. */
enum { INSTANT = 500 * 1000, MOMENT = 20 * 1000 * 1000, START = 100 * 1000 * 1000 };

/* A vCPU of a state. */
struct of_vcpu {
    bool begun;
    bool loads_sp;
    uint64_t last_exit, left_sp;
    const struct gt_stack *left;
    struct gt_recording_guest_task next;
    struct gt_track_thread_checkpoint thread;
};

/* The machine's state may have been saved at a stop. */
struct gt_run_vmstate {
    uint64_t clock;
    uint64_t place; /* gt_host_place */
    struct gt_track_checkpoint *checkpoint;
    unsigned n;
    struct of_vcpu vcpu[];
};

static void vmstate_free(struct gt_run_vmstate *s)
{
    gt_track_checkpoint_free(s->checkpoint);
    g_free(s);
}

/* ---- stops --------------------------------------------------------------------------------- */

static void keep_vcpu(struct gt_recorder *r, unsigned i, struct of_vcpu *out)
{
    struct gt_vcpu *v = &r->hot.vcpu[i];
    out->begun = v->begun;
    if (!v->begun)
        return;
    out->loads_sp = v->loads_sp;
    out->last_exit = gt_run_vcpu_score(r, v, i)->last_exit;
    out->left_sp = v->left_sp;
    out->left = v->left;
    out->next = v->next;
    gt_track_checkpoint_thread(&v->thread, &out->thread);
}

/* States of one clock are one: the machine has not run. */
static void make_room(struct gt_run_vmstates *all, uint64_t clock)
{
    unsigned i = 0;
    while (i < all->n && all->kept[i]->clock != clock)
        i++;
    if (i == all->n && all->n < GT_VMSTATES)
        return;
    i = i < all->n ? i : 0;
    vmstate_free(all->kept[i]);
    memmove(all->kept + i, all->kept + i + 1, (--all->n - i) * sizeof all->kept[0]);
}

static void keep(struct gt_recorder *r, uint64_t clock)
{
    struct gt_run_vmstates *all = &r->vmstates;
    struct gt_track_checkpoint *checkpoint =
        r->options.privilege_levels ? NULL : gt_track_checkpoint_make(&r->tracker);
    if (!checkpoint)
        return;
    unsigned n = r->vcpus.n;
    struct gt_run_vmstate *s = g_malloc0(sizeof *s + n * sizeof s->vcpu[0]);
    *s = (struct gt_run_vmstate){
        .clock = clock, .place = r->vmstates.place, .checkpoint = checkpoint, .n = n};
    for (unsigned i = 0; i < n; i++)
        keep_vcpu(r, i, &s->vcpu[i]);
    make_room(all, clock);
    all->kept[all->n++] = s;
}

/* ---- loading ------------------------------------------------------------------------------- */

static void end_all(struct gt_recorder *r, uint64_t time)
{
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *v = &r->hot.vcpu[i];
        if (v->begun)
            gt_run_vcpu_stop_following(v, gt_run_vcpu_score(r, v, i));
        v->resets = __atomic_load_n(&r->resets.n, __ATOMIC_RELAXED);
    }
    gt_track_end_suspended(&r->tracker, time);
}

/* Which calls are open is not known. */
static void go_on_unknown(struct gt_recorder *r)
{
    r->tracker.unfollowed = true;
    for (unsigned i = 0; i < r->vcpus.n; i++)
        if (r->hot.vcpu[i].begun)
            gt_run_vcpu_follow_again(&r->hot.vcpu[i], gt_run_vcpu_score(r, &r->hot.vcpu[i], i));
}

static void resume(struct gt_vcpu *v, const struct gt_run_vmstate *s, const struct of_vcpu *at,
                   uint64_t time)
{
    struct gt_recorder_score *score = gt_run_vcpu_score(v->rec, v, gt_vcpu_index(v));
    gt_track_checkpoint_resume(&v->thread, s->checkpoint, &at->thread, time);
    score->last_exit = at->last_exit;
    v->loads_sp = at->loads_sp;
    v->left_sp = at->left_sp;
    v->left = at->left ? v->thread.stack : NULL;
    v->next = at->next;
}

/* `s`: NULL: it could not be restored. One that had not begun begins anew. */
static void go_on_vcpu(struct gt_vcpu *v, const struct gt_run_vmstate *s, uint64_t time)
{
    unsigned i = gt_vcpu_index(v);
    if (s && i < s->n && s->vcpu[i].begun)
        resume(v, s, &s->vcpu[i], time);
    else if (!gt_track_checkpoint_begin(&v->thread, !s, time)) {
        v->begun = false;
        gt_run_vcpu_refuse(v->rec, v);
        return;
    }
    /* A stack may have run last on a vCPU whose clock is ahead. */
    uint64_t own = gt_run_vcpu_time(v, gt_run_vcpu_score(v->rec, v, i));
    uint64_t last = v->thread.stack->last_time;
    if (!v->rec->hot.host_clock && last > own)
        v->insn_base += last - own;
    v->seen = v->thread.stack;
}

static void go_on_known(struct gt_recorder *r, struct gt_run_vmstate *s, uint64_t time)
{
    for (unsigned i = 0; i < r->vcpus.n; i++)
        if (r->hot.vcpu[i].begun)
            gt_track_checkpoint_leave(&r->hot.vcpu[i].thread, time);
    bool ok = gt_track_checkpoint_restore(&r->tracker, s->checkpoint, time);
    r->tracker.unfollowed |= !ok;
    for (unsigned i = 0; i < r->vcpus.n; i++)
        if (r->hot.vcpu[i].begun)
            go_on_vcpu(&r->hot.vcpu[i], ok ? s : NULL, time);
}

/* A loaded state may be loaded again: it is dropped last. */
static void note_use(struct gt_run_vmstates *all, struct gt_run_vmstate *s)
{
    unsigned i = 0;
    while (all->kept[i] != s)
        i++;
    memmove(all->kept + i, all->kept + i + 1, (all->n - i - 1) * sizeof all->kept[0]);
    all->kept[all->n - 1] = s;
}

/* `s`: NULL: it was not saved while this recording ran. */
static void loaded(struct gt_recorder *r, struct gt_run_vmstate *s)
{
    uint64_t time = gt_run_vcpus_newest(r);
    gt_select_marks_put(r, time, s ? "state loaded" : "state loaded: its open calls are not known");
    end_all(r, time);
    if (s) {
        note_use(&r->vmstates, s);
        go_on_known(r, s, time + 1); /* after the mark */
    } else {
        go_on_unknown(r);
    }
    pthread_mutex_lock(&r->lock);
    r->totals.counters[GT_COUNT_LOADED]++;
    pthread_mutex_unlock(&r->lock);
}

/* ---- what the clock says ------------------------------------------------------------------- */

static bool is_after(uint64_t clock, uint64_t stopped, uint64_t within)
{
    return clock >= stopped && clock - stopped <= within;
}

static bool may_be_at(uint64_t place, uint64_t other)
{
    return place == other || !place || !other;
}

/* The kept state that the clock and the place are of; NULL: none, or one of several. */
static struct gt_run_vmstate *find(const struct gt_run_vmstates *all, uint64_t clock,
                                   uint64_t place)
{
    struct gt_run_vmstate *last = NULL;
    unsigned n = 0;
    for (unsigned i = 0; i < all->n; i++) {
        struct gt_run_vmstate *s = all->kept[i];
        if (!is_after(clock, s->clock, MOMENT) || !may_be_at(place, s->place))
            continue;
        n++;
        if (!last || s->clock > last->clock)
            last = s;
    }
    return n == 1 || (last && is_after(clock, last->clock, INSTANT)) ? last : NULL;
}

/* Changes whenever a vCPU makes a transfer. */
static uint64_t what_was_done(struct gt_recorder *r)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < r->vcpus.n; i++) {
        struct gt_vcpu *v = &r->hot.vcpu[i];
        sum += v->thread.calls + v->thread.matched + gt_run_vcpu_score(r, v, i)->insns;
    }
    return sum;
}

static void begin(struct gt_recorder *r, uint64_t clock)
{
    struct gt_run_vmstates *all = &r->vmstates;
    all->ran = true;
    all->middle |= clock > START;
    if (!all->middle)
        return;
    r->tracker.unfollowed = true;
    gt_run_resets_unknown(&r->resets);
    gt_select_marks_put(r, 0, "state loaded: its open calls are not known");
    r->totals.counters[GT_COUNT_LOADED]++;
}

/* If the clock stands where it stopped nothing was loaded. If it is behind, a state was. If it is
 * ahead, this thread may have waited for the host's processor: then only a state that was kept or
 * discarded code say so. Some hosts discard that later, before vCPUs run. */
static void run(struct gt_recorder *r, uint64_t clock)
{
    struct gt_run_vmstates *all = &r->vmstates;
    bool flushed = __atomic_exchange_n(&all->flushed, false, __ATOMIC_RELAXED) &&
                   all->last != GT_MACHINE_DEBUGGED;
    uint64_t place = gt_host_place();
    struct gt_run_vmstate *s = find(all, clock, place);
    bool same = s ? s->clock == all->stopped : is_after(clock, all->stopped, MOMENT);
    same &= !flushed || may_be_at(place, all->place);
    if (all->last == GT_MACHINE_LOADS || clock < all->stopped || (!same && (flushed || s))) {
        loaded(r, s);
        return;
    }
    all->done = what_was_done(r);
    __atomic_store_n(&all->pending, true, __ATOMIC_RELEASE);
}

void gt_run_vmstates_flushed(struct gt_recorder *r)
{
    struct gt_run_vmstates *all = &r->vmstates;
    __atomic_store_n(&all->flushed, true, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&all->pending, false, __ATOMIC_ACQUIRE) || gt_gate_ends(&r->gate))
        return;
    gt_select_dormant_lock(r);
    if (what_was_done(r) == all->done && !gt_select_dormant_is_asleep(r))
        loaded(r, NULL);
    gt_select_dormant_unlock(r);
}

void gt_run_on_run_state(void *self, enum gt_qemu_run_state state, uint64_t clock)
{
    struct gt_recorder *r = self;
    struct gt_run_vmstates *all = &r->vmstates;
    if (gt_gate_ends(&r->gate))
        return;
    gt_select_dormant_lock(r);
    bool follows = !gt_select_dormant_is_asleep(r);
    __atomic_store_n(&all->pending, false, __ATOMIC_RELAXED);
    if (state != GT_MACHINE_RUNS) {
        all->stopped = clock;
        all->place = gt_host_place();
        all->last = state;
        if (follows && state == GT_MACHINE_STOPS)
            keep(r, clock);
    } else if (!all->ran) {
        begin(r, clock);
    } else if (follows) {
        run(r, clock);
    }
    gt_select_dormant_unlock(r);
}

void gt_run_vmstates_init(struct gt_recorder *r)
{
    if (r->guest.user)
        return;
    r->vmstates.middle = gt_host_loads_state();
    if (r->vmstates.middle && !gt_host_can(GT_HOST_RUN_STATE))
        begin(r, 0);
}
