/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kallsyms in every layout that kernels have had; where an image was linked for; tables that lie.
 */
#include "guest/kernel/kallsyms.h"
#include "made_kernel.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { SYMBOLS = 600, FUNCTIONS_AT = 0x100 };
enum {
    FIRST = 0x10000
}; /* where symbols begin that do not name the first byte, as arm64's _stext */

static const struct made_layout layouts[] = {
    {"4.19 arm64", MADE_OFFSETS, 8, 8, 8, .wide = true, .base = BASE_RELOCATED},
    {"4.19 x86_64", MADE_PERCPU, 8, 8, 8, .wide = true},
    {"4.19 absolute", MADE_ADDRESSES, 8, 8, 8, .wide = true},
    {"5.10 arm64", MADE_OFFSETS, 8, 8, 4, .base = BASE_RELOCATED},
    {"5.10 x86_64", MADE_PERCPU, 8, 8, 4},
    {"6.1 absolute", MADE_ADDRESSES, 8, 8, 4},
    {"6.2 arm64", MADE_OFFSETS, 8, 8, 4, .seqs = 3, .base = BASE_RELOCATED},
    {"6.2 x86_64", MADE_PERCPU, 8, 8, 4, .seqs = 3},
    {"6.1 with seqs of four bytes", MADE_OFFSETS, 8, 8, 4, .seqs = 4},
    {"6.4 arm64", MADE_OFFSETS, 8, 8, 4, .behind = true},
    {"6.12 x86_64", MADE_PERCPU, 8, 8, 4, .behind = true},
    {"6.4 absolute", MADE_ADDRESSES, 8, 8, 4, .behind = true},
    {"7.2", MADE_PLACES, 8, 4, 4, .behind = true},
    {"32 bits, 5.10", MADE_PERCPU, 4, 4, 4},
    {"32 bits, 6.4", MADE_OFFSETS, 4, 4, 4, .behind = true},
    {"32 bits, 7.2", MADE_ADDRESSES, 4, 4, 4, .behind = true},
};

static struct made_entry entries[SYMBOLS];
static char names[SYMBOLS][320];
static struct made_kernel made;

/* Two per-CPU variables where the layout can say them, the marks, functions of 4 bytes, data. */
static void fill(uint64_t link, bool percpu)
{
    static const char *const types = "TtTtWw";

    for (unsigned i = 0; i < SYMBOLS; i++) {
        unsigned offset = FUNCTIONS_AT + i * 4;
        snprintf(names[i], sizeof names[i], i % 3 ? "func_%u" : "__arm64_sys_write_%u.part.0", i);
        entries[i] = (struct made_entry){link + offset, types[i % 6], names[i]};
    }
    entries[0].addr = percpu ? 0 : link;
    entries[0].type = percpu ? 'A' : 'T';
    strcpy(names[0], percpu ? "fixed_percpu_data" : "_text");
    entries[1].addr = percpu ? 0x1fbc0 : link;
    entries[1].type = percpu ? 'A' : 't';
    strcpy(names[1], percpu ? "pcpu_hot" : "_head");
    entries[2].addr = link;
    entries[2].type = 'T';
    strcpy(names[2], percpu ? "_text" : "efi_header_end");
    strcpy(names[3], "_stext");
    /* longer than a length of one byte can say */
    memset(names[300], 'x', 300);
    strcpy(names[SYMBOLS - 1], "_etext");
}

static void make(const struct made_layout *l)
{
    fill(l->word == 4 ? 0xc1000000 : MADE_LINK, l->values == MADE_PERCPU);
    if (l->word == 4 || l->values == MADE_PERCPU)
        made_kernel_elf(&made, l, entries, SYMBOLS, l->word == 4 ? EM_386 : EM_X86_64);
    else
        made_kernel(&made, l, entries, SYMBOLS, EM_AARCH64);
}

static struct gt_kernel *load(void)
{
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};

    if (gt_kernel_load(made_file(made.data, made.size), &k, &err) != GT_OK)
        fail_msg("%s", err.text);
    return k;
}

static void expect_all(const struct gt_kernel *k, const char *layout)
{
    if (k->n_all != SYMBOLS)
        fail_msg("%s: %zu symbols", layout, k->n_all);
    for (size_t i = 0; i < SYMBOLS; i++)
        if (k->all[i].addr != entries[i].addr || k->all[i].type != entries[i].type ||
            strcmp(k->all[i].name, entries[i].name) != 0)
            fail_msg("%s: symbol %zu is %llx %c %s, expected %llx %c %s", layout, i,
                     (unsigned long long)k->all[i].addr, k->all[i].type, k->all[i].name,
                     (unsigned long long)entries[i].addr, entries[i].type, entries[i].name);
}

