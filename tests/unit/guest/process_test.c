/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose mapping an address is in, over texts as the kernel prints them, and in this process. */
#include "guest/process.h"

#include "guest/elf/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_process_mapping m;

static int find(const char *maps, uint64_t addr)
{
    memset(&m, 0xa5, sizeof m);
    return gt_process_mapping_in(maps, strlen(maps), addr, &m);
}

static void expect(const char *maps, uint64_t addr, uint64_t base, uint64_t start, uint64_t end)
{
    assert_int_equal(find(maps, addr), 1);
    assert_int_equal(m.base, base);
    assert_int_equal(m.start, start);
    assert_int_equal(m.end, end);
}

static void test_a_shared_object(void **state)
{
    static const char maps[] = "7f0000000000-7f0000026000 r--p 00000000 08:01 77   /lib/libc.so.6\n"
                               "7f0000026000-7f000017c000 r-xp 00026000 08:01 77   /lib/libc.so.6\n"
                               "7f000017c000-7f00001d4000 r--p 0017c000 08:01 77   /lib/libc.so.6\n"
                               "7f00001d4000-7f00001da000 rw-p 001d3000 08:01 77   /lib/libc.so.6\n"
                               "7f00001da000-7f00001e7000 rw-p 00000000 00:00 0 \n"
                               "7f00001f0000-7f00001f2000 r--p 00000000 fe:1a 78   /lib/ld.so\n"
                               "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0   [stack]\n";

    (void)state;
    expect(maps, 0x7f0000026010, 0x7f0000000000, 0x7f0000000000, 0x7f00001da000);
    assert_string_equal(m.path, "/lib/libc.so.6");
    assert_int_equal(m.inode, 77);
    assert_int_equal(m.dev_major, 8);
    assert_int_equal(m.dev_minor, 1);
    assert_false(m.deleted);
    expect(maps, 0x7f00001d9fff, 0x7f0000000000, 0x7f0000000000, 0x7f00001da000);
    expect(maps, 0x7f00001f1fff, 0x7f00001f0000, 0x7f00001f0000, 0x7f00001f2000);
    assert_int_equal(m.dev_major, 0xfe);
    assert_int_equal(m.dev_minor, 0x1a);
    assert_int_equal(find(maps, 0x7f00001da000), 0);
    assert_string_equal(m.path, "");
    assert_int_equal(m.start, 0x7f00001da000);
    assert_int_equal(find(maps, 0x7ffc00000000), 0);
    assert_int_equal(find(maps, 0x7f00001f2000), GT_E_NOT_FOUND);
    assert_int_equal(find("", 0), GT_E_NOT_FOUND);
}

/* Segments of a small file share its first page: each mapping has offset 0. */
static void test_small_files(void **state)
{
    static const char riscv[] = "4000800000-4000801000 r--p 00000000 08:01 5 /a\n"
                                "4000801000-4000802000 r--p 00000000 08:01 5 /a\n"
                                "4000802000-4000803000 rw-p 00001000 08:01 5 /a\n";
    static const char lld_twice[] = "10000-11000 r--p 00000000 08:01 5 /a\n"
                                    "11000-12000 r-xp 00000000 08:01 5 /a\n"
                                    "12000-13000 r--p 00000000 08:01 5 /a\n"
                                    "13000-14000 rw-p 00000000 08:01 5 /a\n"
                                    "14000-15000 r--p 00000000 08:01 5 /a\n"
                                    "15000-16000 r-xp 00000000 08:01 5 /a\n"
                                    "17000-18000 rw-p 00000000 08:01 5 /a\n";

    (void)state;
    expect(riscv, 0x4000801004, 0x4000800000, 0x4000800000, 0x4000803000);
    expect(lld_twice, 0x11004, 0x10000, 0x10000, 0x14000);
    expect(lld_twice, 0x15004, 0x14000, 0x14000, 0x18000);
}

/* 64 KiB pages: addresses and offsets differ by more from segment to segment; the gaps are open,
 * anonymous guards, or holes of the file whose offset is beyond that of the next segment. */
static void test_gaps(void **state)
{
    static const char open_gap[] = "5500000000-5500001000 r--p 00000000 08:01 9 /a\n"
                                   "5500010000-5500012000 rw-p 00000000 08:01 9 /a\n";
    static const char guard[] = "5500000000-5500003000 r--p 00000000 08:01 9 /a\n"
                                "5500003000-5500012000 ---p 00000000 00:00 0 \n"
                                "5500012000-5500014000 rw-p 00002000 08:01 9 /a\n";
    static const char hole[] = "5500000000-5500188000 r-xp 00000000 08:01 9 /a\n"
                               "5500188000-5500197000 ---p 00188000 08:01 9 /a\n"
                               "5500197000-5500199000 rw-p 00187000 08:01 9 /a\n";

    (void)state;
    expect(open_gap, 0x5500000100, 0x5500000000, 0x5500000000, 0x5500012000);
    expect(guard, 0x5500000100, 0x5500000000, 0x5500000000, 0x5500014000);
    expect(guard, 0x5500012100, 0x5500000000, 0x5500000000, 0x5500014000);
    assert_int_equal(find(guard, 0x5500003000), 0);
    expect(hole, 0x5500000100, 0x5500000000, 0x5500000000, 0x5500199000);
    expect(hole, 0x5500198000, 0x5500000000, 0x5500000000, 0x5500199000);
}

