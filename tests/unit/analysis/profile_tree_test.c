/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of calls and what is made of it, of made-up recordings that are cut anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls/profile/counts.h"
#include "calls/profile/groups.h"
#include "calls/profile/select.h"
#include "calls/profile/tree.h"
#include "profile_text.h"

static void check_links(const struct gt_profile_tree *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct gt_profile_tree_node *n = &t->node[i];
        assert_in_range(n->end, i + 1, t->n);
        for (uint32_t k = i + 1; k < n->end; k++)
            assert_true(t->node[k].depth > n->depth);
        assert_true(n->end == t->n || t->node[n->end].depth <= n->depth);
        if (n->parent != GT_TREE_NONE) {
            assert_true(n->parent < i && i < t->node[n->parent].end);
            assert_int_equal(t->node[n->parent].depth + 1, n->depth);
        } else {
            assert_int_equal(n->depth, 0);
            assert_int_equal(n->function, GT_TREE_NONE);
        }
    }
}

/* "NAME calls total self first", a node a line, a blank for each level; roots "=GROUP". */
static const char *tree_text(const struct gt_profile_tree *t)
{
    size_t root = 0;
    len = 0;
    text[0] = '\0';
    check_links(t);
    for (size_t i = 0; i < t->n; i++) {
        const struct gt_profile_tree_node *n = &t->node[i];
        if (n->parent == GT_TREE_NONE) {
            assert_int_equal(t->root[root].node, i);
            add_text("=%d", (int)t->root[root++].group);
        } else {
            add_text("%*s%s", (int)n->depth, "", fake_function(n->function)->name);
        }
        add_text(" %d %d %d %d\n", (int)n->calls, (int)n->total, (int)n->self, (int)n->first);
    }
    assert_int_equal(root, t->n_roots);
    return text;
}

static const char *tree_of(struct gt_calls *c, const struct gt_profile_tree_options *o)
{
    struct gt_profile_tree t;
    struct gt_error err = {0};
    assert_int_equal(gt_profile_tree_make(c, o, &t, &err), 0);
    tree_text(&t);
    gt_profile_tree_clear(&t);
    return text;
}

typedef int part_fn(const struct gt_profile_tree *t, const struct gt_calls *c, const bool *chosen,
                    enum gt_profile_tree_order order, struct gt_profile_tree *out);

/* A part of the tree, of functions by letter. */
static const char *part_of(struct gt_calls *c, part_fn *make, const char *functions)
{
    bool chosen[FAKE_FUNCTIONS] = {false};
    struct gt_profile_tree t, part;
    for (; *functions; functions++)
        chosen[FAKE_A + *functions - 'a'] = true;
    assert_int_equal(gt_profile_tree_make(c, NULL, &t, NULL), 0);
    assert_int_equal(make(&t, c, chosen, GT_TREE_BY_TOTAL, &part), 0);
    tree_text(&part);
    gt_profile_tree_clear(&t);
    gt_profile_tree_clear(&part);
    return text;
}

/* "index functions calls total self". */
static const char *groups_text(int status, struct gt_profile_groups *g)
{
    len = 0;
    text[0] = '\0';
    assert_int_equal(status, 0);
    for (size_t i = 0; i < g->n; i++)
        add_text("%d %d %d %d %d\n", (int)g->row[i].index, (int)g->row[i].functions,
                 (int)g->row[i].calls, (int)g->row[i].total, (int)g->row[i].self);
    gt_profile_groups_clear(g);
    return text;
}

static const char *answer_tree(struct gt_calls *c, const void *options)
{
    return tree_of(c, options);
}

static const char *const one[] = {"ab)bc)))", NULL};
static const char *const recursive[] = {"aa)ba)))", NULL};
static const char *const several[] = {"ab)c)bb)))", "cb))a)", "bA))", NULL};

static void makes_trees(void **state)
{
    (void)state;
    check_cuts(answer_tree, NULL, one,
               "=0 1 70 0 1000\n"
               " a 1 70 30 1000\n"
               "  b 2 40 30 1010\n"
               "   c 1 10 10 1040\n");
    check_cuts(answer_tree, NULL, recursive,
               "=0 1 70 0 1000\n"
               " a 1 70 30 1000\n"
               "  b 1 30 20 1030\n"
               "   a 1 10 10 1040\n"
               "  a 1 10 10 1010\n");
}

