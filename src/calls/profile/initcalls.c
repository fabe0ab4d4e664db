/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Initcalls of Linux, found by a scan: see initcalls.h.
 *
 * A run is a call of do_one_initcall (or console_init). A stretch of time knows which runs are open
 * where it begins, so each thread finds the calls in them alone. Of one run, several stretches may
 * each have a call that comes first there; the earliest one is the initcall.
 *
 * An initcall may end in a jump to another function, whose call begins then, at the same depth: it
 * is a part of the initcall.
 */
#include "calls/profile/initcalls.h"

#include "base/array.h"
#include "base/search.h"
#include "base/text.h"
#include "calls/profile/parts.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 6, /* of a run, in a stretch */
    FEW_RUNS = 16,  /* say nothing about the functions that are in them */
    OFTEN = 4,      /* a function in one of so many runs is called by do_one_initcall itself */
};

enum role { UNKNOWN, OTHER, RUNS_ONE, RUNS_MANY, HELPS };

struct run {
    uint64_t begin;
    uint32_t depth;
    bool many;    /* it calls several */
    unsigned met; /* that have returned here */
    uint64_t end; /* of the last one */
};

/* A call in a run, or what a run returned: `function` is the run's then. */
struct found {
    struct gt_profile_initcall call;
    uint64_t run_begin;
    uint32_t run_depth;
    bool many, returned;
    uint64_t part_slept; /* what the call itself has of `slept`, which its parts have, too */
};

struct share {
    struct gt_calls *calls;
    GByteArray *roles; /* enum role by function */
    GPtrArray *runs;   /* GArray of struct run, the open ones, by task */
    GArray *found;
    struct gt_profile_parts parts;
};

/* ---- functions ----------------------------------------------------------------------------- */

/* What they call beside initcalls, and code that stands before a function that is called. Others
 * are recognised in `choose`. */
static const char *const helpers[] = {
    "initcall_blacklisted",
    "n_tty_init",
    "tty_register_ldisc",
    "_printk",
    "printk",
    "sprint_symbol_no_offset",
    "strreplace",
    "strcmp",
    "__fentry__",
    NULL,
};
static const char *const helper_begins[] = {
    "trace_initcall_",
    "do_trace_initcall_",
    "__traceiter_initcall_",
    "__SCT__tp_func_initcall_",
    "trace_event_raw_event_initcall_",
    "perf_trace_initcall_",
    "__bpf_trace_initcall_",
    "__x86_indirect_",
    "__x86_return_",
    "__asan_",
    "__sanitizer_",
    "memset",
    "__memset",
    "__pi_memset",
    NULL,
};

/* Without what a compiler has added. */
static bool is_called(const char *name, const char *what)
{
    const size_t n = strlen(what);
    return strncmp(name, what, n) == 0 && (name[n] == 0 || name[n] == '.');
}

static enum role role_by_name(const struct gt_calls_function *f)
{
    const char *name = f->name;
    if (is_called(name, "do_one_initcall") || is_called(name, "do_one_initcall_debug"))
        return RUNS_ONE;
    if (is_called(name, "console_init"))
        return RUNS_MANY;
    for (const char *const *h = helpers; *h; h++)
        if (is_called(name, *h))
            return HELPS;
    for (const char *const *h = helper_begins; *h; h++)
        if (g_str_has_prefix(name, *h))
            return HELPS;
    return f->is_handler ? HELPS : OTHER;
}

static enum role role_of(struct share *s, uint32_t function)
{
    const guint n = s->roles->len;
    if (gt_call_suspends(function))
        return HELPS;
    if (function >= n) {
        g_byte_array_set_size(s->roles, MAX(function + 1, 2 * n));
        memset(s->roles->data + n, UNKNOWN, s->roles->len - n);
    }
    if (s->roles->data[function] == UNKNOWN)
        s->roles->data[function] = (guint8)role_by_name(gt_calls_function(s->calls, function));
    return (enum role)s->roles->data[function];
}