/* The guest's C library is the file that QEMU itself runs with; and one loaded in two namespaces.
 */
static void test_two_instances(void **state)
{
    static const char far[] = "4000900000-4000926000 r--p 00000000 08:01 77 /lib/libc.so.6\n"
                              "4000926000-4000a7c000 r--p 00026000 08:01 77 /lib/libc.so.6\n"
                              "4000a7c000-4000a80000 rw-p 0017c000 08:01 77 /lib/libc.so.6\n"
                              "555500000000-555500900000 r-xp 00000000 08:01 12 /usr/bin/qemu\n"
                              "7f0000000000-7f0000026000 r--p 00000000 08:01 77 /lib/libc.so.6\n"
                              "7f0000026000-7f000017c000 r-xp 00026000 08:01 77 /lib/libc.so.6\n";
    static const char adjacent[] = "7f0000000000-7f0000002000 r--p 00000000 08:01 5 /a\n"
                                   "7f0000002000-7f0000004000 r-xp 00002000 08:01 5 /a\n"
                                   "7f0000004000-7f0000006000 r--p 00000000 08:01 5 /a\n"
                                   "7f0000006000-7f0000008000 r-xp 00002000 08:01 5 /a\n";
    static const char other_device[] = "10000-11000 r--p 00000000 08:01 5 /a\n"
                                       "11000-12000 r-xp 00001000 08:02 5 /b\n";
    static const char between[] = "10000-11000 r--p 00000000 08:01 5 /a\n"
                                  "12000-13000 r-xp 00000000 08:01 6 /b\n"
                                  "14000-15000 r-xp 00002000 08:01 5 /a\n";

    (void)state;
    expect(far, 0x4000926000, 0x4000900000, 0x4000900000, 0x4000a80000);
    expect(far, 0x7f0000026000, 0x7f0000000000, 0x7f0000000000, 0x7f000017c000);
    expect(adjacent, 0x7f0000003000, 0x7f0000000000, 0x7f0000000000, 0x7f0000004000);
    expect(adjacent, 0x7f0000007000, 0x7f0000004000, 0x7f0000004000, 0x7f0000008000);
    expect(other_device, 0x11000, 0x10000, 0x11000, 0x12000);
    assert_string_equal(m.path, "/b");
    expect(between, 0x14000, 0x12000, 0x14000, 0x15000);
    expect(between, 0x10000, 0x10000, 0x10000, 0x11000);
}

static void test_no_mapping_of_offset_0(void **state)
{
    static const char maps[] = "20000-21000 r-xp 00005000 08:01 5 /a\n"
                               "21000-22000 rw-p 00006000 08:01 5 /a\n";

    (void)state;
    expect(maps, 0x20000, 0x1b000, 0x20000, 0x22000);
    expect(maps, 0x21000, 0x1b000, 0x20000, 0x22000);
}

static void test_paths(void **state)
{
    (void)state;
    expect("10000-11000 r--p 00000000 08:01 5    /with space/x (deleted)\n", 0x10000, 0x10000,
           0x10000, 0x11000);
    assert_string_equal(m.path, "/with space/x");
    assert_true(m.deleted);
    assert_int_equal(find("10000-11000 r--p 00000000 08:01 5 /new\\012line\\011\n", 0x10000), 1);
    assert_string_equal(m.path, "/new\nline\\011");
    assert_int_equal(find("10000-11000 r--p 00000000 08:01 5 /unfinished", 0x10000), 1);
    assert_string_equal(m.path, "/unfinished");
    assert_int_equal(find("10000-11000 r--p 00000000 08:01 5\n", 0x10000), 1);
    assert_string_equal(m.path, "");
}