static void orders_siblings(void **state)
{
    static const char *const texts[] = {"ac)b)d)dd)))", NULL};
    const struct gt_profile_tree_options first = {.order = GT_TREE_BY_FIRST};
    (void)state;
    check_cuts(answer_tree, NULL, texts,
               "=0 1 110 0 1000\n"
               " a 1 110 50 1000\n"
               "  d 2 40 30 1050\n"
               "   d 1 10 10 1080\n"
               "  b 1 10 10 1030\n"
               "  c 1 10 10 1010\n");
    check_cuts(answer_tree, &first, texts,
               "=0 1 110 0 1000\n"
               " a 1 110 50 1000\n"
               "  c 1 10 10 1010\n"
               "  b 1 10 10 1030\n"
               "  d 2 40 30 1050\n"
               "   d 1 10 10 1080\n");
}

static void groups_tasks(void **state)
{
    const struct gt_profile_tree_options tasks = {.groups = GT_TREE_OF_TASKS};
    const struct gt_profile_tree_options processes = {.groups = GT_TREE_OF_PROCESSES};
    const struct gt_profile_tree_options by_name = {.by_name = true};
    (void)state;
    check_cuts(answer_tree, &tasks, several,
               "=0 1 90 0 1000\n"
               " a 1 90 40 1000\n"
               "  b 2 40 30 1010\n"
               "   b 1 10 10 1060\n"
               "  c 1 10 10 1030\n"
               "=1 2 40 0 1000\n"
               " c 1 30 20 1000\n"
               "  b 1 10 10 1010\n"
               " a 1 10 10 1040\n"
               "=2 1 30 0 1000\n"
               " b 1 30 20 1000\n"
               "  a 1 10 10 1010\n");
    check_cuts(answer_tree, &processes, several,
               "=0 3 130 0 1000\n"
               " a 2 100 50 1000\n"
               "  b 2 40 30 1010\n"
               "   b 1 10 10 1060\n"
               "  c 1 10 10 1030\n"
               " c 1 30 20 1000\n"
               "  b 1 10 10 1010\n"
               "=1 1 30 0 1000\n"
               " b 1 30 20 1000\n"
               "  a 1 10 10 1010\n");
    check_cuts(answer_tree, &by_name, several,
               "=0 4 160 0 1000\n"
               " a 2 100 50 1000\n"
               "  b 2 40 30 1010\n"
               "   b 1 10 10 1060\n"
               "  c 1 10 10 1030\n"
               " b 1 30 20 1000\n"
               "  a 1 10 10 1010\n"
               " c 1 30 20 1000\n"
               "  b 1 10 10 1010\n");
}

static void joins_names(void **state)
{
    static const char *const texts[] = {"ab))", "Ab))A)", NULL};
    const struct gt_profile_tree_options by_name = {.by_name = true};
    (void)state;
    check_cuts(answer_tree, NULL, texts,
               "=0 3 70 0 1000\n"
               " a 2 40 30 1000\n"
               "  b 1 10 10 1010\n"
               " a 1 30 20 1000\n"
               "  b 1 10 10 1010\n");
    check_cuts(answer_tree, &by_name, texts,
               "=0 3 70 0 1000\n"
               " a 3 70 50 1000\n"
               "  b 2 20 20 1010\n");
}

static void takes_parts(void **state)
{
    static const char *const texts[] = {"ab)ba)c)))cb))", "bb))", NULL};
    struct gt_calls c = {.text = texts, .shares = 2, .stretch = 3};
    (void)state;
    assert_string_equal(part_of(&c, gt_profile_tree_below, "b"), "=0 4 100 0 1000\n"
                                                                 " b 4 100 70 1000\n"
                                                                 "  a 1 10 10 1040\n"
                                                                 "  b 1 10 10 1010\n"
                                                                 "  c 1 10 10 1060\n");
    assert_string_equal(part_of(&c, gt_profile_tree_below, "ca"), "=0 2 120 0 1000\n"
                                                                  " a 1 90 30 1000\n"
                                                                  "  b 2 60 40 1010\n"
                                                                  "   a 1 10 10 1040\n"
                                                                  "   c 1 10 10 1060\n"
                                                                  " c 1 30 20 1100\n"
                                                                  "  b 1 10 10 1110\n");
    assert_string_equal(part_of(&c, gt_profile_tree_callers, "b"), "=0 5 100 0 1000\n"
                                                                   " b 5 100 80 1000\n"
                                                                   "  a 2 60 40 1010\n"
                                                                   "  c 1 10 10 1110\n"
                                                                   "  b 1 0 10 1010\n");
    assert_string_equal(part_of(&c, gt_profile_tree_callers, "a"), "=0 2 90 0 1000\n"
                                                                   " a 2 90 40 1000\n"
                                                                   "  b 1 0 10 1040\n"
                                                                   "   a 1 0 10 1040\n");
    assert_string_equal(part_of(&c, gt_profile_tree_callers, "z"), "");
    assert_string_equal(part_of(&c, gt_profile_tree_below, ""), "");
}

