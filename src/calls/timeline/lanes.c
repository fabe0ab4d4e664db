/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lanes of vCPUs: see lanes.h. */
#include "calls/timeline/lanes.h"

#include "calls/read/recording.h"
#include "recording/texts/files.h"
#include "recording/texts/stats.h"

#include <string.h>

#define NONE UINT32_MAX

/* OUT: it is suspended, has not begun, or has ended. HEAD: it may run since before the stretch. ON:
 * it runs on a known vCPU. */
enum state { OUT, HEAD, ON };

struct gt_timeline_lanes_task {
    enum state state;
    bool begun, any;      /* there is a stretch, and it has events */
    bool goes;            /* HEAD: its next event says that it runs */
    bool waits;           /* OUT: its calls were ended from outside; its next call is on `vcpu` */
    uint64_t first, last; /* events of the stretch */
    uint64_t since;       /* ON; waits: when its calls were ended */
    uint32_t vcpu;
    uint32_t handler, depth; /* the outermost one that is open; NONE */
    uint64_t handler_begin;
    guint stretch; /* number */
};

struct gt_timeline_lanes_stretch {
    uint32_t task;
    uint64_t first, last; /* times of its events */
};

enum kind {
    GOES,    /* it runs, on the vCPU that it was on, if it was */
    STARTS,  /* it runs on `value` */
    STAYS,   /* it still runs, if it did */
    PAUSES,  /* its calls were ended from outside */
    STOPS,   /* it is suspended */
    HANDLES, /* a handler, `value`, has ended, or its run has */
};

struct gt_timeline_lanes_piece {
    uint64_t time;
    uint64_t begin; /* HANDLES */
    uint32_t value;
    guint stretch;
    uint8_t kind;
};

/* ---- which lanes there are ----------------------------------------------------------------- */

static bool is_machine(struct gt_calls *c)
{
    size_t size;
    struct gt_recording_stats stats;
    char *text = gt_calls_text(c, GT_STATS_FILE, &size);
    if (!text || gt_recording_stats_parse(&stats, text) < 0)
        return false;
    const bool machine = gt_recording_stats_number(&stats, GT_STATS_MACHINE) == 1;
    gt_recording_stats_clear(&stats);
    return machine;
}

enum gt_timeline_lanes_kind gt_timeline_lanes_kind_of(struct gt_calls *c, size_t *vcpus)
{
    *vcpus = c->n_vcpus;
    if (*vcpus)
        return GT_LANES_TOLD;
    *vcpus = is_machine(c);
    return *vcpus ? GT_LANES_ONE : GT_LANES_NONE;
}

void gt_timeline_lanes_init(struct gt_timeline_lanes *l, struct gt_calls *c,
                            enum gt_timeline_lanes_kind kind, gt_timeline_lanes_put *put,
                            void *self)
{
    *l = (struct gt_timeline_lanes){.calls = c, .kind = kind, .put = put, .self = self};
    if (kind == GT_LANES_NONE)
        return;
    l->n_tasks = gt_calls_n_tasks(c);
    l->task = g_new0(struct gt_timeline_lanes_task, l->n_tasks + 1);
    l->first_end = g_new(uint64_t, l->n_tasks + 1);
    for (uint32_t i = 0; i < l->n_tasks; i++)
        l->first_end[i] = gt_calls_first_end(c, i);
    l->stretches = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_lanes_stretch));
    l->pieces = g_array_new(FALSE, FALSE, sizeof(struct gt_timeline_lanes_piece));
    l->handler = g_byte_array_new();
}

void gt_timeline_lanes_clear(struct gt_timeline_lanes *l)
{
    if (l->kind == GT_LANES_NONE)
        return;
    g_free(l->task);
    g_free(l->first_end);
    g_array_free(l->stretches, TRUE);
    g_array_free(l->pieces, TRUE);
    g_byte_array_free(l->handler, TRUE);
    *l = (struct gt_timeline_lanes){.kind = GT_LANES_NONE};
}

static bool is_handler(struct gt_timeline_lanes *l, uint32_t function)
{
    if (function >= l->handler->len) {
        const guint old = l->handler->len;
        g_byte_array_set_size(l->handler, MAX(function + 1, (guint)gt_calls_n_functions(l->calls)));
        memset(l->handler->data + old, 0, l->handler->len - old);
    }
    uint8_t *known = &l->handler->data[function];
    if (*known == 0)
        *known = gt_calls_function(l->calls, function)->is_handler ? 2 : 1;
    return *known == 2;
}

