/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the calling conventions put arguments and results, of prototypes in C. What compilers do is
 * in tests/oracle/places_test.py; here are the rules that one can read in the conventions. */
#include "guest/abi/abi.h"
#include "guest/abi/syscall_names.h"
#include "guest/types/declarations.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Result, then parameters: "x0", "rdi+rsi" (pieces), "[8]" (stack), "*x0" (its address). */
struct row {
    const char *abi, *declarations, *expected;
};

static const struct row rows[] = {
    {"x86_64", "int f(int a, long *b, char c, double d, float e, short g, int h, long i, int j);",
     "rax:4 rdi:4 rsi:8 rdx:1 xmm0:8 xmm1:4 rcx:2 r8:4 r9:8 [8]:4"},
    {"x86_64", "struct s { long a; double b; }; struct s f(struct s a);",
     "rax:8+xmm0:8 rdi:8+xmm0:8"},
    {"x86_64", "struct s { float a, b, c; }; struct s f(struct s a);",
     "xmm0:8+xmm1:4 xmm0:8+xmm1:4"},
    {"x86_64", "struct s { long a[3]; }; struct s f(int a, struct s b, int c);",
     "*rax:8 rsi:4 [8]:24 rdx:4"},
    {"x86_64", "struct s { long a[2]; }; int f(int a,int b,int c,int d,int e,struct s g, int h);",
     "rax:4 rdi:4 rsi:4 rdx:4 rcx:4 r8:4 [8]:16 r9:4"},
    {"x86_64", "long double f(int a, long double b, __int128 c);",
     "st0:10 rdi:4 [8]:16 rsi:8+rdx:8"},
    {"x86_64", "float _Complex f(float _Complex a, double _Complex b);",
     "xmm0:8 xmm0:8 xmm1:8+xmm2:8"},
    {"x86_64", "union u { int a; float b; }; void f(union u a, ...);", "- rdi:4"},
    {"x86_64", "struct s { int a : 20; int b : 20; char c; }; void f(struct s a);", "- rdi:8"},
    {"aarch64", "int f(int a, double b, float c, __int128 d, char *e, __int128 g, int h);",
     "x0:4 x0:4 v0:8 v1:4 x2:8+x3:8 x4:8 x6:8+x7:8 [0]:4"},
    {"aarch64",
     "struct h { float a; struct { float b[2]; } c; }; struct h f(struct h a, struct h b,"
     "struct h c, double d);",
     "v0:4+v1:4+v2:4 v0:4+v1:4+v2:4 v3:4+v4:4+v5:4 [0]:12 [16]:8"},
    {"aarch64", "struct s { long a; char b; }; struct s f(struct s a);", "x0:8+x1:8 x0:8+x1:8"},
    {"aarch64", "struct s { long a[3]; }; struct s f(struct s a, int b);",
     "*x8:8@entry *x0:8 x1:4"},
    {"aarch64", "long double f(long double a, float _Complex b);", "v0:16 v0:16 v1:4+v2:4"},
    {"aarch64", "struct s { double a; float b; }; void f(struct s a);", "- x0:8+x1:8"},
    {"riscv64", "double f(int a, double b, float c);", "fa0:8 a0:4 fa0:8 fa1:4"},
    {"riscv64", "struct s { float a; int b; }; struct s f(struct s a);", "fa0:4+a0:4 fa0:4+a0:4"},
    {"riscv64", "struct s { double a; struct { int b; } c; }; void f(struct s a);", "- fa0:8+a0:4"},
    {"riscv64", "struct s { float a, b, c; }; void f(struct s a);", "- a0:8+a1:4"},
    {"riscv64",
     "struct s { long a[2]; }; void f(int a, int b, int c, int d, int e, int g, int h,"
     "struct s i, int j);",
     "- a0:4 a1:4 a2:4 a3:4 a4:4 a5:4 a6:4 a7:8+[0]:8 [8]:4"},
    {"riscv64", "struct s { long a[3]; }; struct s f(struct s a, int b);",
     "*a0:8@entry *a1:8 a2:4"},
    {"riscv64", "union u { float a; int b; }; void f(union u a, long double b);",
     "- a0:4 a1:8+a2:8"},
    {"i386", "long long f(char a, long long b, double c, int d);",
     "eax:4+edx:4 [4]:1 [8]:8 [16]:8 [24]:4"},
    {"i386", "struct s { int a, b; }; struct s f(struct s a, float b);", "*eax:4 [8]:8 [16]:4"},
    {"i386", "long double f(long double a, short b);", "st0:10 [4]:12 [16]:2"},
    {"i386-regparm", "int f(int a, long long b, int c);", "eax:4 eax:4 edx:4+ecx:4 [4]:4"},
    {"i386-regparm", "int f(int a, int b, long long c, int d);", "eax:4 eax:4 edx:4 [4]:8 [12]:4"},
    {"i386-regparm", "int f(char *a, ...);", "eax:4 [4]:4"},
    {"x86_64", "struct open; void f(int a, struct open b, int c);", "- rdi:4 ? ?"},
};

