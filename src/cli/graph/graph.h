/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree of calls as lines of text, in uftrace's layout: an only child stands below its parent, of
 * several each has a branch.
 *
 *   # TOTAL TIME   SELF TIME    TOTAL  FUNCTION
 *       2.345 ms    0.120 us  100.0 % : (1) main
 *       2.000 ms    1.500 ms   85.3 % :  +-(4) work
 *       0.500 ms    0.500 ms   21.3 % :  | (9) step
 *                                     :  |
 *       0.344 ms    0.344 ms   14.7 % :  +-(1) report
 */
#ifndef GT_CLI_GRAPH_GRAPH_H
#define GT_CLI_GRAPH_GRAPH_H

#include "base/json.h"
#include "cli/reading.h"

struct gt_cli_graph_text {
    struct gt_cli_reading *reader;
    const struct gtrace_node *node;
    uint32_t n;
    uint32_t depth; /* levels below the top line that are printed; UINT32_MAX: all */
    uint64_t whole; /* ns that are 100 % */
    bool slept;     /* with a column of the time in which tasks were suspended */
};

void gt_cli_graph_heading(const struct gt_cli_graph_text *t);
/* The lines of a node and of all below it. `name` is that of the node. */
void gt_cli_graph_put(const struct gt_cli_graph_text *t, uint32_t node, const char *name);

/* {"roots":[{"name":,"nodes":[NODE...]}...]}: the nodes in depth-first order, the first one the top
 * line: {"depth":,"function":,"module":,"calls":,"open":,"total_ns":,"self_ns":,"slept_ns":}. */
void gt_cli_graph_json_begin(struct gt_json *j, struct gt_output *out);
void gt_cli_graph_json_put(const struct gt_cli_graph_text *t, struct gt_json *j, uint32_t node,
                           const char *name);
void gt_cli_graph_json_end(struct gt_json *j);

#endif