/* ---- a stretch of a task ------------------------------------------------------------------- */

static void put(struct gt_timeline_lanes *l, uint32_t vcpu, uint32_t depth, uint32_t function,
                uint64_t begin, uint64_t end)
{
    if (end <= begin)
        return;
    l->put(l->self, &(struct gt_call){.time = end,
                                      .begin = begin,
                                      .task = vcpu,
                                      .function = function,
                                      .depth = depth,
                                      .kind = GT_CALL_EXIT});
}

static void add_piece(struct gt_timeline_lanes *l, const struct gt_timeline_lanes_task *s,
                      enum kind kind, uint64_t time, uint32_t value, uint64_t begin)
{
    const struct gt_timeline_lanes_piece p = {time, begin, value, s->stretch, (uint8_t)kind};
    if (l->pieces->len >= GT_LANES_PIECES * (kind == HANDLES ? 1 : 4))
        l->left_out++;
    else
        g_array_append_val(l->pieces, p);
}

/* The handler that is open has ended, or the task is suspended in it. */
static void put_handler(struct gt_timeline_lanes *l, const struct gt_timeline_lanes_task *s,
                        uint64_t time)
{
    if (s->handler == NONE)
        return;
    if (s->state == ON)
        put(l, s->vcpu, 1, s->handler, MAX(s->since, s->handler_begin), time);
    else if (s->state == HEAD && l->kind == GT_LANES_ONE && s->handler_begin >= s->first)
        put(l, 0, 1, s->handler, s->handler_begin, time); /* its run began before it */
    else if (s->state == HEAD)
        add_piece(l, s, HANDLES, time, s->handler, s->handler_begin);
}

/* `kind`: STOPS, or PAUSES. */
static void leave(struct gt_timeline_lanes *l, uint32_t task, uint64_t time, enum kind kind)
{
    struct gt_timeline_lanes_task *s = &l->task[task];
    put_handler(l, s, time);
    if (s->state == ON)
        put(l, s->vcpu, 0, task, s->since, time);
    else if (s->state == HEAD)
        add_piece(l, s, kind, time, 0, 0);
    s->waits = kind == PAUSES && s->state == ON;
    s->since = time;
    s->goes = kind == PAUSES && s->state == HEAD;
    s->state = s->goes ? HEAD : OUT;
}

static void start(struct gt_timeline_lanes *l, uint32_t task, uint64_t time, uint32_t vcpu)
{
    struct gt_timeline_lanes_task *s = &l->task[task];
    if (s->state == ON)
        leave(l, task, s->last, STOPS);
    else if (s->state == HEAD && s->any)
        add_piece(l, s, STAYS, s->last, 0, 0);
    s->state = ON;
    s->since = time;
    s->vcpu = vcpu;
    s->waits = s->goes = false;
}

static void end_stretch(struct gt_timeline_lanes *l, uint32_t task)
{
    struct gt_timeline_lanes_task *s = &l->task[task];
    if (s->begun && s->any) {
        struct gt_timeline_lanes_stretch *x =
            &g_array_index(l->stretches, struct gt_timeline_lanes_stretch, s->stretch);
        x->first = s->first;
        x->last = s->last;
        if (s->state == ON || s->waits)
            add_piece(l, s, STARTS, s->since, s->vcpu, 0);
        if (s->state == ON || s->state == HEAD)
            add_piece(l, s, STAYS, s->last, 0, 0);
        else if (s->waits)
            add_piece(l, s, PAUSES, s->since, 0, 0);
    }
    s->begun = false;
}

static void begin_stretch(struct gt_timeline_lanes *l, const struct gt_calls_batch *b)
{
    struct gt_timeline_lanes_task *s = &l->task[b->task];
    const struct gt_timeline_lanes_stretch stretch = {b->task, 0, 0};
    end_stretch(l, b->task);
    *s = (struct gt_timeline_lanes_task){
        .begun = true, .state = HEAD, .handler = NONE, .stretch = l->stretches->len};
    g_array_append_val(l->stretches, stretch);
    if (b->n_open && gt_call_suspends(b->open[b->n_open - 1].function))
        s->state = OUT;
    s->goes = s->state == HEAD && (l->kind == GT_LANES_ONE || b->n_open == 0);
    for (size_t k = 0; k < b->n_open && s->handler == NONE; k++)
        if (is_handler(l, b->open[k].function)) {
            s->handler = b->open[k].function;
            s->handler_begin = b->open[k].begin;
            s->depth = (uint32_t)k;
        }
}