static size_t show(char *out, size_t room, const struct gt_abi_value *v)
{
    size_t n = 0;

    if (v->unknown)
        return (size_t)snprintf(out, room, "?");
    if (!v->n)
        return (size_t)snprintf(out, room, "-");
    for (unsigned i = 0; i < v->n; i++) {
        const struct gt_abi_piece *p = &v->piece[i];
        n += (size_t)snprintf(out + n, room - n, "%s%s", i ? "+" : "", v->by_reference ? "*" : "");
        n += (size_t)(p->reg ? snprintf(out + n, room - n, "%s", p->reg)
                             : snprintf(out + n, room - n, "[%d]", p->stack));
        n += (size_t)snprintf(out + n, room - n, ":%u%s", p->size, v->at_entry ? "@entry" : "");
    }
    return n;
}

static const struct gt_type_data_model *model_of(const char *abi)
{
    return gt_type_data_model_of(gt_abi_by_name(abi)->target);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        struct gt_type_prototypes *p = gt_type_prototypes_new(NULL);
        struct gt_abi_value result, param[16];
        struct gt_error err = {0};
        char text[512];

        if (gt_type_declarations_read(p, model_of(r->abi), "row", r->declarations,
                                      strlen(r->declarations), &err) != GT_OK)
            fail_msg("%s: %s", r->declarations, err.text);
        assert_int_equal(gt_type_prototypes_finish(p), GT_OK);
        const struct gt_type_prototype *f = gt_type_prototypes_named(p, "f");
        assert_non_null(f);
        gt_abi_place_prototype(gt_abi_by_name(r->abi), p, f, &result, param);
        size_t n = show(text, sizeof text, &result);
        for (uint32_t j = 0; j < gt_type_get(p->types, f->type)->n; j++) {
            text[n++] = ' ';
            n += show(text + n, sizeof text - n, &param[j]);
        }
        if (strcmp(text, r->expected))
            fail_msg("%s: %s\n  is   %s\n  must %s", r->abi, r->declarations, text, r->expected);
        gt_type_prototypes_free(p);
    }
}

static void test_chosen(void **state)
{
    const struct gt_abi *abi;
    struct gt_error err;

    (void)state;
    assert_ptr_equal(gt_abi_by_elf(EM_386, 32), &gt_abi_i386);
    assert_ptr_equal(gt_abi_of_kernel(EM_386, 32), &gt_abi_i386_regparm);
    assert_ptr_equal(gt_abi_of_kernel(EM_AARCH64, 64), &gt_abi_aarch64);
    assert_null(gt_abi_of_kernel(EM_S390, 64));
    assert_int_equal(gt_abi_of_target("i386", NULL, &abi, &err), 0);
    assert_ptr_equal(abi, &gt_abi_i386);
    assert_int_equal(gt_abi_of_target("i386", "i386-regparm", &abi, &err), 0);
    assert_ptr_equal(abi, &gt_abi_i386_regparm);
    assert_int_equal(gt_abi_of_target("s390x", NULL, &abi, &err), 0);
    assert_null(abi);
    assert_int_equal(gt_abi_of_target("aarch64", "i386-regparm", &abi, &err), GT_E_USAGE);
    assert_int_equal(gt_abi_of_target("i386", "cdecl", &abi, &err), GT_E_USAGE);
    assert_string_equal(err.text,
                        "abi=cdecl: guests of target i386 have no such calling convention");
}

