/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree of calls as JSON: see graph.h. */
#include "cli/graph/graph.h"

void gt_cli_graph_json_begin(struct gt_json *j, struct gt_output *out)
{
    gt_json_init(j, out, GT_JSON_REPLACE);
    gt_json_resume(j);
    gt_json_begin_object(j);
    gt_json_key(j, "roots");
    gt_json_begin_array(j);
}

/* A root is the top line of a whole tree: it is not a function. */
static void put_node(const struct gt_cli_graph_text *t, struct gt_json *j,
                     const struct gtrace_node *n, uint32_t depth)
{
    gt_json_newline(j);
    gt_json_begin_object(j);
    gt_json_member_u64(j, "depth", depth);
    if (n->parent != GTRACE_NONE) {
        const struct gtrace_function f = gt_cli_reading_function(t->reader, n->function);
        gt_json_member_text(j, "function", f.name);
        gt_json_member_text(j, "module", f.module);
    }
    gt_json_member_u64(j, "calls", n->calls);
    gt_json_member_u64(j, "open", n->open);
    gt_json_member_u64(j, "total_ns", n->total);
    gt_json_member_u64(j, "self_ns", (uint64_t)n->self);
    gt_json_member_u64(j, "slept_ns", n->slept);
    gt_json_end_object(j);
}

void gt_cli_graph_json_put(const struct gt_cli_graph_text *t, struct gt_json *j, uint32_t node,
                           const char *name)
{
    const struct gtrace_node *n = t->node;
    gt_json_newline(j);
    gt_json_begin_object(j);
    gt_json_member_text(j, "name", name);
    gt_json_key(j, "nodes");
    gt_json_begin_array(j);
    for (uint32_t i = node; i < n[node].end;) {
        const uint32_t depth = n[i].depth - n[node].depth;
        if (depth > t->depth) {
            i = n[i].end;
            continue;
        }
        put_node(t, j, &n[i], depth);
        i++;
    }
    gt_json_end_array(j);
    gt_json_end_object(j);
}

void gt_cli_graph_json_end(struct gt_json *j)
{
    gt_json_newline(j);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
}
