/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions and tasks of a recording that is followed: see follow_sums.h. */
#include "calls/read/follow_sums.h"

#include "calls/read/spaces.h"

#include <inttypes.h>
#include <string.h>

struct function {
    struct gt_calls_follow_function public; /* its texts are ours */
    struct gt_calls_follow_times times;
    uint32_t index; /* of the function that it is: its own, or that of its name */
    struct gt_calls_follow_place at;
};

/* ---- functions and tasks ------------------------------------------------------------------- */

static guint hash_function(gconstpointer key)
{
    const struct gt_calls_follow_function *f = key;
    return g_str_hash(f->name) * 31 + g_str_hash(f->module);
}

static gboolean same_function(gconstpointer a, gconstpointer b)
{
    const struct gt_calls_follow_function *x = a, *y = b;
    return strcmp(x->name, y->name) == 0 && strcmp(x->module, y->module) == 0;
}

static void free_text(const char *text)
{
    g_free((char *)(uintptr_t)text);
}

static void free_function(gpointer function)
{
    struct function *f = function;
    free_text(f->public.name);
    free_text(f->public.module);
    g_free(f);
}

static void free_task(gpointer task)
{
    struct gt_calls_follow_open_task *t = task;
    gt_calls_stack_finish(&t->stack);
    free_text(t->public.name);
    g_free(t);
}

void gt_calls_follow_calls_init(struct gt_calls_follow_calls *f)
{
    *f = (struct gt_calls_follow_calls){
        .functions = g_hash_table_new(hash_function, same_function),
        .function = g_ptr_array_new_with_free_func(free_function),
        .tasks = g_hash_table_new(NULL, NULL),
        .task = g_ptr_array_new_with_free_func(free_task),
    };
}

void gt_calls_follow_calls_finish(struct gt_calls_follow_calls *f)
{
    g_hash_table_destroy(f->functions);
    g_ptr_array_free(f->function, TRUE);
    g_hash_table_destroy(f->tasks);
    g_ptr_array_free(f->task, TRUE);
}

static struct function *function_at(const struct gt_calls_follow_calls *f, uint32_t index)
{
    return f->function->pdata[((const struct function *)f->function->pdata[index])->index];
}

static struct function *add_function(struct gt_calls_follow_calls *f, const char *module,
                                     const char *name)
{
    struct function *new = g_new0(struct function, 1);
    new->public.module = g_strdup(module);
    new->public.name = g_strdup(name);
    new->public.suspends = gt_call_suspends(f->function->len);
    new->index = f->function->len;
    g_ptr_array_add(f->function, new);
    g_hash_table_insert(f->functions, &new->public, new);
    return new;
}

bool gt_calls_follow_is_address(const struct gt_calls_function *of)
{
    char name[24];
    g_snprintf(name, sizeof name, "<%" PRIx64 ">", of->address);
    return strcmp(of->name, name) == 0;
}

/* An address without a symbol gets one of this name when the recording of a machine ends. */
static const char *name_of(const struct gt_calls_function *of, char *room, gulong size)
{
    if (!gt_calls_follow_is_address(of))
        return of->name;
    g_snprintf(room, size, "0x%" PRIx64, of->address);
    return room;
}

uint32_t gt_calls_follow_number(struct gt_calls_follow_calls *f, const struct gt_calls_function *of,
                                const struct gt_calls_follow_place *at)
{
    char room[24];
    const struct gt_calls_follow_function key = {.module = of->module,
                                                 .name = name_of(of, room, sizeof room)};
    struct function *found = g_hash_table_lookup(f->functions, &key);
    if (!found) {
        found = add_function(f, key.module, key.name);
        found->public.is_unnamed = gt_calls_follow_is_address(of);
        found->public.address = at->address;
        found->at = *at;
    }
    return found->index;
}

const struct gt_calls_follow_place *gt_calls_follow_unnamed(const struct gt_calls_follow_calls *f,
                                                            uint32_t index)
{
    const struct function *of = f->function->pdata[index];
    return of->public.is_unnamed && of->index == index ? &of->at : NULL;
}

