/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that wait for their record, and whose call they are: see arguments.h. */
#include "calls/recorder/recorder.h"
#include "calls/recorder/values/arguments.h"
#include "track/tail_calls.h"

static struct gt_recorder_argument_slots *slots_of(struct gt_vcpu *v)
{
    if (!v->arguments)
        v->arguments = g_new0(struct gt_recorder_argument_slots, 1); /* once a vCPU */
    return v->arguments;
}

void gt_recorder_arguments_read(struct gt_vcpu *v, const struct gt_recorder_argument_point *p)
{
    struct gt_recorder_argument_slots *slots = slots_of(v);
    if (p->of->spec.n_arguments)
        gt_recorder_arguments_read_values(v->rec, p->code, p->of, false, NULL, &slots->entry);
    v->thread.slow_flags |= GT_VCPU_VALUES;
}

void gt_recorder_arguments_drop(struct gt_vcpu *v)
{
    v->arguments->entry.code = NULL;
    v->thread.slow_flags &= ~(uint32_t)GT_VCPU_VALUES;
}

void gt_recorder_arguments_read_result(struct gt_vcpu *v,
                                       const struct gt_recorder_argument_point *p)
{
    const struct gt_track_frame *top = v->thread.stack->top;
    if (top->fn != p->of->fn || top->kind == GT_FRAME_TAIL)
        return;
    gt_recorder_arguments_read_values(v->rec, p->code, p->of, true, NULL, &slots_of(v)->result);
    v->thread.slow_flags |= GT_VCPU_VALUES;
}

/* Until gt_recorder_arguments_after. */
static void wait_for(struct gt_recorder_transfer *t, struct gt_recorder_argument_slots *slots)
{
    t->values = slots;
    t->vcpu->transfer = t;
}

void gt_recorder_arguments_give(struct gt_recorder_transfer *t,
                                const struct gt_recorder_argument_function *of,
                                const uint64_t *given, bool result)
{
    struct gt_recorder_argument_slots *slots = slots_of(t->vcpu);
    const struct gt_value_spec *spec = &of->spec;
    if (!(result ? spec->n_returns : spec->n_arguments))
        return;
    gt_recorder_arguments_read_values(t->vcpu->rec, t->code, of, result, given,
                                      result ? &slots->result : &slots->entry);
    slots->matches = result;
    wait_for(t, slots);
}

static const struct gt_recorder_argument_function *function_of(struct gt_recorder *r,
                                                               const struct gt_track_func *fn)
{
    pthread_mutex_lock(&r->lock);
    const struct gt_recorder_argument_function *of =
        g_hash_table_lookup(r->arguments.functions, fn);
    pthread_mutex_unlock(&r->lock);
    return of;
}

/* A return out of a tail call has arrived: each frame that it ends has its own result of the same
 * registers. */
static void read_tail(struct gt_vcpu *v, const struct gt_code *code)
{
    const struct gt_stack *s = v->thread.stack;
    struct gt_recorder_argument_slots *slots = slots_of(v);
    const struct gt_track_frame *last = gt_track_tail_called(s);
    if (last->ret != code->pc)
        return;
    if (!slots->tail)
        slots->tail = g_new0(struct gt_recorder_argument_slot, GT_TAIL_MOST + 1); /* once a vCPU */
    struct gt_recorder_argument_slot *to = slots->tail;
    for (const struct gt_track_frame *f = s->top; f >= last; f--, to++) {
        const struct gt_recorder_argument_function *of =
            f->fn->flags & GT_FUNC_RESULT && f->addr == f->fn->lo ? function_of(v->rec, f->fn)
                                                                  : NULL;
        to->code = NULL;
        if (of)
            gt_recorder_arguments_read_values(v->rec, code, of, true, NULL, to);
    }
    slots->tail_top = gt_stack_depth(s);
}

void gt_recorder_arguments_before(struct gt_recorder_transfer *t)
{
    struct gt_vcpu *v = t->vcpu;
    const struct gt_track_frame *top = v->thread.stack ? v->thread.stack->top : NULL;
    if (top && top->kind == GT_FRAME_TAIL &&
        gt_recorder_last_exit_is_of(t->last_exit, GT_EXIT_RETURN))
        read_tail(v, t->code);
    struct gt_recorder_argument_slots *slots = v->arguments;
    if (!slots || !top)
        return;
    const struct gt_recorder_argument_slot *result = &slots->result;
    slots->matches = result->code && t->last_exit == gt_code_last_exit(result->code) &&
                     top->fn == result->of->fn && top->addr == top->fn->lo &&
                     top->ret == t->code->pc;
    wait_for(t, slots);
}

void gt_recorder_arguments_after(struct gt_recorder_transfer *t)
{
    struct gt_recorder_argument_slots *slots = t->values;
    struct gt_vcpu *v = t->vcpu;
    if (!slots)
        return;
    slots->result.code = NULL;
    slots->matches = false;
    slots->tail_top = 0;
    if (v->call)
        slots->entry.code = NULL; /* its frame has it, or none has */
    if (!slots->entry.code)
        v->thread.slow_flags &= ~(uint32_t)GT_VCPU_VALUES;
    v->transfer = NULL;
}

/* Those that wait for the transfer of the thread that the stack belongs to; NULL: none. */
static struct gt_recorder_argument_slots *waiting_for(const struct gt_stack *s)
{
    const struct gt_vcpu *v = gt_vcpu_of_stack(s);
    return v && v->transfer ? v->transfer->values : NULL;
}

const struct gt_recorder_argument_slot *gt_recorder_arguments_entering(const struct gt_stack *s,
                                                                       uint64_t addr)
{
    struct gt_recorder_argument_slots *slots = waiting_for(s);
    struct gt_recorder_argument_slot *slot = slots ? &slots->entry : NULL;
    if (!slot || !slot->code || addr != slot->code->pc || s->top->fn != slot->of->fn)
        return NULL;
    slot->code = NULL; /* of one frame */
    return slot;
}

static const struct gt_recorder_argument_slot *
tail_result(const struct gt_recorder_argument_slots *slots, const struct gt_stack *s)
{
    uint32_t i = slots->tail_top - gt_stack_depth(s);
    bool known = i <= GT_TAIL_MOST && slots->tail[i].code && slots->tail[i].of->fn == s->top->fn;
    return known ? &slots->tail[i] : NULL;
}

static const struct gt_recorder_argument_slot *own_result(struct gt_recorder_argument_slots *slots,
                                                          uint64_t addr)
{
    if (!slots->matches || addr != slots->result.of->fn->lo)
        return NULL;
    slots->matches = false;
    return &slots->result;
}

const struct gt_recorder_argument_slot *gt_recorder_arguments_leaving(const struct gt_stack *s,
                                                                      uint64_t addr)
{
    struct gt_recorder_argument_slots *slots = waiting_for(s);
    if (slots && slots->tail_top)
        return tail_result(slots, s);
    return slots && slots->matches && s->top->fn == slots->result.of->fn ? own_result(slots, addr)
                                                                         : NULL;
}

const struct gt_recorder_argument_slot *
gt_recorder_arguments_returned(const struct gt_recorder_transfer *t, uint64_t addr)
{
    return t->values ? own_result(t->values, addr) : NULL;
}
