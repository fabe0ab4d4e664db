/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libgtrace: whole calls, from a walk: a call is complete at its EXIT. Arguments come with the
 * ENTRY and are kept until then, by task and depth.
 */
#include "calls/read/call_values.h"
#include "gtrace/private.h"
#include "recording/values/payload.h"

#include <string.h>

enum { CALLS = 1024 }; /* given at once */

struct calls {
    struct gtrace *t;
    const struct gtrace_window *asked;
    struct gt_gtrace_choice choice;
    int (*give)(void *user, const struct gtrace_call *call, size_t n, size_t stride);
    void *user;
    struct gtrace_call call[CALLS];
    size_t n;
    GPtrArray *arguments; /* struct gt_call_values, by task */
    /* What calls point to: freed when they have been given. */
    GStringChunk *texts;
    GPtrArray *blocks;
};

/* ---- values -------------------------------------------------------------------------------- */

static const char *text_of(struct calls *c, const struct gt_value_item *item,
                           const struct gt_value *v)
{
    const struct gt_value_list one = {.n = 1, .value = {*v}};
    struct gt_text text = {0};
    gt_values_show(&text, gt_calls_values(c->t->calls), item, &one, false, NULL, NULL);
    const char *kept = g_string_chunk_insert(c->texts, text.failed || !text.data ? "" : text.data);
    gt_text_free(&text);
    return kept;
}

/* A text without its quotes. */
static const char *bare(struct calls *c, const char *shown)
{
    const size_t n = strlen(shown);
    return n >= 2 && shown[0] == '"' && shown[n - 1] == '"'
               ? g_string_chunk_insert_len(c->texts, shown + 1, (gssize)n - 2)
               : shown;
}

static void set_word(struct gtrace_value *out, const struct gt_value_item *item,
                     const struct gt_value *v)
{
    switch ((enum gt_value_format)item->format) {
    case GT_VALUE_FLOAT:
        out->kind = GTRACE_REAL;
        out->real = (double)gt_value_real(item, v);
        return;
    case GT_VALUE_STRUCT:
        out->kind = GTRACE_OTHER;
        return;
    default:
        out->kind = gt_value_has_sign(item->format) ? GTRACE_INTEGER : GTRACE_UNSIGNED;
        out->number = v->word;
        if (out->kind == GTRACE_UNSIGNED && item->size && item->size < 8)
            out->number &= ~(UINT64_MAX << (8 * item->size));
    }
}

static void set_value(struct calls *c, struct gtrace_value *out, const struct gt_value_item *item,
                      const struct gt_value *v)
{
    out->text = text_of(c, item, v);
    switch ((enum gt_value_kind)v->kind) {
    case GT_VALUE_ABSENT:
    case GT_VALUE_BAD_ADDRESS:
        out->kind = GTRACE_UNREAD;
        return;
    case GT_VALUE_WORD:
        set_word(out, item, v);
        return;
    case GT_VALUE_BYTES:
    case GT_VALUE_CUT:
        if (gt_value_is_text(item->format)) {
            out->kind = GTRACE_TEXT;
            out->text = bare(c, out->text);
        } else if (item->format == GT_VALUE_FLOAT) {
            set_word(out, item, v);
        } else {
            out->kind = GTRACE_OTHER;
        }
    }
}

static uint32_t place_of(const struct gt_value_item *item)
{
    return item->number && item->is_float ? GTRACE_FLOAT + item->number : item->number;
}

static const struct gtrace_value *values_of(struct calls *c, const struct gt_call *e,
                                            const struct gt_value_list *list)
{
    struct gt_value_item unknown[GT_VALUES_MOST];
    const struct gt_value_item *item = gt_calls_value_items(c->t->calls, e, list, unknown);
    struct gtrace_value *out = g_new0(struct gtrace_value, list->n + 1);
    g_ptr_array_add(c->blocks, out);
    for (size_t i = 0; i < list->n; i++) {
        char name[GT_CALLS_VALUE_NAME];
        gt_calls_value_name(&item[i], i, e->kind == GT_CALL_ENTRY, name);
        out[i].name = g_string_chunk_insert_const(c->texts, name);
        out[i].place = place_of(&item[i]);
        set_value(c, &out[i], &item[i], &list->value[i]);
    }
    return out;
}

