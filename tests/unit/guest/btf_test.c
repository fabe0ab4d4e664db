/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the members of structs are, by BTF in a kernel's image; its functions' prototypes; BTF that
 * lies. */
#include "guest/kernel/kernel.h"
#include "guest/types/btf.h"

#include "made_kernel.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { INT = 1, POINTER, ARRAY, STRUCT, UNION, ENUM, TYPEDEF = 8, CONST = 10, FUNCTION = 12 };
enum { PROTOTYPE = 13, ENUM64 = 19 };
enum { HEADER = 24, SYMBOLS = 40 };

static struct {
    uint8_t types[4096], data[16384];
    char strings[4096];
    size_t types_size, strings_size, size;
    uint32_t n;
} btf;

static struct made_kernel made;

static void put(uint32_t v)
{
    for (int i = 0; i < 4; i++)
        btf.types[btf.types_size++] = (uint8_t)(v >> 8 * i);
}

static uint32_t string(const char *text)
{
    size_t at = btf.strings_size;

    if (!text[0])
        return 0;
    memcpy(btf.strings + at, text, strlen(text) + 1);
    btf.strings_size += strlen(text) + 1;
    return (uint32_t)at;
}

/* A type with count members or the like, which follow; its number. */
static uint32_t type(const char *name, unsigned kind, unsigned count, uint32_t size, bool sizes)
{
    put(string(name));
    put(kind << 24 | count | (sizes ? 1u << 31 : 0));
    put(size);
    return ++btf.n;
}

static void member(const char *name, uint32_t of, uint32_t bits)
{
    put(string(name));
    put(of);
    put(bits);
}

static void put_header(uint8_t *at)
{
    uint32_t words[6] = {0x0001eb9f,
                         HEADER,
                         0,
                         (uint32_t)btf.types_size,
                         (uint32_t)btf.types_size,
                         (uint32_t)btf.strings_size};

    memcpy(at, words, sizeof words);
}

static void param(const char *name, uint32_t of)
{
    put(string(name));
    put(of);
}

static void fill_functions(uint32_t constant, uint32_t task)
{
    uint32_t character, text, flags, pointer;

    character = type("char", INT, 0, 1, false);
    put(1u << 24 | 8);
    text = type("", POINTER, 0, type("", CONST, 0, character, false), false);
    flags = type("gfp", ENUM, 3, 4, false);
    param("A", 1);
    param("B", 4);
    param("AB", 5);
    pointer = type("", POINTER, 0, task, false);
    type("", PROTOTYPE, 4, character, false);
    param("task", pointer);
    param("text", text);
    param("flags", flags);
    param("by_value", constant);
    type("wake", FUNCTION, 0, btf.n, false);
    type("", PROTOTYPE, 2, 0, false);
    param("format", text);
    param("", 0);
    type("say", FUNCTION, 1, btf.n, false);
}

/* A kernel's, much reduced. */
static void fill(void)
{
    uint32_t integer, array, inner, inner_type, anonymous, choice, constant;

    memset(&btf, 0, sizeof btf);
    btf.strings_size = 1;
    integer = type("int", INT, 0, 4, false);
    put(32);
    array = type("", ARRAY, 0, 0, false);
    put(integer);
    put(integer);
    put(16);
    type("state", ENUM, 2, 4, false);
    put(string("RUNNING"));
    put(0);
    put(string("DEAD"));
    put(1);
    type("big", ENUM64, 1, 8, false);
    put(string("BIG"));
    put(0);
    put(1);
    type("mask", ENUM, 1, 4, false);
    put(string("HIGH"));
    put(0xffff0000);
    type("task_struct", STRUCT, 0, 0, false); /* not the real one: it has no members */
    inner = type("thread_struct", STRUCT, 2, 16, false);
    member("sp", integer, 0);
    member("fsbase", integer, 64);
    inner_type = type("thread_t", TYPEDEF, 0, inner, false);
    constant = type("", CONST, 0, inner_type, false);
    anonymous = type("", STRUCT, 2, 8, false);
    member("pid", integer, 0);
    member("tgid", integer, 32);
    choice = type("", UNION, 2, 8, false);
    member("rcu_users", integer, 0);
    member("", anonymous, 0);
    type("task_struct", STRUCT, 6, 0x480, true);
    member("comm", array, 0x100 * 8);
    member("flag", integer, 1u << 24 | (0x120 * 8));
    member("odd", integer, 0x121 * 8 + 3);
    member("", choice, 0x200 * 8);
    member("thread", constant, 0x400 * 8);
    member("pointer", integer, 0x300 * 8);
    fill_functions(constant, btf.n);
}