static void test_argument(void **state)
{
    struct gt_abi_value v;

    (void)state;
    assert_true(gt_abi_argument(&gt_abi_x86_64, 3, false, &v));
    assert_string_equal(v.piece[0].reg, "rdx");
    assert_true(gt_abi_argument(&gt_abi_x86_64, 7, false, &v));
    assert_true(!v.piece[0].reg && v.piece[0].stack == 8);
    assert_true(gt_abi_argument(&gt_abi_aarch64, 2, true, &v));
    assert_string_equal(v.piece[0].reg, "v1");
    assert_true(gt_abi_argument(&gt_abi_aarch64, 10, false, &v));
    assert_int_equal(v.piece[0].stack, 8);
    assert_true(gt_abi_argument(&gt_abi_i386, 2, false, &v));
    assert_int_equal(v.piece[0].stack, 8);
    assert_false(gt_abi_argument(&gt_abi_i386, 0, false, &v));
}

/* The compiler's word about parameters. */
static void test_where(void **state)
{
    static const char text[] = "void f(int a, int b, int c, int d);";
    const struct gt_type_param_where where[4] = {
        {.place = GT_PARAM_REGISTERS, .n = 1, .reg = {2}}, /* rcx */
        {.place = GT_PARAM_CHANGED},
        {.place = GT_PARAM_REGISTERS, .n = 1, .reg = {3}}, /* rbx holds no argument */
        {.place = GT_PARAM_STACK, .offset = 8},
    };
    struct gt_type_prototypes *p = gt_type_prototypes_new(NULL), *q = gt_type_prototypes_new(NULL);
    struct gt_abi_value result, param[4];
    struct gt_type_prototype item;

    (void)state;
    gt_type_declarations_read(p, model_of("x86_64"), "", text, sizeof text - 1, NULL);
    item = (struct gt_type_prototype){
        .name = "f", .type = p->item[0].type, .addr = 16, .has_addr = true};
    gt_type_prototypes_add(p, &item, where, 4);
    assert_int_equal(gt_type_prototypes_finish(p), GT_OK);
    const struct gt_type_prototype *f = gt_type_prototypes_at(p, 16);
    assert_non_null(f);
    gt_abi_place_prototype(&gt_abi_x86_64, p, f, &result, param);
    assert_string_equal(param[0].piece[0].reg, "rcx");
    assert_non_null(param[1].unknown);
    assert_string_equal(param[2].piece[0].reg, "rdx");
    assert_int_equal(param[3].piece[0].stack, 16);
    gt_type_prototypes_free(p);
    gt_type_prototypes_free(q);
}

static void test_syscalls(void **state)
{
    size_t n = 0;

    (void)state;
    assert_string_equal(gt_abi_syscall_name("x86_64", 0), "read");
    assert_string_equal(gt_abi_syscall_name("i386", 3), "read");
    assert_string_equal(gt_abi_syscall_name("aarch64", 63), "read");
    assert_int_equal(gt_abi_syscall_number("riscv64", "openat"), 56);
    assert_int_equal(gt_abi_syscall_number("riscv64", "open"), -1);
    assert_int_equal(gt_abi_syscall_number("vax", "read"), -1);
    assert_null(gt_abi_syscall_name("x86_64", UINT64_MAX)); /* not the -1 of a call that it lacks */
    assert_null(gt_abi_syscall_name("vax", 0));
    for (unsigned i = 0; i < 512; i++) {
        const char *name = gt_abi_syscall_name("x86_64", i);
        if (name)
            assert_int_equal(gt_abi_syscall_number("x86_64", name), i);
        n += name != NULL;
    }
    assert_int_equal(n, 362);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),     cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_argument), cmocka_unit_test(test_where),
        cmocka_unit_test(test_syscalls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
