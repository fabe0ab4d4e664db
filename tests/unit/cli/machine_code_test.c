/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From files to a code map, and the addresses of calls. The file is this very program: its code in
 * memory says what the map must say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/record/machine_files.h"
#include "names/placement/code_map.h"
#include "names/placement/entries.h"
#include "names/placement/load_offset.h"
#include "recording/code_map/code_map.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Not called: bytes that no compiler writes. One of 16 bytes, one of 15, two that are the same. */
__asm__(".text\n"
        ".globl gt_marked\n.type gt_marked, %function\n"
        "gt_marked: .byte 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n.size gt_marked, 16\n"
        ".globl gt_short\n.type gt_short, %function\n"
        "gt_short: .byte 2,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n.size gt_short, 15\n"
        ".globl gt_twin\n.type gt_twin, %function\n"
        "gt_twin: .byte 3,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n.size gt_twin, 17\n"
        ".globl gt_other_twin\n.type gt_other_twin, %function\n"
        "gt_other_twin: .byte 3,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,18\n.size gt_other_twin, 17\n"
        ".balign 16\n");
extern const uint8_t gt_marked[16];

static const struct gt_recording_code_function *find(const struct gt_recording_code_map *map,
                                                     const char *name)
{
    for (size_t i = 0; i < map->n_functions; i++)
        if (strcmp(map->function[i].name, name) == 0)
            return &map->function[i];
    fail_msg("no %s in the map", name);
    return NULL;
}

static void test_code_map(void **state)
{
    (void)state;
    struct gt_image_symbol_source source[2];
    struct gt_text text = {0};
    struct gt_recording_code_map map;
    struct gt_error err = {0};
    assert_int_equal(gt_image_symbol_source_load("/proc/self/exe", &source[0], &err), 0);
    assert_int_equal(gt_image_symbol_source_load("/proc/self/exe:0x1000", &source[1], &err), 0);
    assert_true(gt_place_code_map(source, 2, false, &text)); /* one file: once in the map */
    assert_int_equal(gt_recording_code_map_read(text.data, text.len, &map, &err), 0);
    assert_int_equal(map.os.current, GT_CODE_NO_LINUX);
    assert_int_equal(map.n_modules, 1);
    assert_string_equal(map.module[0].path, "/proc/self/exe");
    const struct gt_recording_code_function *f = find(&map, "gt_marked");
    assert_true(f->hashed && f->hash == gt_recording_code_hash(gt_marked));
    assert_int_equal(f->size, 16);
    assert_false(find(&map, "gt_short")->hashed);
    assert_false(find(&map, "gt_twin")->hashed);
    assert_false(find(&map, "gt_other_twin")->hashed);
    uint64_t code = (uint64_t)(uintptr_t)&gt_recording_code_hash - (uint64_t)(uintptr_t)gt_marked;
    assert_int_equal(find(&map, "gt_recording_code_hash")->addr - f->addr, code);
    gt_recording_code_map_free(&map);
    gt_text_free(&text);
    for (int i = 0; i < 2; i++)
        gt_image_symbol_source_clear(&source[i]);
}

static void test_no_code_map(void **state)
{
    (void)state;
    struct gt_text text = {0};
    assert_false(gt_place_code_map(NULL, 0, false, &text));
    assert_int_equal(text.len, 0);
}

static void check_option(const char *list, const char *key, const char *value)
{
    g_autofree char *got = gt_record_machine_option(list, key);
    if (value)
        assert_string_equal(got, value);
    else
        assert_null(got);
}

static void test_options(void **state)
{
    (void)state;
    check_option("loader,file=a,addr=1", "file", "a");
    check_option("loader,file=a,,b,,,addr=1", "file", "a,b,");
    check_option("loader,file=a,,b,,,addr=1", "addr", "1");
    check_option("file=", "file", "");
    check_option("loader,xfile=a", "file", NULL);
    check_option("loader,file", "file", NULL);
    check_option("loader,x=a,,file=b", "file", NULL);
    check_option("", "file", NULL);
    check_option(",,,file=b,", "file", "b");
}

static void test_entries(void **state)
{
    (void)state;
    uint64_t addr[] = {1, 5, 9, UINT64_C(0xffff00000000)};
    struct gt_place_entries e = {addr, 4};
    assert_int_equal(gt_place_entries_at(&e, 0), 0);
    assert_int_equal(gt_place_entries_at(&e, 5), 1);
    assert_int_equal(gt_place_entries_at(&e, 6), 2);
    assert_int_equal(gt_place_entries_at(&e, UINT64_MAX), 4);
    gt_place_entries_remove(&e, 2, 5);
    assert_int_equal(e.n, 4);
    gt_place_entries_remove(&e, 5, 2);
    assert_int_equal(e.n, 4);
    gt_place_entries_remove(&e, 5, 10);
    assert_int_equal(e.n, 2);
    assert_int_equal(addr[1], UINT64_C(0xffff00000000));
    gt_place_entries_remove(&e, 0, UINT64_MAX);
    assert_int_equal(e.n, 0);
}

enum { MANY = 3000 };

/* Every third function was entered, at the very end of the 48 bits; nothing of what it is counted
 * in may wrap. */
static void test_vote_at_the_edge(void **state)
{
    (void)state;
    static struct gt_image_source_function function[MANY];
    static uint64_t addr[MANY];
    struct gt_image_source_part part = {
        .path = "/edge", .lo = 0, .function = function, .n = MANY, .step = 4096};
    uint64_t at = 0, seed = 1;
    for (size_t i = 0; i < MANY; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        function[i] = (struct gt_image_source_function){.addr = at, .size = 16, .name = "f"};
        at += 16 + 16 * (seed >> 60);
    }
    part.hi = at;
    const uint64_t offset = (UINT64_C(0xffffffffffff) - at) & ~UINT64_C(4095);
    struct gt_place_entries e = {addr, 0};
    for (size_t i = 0; i < MANY; i += 3)
        addr[e.n++] = function[i].addr + offset;
    struct gt_place_load_offset v;
    struct gt_error err = {0};
    assert_int_equal(gt_place_load_offset_find(&e, &part, &v, &err), 0);
    assert_true(v.offset == offset && v.hits == MANY / 3 && v.seen == MANY / 3);
    assert_true(v.first == 0 && v.latest == function[MANY - 3].addr);
    part.n = 0;
    assert_int_equal(gt_place_load_offset_find(&e, &part, &v, &err), GT_E_NOT_FOUND);
    e.n = 0;
    part.n = MANY;
    assert_int_equal(gt_place_load_offset_find(&e, &part, &v, &err), GT_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "/edge: none of its functions was entered"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_map),         cmocka_unit_test(test_no_code_map),
        cmocka_unit_test(test_options),          cmocka_unit_test(test_entries),
        cmocka_unit_test(test_vote_at_the_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