static void make(void)
{
    static const struct made_layout layout = {"6.4", MADE_OFFSETS, 8, 8, 4, .behind = true};
    static char names[SYMBOLS][16];
    struct made_entry entries[SYMBOLS];
    static const uint8_t nothing[64];

    for (unsigned i = 0; i < SYMBOLS; i++) {
        snprintf(names[i], sizeof names[i], "func_%u", i);
        entries[i] = (struct made_entry){MADE_LINK + 8 * i, 'T', names[i]};
    }
    put_header(btf.data);
    memcpy(btf.data + HEADER, btf.types, btf.types_size);
    memcpy(btf.data + HEADER + btf.types_size, btf.strings, btf.strings_size);
    btf.size = HEADER + btf.types_size + btf.strings_size;
    made_kernel(&made, &layout, entries, SYMBOLS, EM_AARCH64);
    made_kernel_add(&made, nothing, sizeof nothing);
}

static struct gt_kernel *load(void)
{
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};

    if (gt_kernel_load(made_file(made.data, made.size), &k, &err) != GT_OK)
        fail_msg("%s", err.text);
    return k;
}

static struct gt_kernel *load_btf(void)
{
    make();
    made_kernel_add(&made, btf.data, btf.size);
    return load();
}

static void expect(const struct gt_kernel *k, const char *name, int status, uint32_t offset)
{
    uint32_t found = 12345;

    if (gt_kernel_member(k, "task_struct", name, &found) != status ||
        found != (status == GT_OK ? offset : 12345))
        fail_msg("%s: status %d, offset %u", name, gt_kernel_member(k, "task_struct", name, &found),
                 found);
}

static void test_members(void **state)
{
    struct gt_kernel *k;
    uint32_t size;

    (void)state;
    fill();
    k = load_btf();
    expect(k, "comm", GT_OK, 0x100);
    expect(k, "pid", GT_OK, 0x200);
    expect(k, "tgid", GT_OK, 0x204);
    expect(k, "rcu_users", GT_OK, 0x200);
    expect(k, "thread", GT_OK, 0x400);
    expect(k, "thread.fsbase", GT_OK, 0x408);
    expect(k, "pointer", GT_OK, 0x300); /* behind members that were gone through */
    expect(k, "flag", GT_E_UNSUPPORTED, 0);
    expect(k, "odd", GT_E_UNSUPPORTED, 0);
    expect(k, "com", GT_E_NOT_FOUND, 0);
    expect(k, "comm.x", GT_E_NOT_FOUND, 0);
    expect(k, "thread.", GT_E_NOT_FOUND, 0);
    expect(k, ".thread", GT_E_NOT_FOUND, 0);
    expect(k, "", GT_E_NOT_FOUND, 0);
    assert_int_equal(gt_kernel_sizeof(k, "task_struct", &size), GT_OK);
    assert_int_equal(size, 0x480);
    assert_int_equal(gt_kernel_sizeof(k, "thread_t", &size), GT_E_NOT_FOUND);
    gt_kernel_free(k);
}

static void test_no_btf(void **state)
{
    struct gt_kernel *k;
    uint32_t size;

    (void)state;
    fill();
    make();
    k = load();
    expect(k, "comm", GT_E_UNSUPPORTED, 0);
    assert_int_equal(gt_kernel_sizeof(k, "task_struct", &size), GT_E_UNSUPPORTED);
    gt_kernel_free(k);
}

static const struct gt_type *param_type(const struct gt_type_prototypes *p, const char *function,
                                        unsigned i, const char *name)
{
    const struct gt_type_prototype *item = gt_type_prototypes_named(p, function);
    const struct gt_type *type = item ? gt_type_get(p->types, item->type) : NULL;

    if (!type || type->kind != GT_TYPE_FUNCTION || i >= type->n)
        fail_msg("%s: no parameter %u", function, i);
    assert_string_equal(gt_type_params(p->types, item->type)[i].name, name);
    return gt_type_plain(p->types, gt_type_params(p->types, item->type)[i].type);
}

