/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C declarations: what they mean, and what is wrong with those that are refused. */
#include "guest/abi/syscall_names.h"
#include "guest/types/declarations.h"
#include "guest/types/syscalls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "#include <stddef.h>\n"
    "/* a comment */ typedef unsigned long size_t; // and another\n"
    "typedef struct file FILE;\n"
    "enum mode { R = 1, W = 1 << 1, RW = R | W, X = (4), LAST = -~X };\n"
    "enum order { FIRST, SECOND = 5, THIRD };\n"
    "struct point { char a; short b; int c : 3, d : 30; union { double e; char f[3]; } g; };\n"
    "struct file { struct file *next; int (*read)(void *, size_t), fd; };\n"
    "extern size_t fread(void *restrict p, size_t n, FILE *f) __attribute__((nonnull(1)));\n"
    "void (*signal(int number, void (*handler)(int)))(int);\n"
    "int printf(const char *format, ...), none(void);\n"
    "int sum(int v[4], enum mode mode, struct point p, unsigned long long q);\n";

static struct gt_type_prototypes *read_text(const char *declarations, size_t size)
{
    struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);
    struct gt_error err = {0};

    if (gt_type_declarations_read(p, gt_type_data_model_of("x86_64"), "t", declarations, size,
                                  &err) != GT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(gt_type_prototypes_finish(p), GT_OK);
    return p;
}

static const struct gt_type *param(const struct gt_type_prototypes *p, const char *name, unsigned i)
{
    const struct gt_type_prototype *f = gt_type_prototypes_named(p, name);

    assert_non_null(f);
    assert_true(i < gt_type_get(p->types, f->type)->n);
    return gt_type_plain(p->types, gt_type_params(p->types, f->type)[i].type);
}

static void test_types(void **state)
{
    struct gt_type_prototypes *p = read_text(text, sizeof text - 1);
    const struct gt_type_member *m;
    const struct gt_type_value *v;
    uint32_t id;

    (void)state;
    assert_int_equal(p->n, 5);
    assert_int_equal(param(p, "fread", 1)->size, 8);
    assert_false(param(p, "fread", 1)->is_signed);
    assert_false(gt_type_plain(p->types, param(p, "fread", 2)->of)->incomplete);
    assert_int_equal(param(p, "sum", 0)->kind, GT_TYPE_POINTER);
    assert_int_equal(param(p, "sum", 3)->size, 8);
    assert_int_equal(gt_type_plain(p->types, param(p, "signal", 1)->of)->kind, GT_TYPE_FUNCTION);
    id = gt_type_get(p->types, gt_type_prototypes_named(p, "signal")->type)->of;
    assert_int_equal(gt_type_plain(p->types, id)->kind, GT_TYPE_POINTER);
    assert_true(gt_type_get(p->types, gt_type_prototypes_named(p, "printf")->type)->variadic);
    assert_int_equal(gt_type_get(p->types, gt_type_prototypes_named(p, "none")->type)->n, 0);

    id = gt_types_find(p->types, GT_TYPE_ENUM, "mode");
    v = gt_type_values(p->types, id);
    assert_int_equal(gt_type_get(p->types, id)->n, 5);
    assert_int_equal(v[2].value, 3);
    assert_int_equal(v[4].value, 5);
    assert_false(gt_type_get(p->types, id)->is_flags); /* 1 to 5 */
    assert_int_equal(
        gt_type_values(p->types, gt_types_find(p->types, GT_TYPE_ENUM, "order"))[2].value, 6);

    id = gt_types_find(p->types, GT_TYPE_STRUCT, "point");
    m = gt_type_members(p->types, id);
    assert_int_equal(gt_type_get(p->types, id)->n, 5);
    assert_int_equal(m[1].bit, 16);
    assert_int_equal(m[2].bit, 32);
    assert_int_equal(m[3].bit, 64); /* it would cross an int */
    assert_int_equal(m[4].bit, 128);
    assert_int_equal(gt_type_size(p->types, id), 24);
    gt_type_prototypes_free(p);
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"int f(", "t:1: end of the text: expected a type"},
        {"\n\nint f(wrong a);", "t:3: 'wrong': expected a type"},
        {"int f(int a) int b;", "t:1: 'int': expected ';'"},
        {"struct s { int a : 0; };", "t:1: '0': expected the width of a bit field, 1 to 64"},
        {"enum e { A = B };", "t:1: '}': follows neither a number nor an earlier enumerator"},
        {"int 3;", "t:1: '3': expected a name before it"},
        {"int f(int a[0x];", "t:1: '0x': is not a number"},
        {"int (((((", "t:1: end of the text: expected ')'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);
        struct gt_error err = {0};
        assert_int_equal(gt_type_declarations_read(p, gt_type_data_model_of("x86_64"), "t",
                                                   rows[i].text, strlen(rows[i].text), &err),
                         GT_E_FORMAT);
        assert_string_equal(err.text, rows[i].message);
        gt_type_prototypes_free(p);
    }
}