static void sums_groups(void **state)
{
    /* a and b are of one module, n of the other */
    static const char *const texts[] = {"an)b)nb)))", "nn)b))", "n)", NULL};
    struct gt_calls c = {.text = texts, .shares = 2, .stretch = 3, .part = 2};
    struct gt_profile_groups g;
    (void)state;
    assert_string_equal(groups_text(gt_profile_groups_of_tasks(&c, NULL, &g, NULL), &g),
                        "0 3 5 90 90\n"
                        "1 2 3 50 50\n"
                        "2 1 1 10 10\n");
    assert_string_equal(groups_text(gt_profile_groups_of_modules(&c, NULL, &g, NULL), &g),
                        "2 2 4 100 70\n"
                        "15 1 5 100 80\n");
}

/* What a task slept is no time of its calls, and no function, unless the window says so. */
static void leaves_sleep_out(void **state)
{
    static const char *const texts[] = {"ab*)c*))))", NULL};
    const struct gt_calls_window window = {.wall = true};
    const struct gt_profile_tree_options wall = {.window = &window};
    struct gt_calls c = {.text = texts, .shares = 2, .stretch = 3};
    struct gt_profile_tree t;
    (void)state;
    check_cuts(answer_tree, NULL, texts,
               "=0 1 70 0 1000\n"
               " a 1 70 20 1000\n"
               "  b 1 50 30 1010\n"
               "   c 1 20 20 1040\n");
    check_cuts(answer_tree, &wall, texts,
               "=0 1 90 0 1000\n"
               " a 1 90 20 1000\n"
               "  b 1 70 30 1010\n"
               "   c 1 30 20 1040\n"
               "    * 1 10 10 1050\n"
               "   * 1 10 10 1020\n");
    assert_int_equal(gt_profile_tree_make(&c, NULL, &t, NULL), 0);
    for (size_t i = 0; i < t.n; i++)
        assert_int_equal(t.node[i].slept, i < 3 ? 20 : 10);
    gt_profile_tree_clear(&t);
}

static void counts_tasks(void **state)
{
    static const char *const texts[] = {"ab))a)", "", "abc)))", NULL};
    (void)state;
    for (size_t stretch = 0; stretch < 5; stretch++) {
        struct gt_calls c = {.text = texts, .shares = 2, .stretch = stretch};
        struct gt_profile_counts k;
        assert_int_equal(gt_profile_counts_make(&c, &k, NULL), 0);
        const struct gt_profile_task_counts *of = k.task;
        assert_int_equal(k.functions, 3);
        assert_int_equal(of[0].calls, 3);
        assert_int_equal(of[0].deepest, 2);
        assert_int_equal(of[0].first, 1000);
        assert_int_equal(of[0].last, 1050);
        assert_int_equal(of[1].calls, 0);
        assert_true(of[1].first > of[1].last);
        assert_int_equal(of[2].deepest, 3);
        assert_int_equal(of[2].last, 1050);
        gt_profile_counts_clear(&k);
    }
}

