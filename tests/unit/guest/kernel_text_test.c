/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System.map and copies of /proc/kallsyms; which symbols are functions, and where they end. */
#include "guest/kernel/kernel.h"

#include "made_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gt_kernel *load(const char *text)
{
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};

    if (gt_kernel_load(made_file(text, strlen(text)), &k, &err) != GT_OK)
        fail_msg("%s", err.text);
    return k;
}

static int status_of(const char *text, struct gt_error *err)
{
    struct gt_kernel *k = NULL;
    int status = gt_kernel_load(made_file(text, strlen(text)), &k, err);

    gt_kernel_free(k);
    return status;
}

/* "addr+size type name; ..." */
static const char *text_of(const struct gt_kernel_symbol *s, size_t n)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < n && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llx+%llx %c %s", i ? "; " : "",
                               (unsigned long long)s[i].addr, (unsigned long long)s[i].size,
                               s[i].type, s[i].name);
    return text;
}

static void expect(const char *map, const char *functions)
{
    struct gt_kernel *k = load(map);

    assert_string_equal(text_of(k->sym, k->n_sym), functions);
    gt_kernel_free(k);
}

static void test_map(void **state)
{
    struct gt_kernel *k = load("0000000000001000 D per_cpu_start\n"
                               "ffffffff81000000 T _text\n"
                               "ffffffff81000000 T _stext\n"
                               "ffffffff81000000 t first\n"
                               "ffffffff81000010 T second\n"
                               "ffffffff81000030 T _etext\n"
                               "ffffffff82000000 D data\n"
                               "ffffffff83000000 T _sinittext\n"
                               "ffffffff83000000 t do_init\n"
                               "ffffffff83000008 T _einittext\n");
    uint64_t addr;

    (void)state;
    assert_string_equal(text_of(k->sym, k->n_sym),
                        "ffffffff81000000+10 t first; ffffffff81000010+20 T second; "
                        "ffffffff83000000+8 t do_init");
    assert_string_equal(k->form, "symbol list");
    assert_int_equal(k->n_all, 10);
    assert_int_equal(k->bits, 64);
    assert_int_equal(k->e_machine, 0);
    assert_int_equal(k->text_lo, 0xffffffff81000000);
    assert_int_equal(k->text_hi, 0xffffffff81000030);
    assert_int_equal(k->init_lo, 0xffffffff83000000);
    assert_int_equal(k->init_hi, 0xffffffff83000008);
    assert_int_equal(k->load_lo, 0xffffffff81000000);
    assert_true(gt_kernel_address(k, "data", &addr));
    assert_int_equal(addr, 0xffffffff82000000);
    assert_false(gt_kernel_address(k, "dat", &addr));
    assert_null(gt_kernel_bytes(k, addr, 1));
    assert_null(gt_kernel_find(k, 0xffffffff80ffffff));
    assert_string_equal(gt_kernel_find(k, 0xffffffff8100000f)->name, "first");
    assert_null(gt_kernel_find(k, 0xffffffff81000030));
    gt_kernel_free(k);
}

static void test_which_name_wins(void **state)
{
    (void)state;
    expect("00001000 t local\n00001000 T __global\n00001008 t end\n",
           "1000+8 T __global; 1008+10 t end");
    expect("00001000 T _stext\n00001000 t local\n00001000 W __weak\n00002000 T _etext\n",
           "1000+1000 W __weak");
    expect("00001000 T __b\n00001000 T _longer\n00001008 t end\n",
           "1000+8 T _longer; 1008+10 t end");
    expect("00001000 T aaaa\n00001000 T ccc\n00001000 T bbb\n00001008 t end\n",
           "1000+8 T bbb; 1008+10 t end");
    expect("00001000 T init_module\n00001000 t my_init\n00001008 t end\n",
           "1000+8 t my_init; 1008+10 t end");
}

static void test_what_is_a_function(void **state)
{
    (void)state;
    expect("00001000 T _stext\n"
           "00001000 T __irqentry_text_start\n"
           "00001000 T handle_irq\n"
           "00001010 T __irqentry_text_end\n"
           "00001020 t __pfx_read\n"
           "00001030 t read\n"
           "00001034 t $x\n"
           "00001038 t .Lloop\n"
           "0000103c t .E_copy\n"
           "00001040 r table\n"
           "00001048 t __cfi_write\n"
           "00001050 t write\n"
           "00001058 t __pi__text\n"
           "00001060 V weak_object\n"
           "00001068 w weak_function\n"
           "00001070 T _etext\n"
           "00003000 w weak_elsewhere\n"
           "00004000 t idmap_code\n",
           "1000+10 T handle_irq; 1030+10 t read; 1050+8 t write; 1068+8 w weak_function; "
           "4000+10 t idmap_code");
}

