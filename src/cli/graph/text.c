/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a tree of calls: see graph.h. */
#include "cli/amount.h"
#include "cli/graph/graph.h"
#include "cli/terminal_text.h"

/* Where the branches are on the way down to a node; a level is a node with several children. */
struct branches {
    GByteArray *more; /* for each level whether further children of it come */
    GArray *level_of; /* uint32_t, by depth below the top: levels above the node's children */
};

enum { LEVELS = 100 };

/* Of a line without numbers. */
static const char blank[] = "                                   : ";
static const char blank_slept[] = "            ";

void gt_cli_graph_heading(const struct gt_cli_graph_text *t)
{
    gt_output_text(&t->reader->pager->out,
                   t->slept ? "# TOTAL TIME   SELF TIME       SLEPT    TOTAL   FUNCTION\n"
                            : "# TOTAL TIME   SELF TIME    TOTAL   FUNCTION\n");
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void put_time(struct gt_cli_pager *p, uint64_t ns)
{
    char text[GT_AMOUNT_TIME_WIDTH];
    gt_cli_amount_put_time(text, ns);
    enum gt_cli_color color = gt_cli_color_of_time(ns);
    gt_output_text(&p->out, "  ");
    gt_output_text(&p->out, gt_cli_color(p->color && color, color));
    gt_output_bytes(&p->out, text, sizeof text);
    gt_output_text(&p->out, gt_cli_color(p->color && color, GT_COLOR_NONE));
}

/* To a tenth of a percent, rounded down, so that less than all is never 100. */
static void put_percent(struct gt_output *out, uint64_t part, uint64_t whole)
{
    char text[] = "        % : ";
    unsigned tenths = whole ? (unsigned)((unsigned __int128)part * 1000 / whole) : 0;
    tenths = tenths < 1000 ? tenths : 1000;
    if (tenths == 1000)
        text[2] = '1';
    if (tenths >= 100)
        text[3] = (char)('0' + tenths / 100 % 10);
    text[4] = (char)('0' + tenths / 10 % 10);
    text[5] = '.';
    text[6] = (char)('0' + tenths % 10);
    gt_output_text(out, text);
}

/* ---- branches ------------------------------------------------------------------------------ */

/* `own`: a branch of the last level leads to the line's node. Beyond LEVELS their number stands
 * there instead: lines of a deep tree would be as long as it is deep. */
static void put_branches(struct gt_cli_pager *p, const struct branches *b, uint32_t levels,
                         bool own)
{
    gt_output_text(&p->out, gt_cli_color(p->color, GT_COLOR_GRAY));
    for (uint32_t i = 0; i < levels && i < LEVELS; i++)
        gt_output_text(&p->out, own && i + 1 == levels ? " +-" : b->more->data[i] ? " | " : "   ");
    if (levels > LEVELS) {
        gt_output_text(&p->out, "[");
        gt_output_decimal(&p->out, levels);
        gt_output_text(&p->out, own ? "] +-" : "] ");
    }
    gt_output_text(&p->out, gt_cli_color(p->color, GT_COLOR_NONE));
}

static void put_line(const struct gt_cli_graph_text *t, uint32_t i, const struct branches *b,
                     uint32_t levels, bool own, const char *name)
{
    struct gt_cli_pager *p = t->reader->pager;
    const struct gtrace_node *node = &t->node[i];
    put_time(p, node->total);
    put_time(p, (uint64_t)node->self);
    if (t->slept)
        put_time(p, node->slept);
    put_percent(&p->out, node->total, t->whole);
    put_branches(p, b, levels, own);
    gt_output_text(&p->out, "(");
    gt_output_decimal(&p->out, node->calls);
    if (node->open) {
        gt_output_text(&p->out, ", ");
        gt_output_decimal(&p->out, node->open);
        gt_output_text(&p->out, " open");
    }
    gt_output_text(&p->out, ") ");
    gt_cli_shown_put(&p->out, name);
    gt_output_text(&p->out, "\n");
}

/* The line between two siblings, whose level is the last. */
static void put_gap(const struct gt_cli_graph_text *t, const struct branches *b, uint32_t levels)
{
    struct gt_cli_pager *p = t->reader->pager;
    gt_output_text(&p->out, t->slept ? blank_slept : "");
    gt_output_text(&p->out, blank);
    put_branches(p, b, levels - 1, false);
    gt_output_text(&p->out, gt_cli_color(p->color, GT_COLOR_GRAY));
    gt_output_text(&p->out, " |");
    gt_output_text(&p->out, gt_cli_color(p->color, GT_COLOR_NONE));
    gt_output_text(&p->out, "\n");
}

/* ---- nodes --------------------------------------------------------------------------------- */

static uint32_t *level_of(struct branches *b, uint32_t depth)
{
    if (b->level_of->len <= depth)
        g_array_set_size(b->level_of, depth + 1);
    return &g_array_index(b->level_of, uint32_t, depth);
}

static bool has_several(const struct gtrace_node *node, uint32_t i)
{
    return i + 1 < node[i].end && node[i + 1].end < node[i].end;
}

/* Sets how many levels are above the children of i, which has `levels` above itself. */
static void enter(const struct gt_cli_graph_text *t, uint32_t i, uint32_t depth, uint32_t levels,
                  struct branches *b)
{
    bool several = has_several(t->node, i);
    *level_of(b, depth) = levels + several;
    if (several && b->more->len <= levels)
        g_byte_array_set_size(b->more, levels + 1);
    if (several)
        b->more->data[levels] = true;
}

void gt_cli_graph_put(const struct gt_cli_graph_text *t, uint32_t node, const char *name)
{
    const struct gtrace_node *all = t->node;
    struct branches b = {g_byte_array_new(), g_array_new(FALSE, TRUE, sizeof(uint32_t))};
    put_line(t, node, &b, 0, false, name);
    enter(t, node, 0, 0, &b);
    for (uint32_t i = node + 1; i < all[node].end && !gt_cli_pager_closed(t->reader->pager);) {
        const struct gtrace_node *n = &all[i];
        uint32_t depth = n->depth - all[node].depth;
        if (depth > t->depth) {
            i = n->end;
            continue;
        }
        uint32_t levels = *level_of(&b, depth - 1);
        bool own = has_several(all, n->parent);
        if (i != n->parent + 1)
            put_gap(t, &b, levels);
        if (own)
            b.more->data[levels - 1] = n->end < all[n->parent].end;
        put_line(t, i, &b, levels, own, gt_cli_reading_name(t->reader, n->function));
        enter(t, i, depth, levels, &b);
        i++;
    }
    g_byte_array_free(b.more, TRUE);
    g_array_free(b.level_of, TRUE);
}
