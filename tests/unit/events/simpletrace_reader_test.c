/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis API: declarations, callbacks by pattern, what they return, and errors. */
#include "events/library/read/simpletrace.h"

#include <guesttrace/simpletrace.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const char text[] = "# events\n"
                           "one(int a, const char *s) \"%d %s\"\n"
                           "\n"
                           "disable one_more(void)\n"
                           "vcpu two(unsigned long long x, bool y, void *z, char **p)\n"
                           "tcg three(TCGv addr, int8_t n) \"a\", \"b\"";

struct fixture {
    struct gt_trace_declarations *d;
    struct gt_trace_reader *r;
    struct gt_trace_error err;
    uint8_t data[4096], *end;
    char path[64];
    char seen[256];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->end = gt_events_simpletrace_put_file_header(f->data, GT_SIMPLETRACE_VERSION);
    *state = f;
    return gt_trace_declarations_parse(&f->d, "text", text, sizeof text - 1, &f->err);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    gt_trace_reader_close(f->r);
    gt_trace_declarations_free(f->d);
    free(f);
    return 0;
}

static void map(struct fixture *f, uint64_t id, const char *name)
{
    f->end = gt_events_simpletrace_put_mapping(f->end, id, name, (uint32_t)strlen(name));
}

static void one(struct fixture *f, uint64_t id, int a, const char *s)
{
    uint32_t n = gt_events_simpletrace_string_length(s);
    f->end = gt_events_simpletrace_put_event(f->end, id, 1, 8 + 4 + n, 2);
    f->end = gt_events_simpletrace_put_u64(f->end, (uint64_t)a);
    f->end = gt_events_simpletrace_put_string(f->end, s, n);
}

static void open_trace(struct fixture *f)
{
    int fd = memfd_create("trace", 0);
    assert_true(write(fd, f->data, (size_t)(f->end - f->data)) == f->end - f->data);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", fd);
    assert_int_equal(gt_trace_reader_open(&f->r, f->path, f->d, NULL, &f->err), 0);
    close(fd);
}

static void test_declarations(void **state)
{
    const struct fixture *f = *state;
    const char *const names[] = {"one", "one_more", "two", "three_trans", "three_exec"};
    assert_int_equal(gt_trace_declarations_count(f->d), 5);
    for (size_t i = 0; i < 5; i++) {
        const struct gt_trace_declaration *d = gt_trace_declarations_at(f->d, i);
        assert_string_equal(d->name, names[i]);
        assert_int_equal(d->index, i);
        assert_ptr_equal(gt_trace_declarations_find(f->d, names[i]), d);
    }
    const struct gt_trace_declaration *two = gt_trace_declarations_find(f->d, "two");
    assert_int_equal(two->line, 5);
    assert_true(two->vcpu && !two->disabled);
    assert_int_equal(two->n_arguments, 4);
    assert_string_equal(two->arguments[0].type, "unsigned long long");
    assert_string_equal(two->arguments[3].type, "char **");
    assert_int_equal(two->arguments[0].kind, GT_TRACE_UNSIGNED);
    assert_int_equal(two->arguments[1].kind, GT_TRACE_BOOL);
    assert_int_equal(two->arguments[2].kind, GT_TRACE_POINTER);
    assert_int_equal(two->arguments[3].kind, GT_TRACE_POINTER);
    assert_int_equal(gt_trace_declarations_at(f->d, 0)->arguments[0].kind, GT_TRACE_SIGNED);
    assert_int_equal(gt_trace_declarations_at(f->d, 0)->arguments[1].kind, GT_TRACE_STRING);
    assert_true(gt_trace_declarations_at(f->d, 1)->disabled);
    assert_int_equal(gt_trace_declarations_at(f->d, 3)->n_arguments, 1);
    assert_int_equal(gt_trace_declarations_at(f->d, 4)->n_arguments, 2);
    assert_string_equal(gt_trace_declarations_at(f->d, 5)->name, "Dropped_Event");
    assert_null(gt_trace_declarations_at(f->d, 6));
    assert_null(gt_trace_declarations_find(f->d, "on"));
    assert_null(gt_trace_declarations_find(f->d, "one_"));
}

static void test_bad_declarations(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"one", "f:1:1: unknown property 'one'"},
        {"disable", "f:1:8: expected an event: NAME(ARGUMENTS)"},
        {"(int a)", "f:1:1: expected an event"},
        {"one(int a", "f:1:10: expected ',' or ')'"},
        {"one(int a[2])", "f:1:10: expected ',' or ')'"},
        {"one(int)", "f:1:5: expected an argument"},
        {"one()", "f:1:5: expected an argument"},
        {"one(int a,)", "f:1:11: expected an argument"},
        {"one(void, int a)", "f:1:5: expected an argument"},
        {"one(int a,int b,int c,int d,int e,int f,int g,int h,int i,int j,int k)",
         "f:1:65: more than 10 arguments"},
        {"slow one(int a)", "f:1:1: unknown property 'slow'"},
    };
    struct gt_trace_declarations *d;
    struct gt_trace_error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i].line);
        char *copy = malloc(n); /* not terminated: a sanitizer sees what is read behind it */
        memcpy(copy, cases[i].line, n);
        assert_int_equal(gt_trace_declarations_parse(&d, "f", copy, n, &err), GT_TRACE_E_FORMAT);
        assert_null(d);
        if (strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("'%s': %s", cases[i].line, err.text);
        free(copy);
    }
}

