/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resets of a machine: see reset.h. */
#include "calls/recorder/run/reset.h"
#include "calls/recorder/installed.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/blocks.h"
#include "track/machine.h"
#include "track/stack.h"
#include "track/unfollowed.h"

/* True where the last exit is a call or return to the block, or a handler has just begun with it. A
 * jump there begins all anew, as a reset does. */
static bool leads_to(const struct gt_vcpu *v, uint64_t last_exit, const struct gt_code *code)
{
    const struct gt_stack *s = v->thread.stack;
    if (!(last_exit & GT_LAST_EXIT_CODE))
        return s->top->kind == GT_FRAME_HANDLER && s->top->addr == code->pc &&
               last_exit == gt_track_last_exit_of_func(code->fn);
    const struct gt_code *from = gt_track_last_exit_code(last_exit);
    return from->exit == GT_EXIT_CALL_INDIRECT ||
           (from->exit == GT_EXIT_CALL &&
            gt_machine_is_alias(&v->thread, from->target, code->pc)) ||
           (from->exit == GT_EXIT_RETURN && gt_stack_find_return(s, code->pc));
}

static bool is_led_to(struct gt_recorder *r, const struct gt_code *code)
{
    pthread_mutex_lock(&r->lock);
    bool led = gt_run_block_entry_is_known(r, code->pc);
    pthread_mutex_unlock(&r->lock);
    return led;
}

/* The first vCPU begins again with the machine, and what no vCPU runs will not go on. Another one
 * may come before it, or may only have been switched off and on. */
static void begin_at(struct gt_vcpu *v, unsigned vcpu, const struct gt_code *code)
{
    struct gt_recorder *r = v->rec;
    struct gt_recorder_score *score = gt_run_vcpu_score(r, v, vcpu);
    if (leads_to(v, score->last_exit, code) || is_led_to(r, code))
        return;
    unsigned n = __atomic_load_n(&r->resets.n, __ATOMIC_RELAXED);
    if (vcpu == 0) {
        v->resets = n + 1;
        gt_track_end_suspended(&r->tracker, gt_run_vcpu_time_after_block(v, score));
        __atomic_store_n(&r->resets.n, n + 1, __ATOMIC_RELAXED);
    } else {
        v->resets = gt_run_reset_is_due(&r->resets, v) ? n : n + 1;
    }
    gt_run_vcpu_begin_again(v, score);
}

void gt_run_on_machine_begin(unsigned vcpu, void *data)
{
    struct gt_vcpu *v = gt_vcpu_enter_begun(gt_recorder_installed(), vcpu);
    if (!v)
        return;
    begin_at(v, vcpu, data);
    gt_vcpu_leave(v);
}

void gt_run_resets_unknown(struct gt_run_resets *resets)
{
    *resets = (struct gt_run_resets){.first = GT_NO_ADDR, .known = true};
}

void gt_run_reset_follow(struct gt_vcpu *v, struct gt_recorder_score *score)
{
    v->resets = __atomic_load_n(&v->rec->resets.n, __ATOMIC_RELAXED);
    gt_run_vcpu_begin_again(v, score);
}
