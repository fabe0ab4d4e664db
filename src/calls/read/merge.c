/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging tasks by time: see merge.h. */
#include "calls/read/merge.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* The innermost one of the thread that gives events: gt_calls_open_at is asked in its callback. */
static __thread const struct gt_calls_merge *current;

void gt_calls_merge_finish(struct gt_calls_merge *m)
{
    free(m->heap);
}

void gt_calls_merge_queue_finish(struct gt_calls_merge_queue *q)
{
    gt_calls_stack_finish(&q->stack);
    for (; q->head < q->n; q->head++)
        free(q->event[q->head].values);
    free(q->event);
    free(q->open);
}

/* ---- the heap ------------------------------------------------------------------------------ */

static bool earlier(const struct gt_calls_merge_entry *a, const struct gt_calls_merge_entry *b)
{
    return a->time != b->time ? a->time < b->time : a->queue->key < b->queue->key;
}

static void sift_down(struct gt_calls_merge *m)
{
    const struct gt_calls_merge_entry e = m->heap[0];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < m->n; i = child) {
        if (child + 1 < m->n && earlier(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!earlier(&m->heap[child], &e))
            break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = e;
}

static bool list(struct gt_calls_merge *m, struct gt_calls_merge_queue *q)
{
    if (!GT_ARRAY_GROW(&m->heap, &m->room, m->n + 1))
        return false;
    const struct gt_calls_merge_entry e = {q->event[q->head].time, q};
    size_t i = m->n++;
    for (; i > 0 && earlier(&e, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = e;
    q->listed = true;
    return true;
}

/* ---- queues -------------------------------------------------------------------------------- */

/* Room for n more; given ones leave theirs where they are most. */
static bool make_room(struct gt_calls_merge_queue *q, size_t n)
{
    if (q->head == q->n)
        q->head = q->n = 0;
    if (q->room - q->n >= n)
        return true;
    if (q->head > 0 && q->head >= q->room / 2) {
        q->n -= q->head;
        memmove(q->event, q->event + q->head, q->n * sizeof *q->event);
        q->head = 0;
    }
    return GT_ARRAY_GROW(&q->event, &q->room, q->n + n);
}

int gt_calls_merge_put(struct gt_calls_merge *m, struct gt_calls_merge_queue *q,
                       const struct gt_calls_out *out)
{
    const struct gt_call *call = out->call;
    const size_t n = out->n;
    if (!make_room(q, n))
        return GT_E_NOMEM;
    struct gt_calls_merge_event *to = q->event + q->n;
    for (size_t i = 0; i < n; i++)
        to[i] = (struct gt_calls_merge_event){
            call[i].time, call[i].self,  call[i].slept, call[i].function,
            call[i].kind, call[i].flags, NULL};
    if (out->values)
        to[n - 1].values = gt_call_values_copy(out->values);
    q->n += n;
    return q->listed || n == 0 || list(m, q) ? 0 : GT_E_NOMEM;
}

/* ---- giving -------------------------------------------------------------------------------- */

/* `self` of a clipped entry is how long before the window it began. */
static bool open_call(struct gt_calls_merge_queue *q, const struct gt_calls_merge_event *e)
{
    if (!GT_ARRAY_GROW(&q->open, &q->room_open, q->n_open + 1))
        return false;
    q->open[q->n_open++] = (struct gt_call_frame){e->time - (uint64_t)e->self, e->function,
                                                  e->flags & GT_CALL_RECURSIVE};
    return true;
}

static inline int give(struct gt_calls_merge *m, struct gt_calls_merge_queue *q,
                       const struct gt_calls_merge_event *e)
{
    struct gt_call call = {.time = e->time,
                           .begin = e->time,
                           .self = e->self,
                           .slept = e->slept,
                           .task = q->stack.task,
                           .function = e->function,
                           .depth = (uint32_t)q->n_open,
                           .kind = e->kind,
                           .flags = e->flags};
    int status;
    switch (e->kind) {
    case GT_CALL_EXIT:
        call.depth--;
        call.begin = q->open[call.depth].begin;
        call.begin = call.begin > m->from ? call.begin : m->from;
        status = m->call(m->self, &call);
        q->n_open--;
        return status;
    case GT_CALL_ENTRY:
        if (e->flags & GT_CALL_CLIPPED)
            return open_call(q, e) ? m->call(m->self, &call) : GT_E_NOMEM;
        status = m->call(m->self, &call);
        return open_call(q, e) ? status : GT_E_NOMEM;
    default:
        return m->call(m->self, &call);
    }
}

/* The queue's events up to a time; `with`: events of that time, too. */
static int give_queue(struct gt_calls_merge *m, struct gt_calls_merge_queue *q, uint64_t until,
                      bool with)
{
    int status = 0;
    for (; q->head < q->n && status == 0; q->head++) {
        const struct gt_calls_merge_event *e = &q->event[q->head];
        if (e->time > until || (e->time == until && !with))
            break;
        m->values = e->values;
        status = give(m, q, e);
        free(e->values);
    }
    m->values = NULL;
    return status;
}

/* The first queue's events up to the next queue's first. */
static int give_first(struct gt_calls_merge *m, uint64_t bound)
{
    struct gt_calls_merge_queue *q = m->heap[0].queue;
    const struct gt_calls_merge_entry *next = NULL;
    bool with = bound == UINT64_MAX;
    for (size_t i = 1; i < 3 && i < m->n; i++)
        if (!next || earlier(&m->heap[i], next))
            next = &m->heap[i];
    if (next && next->time < bound) {
        bound = next->time;
        with = q->key < next->queue->key;
    }
    m->now = q;
    int status = give_queue(m, q, bound, with);
    if (q->head < q->n) {
        m->heap[0].time = q->event[q->head].time;
    } else {
        q->listed = false;
        m->heap[0] = m->heap[--m->n];
    }
    if (m->n > 0)
        sift_down(m);
    return status;
}

int gt_calls_merge_give(struct gt_calls_merge *m, uint64_t bound)
{
    const struct gt_calls_merge *outer = current;
    int status = 0;
    current = m;
    m->gave |= m->n > 0;
    while (m->n > 0 && status == 0 && (m->heap[0].time < bound || bound == UINT64_MAX))
        status = give_first(m, bound);
    current = outer;
    return status;
}

const struct gt_call_frame *gt_calls_open_at(const struct gt_calls *c, uint32_t task, size_t *n)
{
    const struct gt_calls_merge_queue *q = current && current->c == c ? current->now : NULL;
    *n = q && q->stack.task == task ? q->n_open : 0;
    return *n ? q->open : NULL;
}

const struct gt_value_list *gt_calls_values_at(const struct gt_calls *c)
{
    return current && current->c == c ? current->values : NULL;
}