static int note(void *self, const struct gt_trace_record *r)
{
    struct fixture *f = self;
    size_t n = strlen(f->seen);
    snprintf(f->seen + n, sizeof f->seen - n, "%s(%d,%.*s) ", r->event->name,
             (int)r->values[0].number, (int)r->values[1].number, r->values[1].text);
    return 0;
}

static int stop(void *self, const struct gt_trace_record *r)
{
    (void)self;
    return r->values[0].number == 2 ? 77 : 0;
}

static int count(void *self, const struct gt_trace_record *r)
{
    *(uint64_t *)self += r->values[0].number;
    return 0;
}

static void test_callbacks(void **state)
{
    struct fixture *f = *state;
    uint64_t dropped = 0;
    map(f, 5, "one");
    one(f, 5, 1, "x");
    f->end = gt_events_simpletrace_put_dropped(f->end, 3, 1, 9);
    one(f, 5, 2, NULL);
    one(f, 5, 3, "never seen");
    open_trace(f);
    assert_int_equal(gt_trace_reader_on(f->r, "o?e", note, f, &f->err), 0);
    assert_int_equal(gt_trace_reader_on(f->r, "*", stop, f, &f->err), 0);
    assert_int_equal(gt_trace_reader_on(f->r, "one", note, f, &f->err), 0);
    assert_int_equal(gt_trace_reader_on(f->r, "Dropped_Event", count, &dropped, &f->err), 0);
    assert_int_equal(gt_trace_reader_on(f->r, "nosuch*", note, f, &f->err), GT_TRACE_E_NOT_FOUND);
    assert_string_equal(f->err.text, "no declared event matches 'nosuch*'");
    assert_int_equal(gt_trace_reader_run(f->r, &f->err), 77);
    assert_string_equal(f->seen, "one(1,x) one(1,x) one(2,) ");
    assert_int_equal(dropped, 9);
}

static void test_vcpu(void **state)
{
    struct fixture *f = *state;
    const struct gt_trace_record *r;
    map(f, 1, "two");
    for (unsigned n = 4; n <= 5; n++) {
        f->end = gt_events_simpletrace_put_event(f->end, 1, 1, 8 * n, 1);
        for (unsigned i = 0; i < n; i++)
            f->end = gt_events_simpletrace_put_u64(f->end, i);
    }
    open_trace(f);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 1);
    assert_int_equal(r->n_values, 4);
    assert_string_equal(r->arguments[0].name, "x");
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 1);
    assert_int_equal(r->n_values, 5);
    assert_string_equal(r->arguments[0].name, "__cpu");
    assert_string_equal(r->arguments[4].name, "p");
    assert_int_equal(r->values[4].number, 4);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 0);
}

static void test_goes_on(void **state)
{
    struct fixture *f = *state;
    const struct gt_trace_record *r;
    map(f, 1, "one");
    map(f, 2, "nobody");
    for (int i = 0; i < 3; i++) {
        one(f, 2, 1, "x");
        one(f, 3, 1, "x");
        one(f, 1, i, "x");
    }
    f->end -= 1;
    open_trace(f);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), GT_TRACE_E_RANGE);
    assert_int_equal(f->err.status, GT_TRACE_E_RANGE);
    assert_non_null(strstr(f->err.text, "event 'nobody' is not declared"));
    assert_int_equal(gt_trace_reader_next(f->r, &r, NULL), GT_TRACE_E_RANGE);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 1);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 1);
    assert_int_equal(r->values[0].number, 1);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), GT_TRACE_E_TRUNC);
    assert_null(r);
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 0);
    assert_int_equal(gt_trace_reader_skipped(f->r), 6);
}

/* Ids that a table of any size has to tell apart. */
static void test_many_ids(void **state)
{
    struct fixture *f = *state;
    uint8_t *big = malloc(8 << 20), *at = gt_events_simpletrace_put_file_header(big, 4);
    const struct gt_trace_record *r;
    enum { IDS = 20000 };
    for (uint64_t i = 0; i < IDS; i++)
        at = gt_events_simpletrace_put_mapping(at, i << 40, i % 2 ? "one_more" : "one",
                                               i % 2 ? 8 : 3);
    for (uint64_t i = 1; i < IDS; i += 2)
        at = gt_events_simpletrace_put_event(at, i << 40, i, 0, 1);
    int fd = memfd_create("trace", 0);
    assert_true(write(fd, big, (size_t)(at - big)) == at - big);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", fd);
    assert_int_equal(gt_trace_reader_open(&f->r, f->path, f->d, NULL, &f->err), 0);
    for (uint64_t i = 1; i < IDS; i += 2) {
        assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 1);
        assert_true(r->timestamp == i);
    }
    assert_int_equal(gt_trace_reader_next(f->r, &r, &f->err), 0);
    close(fd);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_declarations, set_up, tear_down),
        cmocka_unit_test(test_bad_declarations),
        cmocka_unit_test_setup_teardown(test_callbacks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_vcpu, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_ids, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