static bool runs(enum role r)
{
    return r == RUNS_ONE || r == RUNS_MANY;
}

/* ---- a share ------------------------------------------------------------------------------- */

static void free_runs(gpointer runs)
{
    if (runs)
        g_array_free(runs, TRUE);
}

static void clear_found(gpointer found)
{
    g_free(((struct found *)found)->call.result);
}

static struct share *share_new(struct gt_calls *c)
{
    struct share *s = g_new0(struct share, 1);
    s->calls = c;
    s->roles = g_byte_array_new();
    s->runs = g_ptr_array_new_with_free_func(free_runs);
    s->found = g_array_new(FALSE, FALSE, sizeof(struct found));
    g_array_set_clear_func(s->found, clear_found);
    return s;
}

static void share_free(struct share *s)
{
    g_byte_array_free(s->roles, TRUE);
    g_ptr_array_free(s->runs, TRUE);
    g_array_free(s->found, TRUE);
    gt_profile_parts_clear(&s->parts);
    g_free(s);
}

static void *make_share(void *self)
{
    return share_new(((const struct share *)self)->calls);
}

static GArray *runs_of(struct share *s, uint32_t task)
{
    if (task >= s->runs->len)
        g_ptr_array_set_size(s->runs, (gint)task + 1);
    gpointer *at = &g_ptr_array_index(s->runs, task);
    if (!*at)
        *at = g_array_new(FALSE, FALSE, sizeof(struct run));
    return *at;
}

static void open_run(GArray *runs, enum role role, uint32_t depth, uint64_t begin)
{
    const struct run r = {.begin = begin, .depth = depth, .many = role == RUNS_MANY};
    g_array_append_val(runs, r);
}

/* The innermost one that is open around a call of that depth; NULL: none. */
static struct run *run_around(GArray *runs, uint32_t depth)
{
    while (runs->len && g_array_index(runs, struct run, runs->len - 1).depth >= depth)
        g_array_set_size(runs, runs->len - 1);
    return runs->len ? &g_array_index(runs, struct run, runs->len - 1) : NULL;
}

/* What the event of a batch has returned; NULL: it is not known. */
static char *result_of(const struct share *s, const struct gt_calls_batch *b,
                       const struct gt_call *e)
{
    struct gt_text text = {0};
    char *result = NULL;
    if (!b->values || e != &b->call[b->n - 1])
        return NULL;
    gt_calls_show_values(s->calls, e, b->values, &text);
    if (text.data && text.len)
        result = g_strndup(text.data, text.len);
    gt_text_free(&text);
    return result;
}

/* Of the call that goes on, by a jump, as the other one. */
static bool goes_on(const struct gt_profile_initcall *i, const struct gt_profile_initcall *as)
{
    return i->task == as->task && i->depth == as->depth && i->end == as->begin;
}

static void append(struct gt_profile_initcall *to, const struct gt_profile_initcall *i)
{
    to->end = i->end;
    to->slept += i->slept;
    to->flags = i->flags;
}

static int keep(struct share *s, const struct gt_call *e, const struct run *r, bool returned,
                char *result)
{
    struct found *last =
        s->found->len ? &g_array_index(s->found, struct found, s->found->len - 1) : NULL;
    const struct found f = {
        .call = {e->begin, e->time, e->time, e->slept, e->self, e->task, e->function, e->depth,
                 (uint8_t)(e->flags | (gt_calls_is_open(s->calls, e) ? GT_CALL_OPEN : 0)), result},
        .run_begin = r->begin,
        .run_depth = r->depth,
        .many = r->many,
        .returned = returned,
        .part_slept = e->slept,
    };
    if (last && !returned && !last->returned && goes_on(&last->call, &f.call)) {
        append(&last->call, &f.call);
        g_free(last->call.result);
        last->call.result = result;
        return 0;
    }
    g_array_append_val(s->found, f);
    return s->found->len <= GT_INITCALLS_MOST ? 0 : GT_E_RANGE;
}

