/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specs of values from prototypes, as a values file has them; the table of the C library. */
#include "calls/arguments/spec.h"
#include "guest/types/declarations.h"
#include "guest/types/prototypes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "enum color { RED, GREEN = 5 }; enum bits { A = 1, B = 2, C = 8 };\n"
    "struct pair { int x; double y; }; struct big { long a[20]; };\n"
    "struct pair f(char *name, enum color c, enum bits b, _Bool on, char letter, float z,\n"
    "              struct pair p, void *q, unsigned short s, long double w);\n"
    "struct big g(struct big b, int n);\n";

/* The values file of the functions, one after the other at 0x10, 0x20... */
static void expect(const char *target, const struct gt_type_prototypes *p, const char *const *names,
                   const char *expected)
{
    struct gt_arguments *a = gt_arguments_new();
    struct gt_value_function function[4];
    struct gt_value_module module = {.path = "m", .build_id = "", .function = function};
    struct gt_values values = {.module = &module, .n_modules = 1}, again;
    struct gt_text out = {0};
    struct gt_error err = {0};

    for (; names[module.n]; module.n++) {
        const struct gt_type_prototype *item = gt_type_prototypes_named(p, names[module.n]);
        assert_non_null(item);
        function[module.n] =
            (struct gt_value_function){.addr = 16 * (module.n + 1), .name = names[module.n]};
        gt_arguments_by_prototype(a, gt_abi_by_name(target), p, item, &function[module.n].spec);
    }
    values.enums = (struct gt_value_enum *)gt_arguments_enums(a, &values.n_enums);
    if (gt_values_write(&out, &values, true, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(out.data, expected);
    if (gt_values_read(out.data, out.len, &again, &err) != 0)
        fail_msg("%s", err.text);
    gt_values_free(&again);
    gt_text_free(&out);
    gt_arguments_free(a);
}

static void expect_text(const char *target, const char *expected)
{
    static const char *const names[] = {"f", "g", NULL};
    struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);

    assert_int_equal(gt_type_declarations_read(p, gt_type_data_model_of(target), "t", text,
                                               sizeof text - 1, NULL),
                     0);
    assert_int_equal(gt_type_prototypes_finish(p), 0);
    expect(target, p, names, expected);
    gt_type_prototypes_free(p);
}

static void test_formats(void **state)
{
    (void)state;
    expect_text("x86_64", "guesttrace values 1\n"
                          "enum color RED=0 GREEN=5\n"
                          "enum bits flags A=1 B=2 C=8\n"
                          "module - m\n"
                          "function 10 f\n"
                          "arg 1 s 0 name - %rdi\n"
                          "arg 2 e 4 c color %rsi\n"
                          "arg 3 e 4 b bits %rdx\n"
                          "arg 4 b 1 on - %rcx\n"
                          "arg 5 c 1 letter - %r8\n"
                          "fparg 1 f 4 z - %xmm0\n"
                          "arg 6 t 16 p pair %r9:8|%xmm1:8 "
                          "mask=ffffffff00000000ffffffffffffffff\n"
                          "arg 7 p 8 q - stack+8\n"
                          "arg 8 u 2 s - stack+16\n"
                          "fparg 2 f 10 w - stack+24\n"
                          "ret - t 16 - pair %rax:8|%xmm0:8 "
                          "mask=ffffffff00000000ffffffffffffffff\n"
                          "function 20 g\n"
                          "arg 1 t 64 b big stack+8\n"
                          "arg 2 d 4 n - %rsi\n"
                          "ret - t 64 - big %rax*0\n");
}

/* The result of g is at an address that is known at its entry only: it is left out. */
static void test_references(void **state)
{
    static const char *const names[] = {"g", NULL};
    struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);

    (void)state;
    gt_type_declarations_read(p, gt_type_data_model_of("aarch64"), "t", text, sizeof text - 1,
                              NULL);
    assert_int_equal(gt_type_prototypes_finish(p), 0);
    expect("aarch64", p, names,
           "guesttrace values 1\n"
           "module - m\n"
           "function 10 g\n"
           "arg 1 t 64 b big %x0*0\n"
           "arg 2 d 4 n - %x1\n");
    gt_type_prototypes_free(p);
}

static void test_libc(void **state)
{
    static const char *const names[] = {"fopen", "mmap", NULL};
    static const char *const targets[] = {"aarch64", "i386", "riscv64", "x86_64"};
    struct gt_type_prototypes *p;
    struct gt_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (gt_type_libc_prototypes(targets[i], &p, &err) != 0)
            fail_msg("%s", err.text);
        assert_true(p->n >= 300);
        for (size_t j = 0; j < p->n; j++) {
            struct gt_abi_value result, param[32];
            gt_abi_place_prototype(gt_abi_by_name(targets[i]), p, &p->item[j], &result, param);
            assert_null(result.unknown);
            for (uint32_t k = 0; k < gt_type_get(p->types, p->item[j].type)->n; k++)
                assert_null(param[k].unknown);
        }
        if (i == 0)
            expect("aarch64", p, names,
                   "guesttrace values 1\n"
                   "enum mmap_prot flags PROT_NONE=0 PROT_READ=1 PROT_WRITE=2 PROT_EXEC=4\n"
                   "enum mmap_flags flags MAP_SHARED=1 MAP_PRIVATE=2 MAP_FIXED=16 "
                   "MAP_ANONYMOUS=32\n"
                   "module - m\n"
                   "function 10 fopen\n"
                   "arg 1 s 0 path - %x0\n"
                   "arg 2 s 0 mode - %x1\n"
                   "ret - p 8 - - %x0\n"
                   "function 20 mmap\n"
                   "arg 1 p 8 addr - %x0\n"
                   "arg 2 u 8 length - %x1\n"
                   "arg 3 e 4 prot mmap_prot %x2\n"
                   "arg 4 e 4 flags mmap_flags %x3\n"
                   "arg 5 d 4 fd - %x4\n"
                   "arg 6 d 8 offset - %x5\n"
                   "ret - p 8 - - %x0\n");
        gt_type_prototypes_free(p);
    }
    assert_int_equal(gt_type_libc_prototypes("vax", &p, &err), GT_E_UNSUPPORTED);
    assert_string_equal(err.text, "vax: no prototypes of its C library");
}

static void test_words(void **state)
{
    struct gt_arguments *a = gt_arguments_new();
    struct gt_value_spec spec;

    (void)state;
    gt_arguments_words(a, &gt_abi_riscv64, 3, &spec);
    assert_int_equal(spec.n_arguments, 3);
    assert_int_equal(spec.n_returns, 1);
    assert_true(spec.item[2].unsure && spec.item[2].format == GT_VALUE_HEX);
    assert_string_equal(spec.item[2].piece[0].reg, "a2");
    assert_string_equal(spec.item[3].piece[0].reg, "a0");
    gt_arguments_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_libc),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
