/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that are made of a tree of calls. The tree, the tasks and the functions are made up here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "calls/export/frames.h"
#include "calls/export/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gt_calls {
    const char *stats;
};

static const struct gt_calls_task tasks[] = {
    {.id = 7, .process = 0, .name = "in;it"},
    {.id = 8, .process = 1, .name = ""},
};
static const struct gt_calls_process processes[] = {
    {.pid = 7, .exename = "/bin/prog"},
    {.pid = 8, .exename = ""},
};
static const struct gt_calls_function functions[] = {
    {.name = "never", .module = "/bin/prog"},
    {.name = "fib", .module = "/bin/prog", .file = "a.c", .line = 3},
    {.name = "ma\nin", .module = "/bin/prog", .file = "a.c", .line = 20},
    {.name = "put;\xff\"", .module = "/lib/libx.so"},
    {.name = "fib", .module = "/bin/prog", .file = "a.c", .line = 3}, /* a copy of it */
    {.name = "fib", .module = "/bin/prog", .file = "b.c", .line = 1},
};
static const struct gt_calls_facts facts = {
    .path = "/tmp/rec", .command = "prog\n1", .exename = "/bin/prog"};

enum { NEVER, FIB, MAIN, PUT, FIB_COPY, OTHER_FIB };

/* in;it: main -> fib -> fib_copy -> put, main -> put; task 8: put -> main -> other_fib -> put */
static const struct gt_profile_tree_node nodes[] = {
    {.calls = 1, .total = 100, .function = GT_TREE_NONE, .parent = GT_TREE_NONE, .end = 6},
    {.calls = 1, .total = 100, .self = 10, .function = MAIN, .parent = 0, .end = 6, .depth = 1},
    {.calls = 2, .total = 80, .self = 20, .function = FIB, .parent = 1, .end = 5, .depth = 2},
    {.calls = 3, .total = 60, .self = 57, .function = FIB_COPY, .parent = 2, .end = 5, .depth = 3},
    {.calls = 4, .total = 3, .self = 3, .function = PUT, .parent = 3, .end = 5, .depth = 4},
    {.calls = 1, .total = 10, .self = 10, .function = PUT, .parent = 1, .end = 6, .depth = 2},
    {.calls = 1, .total = 50, .function = GT_TREE_NONE, .parent = GT_TREE_NONE, .end = 11},
    {.calls = 1, .total = 50, .self = 5, .function = PUT, .parent = 6, .end = 11, .depth = 1},
    {.calls = 1, .total = 45, .self = 0, .function = MAIN, .parent = 7, .end = 11, .depth = 2},
    {.calls = 1,
     .total = 45,
     .self = 40,
     .function = OTHER_FIB,
     .parent = 8,
     .end = 11,
     .depth = 3},
    {.calls = 1, .total = 5, .self = 5, .function = PUT, .parent = 9, .end = 11, .depth = 4},
};
static struct gt_profile_tree_root roots[] = {{.node = 0, .group = 0}, {.node = 6, .group = 1}};

const struct gt_calls_task *gt_calls_task(const struct gt_calls *c, uint32_t index)
{
    (void)c;
    return &tasks[index];
}

const struct gt_calls_process *gt_calls_process(const struct gt_calls *c, uint32_t index)
{
    (void)c;
    return &processes[index];
}

size_t gt_calls_n_functions(const struct gt_calls *c)
{
    (void)c;
    return sizeof functions / sizeof functions[0];
}

const struct gt_calls_function *gt_calls_function(const struct gt_calls *c, uint32_t index)
{
    (void)c;
    return &functions[index];
}

const struct gt_calls_facts *gt_calls_facts(const struct gt_calls *c)
{
    (void)c;
    return &facts;
}

char *gt_calls_text(const struct gt_calls *c, const char *name, size_t *size)
{
    assert_string_equal(name, "guesttrace.stats");
    *size = c->stats ? strlen(c->stats) : 0;
    return c->stats ? strdup(c->stats) : NULL;
}

