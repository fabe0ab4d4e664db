/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace graph`: who calls what, how often, how long: the tree of calls, summed up. */
#include "cli/graph/graph.h"

#include <string.h>

struct graph_options {
    struct gt_cli_reading_options reader;
    GPtrArray *functions;
    uint64_t depth; /* levels below the functions; 0: all */
    const char *by, *sort;
    bool callers, json;
};

static const struct gt_cli_option graph_table[] = {
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

static enum gtrace_tree_kind kind_of(const struct graph_options *o)
{
    if (!o->by || strcmp(o->by, "all") == 0)
        return GTRACE_TREE;
    return strcmp(o->by, "task") == 0 ? GTRACE_TREE_TASKS : GTRACE_TREE_PROCESSES;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct tree {
    struct gtrace_node *node;
    uint32_t n;
};

static int take(struct tree *t, struct gtrace_node *node, int64_t n, const struct gtrace_error *e,
                struct gt_error *err)
{
    gtrace_free(t->node);
    *t = (struct tree){node, n < 0 ? 0 : (uint32_t)n};
    return n < 0 ? gt_cli_opened_fail(err, (int)n, e) : 0;
}

/* Replaces the tree by the part of it that is asked for. */
static int choose(struct gt_cli_reading *r, const struct graph_options *o,
                  const struct gtrace_tree_options *how, struct tree *t, struct gt_error *err)
{
    const size_t n = gtrace_n_functions(r->trace);
    g_autofree bool *chosen = g_new0(bool, n + 1);
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_node *part;
    size_t stride;
    for (guint i = 0; i < o->functions->len; i++) {
        const int status = gtrace_choose_functions(r->trace, o->functions->pdata[i], chosen, n, &e);
        if (status < 0)
            return gt_cli_opened_fail(err, status, &e);
    }
    const int64_t parts = gtrace_tree_of(r->trace, t->node, t->n, chosen, how, &part, &stride, &e);
    return take(t, part, parts, &e, err);
}

static int read_tree(struct gt_cli_reading *r, const struct graph_options *o, struct tree *t,
                     struct gt_error *err)
{
    const struct gtrace_tree_options how = {.size = sizeof how,
                                            .kind = kind_of(o),
                                            .by_first = o->sort && strcmp(o->sort, "first") == 0,
                                            .callers = o->callers};
    struct gtrace_error e = {.size = sizeof e};
    struct gtrace_node *node;
    size_t stride;
    *t = (struct tree){0};
    const int64_t n = gtrace_tree(r->trace, &r->window.part, &how, &node, &stride, &e);
    int status = take(t, node, n, &e, err);
    if (status == 0 && o->functions)
        status = choose(r, o, &how, t, err);
    return status;
}

/* ---- printing ------------------------------------------------------------------------------ */

/* The caller frees it. */
static char *root_name(const struct gt_cli_reading *r, const struct graph_options *o,
                       uint32_t group)
{
    struct gtrace_task t = {.size = sizeof t};
    struct gtrace_process p = {.size = sizeof p};
    struct gtrace_facts f = {.size = sizeof f};
    const bool of_process = kind_of(o) == GTRACE_TREE_PROCESSES;
    if (kind_of(o) == GTRACE_TREE_TASKS) {
        gtrace_task(r->trace, group, &t);
        return g_strdup_printf("%s [%u]", t.name, t.id);
    }
    gtrace_facts(r->trace, &f);
    if (of_process)
        gtrace_process(r->trace, group, &p);
    const char *path = of_process ? p.program : f.program;
    g_autofree char *base = g_path_get_basename(*path ? path : f.path);
    return of_process ? g_strdup_printf("%s [%u]", base, p.pid) : g_strdup(base);
}

static uint64_t all_time(const struct tree *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i = t->node[i].end)
        sum += t->node[i].total;
    return sum;
}

static bool has_slept(const struct tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->node[i].slept)
            return true;
    return false;
}

static void put_roots(const struct gt_cli_graph_text *text, const struct graph_options *o)
{
    for (uint32_t i = 0; i < text->n; i = text->node[i].end) {
        g_autofree char *name = root_name(text->reader, o, text->node[i].function);
        if (i)
            gt_output_text(&text->reader->pager->out, "\n");
        gt_cli_graph_put(text, i, name);
    }
}

/* Each chosen function is a top line. */
static void put_functions(const struct gt_cli_graph_text *text)
{
    for (uint32_t i = 1; text->n && i < text->node[0].end; i = text->node[i].end) {
        if (i > 1)
            gt_output_text(&text->reader->pager->out, "\n");
        gt_cli_graph_put(text, i, gt_cli_reading_name(text->reader, text->node[i].function));
    }
}

static void put_json(const struct gt_cli_graph_text *text, const struct graph_options *o)
{
    const struct gtrace_node *node = text->node;
    struct gt_json j;
    gt_cli_graph_json_begin(&j, &text->reader->pager->out);
    for (uint32_t i = 0; !o->functions && i < text->n; i = node[i].end) {
        g_autofree char *name = root_name(text->reader, o, node[i].function);
        gt_cli_graph_json_put(text, &j, i, name);
    }
    for (uint32_t i = 1; o->functions && text->n && i < node[0].end; i = node[i].end)
        gt_cli_graph_json_put(text, &j, i, gt_cli_reading_name(text->reader, node[i].function));
    gt_cli_graph_json_end(&j);
}

static int print(struct gt_cli_reading *r, const struct graph_options *o, const struct tree *t,
                 struct gt_error *err)
{
    uint32_t depth = o->functions ? (uint32_t)o->depth : r->window.part.depth;
    const struct gt_cli_graph_text text = {
        .reader = r,
        .node = t->node,
        .n = t->n,
        .depth = depth ? (o->functions ? depth - 1 : depth) : UINT32_MAX,
        .whole = all_time(t),
        .slept = has_slept(t),
    };
    int status = gt_cli_reading_start(r, err);
    if (status < 0)
        return status;
    if (o->json) {
        put_json(&text, o);
        return gt_cli_reading_finish(r, err);
    }
    gt_cli_reading_put_clock(r);
    gt_cli_graph_heading(&text);
    if (o->functions)
        put_functions(&text);
    else
        put_roots(&text, o);
    return gt_cli_reading_finish(r, err);
}

static int graph(struct gt_cli_reading *r, const void *user, struct gt_error *err)
{
    const struct graph_options *o = user;
    struct tree t;
    int status = read_tree(r, o, &t, err);
    if (status == 0 && t.n == 0)
        status = gt_cli_reading_nothing(r, err);
    if (status == 0)
        status = print(r, o, &t, err);
    gtrace_free(t.node);
    return status;
}

static int run_graph(const struct gt_cli_command *self, const void *options, size_t n,
                     char **operands)
{
    struct graph_options o = *(const struct graph_options *)options;
    if (o.callers && !o.functions)
        return gt_cli_command_usage_error(self, "--callers needs --function");
    if (o.functions && kind_of(&o) != GTRACE_TREE)
        return gt_cli_command_usage_error(self, "--by is not for --function; use --task");
    if (o.functions) { /* not from the outermost calls on */
        o.depth = o.reader.window.depth;
        o.reader.window.depth = 0;
    }
    return gt_cli_reading_run(self, &o.reader, n, operands, graph, &o);
}

const struct gt_cli_command gt_cli_command_graph = {
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