static void move_sum(struct gt_calls_follow_sum *to, struct gt_calls_follow_sum *from)
{
    to->calls += from->calls;
    to->self += from->self;
    to->total += from->total;
    to->slept += from->slept;
    *from = (struct gt_calls_follow_sum){0};
}

void gt_calls_follow_rename(struct gt_calls_follow_calls *f, uint32_t index,
                            const struct gt_calls_function *of)
{
    struct function *from = f->function->pdata[index];
    const uint32_t to_index = gt_calls_follow_number(f, of, &from->at);
    from->public.is_unnamed = false;
    if (to_index == index)
        return;
    struct function *to = function_at(f, to_index);
    from->index = to_index;
    move_sum(&to->times.ended, &from->times.ended);
    move_sum(&to->times.before, &from->times.before);
    move_sum(&to->public.sums.now, &from->public.sums.now);
    move_sum(&to->public.sums.all, &from->public.sums.all);
}

struct gt_calls_follow_open_task *gt_calls_follow_task_of(struct gt_calls_follow_calls *f,
                                                          uint32_t id)
{
    struct gt_calls_follow_open_task *t = g_hash_table_lookup(f->tasks, GUINT_TO_POINTER(id));
    if (t)
        return t;
    t = g_new0(struct gt_calls_follow_open_task, 1);
    t->public.id = id;
    t->public.name = g_strdup("");
    g_ptr_array_add(f->task, t);
    g_hash_table_insert(f->tasks, GUINT_TO_POINTER(id), t);
    return t;
}

void gt_calls_follow_name_task(struct gt_calls_follow_calls *f, struct gt_calls_follow_open_task *t,
                               const char *name)
{
    if (strcmp(t->public.name, name) != 0) {
        free_text(t->public.name);
        t->public.name = g_strdup(name);
    }
    t->is_left_out = f->wants && !f->wants(f->wants_self, &t->public);
}

void gt_calls_follow_choose(struct gt_calls_follow_calls *f)
{
    for (guint i = 0; i < f->task->len; i++) {
        struct gt_calls_follow_open_task *t = f->task->pdata[i];
        t->is_left_out = f->wants && !f->wants(f->wants_self, &t->public);
    }
}

/* ---- sums ---------------------------------------------------------------------------------- */

static struct gt_calls_follow_open_task *task_at(const struct gt_calls_follow_calls *f, guint index)
{
    return f->task->pdata[index];
}

static struct gt_calls_follow_open_task *owner_of(struct gt_calls_stack *s)
{
    return (struct gt_calls_follow_open_task *)(void *)((char *)s -
                                                        offsetof(struct gt_calls_follow_open_task,
                                                                 stack));
}

static void add(struct gt_calls_follow_sum *to, const struct gt_calls_follow_sum *more)
{
    to->calls += more->calls;
    to->self += more->self;
    to->total += more->total;
    to->slept += more->slept;
}

/* Times of a call until `e->time`, as far as the task's stack has seen it. */
static struct gt_calls_follow_sum times_of(const struct gt_calls_follow_open_task *t,
                                           const struct gt_call *e)
{
    const uint64_t from = MAX(e->begin, t->since);
    const uint64_t took = e->flags & GT_CALL_RECURSIVE || e->time < from ? 0 : e->time - from;
    const uint64_t slept = MIN(e->slept, took);
    return (struct gt_calls_follow_sum){
        .self = (uint64_t)MAX(e->self, 0), .total = took - slept, .slept = slept};
}

/* Of a task its own time is kept, and of its outermost calls how long it was suspended in them. */
static struct gt_calls_follow_sum own_of(const struct gt_calls_follow_sum *s, bool outermost)
{
    return (struct gt_calls_follow_sum){
        .calls = s->calls, .self = s->self, .slept = outermost ? s->slept : 0};
}