static void enter(struct gt_timeline_lanes *l, const struct gt_call *e)
{
    struct gt_timeline_lanes_task *s = &l->task[e->task];
    if (gt_call_suspends(e->function)) {
        leave(l, e->task, e->time, STOPS);
        return;
    }
    if (s->state == OUT && (s->waits || l->kind == GT_LANES_ONE))
        start(l, e->task, e->time, s->waits ? s->vcpu : 0);
    if (s->handler == NONE && is_handler(l, e->function)) {
        s->handler = e->function;
        s->handler_begin = e->begin;
        s->depth = e->depth;
    }
}

/* The outermost call has not returned: something ended it, and what runs then is not recorded. */
static bool is_cut(const struct gt_timeline_lanes *l, const struct gt_call *e)
{
    return e->depth == 0 && gt_call_may_be_open(e, l->first_end[e->task]) &&
           (e->flags & GT_CALL_OPEN || gt_calls_is_open(l->calls, e));
}

static void exit_call(struct gt_timeline_lanes *l, const struct gt_call *e)
{
    struct gt_timeline_lanes_task *s = &l->task[e->task];
    if (gt_call_suspends(e->function)) {
        /* A context that ends is resumed at the same moment: none of its calls runs again. */
        const bool resumes = e->time > e->begin && !(e->flags & GT_CALL_UNFINISHED);
        if (l->kind == GT_LANES_ONE && resumes)
            start(l, e->task, e->time, 0);
        return;
    }
    if (s->handler != NONE && e->depth <= s->depth) {
        put_handler(l, s, e->time);
        s->handler = NONE;
    }
    if (is_cut(l, e) && s->state != OUT)
        leave(l, e->task, e->time, PAUSES);
}

static void take(struct gt_timeline_lanes *l, struct gt_timeline_lanes_task *s,
                 const struct gt_call *e)
{
    if (!s->any)
        s->first = e->time;
    if (s->goes && e->kind != GT_CALL_VCPU && e->kind != GT_CALL_SPLIT) {
        add_piece(l, s, GOES, e->time, 0, 0);
        s->goes = false;
    }
    if (e->kind == GT_CALL_ENTRY)
        enter(l, e);
    else if (e->kind == GT_CALL_EXIT)
        exit_call(l, e);
    else if (e->kind == GT_CALL_VCPU)
        start(l, e->task, e->time, e->function);
    s->any |= e->kind != GT_CALL_SPLIT;
    s->last = e->time;
}

void gt_timeline_lanes_take(struct gt_timeline_lanes *l, const struct gt_calls_batch *b)
{
    if (l->kind == GT_LANES_NONE)
        return;
    struct gt_timeline_lanes_task *s = &l->task[b->task];
    if (b->first)
        begin_stretch(l, b);
    for (size_t i = 0; i < b->n; i++)
        take(l, s, &b->call[i]);
}

/* ---- joining ------------------------------------------------------------------------------- */

void gt_timeline_lanes_move(struct gt_timeline_lanes *to, struct gt_timeline_lanes *from)
{
    if (from->kind == GT_LANES_NONE)
        return;
    for (uint32_t i = 0; i < from->n_tasks; i++)
        end_stretch(from, i);
    for (guint i = 0; i < from->pieces->len; i++) {
        struct gt_timeline_lanes_piece p =
            g_array_index(from->pieces, struct gt_timeline_lanes_piece, i);
        p.stretch += to->stretches->len;
        g_array_append_val(to->pieces, p);
    }
    g_array_append_vals(to->stretches, from->stretches->data, from->stretches->len);
    to->left_out += from->left_out;
}