/* Small paths go to the nearest caller that stays; roots' children stay. */
static void leaves_small_paths_out(void **state)
{
    enum { NONE = UINT32_MAX };
    const struct gt_profile_tree_node before[] = {
        {.calls = 4, .function = NONE, .parent = NONE, .end = 5},
        {.calls = 4, .self = 70, .function = 1, .parent = 0, .end = 5, .depth = 1},
        {.calls = 9, .self = 4, .function = 2, .parent = 1, .end = 4, .depth = 2},
        {.calls = 1, .self = 5, .function = 3, .parent = 2, .end = 4, .depth = 3},
        {.calls = 1, .self = 20, .function = 4, .parent = 1, .end = 5, .depth = 2},
        {.calls = 2, .function = NONE, .parent = NONE, .end = 8},
        {.calls = 2, .self = 1, .function = 1, .parent = 5, .end = 8, .depth = 1},
        {.calls = 2, .self = 0, .function = 2, .parent = 6, .end = 8, .depth = 2},
    };
    static const struct {
        struct gt_profile_tree_least least;
        const char *nodes; /* function:value-end>parent */
    } cases[] = {
        {{0.09, false}, "root-4 1:70-4>0 2:9-3>1 4:20-4>1 root-6 1:1-6>4 "},
        {{0.091, false}, "root-3 1:79-3>0 4:20-3>1 root-5 1:1-5>3 "},
        {{1, false}, "root-2 1:99-2>0 root-4 1:1-4>2 "},
        {{0.4, true}, "root-3 1:5-3>0 2:10-3>1 root-5 1:4-5>3 "},
        {{0, true}, "root-5 1:4-5>0 2:9-4>1 3:1-4>2 4:1-5>1 root-8 1:2-8>5 2:2-8>6 "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gt_profile_tree_node nodes[sizeof before / sizeof before[0]];
        struct gt_profile_tree_root roots[] = {{0, 0}, {5, 1}};
        struct gt_profile_tree t = {nodes, sizeof nodes / sizeof nodes[0], roots, 2, false};
        memcpy(nodes, before, sizeof nodes);
        assert_int_equal(gt_profile_tree_prune(&t, &cases[i].least), 0);
        len = 0;
        for (size_t n = 0; n < t.n; n++)
            if (nodes[n].parent == NONE)
                add_text("root-%u ", nodes[n].end);
            else
                add_text("%u:%d-%u>%u ", nodes[n].function,
                         (int)(cases[i].least.counts ? nodes[n].calls : (uint64_t)nodes[n].self),
                         nodes[n].end, nodes[n].parent);
        assert_string_equal(text, cases[i].nodes);
        assert_int_equal(nodes[roots[1].node].parent, NONE);
        assert_int_equal(roots[1].node, nodes[0].end);
    }
}

/* ---- large and damaged ones ---------------------------------------------------------------- */

/* Many paths: the hash grows, shares have different numbers for one path. */
static void makes_many_paths(void **state)
{
    enum { LENGTH = 8000 };
    static char long_text[2][LENGTH + FAKE_DEPTH + 1];
    static char whole[sizeof text];
    const char *const texts[] = {long_text[0], long_text[1], NULL};
    uint32_t random = 1;
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        size_t n = 0, depth = 0;
        for (; n < LENGTH; n++) {
            random = random * 1664525 + 1013904223;
            bool leave = depth == 5 || (depth && random >> 16 & 1);
            long_text[t][n] = leave ? ')' : (char)('a' + (random >> 20) % 5);
            depth = leave ? depth - 1 : depth + 1;
        }
        for (; depth; depth--)
            long_text[t][n++] = ')';
    }
    struct gt_calls one_piece = {.text = texts, .shares = 1};
    memcpy(whole, tree_of(&one_piece, NULL), sizeof whole);
    for (size_t stretch = 40; stretch < 4000; stretch = 3 * stretch + 1) {
        struct gt_calls c = {.text = texts, .shares = 3, .stretch = stretch, .part = 5};
        assert_string_equal(tree_of(&c, NULL), whole);
    }
}

static void reports_failure(void **state)
{
    struct gt_calls c = {.text = several, .shares = 2, .fail = GT_E_FORMAT};
    struct gt_error err = {0};
    struct gt_profile_tree t;
    (void)state;
    assert_int_equal(gt_profile_tree_make(&c, NULL, &t, &err), GT_E_FORMAT);
    assert_string_equal(err.text, "the scan failed");
    assert_int_equal(t.n, 0);
    assert_null(t.node);
}

static void reads_nothing(void **state)
{
    static const char *const none[] = {NULL};
    struct gt_calls c = {.text = none, .shares = 1};
    (void)state;
    assert_string_equal(tree_of(&c, NULL), "");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(makes_trees),      cmocka_unit_test(orders_siblings),
        cmocka_unit_test(groups_tasks),     cmocka_unit_test(joins_names),
        cmocka_unit_test(takes_parts),      cmocka_unit_test(sums_groups),
        cmocka_unit_test(counts_tasks),     cmocka_unit_test(makes_many_paths),
        cmocka_unit_test(reports_failure),  cmocka_unit_test(reads_nothing),
        cmocka_unit_test(leaves_sleep_out), cmocka_unit_test(leaves_small_paths_out),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