/* Cut at each byte, and changed at each byte: an answer, and no read beyond. */
static void test_cuts(void **state)
{
    (void)state;
    for (size_t n = 0; n < 2 * sizeof text; n++) {
        struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);
        size_t size = n < sizeof text ? n : sizeof text - 1;
        char *copy = malloc(size + 1);
        memcpy(copy, text, size);
        if (n >= sizeof text)
            copy[n % size] ^= 0x15;
        gt_type_declarations_read(p, gt_type_data_model_of("i386"), "t", copy, size, NULL);
        if (gt_type_prototypes_finish(p) == GT_OK)
            for (uint32_t i = 0; i < gt_types_count(p->types); i++)
                if (gt_type_is_finite(p->types, i))
                    gt_type_size(p->types, i);
        free(copy);
        gt_type_prototypes_free(p);
    }
}

static void test_depth(void **state)
{
    char deep[4096];
    struct gt_error err = {0};
    static const char *const parts[] = {"struct {", "int (*(", "enum { A = ((", "int a[1][", "-"};

    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);
        size_t n = 0;
        while (n + 32 < sizeof deep)
            n += (size_t)snprintf(deep + n, sizeof deep - n, "%s", parts[i]);
        assert_int_equal(
            gt_type_declarations_read(p, gt_type_data_model_of("x86_64"), "t", deep, n, &err),
            GT_E_FORMAT);
        gt_type_prototypes_free(p);
    }
}

/* Prototypes are of calls that exist; few calls, old or rare ones, have none. */
static void test_syscalls(void **state)
{
    static const char *const targets[] = {"x86_64", "i386", "aarch64", "riscv64"};
    struct gt_type_prototypes *p;
    struct gt_error err;

    (void)state;
    assert_int_equal(gt_type_syscall_prototypes("vax", &p, &err), GT_E_UNSUPPORTED);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        unsigned missing = 0;
        if (gt_type_syscall_prototypes(targets[i], &p, &err) != GT_OK)
            fail_msg("%s", err.text);
        for (unsigned n = 0; n < GT_SYSCALLS_NUMBER; n++) {
            const char *name = gt_abi_syscall_name(targets[i], n);
            missing += name && !gt_type_prototypes_named(p, name);
        }
        assert_in_range(missing, 1, 50);
        for (size_t k = 0; k < p->n; k++) {
            bool known = false;
            for (size_t j = 0; j < sizeof targets / sizeof targets[0]; j++)
                known = known || gt_abi_syscall_number(targets[j], p->item[k].name) >= 0;
            if (!known)
                fail_msg("no call %s", p->item[k].name);
        }
        gt_type_prototypes_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types), cmocka_unit_test(test_errors),   cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_depth), cmocka_unit_test(test_syscalls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