/* An EXIT or SPLIT in a run, or of one. */
static int take_end(struct share *s, const struct gt_calls_batch *b, const struct gt_call *e,
                    GArray *runs)
{
    const bool exits = e->kind == GT_CALL_EXIT;
    const enum role role = role_of(s, e->function);
    if (role == RUNS_ONE && exits) {
        const struct run r = {.begin = e->begin, .depth = e->depth};
        char *result = result_of(s, b, e);
        int status = result ? keep(s, e, &r, true, result) : 0;
        if (status < 0)
            return status;
    }
    struct run *r = run_around(runs, e->depth);
    if (role != OTHER || !r || r->depth + 1 != e->depth || (r->met >= CANDIDATES && !r->many))
        return 0;
    if ((!exits || e->flags & GT_CALL_PART) && gt_profile_parts_add(&s->parts, e) < 0)
        return GT_E_NOMEM;
    r->met += exits && e->begin != r->end;
    r->end = exits ? e->time : r->end;
    return exits ? keep(s, e, r, false, result_of(s, b, e)) : 0;
}

static int take_batch(void *share, const struct gt_calls_batch *b)
{
    struct share *s = share;
    GArray *open = runs_of(s, b->task);
    if (b->first) {
        g_array_set_size(open, 0);
        for (uint32_t depth = 0; depth < b->n_open; depth++) {
            const enum role role = role_of(s, b->open[depth].function);
            if (runs(role))
                open_run(open, role, depth, b->open[depth].begin);
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        const struct gt_call *e = &b->call[i];
        int status = 0;
        if (e->kind == GT_CALL_ENTRY && runs(role_of(s, e->function))) {
            run_around(open, e->depth);
            open_run(open, role_of(s, e->function), e->depth, e->begin);
        } else if (e->kind == GT_CALL_EXIT || e->kind == GT_CALL_SPLIT) {
            status = take_end(s, b, e, open);
        }
        if (status < 0)
            return status;
    }
    return 0;
}

static int merge_share(void *self, void *share)
{
    struct share *all = self, *s = share;
    int status = 0;
    if (all) {
        g_array_append_vals(all->found, s->found->data, s->found->len);
        g_array_set_clear_func(s->found, NULL); /* `all` has the texts now */
        status = all->found->len > GT_INITCALLS_MOST
                     ? GT_E_RANGE
                     : gt_profile_parts_merge(&all->parts, &s->parts);
    }
    share_free(s);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* By run; in one what it returned comes first, then its calls in order of time. */
static int compare_found(const void *pa, const void *pb)
{
    const struct found *a = pa, *b = pb;
    int order = gt_base_search_compare(a->call.task, b->call.task);
    if (!order)
        order = gt_base_search_compare(a->run_begin, b->run_begin);
    if (!order)
        order = gt_base_search_compare(a->run_depth, b->run_depth);
    if (!order)
        order = b->returned - a->returned;
    return order ? order : gt_base_search_compare(a->call.begin, b->call.begin);
}

static int compare_rows(const void *pa, const void *pb)
{
    const struct gt_profile_initcall *a = pa, *b = pb;
    int order = gt_base_search_compare(a->begin, b->begin);
    if (!order)
        order = gt_base_search_compare(a->task, b->task);
    return order ? order : gt_base_search_compare(a->depth, b->depth);
}

static int compare_calls(const void *pa, const void *pb)
{
    const struct found *a = pa, *b = pb;
    const int order = compare_rows(&a->call, &b->call);
    return order ? order : a->returned - b->returned;
}

static bool same_run(const struct found *a, const struct found *b)
{
    return a->call.task == b->call.task && a->run_begin == b->run_begin &&
           a->run_depth == b->run_depth;
}

/* What came in parts has the last one's times: adds all. `self`: in order of compare_calls. */
static void add_part(void *self, const struct gt_profile_part *p)
{
    const GArray *found = self;
    const struct found key = {.call = {.begin = p->begin, .task = p->task, .depth = p->depth}};
    struct found *f =
        found->len ? bsearch(&key, found->data, found->len, sizeof key, compare_calls) : NULL;
    if (f && p->ended) {
        f->call.self = p->self;
        f->call.slept += p->slept - f->part_slept;
    }
}

static struct found *found_at(const struct share *all, guint i)
{
    return &g_array_index(all->found, struct found, i);
}

/* Functions that come up in many runs are helpers: an initcall is called once. */
static void find_helpers(struct share *all)
{
    g_autofree uint32_t *runs = g_new0(uint32_t, all->roles->len + 1); /* by function */
    g_autofree uint32_t *last = g_new0(uint32_t, all->roles->len + 1);
    uint32_t n = 0;
    for (guint i = 0; i < all->found->len; i++) {
        const struct found *f = found_at(all, i);
        n += i == 0 || !same_run(f, f - 1);
        if (f->returned || f->many || last[f->call.function] == n)
            continue;
        last[f->call.function] = n;
        runs[f->call.function]++;
    }
    for (guint i = 0; n >= FEW_RUNS && i < all->roles->len; i++)
        if (runs[i] > n / OFTEN)
            all->roles->data[i] = HELPS;
}

/* Of each run its first call, or all; with what it returned. console_init is Linux's only where
 * do_one_initcall was called, too. */
static void choose(struct share *all, struct gt_profile_initcalls *out)
{
    const struct found *result = NULL, *taken = NULL;
    bool is_linux = false;
    g_array_sort(all->found, compare_found);
    for (guint i = 0; i < all->found->len; i++) {
        is_linux = is_linux || !found_at(all, i)->many;
        role_of(all, found_at(all, i)->call.function);
    }
    find_helpers(all);
    out->row = g_new0(struct gt_profile_initcall, all->found->len + 1);
    for (guint i = 0; i < all->found->len; i++) {
        struct found *f = found_at(all, i);
        if (f->returned)
            result = f;
        if (f->returned || role_of(all, f->call.function) == HELPS || (f->many && !is_linux))
            continue;
        if (taken && goes_on(&out->row[out->n - 1], &f->call)) {
            append(&out->row[out->n - 1], &f->call);
        } else if (!taken || f->many || !same_run(taken, f)) {
            struct gt_profile_initcall *row = &out->row[out->n++];
            *row = f->call;
            f->call.result = NULL;
            taken = f;
            if (!row->result && result && same_run(result, f))
                row->result = g_strdup(result->call.result);
        }
    }
    if (out->n)
        qsort(out->row, out->n, sizeof *out->row, compare_rows);
}

int gt_profile_initcalls_make(struct gt_calls *c, const struct gt_calls_window *w, unsigned threads,
                              struct gt_profile_initcalls *out, struct gt_error *err)
{
    static const struct gt_calls_consumer consumer = {make_share, take_batch, merge_share};
    struct share *all = share_new(c);
    *out = (struct gt_profile_initcalls){0};
    int status = gt_calls_scan(c, w, &consumer, all, threads, err);
    if (status == GT_E_RANGE)
        gt_error_set(err, status, "more than %d initcalls", GT_INITCALLS_MOST);
    if (status >= 0) {
        g_array_sort(all->found, compare_calls);
        gt_profile_parts_each(&all->parts, add_part, all->found);
        choose(all, out);
    }
    share_free(all);
    return MIN(status, 0);
}

void gt_profile_initcalls_clear(struct gt_profile_initcalls *i)
{
    for (size_t k = 0; k < i->n; k++)
        g_free(i->row[k].result);
    g_free(i->row);
    *i = (struct gt_profile_initcalls){0};
}