static void test_unsorted(void **state)
{
    struct gt_kernel *k;

    (void)state;
    expect("00001010 t b\n00001000 t a\n00001018 t c\n", "1000+10 t a; 1010+8 t b; 1018+10 t c");
    /* the file's order among equals */
    k = load("00001010 t y\n00001010 t x\n00001000 t b\n00001000 t a\n00001010 t z\n");
    assert_string_equal(text_of(k->all, k->n_all),
                        "1000+0 t b; 1000+0 t a; 1010+0 t y; 1010+0 t x; 1010+0 t z");
    gt_kernel_free(k);
}

static void test_modules(void **state)
{
    struct gt_kernel *k = load("ffffffff81000000 T _stext\n"
                               "ffffffff81000000 t kernel\n"
                               "ffffffff81000010 T _etext\n"
                               "ffffffffc0202000 t fat_b\t[fat]\n"
                               "ffffffffc0201000 t init_module\t[fat]\n"
                               "ffffffffc0201000 t fat_a\t[fat]\n"
                               "ffffffffc0203000 d fat_data\t[fat]\n"
                               "ffffffffc0101000 t ext4_a\t[ext4]\n"
                               "ffffffffc0101080 t $x\t[ext4]\n"
                               "ffffffffc0301000 d only_data\t[none]\n"
                               "ffffffffc0204000 t fat_c\t[fat]\n"
                               "ffffffffc0400000 t bpf_prog_6deef7357e7b4530\t[bpf]\n");

    (void)state;
    assert_int_equal(k->n_sym, 1);
    assert_int_equal(k->n_all, 3);
    assert_int_equal(k->n_module, 3);
    assert_string_equal(k->module[0].name, "ext4");
    assert_string_equal(text_of(k->module[0].sym, k->module[0].n_sym),
                        "ffffffffc0101000+10 t ext4_a");
    assert_string_equal(k->module[1].name, "fat");
    assert_string_equal(text_of(k->module[1].sym, k->module[1].n_sym),
                        "ffffffffc0201000+1000 t fat_a; ffffffffc0202000+1000 t fat_b; "
                        "ffffffffc0204000+10 t fat_c");
    assert_string_equal(k->module[2].name, "bpf");
    gt_kernel_free(k);
}

static void test_names_are_made_harmless(void **state)
{
    char long_name[4096] = "00001000 t ";
    struct gt_kernel *k;

    (void)state;
    k = load("00001000 t a\x01"
             "b\x7f\n");
    assert_string_equal(k->sym[0].name, "a?b?");
    gt_kernel_free(k);
    memset(long_name + 11, 'x', 1500);
    strcpy(long_name + 1511, "\n00001008 t y\n");
    k = load(long_name);
    assert_int_equal(strlen(k->sym[0].name), GT_KERNEL_NAME_MAX);
    assert_string_equal(k->sym[1].name, "y");
    gt_kernel_free(k);
}

static void test_lines_that_lie(void **state)
{
    static const char *const bad[] = {
        "00001000 t a\n0000100 t b\n",      "00001000 t a\n00001000 tt b\n",
        "00001000 t a\n00001000 t\n",       "00001000 t a\n00001000 t b c\n",
        "00001000 t a\n00001000 t b\t[]\n", "00001000 t a\n00001000 t b\t[m\n",
        "00001000 t a\n0000100g t b\n",     "00001000 t a\n00000000000010000 t b\n",
        "00001000 t a\n00001000 \x01 b\n",
    };
    struct gt_error err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (status_of(bad[i], &err) != GT_E_FORMAT || !strstr(err.text, ":2: "))
            fail_msg("%s: %s", bad[i], err.text);
    }
    assert_int_equal(status_of("00000000 t a\n00000000 T b\n", &err), GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "kptr_restrict"));
    assert_int_equal(status_of("00001000 d a\n", &err), GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "no functions"));
    assert_int_equal(status_of("ffffffffffffffff B The real System.map is in the "
                               "linux-image-6.1.0-56-cloud-arm64-dbg package\n",
                               &err),
                     GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "The real System.map is in"));
    assert_int_equal(gt_kernel_load("/nonexistent", &(struct gt_kernel *){0}, &err),
                     GT_E_NOT_FOUND);
    assert_int_equal(gt_kernel_load("/", &(struct gt_kernel *){0}, &err), GT_E_IO);
    gt_kernel_free(NULL);
}

/* Sizes never reach over the end of the address space or into the next function. */
static void test_the_last_address(void **state)
{
    (void)state;
    expect("ffffffffffffffff t none\nfffffffffffffffe t last\nfffffffffffffff8 t before\n",
           "fffffffffffffff8+6 t before; fffffffffffffffe+1 t last");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_which_name_wins),
        cmocka_unit_test(test_what_is_a_function),
        cmocka_unit_test(test_unsorted),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_names_are_made_harmless),
        cmocka_unit_test(test_lines_that_lie),
        cmocka_unit_test(test_the_last_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