int gt_profile_tree_make(struct gt_calls *c, const struct gt_profile_tree_options *o,
                         struct gt_profile_tree *out, struct gt_error *err)
{
    static struct gt_profile_tree_node copy[sizeof nodes / sizeof nodes[0]];
    (void)c;
    assert_int_equal(o->groups, GT_TREE_OF_TASKS);
    if (o->window && o->window->depth == 1)
        return gt_error_set(err, GT_E_FORMAT, "damaged");
    memcpy(copy, nodes, sizeof nodes);
    *out = (struct gt_profile_tree){copy, sizeof nodes / sizeof nodes[0], roots,
                                    sizeof roots / sizeof roots[0]};
    return 0;
}

void gt_profile_tree_clear(struct gt_profile_tree *t)
{
    *t = (struct gt_profile_tree){0};
}

/* ---- what they write ----------------------------------------------------------------------- */

static char text[1 << 16];

static const char *export_of(gt_export_sums_fn *format, const char *stats,
                             const struct gt_export_sums_options *o)
{
    struct gt_calls calls = {stats};
    struct gt_error err = {0};
    struct gt_output *out = malloc(sizeof *out);
    FILE *f = tmpfile();
    assert_true(out && f);
    gt_output_init(out, fileno(f));
    assert_int_equal(format(&calls, o, out, &err), GT_OK);
    assert_int_equal(gt_output_finish(out, "out", &err), GT_OK);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    free(out);
    return text;
}

static const char *export(gt_export_sums_fn *format, const char *stats)
{
    return export_of(format, stats, &(struct gt_export_sums_options){0});
}

static void writes_folded_stacks(void **state)
{
    (void)state;
    assert_string_equal(export(gt_export_folded, NULL),
                        "prog;in:it;ma?in 10\n"
                        "prog;in:it;ma?in;fib 20\n"
                        "prog;in:it;ma?in;fib;fib 57\n"
                        "prog;in:it;ma?in;fib;fib;put:\xef\xbf\xbd\" 3\n"
                        "prog;in:it;ma?in;put:\xef\xbf\xbd\" 10\n"
                        "process 8;task 8;put:\xef\xbf\xbd\" 5\n"
                        "process 8;task 8;put:\xef\xbf\xbd\";ma?in;fib 40\n"
                        "process 8;task 8;put:\xef\xbf\xbd\";ma?in;fib;put:\xef\xbf\xbd\" 5\n");
    assert_string_equal(
        export_of(gt_export_folded, NULL, &(struct gt_export_sums_options){.counts = true}),
        "prog;in:it;ma?in 1\n"
        "prog;in:it;ma?in;fib 2\n"
        "prog;in:it;ma?in;fib;fib 3\n"
        "prog;in:it;ma?in;fib;fib;put:\xef\xbf\xbd\" 4\n"
        "prog;in:it;ma?in;put:\xef\xbf\xbd\" 1\n"
        "process 8;task 8;put:\xef\xbf\xbd\" 1\n"
        "process 8;task 8;put:\xef\xbf\xbd\";ma?in 1\n"
        "process 8;task 8;put:\xef\xbf\xbd\";ma?in;fib 1\n"
        "process 8;task 8;put:\xef\xbf\xbd\";ma?in;fib;put:\xef\xbf\xbd\" 1\n");
}