static void test_prototypes(void **state)
{
    struct gt_type_prototypes *p;
    const struct gt_type *t;
    struct gt_kernel *k;

    (void)state;
    fill();
    k = load_btf();
    assert_int_equal(gt_type_btf_prototypes(k, &p, NULL), GT_OK);
    gt_kernel_free(k); /* is not needed any more */
    assert_int_equal(p->n, 2);
    assert_null(gt_type_prototypes_named(p, "wak"));
    assert_null(gt_type_prototypes_at(p, 0));
    t = param_type(p, "wake", 0, "task");
    assert_int_equal(t->kind, GT_TYPE_POINTER);
    assert_int_equal(t->size, 8);
    assert_string_equal(gt_type_plain(p->types, t->of)->name, "task_struct");
    assert_int_equal(gt_type_plain(p->types, t->of)->n, 6);
    t = param_type(p, "wake", 1, "text");
    assert_int_equal(gt_type_plain(p->types, t->of)->kind, GT_TYPE_CHAR);
    t = param_type(p, "wake", 2, "flags");
    assert_true(t->kind == GT_TYPE_ENUM && t->is_flags && t->n == 3);
    t = param_type(p, "wake", 3, "by_value");
    assert_true(t->kind == GT_TYPE_STRUCT && t->size == 16);
    t = gt_type_get(p->types, gt_type_prototypes_named(p, "wake")->type);
    assert_true(gt_type_plain(p->types, t->of)->is_signed && !t->variadic);
    t = gt_type_get(p->types, gt_type_prototypes_named(p, "say")->type);
    assert_true(t->variadic && t->n == 1 && gt_type_plain(p->types, t->of)->kind == GT_TYPE_VOID);
    t = gt_type_get(p->types, gt_types_find(p->types, GT_TYPE_ENUM, "state"));
    assert_true(t->n == 2 && !t->is_flags);
    t = gt_type_get(p->types, gt_types_find(p->types, GT_TYPE_ENUM, "mask"));
    assert_false(t->is_signed); /* with enums of 64 bits came a flag for that */
    gt_type_prototypes_free(p);
}

static void read_prototypes(const struct gt_kernel *k)
{
    struct gt_type_prototypes *p;

    if (gt_type_btf_prototypes(k, &p, NULL) != GT_OK)
        return;
    for (uint32_t i = 0; i <= gt_types_count(p->types); i++)
        if (gt_type_is_finite(p->types, i))
            gt_type_size(p->types, i);
    gt_type_prototypes_free(p);
}

/* The kernel's own is the largest. */
static void test_several(void **state)
{
    uint8_t small[HEADER + 16] = {0};
    struct gt_kernel *k;

    (void)state;
    fill();
    make();
    memcpy(small, btf.data, HEADER);
    memset(small + 12, 0, 12); /* no types, one byte of strings */
    small[20] = 1;
    made_kernel_add(&made, small, sizeof small);
    made_kernel_add(&made, btf.data, btf.size);
    made_kernel_add(&made, small, sizeof small);
    k = load();
    expect(k, "comm", GT_OK, 0x100);
    gt_kernel_free(k);
}

/* Cut or damaged at any byte: the truth, or less of it, but no read beyond it. */
static void test_lies(void **state)
{
    uint32_t found;

    (void)state;
    for (int damage = 0; damage < 2; damage++) {
        fill();
        make();
        for (size_t n = 0; n < btf.size; n++) {
            struct gt_kernel *k;
            size_t size = made.size, at = made_kernel_add(&made, btf.data, damage ? btf.size : n);
            if (damage)
                made.data[at + n] ^= 0xff;
            k = load();
            if (!damage)
                expect(k, "comm", GT_E_UNSUPPORTED, 0);
            gt_kernel_member(k, "task_struct", "thread.fsbase", &found);
            gt_kernel_member(k, "task_struct", "nothing.of.it", &found);
            read_prototypes(k);
            gt_kernel_free(k);
            made.size = size;
        }
    }
}

static void test_strings_without_end(void **state)
{
    struct gt_kernel *k;

    (void)state;
    fill();
    make();
    btf.data[btf.size - 1] = 'x';
    made_kernel_add(&made, btf.data, btf.size);
    k = load();
    expect(k, "comm", GT_E_UNSUPPORTED, 0);
    gt_kernel_free(k);
}

/* Structs inside themselves, eight times: found to be endless in time. */
static void test_endless(void **state)
{
    struct gt_kernel *k;

    (void)state;
    fill();
    uint32_t self = btf.n + 1;
    type("", STRUCT, 8, 8, false);
    for (int i = 0; i < 8; i++)
        member("", self, 0);
    type("loop", TYPEDEF, 0, btf.n + 1, false);
    type("bomb", STRUCT, 2, 8, false);
    member("turn", self + 1, 0);
    member("", self, 0);
    k = load_btf();
    uint32_t found;
    assert_true(gt_kernel_member(k, "bomb", "nothing", &found) == GT_E_FORMAT);
    assert_int_equal(gt_kernel_member(k, "bomb", "turn.x", &found), GT_E_NOT_FOUND);
    gt_kernel_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members), cmocka_unit_test(test_prototypes),

        cmocka_unit_test(test_no_btf),  cmocka_unit_test(test_several),
        cmocka_unit_test(test_lies),    cmocka_unit_test(test_strings_without_end),
        cmocka_unit_test(test_endless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