/* By task, then by stretch. The pieces of a stretch are in order. */
static gint compare_stretches(gconstpointer a, gconstpointer b, gpointer all)
{
    const struct gt_timeline_lanes_stretch *list = (const void *)((const GArray *)all)->data;
    const guint i = *(const guint *)a, k = *(const guint *)b;
    const struct gt_timeline_lanes_stretch *x = &list[i], *y = &list[k];
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* A task's run, as its pieces say. */
struct run {
    struct gt_timeline_lanes *l;
    gt_timeline_lanes_find *find;
    void *self;
    uint32_t task, vcpu;
    bool on, known; /* known: the vCPU, also while it is not on */
    uint64_t since, last;
};

static void end_run(struct run *r, uint64_t time)
{
    if (r->on)
        put(r->l, r->vcpu, 0, r->task, r->since, time);
    r->on = false;
}

static void begin_run(struct run *r, uint64_t time, uint32_t vcpu)
{
    end_run(r, r->last);
    r->on = r->known = true;
    r->since = r->last = time;
    r->vcpu = vcpu;
}

static void handle(struct run *r, const struct gt_timeline_lanes_piece *p)
{
    uint32_t vcpu = r->vcpu;
    uint64_t since = r->since;
    if (r->on || (r->find && r->find(r->self, r->task, p->time, &vcpu, &since)))
        put(r->l, vcpu, 1, p->value, MAX(since, p->begin), p->time);
}

static void take_piece(struct run *r, const struct gt_timeline_lanes_piece *p)
{
    switch ((enum kind)p->kind) {
    case GOES:
        if (!r->on && (r->known || r->l->kind == GT_LANES_ONE))
            begin_run(r, p->time, r->known ? r->vcpu : 0);
        break;
    case STARTS:
        begin_run(r, p->time, p->value);
        break;
    case STAYS:
        r->last = p->time;
        break;
    case STOPS:
        end_run(r, p->time);
        r->known = false;
        break;
    case PAUSES:
        end_run(r, p->time);
        break;
    case HANDLES:
        handle(r, p);
        break;
    }
}

/* Where the pieces of each stretch begin; one more: where they end. */
static guint *piece_places(const struct gt_timeline_lanes *l)
{
    const guint n = l->stretches->len;
    guint *at = g_new0(guint, n + 2);
    for (guint i = 0; i < l->pieces->len; i++)
        at[g_array_index(l->pieces, struct gt_timeline_lanes_piece, i).stretch + 1]++;
    for (guint i = 0; i < n; i++)
        at[i + 1] += at[i];
    return at;
}

/* Pieces by stretch: a worker has tasks side by side, and their pieces mixed. */
static struct gt_timeline_lanes_piece *sorted_pieces(const struct gt_timeline_lanes *l,
                                                     const guint *at)
{
    struct gt_timeline_lanes_piece *sorted =
        g_new(struct gt_timeline_lanes_piece, l->pieces->len + 1);
    guint *next = g_memdup2(at, (l->stretches->len + 1) * sizeof *at);
    for (guint i = 0; i < l->pieces->len; i++) {
        const struct gt_timeline_lanes_piece *p =
            &g_array_index(l->pieces, struct gt_timeline_lanes_piece, i);
        sorted[next[p->stretch]++] = *p;
    }
    g_free(next);
    return sorted;
}

void gt_timeline_lanes_join(struct gt_timeline_lanes *l, bool whole, gt_timeline_lanes_find *find,
                            void *self)
{
    if (l->kind == GT_LANES_NONE)
        return;
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < l->stretches->len; i++)
        g_array_append_val(order, i);
    g_array_sort_with_data(order, compare_stretches, l->stretches);
    g_autofree guint *at = piece_places(l);
    g_autofree struct gt_timeline_lanes_piece *piece = sorted_pieces(l, at);
    struct run run = {.l = l, .find = find, .self = self, .task = NONE};
    for (guint i = 0; i <= order->len; i++) {
        const guint number = i < order->len ? g_array_index(order, guint, i) : 0;
        const uint32_t task =
            i < order->len
                ? g_array_index(l->stretches, struct gt_timeline_lanes_stretch, number).task
                : NONE;
        if (task != run.task) {
            if (whole)
                end_run(&run, run.last);
            run = (struct run){.l = l, .find = find, .self = self, .task = task};
        }
        for (guint k = at[number]; i < order->len && k < at[number + 1]; k++)
            take_piece(&run, &piece[k]);
    }
}
