/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgrind's profile format, for callgrind_annotate and KCachegrind: what each function spent
 * itself, and for each function that it called how often and how long.
 *
 * A call's time counts only if no other call of the same function is open around it. So the times
 * of all calls of a function add up to the time in it, recursion counted once: that is how readers
 * get a function's inclusive cost. (callgrind itself makes inner calls a second function, f'2.)
 *
 * Each task is a function that calls its first ones: a function that is first in one task and
 * called in another would else lose the time of its first calls.
 *
 * A name is "(NUMBER) NAME" the first time and "(NUMBER)" from then on.
 */
#include "calls/export/frames.h"
#include "calls/export/sums.h"

#include <inttypes.h>

#define UNKNOWN "???"

/* A function; of a task's, `function` is NULL. */
struct node {
    const struct gt_calls_function *function;
    const char *name;
    uint64_t self;
    uint32_t open; /* how many calls of it are open */
};

struct edge {
    uint32_t caller, callee; /* nodes */
    uint64_t calls, total;
};

struct callgrind {
    const struct gt_calls *calls;
    struct gt_output *out;
    struct gt_export_frames frames;
    struct node *node; /* frames.n functions, then a task for each root */
    uint32_t n;
    GArray *edge;                            /* struct edge */
    GHashTable *find;                        /* index into `edge`, by caller << 32 | callee */
    GHashTable *files, *objects, *functions; /* name to number, from 1 */
    uint64_t sum;
};

/* ---- sums ---------------------------------------------------------------------------------- */

static struct edge *edge_of(struct callgrind *c, uint32_t caller, uint32_t callee)
{
    const struct edge none = {.caller = caller, .callee = callee};
    const gint64 key = (gint64)((uint64_t)caller << 32 | callee);
    void *at;
    if (!g_hash_table_lookup_extended(c->find, &key, NULL, &at)) {
        at = GUINT_TO_POINTER(c->edge->len);
        g_hash_table_insert(c->find, g_memdup2(&key, sizeof key), at);
        g_array_append_val(c->edge, none);
    }
    return &g_array_index(c->edge, struct edge, GPOINTER_TO_UINT(at));
}

/* A task's tree; `open`: the nodes of the path, the task's own first. */
static void add_root(struct callgrind *c, const struct gt_profile_tree *t, uint32_t root,
                     GArray *open)
{
    const struct gt_profile_tree_node *end = t->node + t->node[root].end;
    for (const struct gt_profile_tree_node *n = t->node + root + 1; n < end; n++) {
        uint32_t callee = c->frames.number[n->function];
        for (; open->len > n->depth; g_array_set_size(open, open->len - 1))
            c->node[g_array_index(open, uint32_t, open->len - 1)].open--;
        struct edge *e = edge_of(c, g_array_index(open, uint32_t, n->depth - 1), callee);
        e->calls += n->calls;
        e->total += c->node[callee].open++ ? 0 : n->total;
        c->node[callee].self += (uint64_t)n->self;
        c->sum += (uint64_t)n->self;
        g_array_append_val(open, callee);
    }
    for (guint i = 1; i < open->len; i++)
        c->node[g_array_index(open, uint32_t, i)].open--;
}

static void add_tree(struct callgrind *c, const struct gt_profile_tree *t)
{
    GArray *open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t r = 0; r < t->n_roots; r++) {
        uint32_t task = c->frames.n + r;
        c->node[task].name = gt_export_frames_task_title(c->calls, t->root[r].group);
        g_array_set_size(open, 0);
        g_array_append_val(open, task);
        add_root(c, t, t->root[r].node, open);
    }
    g_array_unref(open);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void put_name(struct callgrind *c, const char *key, GHashTable *numbers, const char *name)
{
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, name));
    bool known = number != 0;
    if (!known) {
        number = g_hash_table_size(numbers) + 1;
        g_hash_table_insert(numbers, g_strdup(name), GUINT_TO_POINTER(number));
    }
    gt_output_text(c->out, key);
    gt_output_text(c->out, "=(");
    gt_output_decimal(c->out, number);
    gt_output_text(c->out, ")");
    if (!known) {
        g_autoptr(GString) clean = g_string_new(" ");
        gt_export_frames_add_clean(clean, name, '\0', '\0');
        gt_output_bytes(c->out, clean->str, clean->len);
    }
    gt_output_text(c->out, "\n");
}

static void put_cost(struct callgrind *c, uint32_t line, uint64_t cost)
{
    gt_output_decimal(c->out, line);
    gt_output_text(c->out, " ");
    gt_output_decimal(c->out, cost);
    gt_output_text(c->out, "\n");
}