static void test_every_layout(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct gt_kernel *k;
        uint64_t addr = 0;
        const uint8_t *code;
        /* 7.2's tables say no address, and these images have no pointers that do */
        if (layouts[i].values == MADE_PLACES)
            continue;
        make(&layouts[i]);
        k = load();
        expect_all(k, layouts[i].name);
        assert_true(gt_kernel_address(k, "_text", &addr));
        assert_int_equal(addr, made.link);
        assert_int_equal(k->load_lo, made.link);
        assert_int_equal(k->text_lo, entries[3].addr);
        assert_int_equal(k->text_hi, entries[SYMBOLS - 1].addr);
        code = gt_kernel_bytes(k, entries[4].addr, 4);
        assert_non_null(code);
        assert_memory_equal(code, made.data + (entries[4].addr - made.link), 4);
        assert_non_null(gt_kernel_find(k, entries[4].addr + 3));
        assert_string_equal(gt_kernel_find(k, entries[4].addr + 3)->name, entries[4].name);
        assert_null(gt_kernel_find(k, entries[SYMBOLS - 1].addr));
        assert_int_equal(k->bits, layouts[i].word * 8);
        gt_kernel_free(k);
    }
}

static void test_places_with_pointers(void **state)
{
    static const struct made_layout *const l = &layouts[12];
    uint64_t pointers[64];
    struct gt_kernel *k;

    (void)state;
    assert_int_equal(l->values, MADE_PLACES);
    make(l);
    k = load(); /* nothing says where */
    assert_int_equal(k->load_lo, 0);
    assert_int_equal(k->sym[0].addr, FUNCTIONS_AT + 4 * 4);
    assert_int_equal(k->all[10].addr, entries[10].addr - MADE_LINK);
    gt_kernel_free(k);
    for (size_t i = 0; i < COUNT(pointers); i++)
        pointers[i] = i % 4 ? entries[4 + i].addr : MADE_LINK + 0x2001 + i;
    made_kernel_add(&made, pointers, sizeof pointers);
    k = load();
    expect_all(k, l->name);
    assert_int_equal(k->load_lo, MADE_LINK);
    gt_kernel_free(k);
}

/* Without a symbol of the first byte: the relocations or the jump in the header say it. */
static void test_image_begins_before_symbols(void **state)
{
    static const struct made_layout base_there = {"base", MADE_OFFSETS, 8, 8, 4};
    static const uint32_t jumps[][2] = {
        {0x91005a4d, 0x14000000 | (FIRST + FUNCTIONS_AT + 4 * 4 - 4) / 4}, {0x106f5a4d, 0}};
    struct gt_kernel *k;

    (void)state;
    for (int machine = 0; machine < 2; machine++) {
        for (int relocated = 0; relocated < 2 - machine; relocated++) {
            fill(MADE_LINK + FIRST, false);
            strcpy(names[4], machine ? "_start_kernel" : "primary_entry");
            made_kernel(&made, relocated ? &layouts[3] : &base_there, entries + 3, SYMBOLS - 3,
                        machine ? EM_RISCV : EM_AARCH64);
            if (!relocated)
                memcpy(made.data, jumps[machine], 8);
            if (machine) { /* c.li, then jal zero, 0x1010e */
                uint32_t jal = 0x6f | FIRST | 0x10e << 20;
                memcpy(made.data + 2, &jal, 4);
            }
            k = load();
            assert_int_equal(k->load_lo, MADE_LINK);
            assert_int_equal(k->n_all, SYMBOLS - 3);
            assert_int_equal(k->all[1].addr, MADE_LINK + FIRST + FUNCTIONS_AT + 16);
            assert_memory_equal(gt_kernel_bytes(k, MADE_LINK, 8), made.data, 8);
            assert_null(gt_kernel_bytes(k, MADE_LINK + made.size - 3, 4));
            gt_kernel_free(k);
        }
    }
}

/* In memory of just that size, so that a memory checker sees a read past its end. */
static bool finds(size_t n, unsigned word)
{
    uint8_t *exact = malloc(n ? n : 1);
    struct gt_kernel_kallsyms t;
    bool found;

    assert_non_null(exact);
    memcpy(exact, made.data, n);
    found = gt_kernel_kallsyms_find(&t, exact, n, word);
    assert_true(!found || t.n == SYMBOLS);
    free(exact);
    return found;
}

/* Any prefix is searched without reading beyond it; without the last table it has none. */
static void test_cut_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        size_t needed;
        make(&layouts[i]);
        needed = layouts[i].behind ? made.values + SYMBOLS * 4 : made.token_index + 512;
        for (size_t n = 0; n < made.size; n++)
            if (n < needed && finds(n, layouts[i].word))
                fail_msg("%s: found in %zu bytes of %zu", layouts[i].name, n, needed);
        assert_true(finds(made.size, layouts[i].word));
    }
}

