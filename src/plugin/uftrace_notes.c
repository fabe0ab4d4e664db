/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landings of machines that are noted first, and tracked many at a time.
 *
 * A landing in between two blocks of the guest finds neither our instructions nor our data in the
 * caches, and leaves less room there for the guest's. A run of landings does. So translated code
 * only notes where control came from, where to and when. What is noted is tracked when there is no
 * room for more, and before anything else that the tracker is told or asked: it sees all in its
 * order. Where it does not know yet which stack goes on, the next note is tracked at once: other
 * vCPUs go on with stacks, too. Nothing else that it finds out is needed earlier: after a landing
 * in a machine the mark is always the block's function's, but for stubs, whose landings are not
 * noted. The host's clock would have to be asked at each note; there landings are tracked at once.
 *
 * A guest that hangs makes no room for more. So the writer's thread tracks what has stood since its
 * last round, as far as it is plain: nothing that waits, or reads the guest. A kill loses what was
 * noted in the last milliseconds.
 *
 * Who tracks. The vCPU says `tracking`, looks at `taken`, and waits while that is set. Another
 * thread sets `taken`, has all processors fenced, and goes on only if it sees no `tracking` then:
 * of the two at least one sees the other, and the vCPU has paid for no fence. In callbacks that
 * tell the tracker of something the vCPU has nothing noted, and then no other thread goes on.
 */
#include "plugin/uftrace_notes.h"
#include "base/fence.h"
#include "plugin/batches.h"
#include "track/machine.h"

#include <time.h>