static void writes_callgrind(void **state)
{
    (void)state;
    assert_string_equal(
        export(gt_export_callgrind, "calls=5\nhost_clock=1\n"),
        "# callgrind format\nversion: 1\ncreator: guesttrace " GT_VERSION
        "\ncmd: prog?1\npart: 1\n\n"
        "positions: line\nevent: Ns : Nanoseconds\nevents: Ns\n\n"
        "ob=(1) /bin/prog\nfl=(1) a.c\nfn=(1) ma?in\n20 10\n"
        "cfn=(2) fib\ncalls=2 3\n20 80\n"
        "cob=(2) /lib/libx.so\ncfi=(2) ???\ncfn=(3) put;\xef\xbf\xbd\"\ncalls=1 0\n20 10\n"
        "cfi=(3) b.c\ncfn=(2)\ncalls=1 1\n20 45\n\n"
        "ob=(1)\nfl=(1)\nfn=(2)\n3 77\n"
        "cfn=(2)\ncalls=3 3\n3 0\n" /* it is open already */
        "cob=(2)\ncfi=(2)\ncfn=(3)\ncalls=4 0\n3 3\n\n"
        "ob=(2)\nfl=(2)\nfn=(3)\n0 23\n"
        "cob=(1)\ncfi=(1)\ncfn=(1)\ncalls=1 20\n0 45\n\n"
        "ob=(1)\nfl=(3)\nfn=(2)\n1 40\n"
        "cob=(2)\ncfi=(2)\ncfn=(3)\ncalls=1 0\n1 0\n\n"
        "ob=(3) ???\nfl=(2)\nfn=(4) in;it (7)\n0 0\n"
        "cob=(1)\ncfi=(1)\ncfn=(1)\ncalls=1 20\n0 100\n\n"
        "ob=(3)\nfl=(2)\nfn=(5) task 8\n0 0\n"
        "cob=(2)\ncfn=(3)\ncalls=1 0\n0 50\n\n"
        "totals: 150\n");
    assert_non_null(strstr(export(gt_export_callgrind, "host_clock=0\n"), "\nevents: Ir\n"));
}

static void writes_speedscope(void **state)
{
    (void)state;
    assert_string_equal(
        export(gt_export_speedscope, "host_clock=0\n"),
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":\"rec\","
        "\"exporter\":\"guesttrace " GT_VERSION "\",\"activeProfileIndex\":0,"
        "\"shared\":{\"frames\":[\n"
        "{\"name\":\"ma?in\",\"file\":\"a.c\",\"line\":20},\n"
        "{\"name\":\"fib\",\"file\":\"a.c\",\"line\":3},\n"
        "{\"name\":\"put;\xef\xbf\xbd\\\"\",\"file\":\"/lib/libx.so\"},\n"
        "{\"name\":\"fib\",\"file\":\"b.c\",\"line\":1}]},\"profiles\":[\n"
        "{\"type\":\"sampled\",\"name\":\"in;it (7)\",\"unit\":\"none\",\"startValue\":0,"
        "\"endValue\":100,\"samples\":[\n[0],\n[0,1],\n[0,1,1],\n[0,1,1,2],\n[0,2]],"
        "\"weights\":[10,20,57,3,10]},\n"
        "{\"type\":\"sampled\",\"name\":\"task 8\",\"unit\":\"none\",\"startValue\":0,"
        "\"endValue\":50,\"samples\":[\n[2],\n[2,0,3],\n[2,0,3,2]],\"weights\":[5,40,5]}]}\n");
}

static void passes_errors_on(void **state)
{
    (void)state;
    gt_export_sums_fn *all[] = {gt_export_folded, gt_export_speedscope, gt_export_callgrind,
                                gt_export_pprof};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct gt_calls calls = {0};
        const struct gt_calls_window window = {.depth = 1};
        struct gt_error err = {0};
        const struct gt_export_sums_options o = {&window};
        assert_int_equal(all[i](&calls, &o, NULL, &err), GT_E_FORMAT);
        assert_string_equal(err.text, "damaged");
    }
}

/* A pipe that nobody reads. */
static void ends_where_output_fails(void **state)
{
    (void)state;
    gt_export_sums_fn *all[] = {gt_export_folded, gt_export_speedscope, gt_export_callgrind,
                                gt_export_pprof};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct gt_calls calls = {0};
        struct gt_error err = {0};
        struct gt_output *out = malloc(sizeof *out);
        assert_non_null(out);
        gt_output_init(out, -1);
        assert_int_equal(all[i](&calls, &(struct gt_export_sums_options){0}, out, &err), GT_OK);
        assert_int_equal(gt_output_finish(out, "out", &err), GT_E_IO);
        free(out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_folded_stacks),    cmocka_unit_test(writes_callgrind),
        cmocka_unit_test(writes_speedscope),       cmocka_unit_test(passes_errors_on),
        cmocka_unit_test(ends_where_output_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