static void test_long_paths(void **state)
{
    static char maps[20000];
    strcpy(maps, "10000-11000 r--p 00000000 08:01 5 /");
    size_t n = strlen(maps);

    (void)state;
    memset(maps + n, 'x', sizeof m.path - 2);
    strcpy(&maps[n + sizeof m.path - 2], "\n20000-21000 r--p 00000000 08:01 6 /b\n");
    assert_int_equal(find(maps, 0x10000), 1);
    assert_int_equal(strlen(m.path), sizeof m.path - 1);
    memset(maps + n, 'x', 15000);
    strcpy(&maps[n + 15000], "\n20000-21000 r--p 00000000 08:01 6 /b\n");
    assert_int_equal(find(maps, 0x10000), 1);
    assert_string_equal(m.path, "");
    assert_int_equal(find(maps, 0x20000), 1);
    assert_string_equal(m.path, "/b");
}

static void test_lines_that_are_none(void **state)
{
    static const char *const bad[] = {
        "\n",
        "garbage\n",
        "10000\n",
        "10000-\n",
        "10000-11000\n",
        "10000-11000 r--p\n",
        "10000-11000 r--p 0 08:01\n",
        "11000-10000 r--p 00000000 08:01 5 /a\n",
        "10000-11000 r--p 00000000 08:01 99999999999999999999999 /a\n",
        "100000000000000000000000000000000-11000 r--p 00000000 08:01 5 /a\n",
    };
    static const char reversed[] = "10000-11000 r--p 00000000 08:01 5 /a\n"
                                   "11000-12000 r-xp 00001000 08:01 5 /a\n"
                                   "14000-13000 r--p 00000000 08:01 5 /a\n"
                                   "12000-13000 rw-p 00002000 08:01 5 /a\n";
    char maps[512];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(maps, sizeof maps, "%s20000-21000 r--p 00000000 08:01 6 /b\n", bad[i]);
        expect(maps, 0x20000, 0x20000, 0x20000, 0x21000);
        assert_int_equal(find(maps, 0x10000), GT_E_NOT_FOUND);
    }
    expect(reversed, 0x12000, 0x10000, 0x10000, 0x13000);
}

/* Every prefix of a text gives an answer, and never reads past it. */
static void test_every_cut(void **state)
{
    static const char maps[] = "10000-11000 r--p 00000000 08:01 5 /a (deleted)\n"
                               "11000-12000 r-xp 00001000 08:01 5 /a\\012\n";

    (void)state;
    for (size_t size = 0; size <= strlen(maps); size++) {
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, maps, size);
        int r = gt_process_mapping_in(copy, size, 0x11000, &m);
        assert_true(r == 1 || r == GT_E_NOT_FOUND);
        free(copy);
    }
}

/* A maps file of several times the buffer, with the address at its end. */
static void test_this_process(void **state)
{
    enum { PAGES = 600 };
    long page = sysconf(_SC_PAGESIZE);
    char name[] = "/tmp/process_test.XXXXXX";
    int fd = mkstemp(name);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, PAGES * page), 0);
    char *at = mmap(NULL, (size_t)(PAGES * page), PROT_READ, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    for (int i = 1; i < PAGES; i += 2)
        assert_int_equal(mprotect(at + i * page, (size_t)page, PROT_READ | PROT_EXEC), 0);
    assert_int_equal(gt_process_mapping_at((uintptr_t)at + (PAGES - 1) * (uint64_t)page, &m), 1);
    assert_int_equal(m.base, (uintptr_t)at);
    assert_int_equal(m.end, (uintptr_t)at + PAGES * (uint64_t)page);
    assert_string_equal(m.path, name);
    unlink(name);
    assert_int_equal(gt_process_mapping_at((uintptr_t)at, &m), 1);
    assert_string_equal(m.path, name);
    assert_true(m.deleted);
    munmap(at, (size_t)(PAGES * page));
    close(fd);
    assert_int_equal(gt_process_mapping_at((uintptr_t)&fd, &m), 0);
    assert_int_equal(gt_process_mapping_at(16, &m), GT_E_NOT_FOUND);
}

/* The base is what symbols are relative to. */
static void test_own_symbols(void **state)
{
    uint64_t addr = (uintptr_t)&gt_elf_symbols_by_name, rel = 0;
    struct gt_elf_symbols *s;
    struct gt_error err;

    (void)state;
    assert_int_equal(gt_process_mapping_at(addr, &m), 1);
    assert_int_equal(gt_elf_symbols_load(m.path, &s, &err), GT_OK);
    assert_string_equal(gt_elf_symbols_find(s, addr - m.base)->name, "gt_elf_symbols_by_name");
    assert_true(gt_elf_symbols_by_name(s, "test_own_symbols", &rel));
    assert_true(rel == (uintptr_t)&test_own_symbols - m.base);
    gt_elf_symbols_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shared_object),
        cmocka_unit_test(test_small_files),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_two_instances),
        cmocka_unit_test(test_no_mapping_of_offset_0),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_long_paths),
        cmocka_unit_test(test_lines_that_are_none),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_this_process),
        cmocka_unit_test(test_own_symbols),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