enum {
    NOTES = 128, /* 3 KiB: in the processor's first cache */
    AHEAD = 6,   /* descriptions are asked for so many landings before they are needed */
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* ---- tracking ------------------------------------------------------------------------------ */

static inline void ask_for(const struct gt_note *n)
{
    __builtin_prefetch(n->code);
    __builtin_prefetch(n->mark & GT_MARK_RETURN ? n->code : gt_mark_code(n->mark));
}

/* Plain calls and returns from n on, with room for their records. Returns the first that is none.
 */
static const struct gt_note *track_plain(struct gt_vcpu *v, const struct gt_note *n,
                                         const struct gt_note *end)
{
    struct gt_stream *out = v->thread.stack->out;
    if (!out)
        return n;
    struct gt_hand hand = gt_hand_take(&v->thread, gt_rec.max_depth);
    const uint64_t base = v->insn_base;
    uint64_t *at = out->at;
    for (; n < end && at != out->end; n++) {
        struct gt_landed found;
        if (n + AHEAD < end)
            ask_for(n + AHEAD);
        if (!gt_hand_land(&hand, n->code, n->mark, &found))
            break;
        at = gt_stream_put_in_run(out, at, base + n->insns, gt_landed_word(&found));
    }
    if (at != out->at)
        gt_stream_publish(out, at);
    gt_hand_put(&v->thread, &hand);
    return n;
}

/* Nothing at all where it is what its function's own jumps leave. */
static void track_other(struct gt_vcpu *v, const struct gt_note *n)
{
    bool plain = v->thread.attention == n->code->special;
    if (!plain || n->mark != gt_mark_of_jump(n->code->fn))
        gt_land_slowly(v, n->code, n->mark, v->insn_base + n->insns);
}

static void track_all(struct gt_vcpu *v, const struct gt_note *end)
{
    for (const struct gt_note *n = v->noted; n < end; n++) {
        n = track_plain(v, n, end);
        if (n < end)
            track_other(v, n);
    }
}

static bool is_finished(void)
{
    return __atomic_load_n(&gt_rec.finished, __ATOMIC_ACQUIRE);
}

static void set_tracking(struct gt_vcpu *v, bool on)
{
    __atomic_store_n(&v->tracking, on, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the other thread's fence does the rest */
}

void gt_notes_bound(struct gt_vcpu *v)
{
    if (v->note)
        v->notes_end = gt_machine_is_undecided(&v->thread) ? v->note + 1 : v->notes + NOTES;
}

void gt_notes_track(struct gt_vcpu *v)
{
    set_tracking(v, true);
    while (__atomic_load_n(&v->taken, __ATOMIC_ACQUIRE) && !is_finished())
        nap();
    if (!is_finished()) {
        track_all(v, v->note);
        __atomic_store_n(&v->note, v->notes, __ATOMIC_RELAXED);
        __atomic_store_n(&v->noted, v->notes, __ATOMIC_RELEASE);
        gt_notes_bound(v);
    } else if (v->note == v->notes_end) { /* who ends the recording takes them all */
        __atomic_store_n(&v->note, NULL, __ATOMIC_RELAXED);
    }
    set_tracking(v, false);
}

/* ---- other threads ------------------------------------------------------------------------- */

/* False: another one has, or the vCPU tracks itself. */
static bool take(struct gt_vcpu *v)
{
    if (__atomic_exchange_n(&v->taken, true, __ATOMIC_ACQ_REL))
        return false;
    if (gt_fence() && !__atomic_load_n(&v->tracking, __ATOMIC_ACQUIRE))
        return true;
    __atomic_store_n(&v->taken, false, __ATOMIC_RELEASE);
    return false;
}

/* On the writer's thread, which must not wait for itself. Returns the first that is not tracked. */
static const struct gt_note *track_here(struct gt_vcpu *v, const struct gt_note *end)
{
    struct gt_stream *out = v->thread.stack->out;
    const struct gt_note *n = v->noted;
    do
        n = track_plain(v, n, end);
    while (n < end && out && !gt_stream_has_room(out) && gt_stream_make_room(out));
    return n;
}

static void track_stood(struct gt_vcpu *v)
{
    const struct gt_note *note = __atomic_load_n(&v->note, __ATOMIC_ACQUIRE);
    bool stood = note && note == v->stood && note != __atomic_load_n(&v->noted, __ATOMIC_RELAXED);
    v->stood = note;
    if (!stood || !take(v))
        return;
    /* Where the vCPU has tracked all meanwhile, it may be in the tracker again. */
    note = __atomic_load_n(&v->note, __ATOMIC_ACQUIRE);
    if (note && note != v->noted && !is_finished())
        __atomic_store_n(&v->noted, track_here(v, note), __ATOMIC_RELEASE);
    __atomic_store_n(&v->taken, false, __ATOMIC_RELEASE);
}

static void on_round(void *self)
{
    (void)self;
    unsigned n = __atomic_load_n(&gt_rec.n_vcpus, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < n && !is_finished(); i++)
        track_stood(&gt_rec.vcpus[i]);
}

/* ---- life ---------------------------------------------------------------------------------- */

void gt_notes_init(void)
{
    if (!gt_rec.user && gt_rec.score && !gt_rec.host_clock)
        gt_streams_on_round(gt_rec.streams, on_round, NULL);
}

void gt_notes_begin(struct gt_vcpu *v)
{
    static struct gt_batches batches;
    if (gt_rec.user || gt_rec.host_clock || !v->cells)
        return;
    pthread_mutex_lock(&gt_rec.lock);
    if (!v->notes)
        v->notes = gt_batches_take(&batches, NOTES * sizeof *v->notes);
    pthread_mutex_unlock(&gt_rec.lock);
    v->noted = v->notes;
    v->notes_end = v->notes ? v->notes + NOTES : NULL;
    __atomic_store_n(&v->note, v->notes, __ATOMIC_RELEASE);
}

/* At the end of the recording a vCPU that still runs gets a moment to get out of the way. */
void gt_notes_end(struct gt_vcpu *v)
{
    enum { NAPS = 100 };
    if (!v->notes || !v->noted)
        return;
    while (__atomic_exchange_n(&v->taken, true, __ATOMIC_ACQ_REL))
        nap();
    gt_fence();
    for (int i = 0; i < NAPS && __atomic_load_n(&v->tracking, __ATOMIC_ACQUIRE); i++)
        nap();
    const struct gt_note *end = __atomic_load_n(&v->note, __ATOMIC_ACQUIRE);
    track_all(v, end ? end : v->notes_end);
    v->noted = NULL;
    __atomic_store_n(&v->note, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&v->taken, false, __ATOMIC_RELEASE);
}
