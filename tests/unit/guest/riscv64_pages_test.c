/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Page tables of riscv64, made by hand: every mode and size of pages, and what is no program's
 * page. */
#include "guest/arch/riscv64_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { V = 1, R = 2, W = 4, X = 8, U = 16, USER = V | R | U, ENTRIES = 512, TABLES = 6 };

/* Tables are the pages 0x80000 and on of physical memory. */
#define FIRST UINT64_C(0x80000)
static uint64_t table[TABLES][ENTRIES];
static unsigned reads;

static bool read_physical(void *self, uint64_t physical, uint64_t *out)
{
    (void)self;
    uint64_t number = (physical >> 12) - FIRST;
    reads++;
    assert_int_equal(physical % 8, 0);
    if (number >= TABLES)
        return false;
    *out = table[number][physical >> 3 & (ENTRIES - 1)];
    return true;
}

static uint64_t entry(uint64_t number, uint64_t bits)
{
    return number << 10 | bits;
}

static uint64_t satp_of(unsigned mode)
{
    return (uint64_t)mode << 60 | (uint64_t)0xabcd << 44 | FIRST;
}

/* A chain of tables down to `level`, and there the leaf; addr's index at each. */
static void map(int levels, int level, uint64_t addr, uint64_t leaf)
{
    memset(table, 0, sizeof table);
    for (int i = levels - 1; i >= level; i--) {
        unsigned index = (unsigned)(addr >> (12 + 9 * i) & (ENTRIES - 1));
        int n = levels - 1 - i;
        table[n][index] = i == level ? leaf : entry(FIRST + (uint64_t)n + 1, V);
    }
}

static bool walk(unsigned mode, uint64_t addr, uint64_t *out)
{
    reads = 0;
    *out = 0;
    return gt_arch_riscv64_user_page(satp_of(mode), addr, read_physical, NULL, out);
}

static void modes_and_sizes(void **state)
{
    (void)state;
    for (unsigned mode = 8; mode <= 10; mode++) {
        int levels = (int)mode - 5;
        uint64_t addr = (UINT64_C(1) << (12 + 9 * levels - 1)) - 0x123457, out;
        for (int level = 0; level < levels; level++) {
            uint64_t size = UINT64_C(4096) << 9 * level;
            uint64_t number = (UINT64_C(3) << 40) & ~(size / 4096 - 1);
            map(levels, level, addr, entry(number, USER | W | 0xc0));
            assert_true(walk(mode, addr, &out));
            assert_true(out == (number << 12 | (addr & (size - 1))));
            assert_int_equal(reads, levels - level);
            if (level) { /* a number that is not aligned */
                map(levels, level, addr, entry(number | 1, USER));
                assert_false(walk(mode, addr, &out));
            }
        }
    }
}

static void sixteen_pages(void **state)
{
    (void)state;
    uint64_t out, addr = 0x3fd5678, n = UINT64_C(1) << 63;
    map(3, 0, addr, n | entry(0x12348, USER));
    assert_true(walk(8, addr, &out));
    assert_true(out == 0x12345678);
    map(3, 0, addr, n | entry(0x12344, USER)); /* another size: reserved */
    assert_false(walk(8, addr, &out));
    map(3, 1, addr, n | entry(0x12000, USER));
    assert_false(walk(8, addr, &out));
}

static void refused(void **state)
{
    static const uint64_t leaf[] = {
        0, R | U, V | R, V | X | U, USER | UINT64_C(1) << 61, USER | UINT64_C(2) << 61};
    (void)state;
    uint64_t out, addr = 0x1000;
    for (size_t i = 0; i < sizeof leaf / sizeof *leaf; i++) {
        map(3, 0, addr, entry(7, leaf[i] & 31) | (leaf[i] & ~UINT64_C(31)));
        assert_false(walk(8, addr, &out));
    }
    map(3, 0, addr, entry(7, USER));
    assert_true(walk(8, addr, &out));
    assert_false(walk(0, addr, &out)); /* bare; modes that do not exist */
    assert_false(walk(7, addr, &out));
    assert_false(walk(11, addr, &out));
    assert_false(walk(8, addr | UINT64_C(1) << 39, &out)); /* not canonical */
    map(3, 0, addr, entry(9, V));                          /* a table where only a page can be */
    assert_false(walk(8, addr, &out));
    assert_int_equal(reads, 3);
    map(3, 1, addr, entry(FIRST + 99, V)); /* a table that is not in memory */
    assert_false(walk(8, addr, &out));
    map(3, 1, addr, entry(FIRST + 2, V) | UINT64_C(1) << 62);
    assert_false(walk(8, addr, &out));
    table[0][0] = entry(FIRST, V); /* itself */
    assert_false(walk(8, 0, &out));
    assert_int_equal(reads, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(modes_and_sizes),
                                       cmocka_unit_test(sixteen_pages), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
