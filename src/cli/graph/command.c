/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace graph`: who calls what, how often, how long: the tree of calls, summed up. */
#include "calls/profile/select.h"
#include "cli/function_pattern.h"
#include "cli/graph/graph.h"

#include <string.h>

struct graph_options {
    struct gt_reading_options reader;
    GPtrArray *functions;
    uint64_t depth; /* of what is below the functions; 0: all */
    const char *by, *sort;
    bool callers, json;
};

static const struct gt_option graph_table[] = {
    {"function", .type = GT_OPTION_TEXT, .repeat = true, .value = "FUNC",
     .help = "a tree of each of these functions: NAME, a glob, MODULE:NAME",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct graph_options, functions)},
    {"callers", .type = GT_OPTION_FLAG, .old = "-R",
     .help = "show who calls the functions, not what they call",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct graph_options, callers)},
    {"by", .type = GT_OPTION_CHOICE, .value = "WHAT",
     .choices = (const char *const[]){"all", "process", "task", NULL},
     .help = "one tree for all (the default), each process or each task",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct graph_options, by)},
    {"sort", 's', GT_OPTION_CHOICE, .value = "ORDER",
     .choices = (const char *const[]){"total", "first", NULL},
     .help = "what a function calls: the longest total first (the default), or in order of the "
             "first call",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct graph_options, sort)},
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON, times in ns",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct graph_options, json)},
    GT_WALL_OPTION(struct graph_options, reader.window),
    GT_READING_OPTIONS(struct graph_options, reader),
    {0},
};

static enum gt_tree_order order_of(const struct graph_options *o)
{
    return o->sort && strcmp(o->sort, "first") == 0 ? GT_TREE_BY_FIRST : GT_TREE_BY_TOTAL;
}

static enum gt_tree_groups groups_of(const struct graph_options *o)
{
    if (!o->by || strcmp(o->by, "all") == 0)
        return GT_TREE_WHOLE;
    return strcmp(o->by, "task") == 0 ? GT_TREE_OF_TASKS : GT_TREE_OF_PROCESSES;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Replaces the tree by the part of it that is asked for. */
static int choose(struct gt_reading *r, const struct graph_options *o, struct gt_tree *t,
                  struct gt_error *err)
{
    size_t n = gt_calls_n_functions(r->calls);
    g_autofree bool *chosen = g_new0(bool, n + 1);
    struct gt_tree part;
    int status = 0;
    for (guint i = 0; status == 0 && i < o->functions->len; i++)
        status = gt_function_pattern_choose(r->calls, n, r->demangler, o->functions->pdata[i],
                                            chosen, err);
    if (status < 0)
        return status;
    status =
        (o->callers ? gt_tree_callers : gt_tree_below)(t, r->calls, chosen, order_of(o), &part);
    if (status < 0)
        return gt_error_set(err, status, "out of memory");
    gt_tree_clear(t);
    *t = part;
    const struct gt_notices notices = gt_default_notices(r->command, r->options->quiet);
    if (t->is_cut)
        gt_notice(&notices, "%s: calls are deep; of each the nearest %d callers are shown",
                  gt_calls_facts(r->calls)->path, GT_TREE_CALLERS);
    return 0;
}

static int read_tree(struct gt_reading *r, const struct graph_options *o, struct gt_tree *t,
                     struct gt_error *err)
{
    const struct gt_tree_options how = {
        .window = &r->window.calls, .groups = groups_of(o), .order = order_of(o), .by_name = true};
    int status = gt_tree_make(r->calls, &how, t, err);
    if (status == 0 && o->functions)
        status = choose(r, o, t, err);
    if (status < 0)
        gt_tree_clear(t);
    return status;
}

/* ---- printing ------------------------------------------------------------------------------ */

/* The caller frees it. */
static char *root_name(const struct gt_reading *r, const struct graph_options *o, uint32_t group)
{
    enum gt_tree_groups groups = groups_of(o);
    if (groups == GT_TREE_OF_TASKS) {
        const struct gt_calls_task *t = gt_calls_task(r->calls, group);
        return g_strdup_printf("%s [%u]", t->name, t->id);
    }
    const struct gt_calls_process *p =
        groups == GT_TREE_OF_PROCESSES ? gt_calls_process(r->calls, group) : NULL;
    const char *path = p ? p->exename : gt_calls_facts(r->calls)->exename;
    g_autofree char *base = g_path_get_basename(*path ? path : gt_calls_facts(r->calls)->path);
    return p ? g_strdup_printf("%s [%u]", base, p->pid) : g_strdup(base);
}

static uint64_t all_time(const struct gt_tree *t)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->n_roots; i++)
        sum += t->node[t->root[i].node].total;
    return sum;
}

static bool has_slept(const struct gt_tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].slept)
            return true;
    return false;
}

static void put_roots(const struct gt_graph_text *text, const struct graph_options *o)
{
    const struct gt_tree *t = text->tree;
    for (size_t i = 0; i < t->n_roots; i++) {
        g_autofree char *name = root_name(text->reader, o, t->root[i].group);
        if (i)
            gt_output_text(&text->reader->pager->out, "\n");
        gt_graph_put(text, t->root[i].node, name);
    }
}

/* Each chosen function is a top line. */
static void put_functions(const struct gt_graph_text *text)
{
    const struct gt_tree *t = text->tree;
    for (uint32_t i = 1; t->n && i < t->node[0].end; i = t->node[i].end) {
        if (i > 1)
            gt_output_text(&text->reader->pager->out, "\n");
        gt_graph_put(text, i, gt_reading_name(text->reader, t->node[i].function));
    }
}

static void put_json(const struct gt_graph_text *text, const struct graph_options *o)
{
    const struct gt_tree *t = text->tree;
    struct gt_json j;
    gt_graph_json_begin(&j, &text->reader->pager->out);
    for (size_t i = 0; !o->functions && i < t->n_roots; i++) {
        g_autofree char *name = root_name(text->reader, o, t->root[i].group);
        gt_graph_json_put(text, &j, t->root[i].node, name);
    }
    for (uint32_t i = 1; o->functions && t->n && i < t->node[0].end; i = t->node[i].end)
        gt_graph_json_put(text, &j, i, gt_reading_name(text->reader, t->node[i].function));
    gt_graph_json_end(&j);
}

static int print(struct gt_reading *r, const struct graph_options *o, const struct gt_tree *t,
                 struct gt_error *err)
{
    uint32_t depth = o->functions ? (uint32_t)o->depth : r->window.calls.depth;
    const struct gt_graph_text text = {
        .reader = r,
        .tree = t,
        .depth = depth ? (o->functions ? depth - 1 : depth) : UINT32_MAX,
        .whole = all_time(t),
        .slept = has_slept(t),
    };
    int status = gt_reading_start(r, err);
    if (status < 0)
        return status;
    if (o->json) {
        put_json(&text, o);
        return gt_reading_finish(r, err);
    }
    gt_reading_put_clock(r);
    gt_graph_heading(&text);
    if (o->functions)
        put_functions(&text);
    else
        put_roots(&text, o);
    return gt_reading_finish(r, err);
}

static int graph(struct gt_reading *r, const void *user, struct gt_error *err)
{
    const struct graph_options *o = user;
    struct gt_tree t;
    int status = read_tree(r, o, &t, err);
    if (status < 0)
        return status;
    status = t.n ? 0 : gt_reading_nothing(r, err);
    if (status == 0)
        status = print(r, o, &t, err);
    gt_tree_clear(&t);
    return status;
}

static int run_graph(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    struct graph_options o = *(const struct graph_options *)options;
    if (o.callers && !o.functions)
        return gt_command_usage_error(self, "--callers needs --function");
    if (o.functions && groups_of(&o) != GT_TREE_WHOLE)
        return gt_command_usage_error(self, "--by is not for --function; use --task");
    if (o.functions) { /* not from the outermost calls on */
        o.depth = o.reader.window.depth;
        o.reader.window.depth = 0;
    }
    return gt_reading_run(self, &o.reader, n, operands, graph, &o);
}

const struct gt_command gt_command_graph = {
    .name = "graph",
    .summary = "show who calls what in a recording, as a tree, with calls and times",
    .usage =
        (const char *const[]){"[--function FUNC]... [--callers] [OPTION]... [RECORDING]", NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "A line is a path of calls, from the top line down to it: how long these calls took, "
            "how long in the function itself, the part of all time, \"(CALLS) FUNCTION\". The "
            "layout is that of uftrace graph: an only child stands below its parent, of several "
            "each has a branch.",
            "With --function the top lines are the functions that FUNC matches; a call of one of "
            "them "
            "below another one, or below itself, is shown there. With --callers the lines below a "
            "function are its callers: a line has the calls and times of the top line's function "
            "that came on this path. The time of recursive calls is not counted twice.",
            "Times are those in which the task ran; a column has the time in which it was "
            "suspended, if it was. With --wall times have both.",
            "--depth counts from the functions of --function on. Without it, and with "
            "--time-filter, the "
            "time of a call that is left out is self time of its caller.",
            NULL},
    .spec = {.table = graph_table},
    .options_size = sizeof(struct graph_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_graph,
};