int gt_calls_follow_take(void *calls, struct gt_calls_stack *s, const struct gt_calls_out *out)
{
    struct gt_calls_follow_calls *f = calls;
    struct gt_calls_follow_open_task *t = owner_of(s);
    for (size_t i = 0; i < out->n && f->counts && !t->is_left_out; i++) {
        const struct gt_call *e = &out->call[i];
        if (e->kind == GT_CALL_LOST)
            f->lost++;
        if (e->kind != GT_CALL_ENTRY && e->kind != GT_CALL_EXIT)
            continue;
        struct function *of = function_at(f, e->function);
        const struct gt_calls_follow_sum sum =
            e->kind == GT_CALL_ENTRY ? (struct gt_calls_follow_sum){.calls = 1} : times_of(t, e);
        const struct gt_calls_follow_sum own = own_of(&sum, e->depth == 0);
        add(&of->times.ended, &sum);
        if (!of->public.suspends)
            add(&t->times.ended, &own);
    }
    return 0;
}

/* What the calls that the task has open have had so far. */
static void add_open(const struct gt_calls_follow_calls *f, struct gt_calls_follow_open_task *t)
{
    const struct gt_calls_stack *s = &t->stack;
    for (uint32_t k = 0; k < s->n && !t->is_left_out; k++) {
        const struct gt_call_frame *frame = &s->frame[k];
        struct function *of = function_at(f, frame->function);
        const uint64_t until = k + 1 < s->n ? frame[1].begin : s->last;
        const struct gt_calls_follow_sum sum = times_of(
            t, &(struct gt_call){.time = s->last,
                                 .begin = frame->begin,
                                 .self = (int64_t)(until - frame->begin - s->spent[k].child),
                                 .slept = gt_calls_stack_slept(s, k, s->last),
                                 .flags = frame->recursive ? GT_CALL_RECURSIVE : 0});
        const struct gt_calls_follow_sum own = own_of(&sum, k == 0);
        add(&of->times.open, &sum);
        if (!of->public.suspends)
            add(&t->times.open, &own);
    }
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void sum_up(struct gt_calls_follow_times *t, struct gt_calls_follow_sums *out, bool restarts)
{
    const struct gt_calls_follow_sum last = restarts ? (struct gt_calls_follow_sum){0} : out->all;
    if (restarts) {
        t->ended = (struct gt_calls_follow_sum){0};
        t->before = t->open;
    }
    out->all.calls = t->ended.calls;
    out->all.self = difference(t->ended.self + t->open.self, t->before.self);
    out->all.total = difference(t->ended.total + t->open.total, t->before.total);
    out->all.slept = difference(t->ended.slept + t->open.slept, t->before.slept);
    out->now.calls = out->all.calls - last.calls;
    out->now.self = difference(out->all.self, last.self);
    out->now.total = difference(out->all.total, last.total);
    out->now.slept = difference(out->all.slept, last.slept);
}

void gt_calls_follow_renumber(struct gt_calls_follow_calls *f)
{
    for (guint i = 0; i < f->task->len; i++) {
        struct gt_calls_stack *s = &task_at(f, i)->stack;
        for (uint32_t k = 0; k < s->n; k++) {
            const uint32_t from = s->frame[k].function, to = function_at(f, from)->index;
            s->seen[from & (GT_STACK_SEEN - 1)]--;
            s->seen[to & (GT_STACK_SEEN - 1)]++;
            s->frame[k].function = to;
        }
    }
}

void gt_calls_follow_sum_up(struct gt_calls_follow_calls *f, bool restarts)
{
    for (guint i = 0; i < f->function->len; i++)
        ((struct function *)f->function->pdata[i])->times.open = (struct gt_calls_follow_sum){0};
    for (guint i = 0; i < f->task->len; i++) {
        struct gt_calls_follow_open_task *t = task_at(f, i);
        t->times.open = (struct gt_calls_follow_sum){0};
        add_open(f, t);
        sum_up(&t->times, &t->public.sums, restarts);
        t->public.sums.now.total = t->public.sums.now.self;
        t->public.sums.all.total = t->public.sums.all.self;
    }
    for (guint i = 0; i < f->function->len; i++) {
        struct function *of = f->function->pdata[i];
        if (of->index == i)
            sum_up(&of->times, &of->public.sums, restarts);
    }
}