/* The same for files, with a status and a message. */
static void test_cut_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(layouts); i++) {
        make(&layouts[i]);
        for (size_t n = 0; n < made.size; n += 97) {
            struct gt_kernel *k = NULL;
            struct gt_error err = {0};
            int status = gt_kernel_load(made_file(made.data, n), &k, &err);
            assert_true((status == GT_OK) == (k != NULL));
            assert_int_equal(err.status, status);
            assert_true(status == GT_OK || err.text[0]);
            gt_kernel_free(k);
        }
    }
}

static void expect_no_tables(size_t at, const void *bytes, size_t n)
{
    uint8_t old[8];
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};

    memcpy(old, made.data + at, n);
    memcpy(made.data + at, bytes, n);
    if (finds(made.size, 8))
        fail_msg("found with other bytes at %zu", at);
    assert_true(gt_kernel_load(made_file(made.data, made.size), &k, &err) < 0);
    assert_null(k);
    memcpy(made.data + at, old, n);
}

static void test_tables_that_lie(void **state)
{
    static const uint8_t ff[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct gt_kernel *k;
    size_t at;

    (void)state;
    make(&layouts[9]);
    expect_no_tables(made.num_syms, ff, 4);
    expect_no_tables(made.num_syms, ff, 1);
    expect_no_tables(made.markers + 4, ff, 4);
    expect_no_tables(made.markers, "\1", 1);
    expect_no_tables(made.names, "\0", 1);
    expect_no_tables(made.names, ff, 2);
    expect_no_tables(made.token_index, "\1", 1);
    expect_no_tables(made.token_index + 400, ff, 2);
    expect_no_tables(made.token_table + 1, "x", 1);
    expect_no_tables(made.values + 400, ff, 4);
    /* the last name but one reaches out of the image */
    at = made.markers;
    while (memcmp(made.data + at, "\6W\x82_598\7w_etext", 15) != 0)
        at--;
    expect_no_tables(at, "\xff\x7f", 2);
    k = load();
    gt_kernel_free(k);
}

/* Values that are in order, but no addresses. */
static void test_values_that_lie(void **state)
{
    static const uint8_t minus_two[4] = {0xfe, 0xff, 0xff, 0xff};

    (void)state;
    make(&layouts[9]);
    memset(made.data + made.values, 0, SYMBOLS * 4);
    assert_false(finds(made.size, 8));
    make(&layouts[9]);
    made.data[made.values] = 1; /* the lowest is not at relative_base */
    memcpy(made.data + made.values + 4, made.data + made.values, 4);
    memcpy(made.data + made.values + 8, made.data + made.values, 4);
    assert_false(finds(made.size, 8));
    make(&layouts[11]);
    for (size_t i = 0; i < SYMBOLS; i++) /* no kernel's half */
        made.data[made.values + 8 * i + 7] = 0;
    assert_false(finds(made.size, 8));
    make(&layouts[10]);
    assert_memory_equal(made.data + made.values + 8, "\xff\xff\xff\xff", 4);
    memcpy(made.data + made.values + 8, minus_two, 4);
    assert_false(finds(made.size, 8));
}

static void test_message_without_addresses(void **state)
{
    struct gt_kernel *k = NULL;
    struct gt_error err = {0};

    (void)state;
    make(&layouts[9]);
    memset(made.data + made.values + 400, 0xff, 4);
    assert_int_equal(gt_kernel_load(made_file(made.data, made.size), &k, &err), GT_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "600 names"));
    memset(made.data + made.token_table, 'x', 300);
    assert_int_equal(gt_kernel_load(made_file(made.data, made.size), &k, &err), GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "no kallsyms in the arm64 Image"));
}

/* Many places that look like the tokens, and one that is. */
static void test_decoys(void **state)
{
    static const char digits[] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";
    struct gt_kernel *k;

    (void)state;
    make(&layouts[9]);
    for (size_t at = 64; at + sizeof digits <= MADE_CODE; at += sizeof digits)
        memcpy(made.data + at, digits, sizeof digits);
    k = load();
    expect_all(k, "decoys");
    gt_kernel_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_layout),
        cmocka_unit_test(test_places_with_pointers),
        cmocka_unit_test(test_image_begins_before_symbols),
        cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_tables_that_lie),
        cmocka_unit_test(test_values_that_lie),
        cmocka_unit_test(test_message_without_addresses),
        cmocka_unit_test(test_decoys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
