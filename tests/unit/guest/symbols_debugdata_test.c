/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that are packed in .gnu_debugdata of a stripped file; and packed bytes that lie. */
#include "guest/elf/symbols.h"

#include "made_elf.h"

#include <lzma.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PACKED_MOST = 8192, BOMB = 65 << 20 };

static const char *const no_roots[] = {NULL};
static const char section_names[] = "\0.gnu_debugdata";
static struct made_elf inner, outer;

static void make_inner(void)
{
    static const struct made_symbol symbols[] = {
        {"first", 0x1010, 8, STB_LOCAL, STT_FUNC, 1},
        {"second", 0x1020, 16, STB_GLOBAL, STT_FUNC, 1},
        {"outside", 0x9000, 8, STB_LOCAL, STT_FUNC, 1},
    };
    inner.machine = EM_X86_64;
    inner.type = ET_DYN;
    made_elf(&inner, symbols, 3);
}

/* A stripped file: the section is in place of its .symtab. */
static void make_outer(const uint8_t *packed, size_t size)
{
    outer.machine = EM_X86_64;
    outer.type = ET_DYN;
    made_elf(&outer, NULL, 0);
    assert_true(outer.size + sizeof section_names + size <= sizeof outer.data);
    Elf64_Shdr *names = &outer.section[outer.header->e_shstrndx];
    for (unsigned i = 0; i < outer.header->e_shnum; i++)
        outer.section[i].sh_name = 0;
    names->sh_offset = outer.size;
    names->sh_size = sizeof section_names;
    memcpy(outer.data + outer.size, section_names, sizeof section_names);
    outer.size += sizeof section_names;
    outer.section[2] = (Elf64_Shdr){
        .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = outer.size, .sh_size = size};
    if (size)
        memcpy(outer.data + outer.size, packed, size);
    outer.size += size;
}

static size_t pack(const void *data, size_t size, uint32_t preset, uint8_t packed[PACKED_MOST + 1])
{
    size_t at = 0;
    assert_int_equal(lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC32, NULL, data, size, packed,
                                             &at, PACKED_MOST),
                     LZMA_OK);
    return at;
}

/* How many of the file's functions have names. */
static size_t names_of(const uint8_t *packed, size_t size)
{
    struct gt_elf_symbols *s;
    struct gt_error err = {0};
    uint64_t rel;

    make_outer(packed, size);
    if (gt_elf_symbols_load_with(made_elf_file(&outer, outer.size), no_roots, &s, &err) != GT_OK)
        fail_msg("%s", err.text);
    size_t n = gt_elf_symbols_by_name(s, "first", &rel) && rel == 0x1010;
    n += gt_elf_symbols_by_name(s, "second", &rel) && rel == 0x1020;
    assert_false(gt_elf_symbols_by_name(s, "outside", &rel));
    for (size_t i = 0; i < s->n_sym; i++)
        assert_true(s->sym[i].size > 0 && s->sym[i].addr + s->sym[i].size <= s->load_size);
    gt_elf_symbols_free(s);
    return n;
}

static void test_presets(void **state)
{
    uint8_t packed[PACKED_MOST + 1];

    (void)state;
    make_inner();
    for (uint32_t preset = 0; preset <= 9; preset++)
        assert_int_equal(names_of(packed, pack(inner.data, inner.size, preset, packed)), 2);
}

static void test_every_byte_cut_or_changed(void **state)
{
    uint8_t packed[PACKED_MOST + 1];

    (void)state;
    make_inner();
    size_t n = pack(inner.data, inner.size, 0, packed);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(names_of(packed, i), 0);
    for (size_t i = 0; i < n; i++) {
        packed[i] ^= 0xff;
        assert_int_equal(names_of(packed, n), 0);
        packed[i] ^= 0xff;
    }
    packed[n] = 'x'; /* bytes behind it are not read */
    assert_int_equal(names_of(packed, n + 1), 2);
}

/* What is packed is whole, and lies. */
static void test_every_inner_byte_cut_or_changed(void **state)
{
    uint8_t packed[PACKED_MOST + 1];

    (void)state;
    make_inner();
    for (size_t size = 0; size < inner.size; size += 7)
        names_of(packed, pack(inner.data, size, 0, packed));
    for (size_t i = 0; i < inner.size; i++) {
        inner.data[i] ^= 0xff;
        names_of(packed, pack(inner.data, inner.size, 0, packed));
        inner.data[i] ^= 0xff;
    }
}

/* A few thousand bytes that unpack to more than any table of names. */
static void test_bomb(void **state)
{
    uint8_t packed[sizeof outer.data];
    size_t n = 0;
    uint8_t *zeros = calloc(1, BOMB);

    (void)state;
    assert_non_null(zeros);
    make_inner();
    memcpy(zeros, inner.data, inner.size);
    assert_int_equal(
        lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, zeros, BOMB, packed, &n, sizeof packed),
        LZMA_OK);
    free(zeros);
    assert_int_equal(names_of(packed, n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_every_byte_cut_or_changed),
        cmocka_unit_test(test_every_inner_byte_cut_or_changed),
        cmocka_unit_test(test_bomb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