static const char *file_of(const struct node *n)
{
    return n->function && n->function->file ? n->function->file : UNKNOWN;
}

static const char *object_of(const struct node *n)
{
    return n->function && *n->function->module ? n->function->module : UNKNOWN;
}

static uint32_t line_of(const struct node *n)
{
    return n->function && n->function->file ? n->function->line : 0;
}

static void put_edge(struct callgrind *c, const struct node *caller, const struct edge *e)
{
    const struct node *callee = &c->node[e->callee];
    if (strcmp(object_of(callee), object_of(caller)) != 0)
        put_name(c, "cob", c->objects, object_of(callee));
    if (strcmp(file_of(callee), file_of(caller)) != 0)
        put_name(c, "cfi", c->files, file_of(callee));
    put_name(c, "cfn", c->functions, callee->name);
    gt_output_text(c->out, "calls=");
    gt_output_decimal(c->out, e->calls);
    gt_output_text(c->out, " ");
    gt_output_decimal(c->out, line_of(callee));
    gt_output_text(c->out, "\n");
    put_cost(c, line_of(caller), e->total);
}

static gint by_caller(gconstpointer a, gconstpointer b)
{
    const struct edge *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

static bool is_empty(const struct edge *e)
{
    return e->calls == 0 && e->total == 0;
}

static void put_functions(struct callgrind *c)
{
    guint at = 0;
    g_array_sort(c->edge, by_caller);
    for (uint32_t i = 0; i < c->n && !c->out->failed; i++) {
        const struct node *n = &c->node[i];
        gt_output_text(c->out, "\n");
        put_name(c, "ob", c->objects, object_of(n));
        put_name(c, "fl", c->files, file_of(n));
        put_name(c, "fn", c->functions, n->name);
        put_cost(c, line_of(n), n->self);
        for (; at < c->edge->len && g_array_index(c->edge, struct edge, at).caller == i; at++)
            if (!is_empty(&g_array_index(c->edge, struct edge, at)))
                put_edge(c, n, &g_array_index(c->edge, struct edge, at));
    }
}

static void put_file(struct callgrind *c)
{
    g_autoptr(GString) command = g_string_new(NULL);
    gt_export_frames_add_clean(command, gt_calls_facts(c->calls)->command, '\0', '\0');
    gt_output_text(c->out,
                   "# callgrind format\nversion: 1\ncreator: guesttrace " GT_VERSION "\ncmd: ");
    gt_output_bytes(c->out, command->str, command->len);
    gt_output_text(c->out, "\npart: 1\n\npositions: line\n");
    gt_output_text(c->out, gt_export_frames_in_instructions(c->calls)
                               ? "event: Ir : Instructions\nevents: Ir\n"
                               : "event: Ns : Nanoseconds\nevents: Ns\n");
    put_functions(c);
    gt_output_text(c->out, "\ntotals: ");
    gt_output_decimal(c->out, c->sum);
    gt_output_text(c->out, "\n");
}

/* ---- all ----------------------------------------------------------------------------------- */

static GHashTable *make_numbers(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

static void write_tree(struct callgrind *c, const struct gt_profile_tree *t)
{
    gt_export_frames_make(c->calls, t, &c->frames);
    c->n = c->frames.n + (uint32_t)t->n_roots;
    c->node = g_new0(struct node, c->n + 1);
    for (uint32_t i = 0; i < c->frames.n; i++)
        c->node[i] = (struct node){c->frames.frame[i].function, c->frames.frame[i].name};
    c->edge = g_array_new(FALSE, FALSE, sizeof(struct edge));
    c->find = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    c->files = make_numbers();
    c->objects = make_numbers();
    c->functions = make_numbers();
    add_tree(c, t);
    put_file(c);
    for (uint32_t i = c->frames.n; i < c->n; i++)
        g_free((char *)c->node[i].name);
    g_free(c->node);
    g_array_unref(c->edge);
    g_hash_table_destroy(c->find);
    g_hash_table_destroy(c->files);
    g_hash_table_destroy(c->objects);
    g_hash_table_destroy(c->functions);
    gt_export_frames_clear(&c->frames);
}

int gt_export_callgrind(struct gt_calls *calls, const struct gt_export_sums_options *o,
                        struct gt_output *out, struct gt_error *err)
{
    struct gt_profile_tree tree;
    int status = gt_export_sums_make(calls, o, GT_TREE_BY_TOTAL, &tree, err);
    if (status < 0)
        return status;
    struct callgrind c = {.calls = calls, .out = out};
    write_tree(&c, &tree);
    gt_profile_tree_clear(&tree);
    return 0;
}