static void free_arguments(gpointer data)
{
    if (data) {
        gt_call_values_finish(data);
        g_free(data);
    }
}

static struct gt_call_values *arguments_of(struct calls *c, uint32_t task)
{
    if (task >= c->arguments->len)
        g_ptr_array_set_size(c->arguments, (gint)task + 1);
    gpointer *at = &g_ptr_array_index(c->arguments, task);
    if (!*at)
        *at = g_new0(struct gt_call_values, 1);
    return *at;
}

static void add_values(struct calls *c, struct gtrace_call *call, const struct gt_call *e)
{
    const struct gt_value_list *in = gt_call_values_at(arguments_of(c, e->task), e->depth);
    const struct gt_value_list *out = gt_calls_values_at(c->t->calls);
    struct gt_call entry = *e;
    entry.kind = GT_CALL_ENTRY;
    if (in) {
        call->arguments = values_of(c, &entry, in);
        call->n_arguments = (uint32_t)in->n;
    }
    if (out && out->n)
        call->result = values_of(c, e, out);
}

/* ---- calls --------------------------------------------------------------------------------- */

static void add_path(struct calls *c, struct gtrace_call *call, const struct gt_call *e)
{
    size_t n;
    const struct gt_call_frame *frame = gt_calls_open_at(c->t->calls, e->task, &n);
    n = MIN(n, e->depth);
    uint32_t *path = g_new(uint32_t, n + 1);
    g_ptr_array_add(c->blocks, path);
    for (size_t i = 0; i < n; i++)
        path[i] = frame[i].function;
    call->path = path;
    call->n_path = (uint32_t)n;
}

static int flush(struct calls *c)
{
    int status = c->n ? c->give(c->user, c->call, c->n, sizeof c->call[0]) : 0;
    c->n = 0;
    g_ptr_array_set_size(c->blocks, 0);
    g_string_chunk_clear(c->texts);
    return status;
}

static int take(void *self, const struct gt_call *e)
{
    struct calls *c = self;
    const bool values = c->asked->want & GTRACE_WANT_VALUES;
    if (values && e->kind == GT_CALL_ENTRY && gt_gtrace_chosen(&c->choice, c->t, e->function))
        gt_call_values_set(arguments_of(c, e->task), e->depth, gt_calls_values_at(c->t->calls));
    if (e->kind != GT_CALL_EXIT || (!c->asked->wall && gt_call_suspends(e->function)) ||
        !gt_gtrace_chosen(&c->choice, c->t, e->function))
        return 0;
    struct gtrace_call *call = &c->call[c->n++];
    *call = (struct gtrace_call){.begin = e->begin,
                                 .end = e->time,
                                 .self = e->self,
                                 .slept = e->slept,
                                 .task = e->task,
                                 .function = e->function,
                                 .depth = e->depth,
                                 .flags = gt_gtrace_flags(c->t, e)};
    if (c->asked->want & GTRACE_WANT_PATH)
        add_path(c, call, e);
    if (values)
        add_values(c, call, e);
    return c->n == CALLS ? flush(c) : 0;
}

API int gtrace_calls(struct gtrace *t, const struct gtrace_window *w,
                     int (*calls)(void *user, const struct gtrace_call *call, size_t n,
                                  size_t stride),
                     void *user, struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gt_error e = {0};
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    struct calls *c = g_new0(struct calls, 1);
    c->t = t;
    c->asked = &pass.asked;
    c->give = calls;
    c->user = user;
    c->arguments = g_ptr_array_new_with_free_func(free_arguments);
    c->texts = g_string_chunk_new(4096);
    c->blocks = g_ptr_array_new_with_free_func(g_free);
    gt_gtrace_choice_init(&c->choice, &pass.asked);
    status = gt_calls_walk(t->calls, &pass.window, take, c, &e);
    if (status == 0)
        status = flush(c);
    gt_gtrace_choice_finish(&c->choice);
    g_ptr_array_unref(c->arguments);
    g_ptr_array_unref(c->blocks);
    g_string_chunk_free(c->texts);
    g_free(c);
    gt_gtrace_pass_finish(&pass);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : status;
}
