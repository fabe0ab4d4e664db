/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF that lies: strings without an end, in .debug_info and in sections of strings. */
#include "guest/types/dwarf.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* A unit of version 4, and below it functions with a name in the entry and an address. */
static const uint8_t abbrevs[] = {
    1, 0x11, 1, 0x13, 0x05, 0,    0,          /* compile_unit: language, data2 */
    2, 0x2e, 0, 0x11, 0x01, 0x03, 0x08, 0, 0, /* subprogram: low_pc, addr; name, string */
    3, 0x2e, 0, 0x11, 0x01, 0x03, 0x0e, 0, 0, /* the same; name, strp */
    0,
};
static const uint8_t unit[] = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0x0c, 0};
static const char *const roots[] = {NULL};
static const char section_names[] =
    "\0.debug_abbrev\0.debug_info\0.shstrtab\0.debug_str\0.debug_line_str";
enum { DEBUG_STR = 37, DEBUG_LINE_STR = 48 }; /* in section_names */

static struct {
    Elf64_Ehdr header;
    Elf64_Shdr section[5];
    uint8_t abbrevs[sizeof abbrevs];
    char names[sizeof section_names];
    uint8_t strings[64];
    uint8_t info[256];
} file;
static size_t info_size;

static void put(const void *bytes, size_t n)
{
    memcpy(file.info + info_size, bytes, n);
    info_size += n;
}

static void function(uint64_t addr, const char *name, size_t n)
{
    put("\2", 1);
    put(&addr, sizeof addr);
    put(name, n);
}

/* Makes the last section one of strings, compressed (by zlib, one stored block) or not. */
static void make_strings(unsigned name, const char *text, uint8_t n, bool compressed)
{
    Elf64_Chdr chdr = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = n, .ch_addralign = 1};
    uint8_t stored[] = {0x78, 1, 1, n, 0, (uint8_t)~n, 0xff};
    uint8_t *at = file.strings;
    unsigned a = 1, b = 0; /* Adler-32; too short for its modulus */

    if (compressed) {
        memcpy(at, &chdr, sizeof chdr);
        memcpy(at + sizeof chdr, stored, sizeof stored);
        at += sizeof chdr + sizeof stored;
    }
    memcpy(at, text, n);
    at += n;
    for (size_t i = 0; i < n; i++)
        b += a += (uint8_t)text[i];
    const uint8_t sum[] = {(uint8_t)(b >> 8), (uint8_t)b, (uint8_t)(a >> 8), (uint8_t)a};
    if (compressed) {
        memcpy(at, sum, sizeof sum);
        at += sizeof sum;
    }
    file.section[4] = (Elf64_Shdr){.sh_name = name,
                                   .sh_type = SHT_PROGBITS,
                                   .sh_flags = compressed ? SHF_COMPRESSED : 0,
                                   .sh_offset = offsetof(__typeof__(file), strings),
                                   .sh_size = (uint64_t)(at - file.strings),
                                   .sh_addralign = 1};
}

/* What is in .debug_info ends the file, but for `rest`. */
static const char *make(const char *rest)
{
    static char path[64];
    static int fd = -1;
    uint32_t length = (uint32_t)info_size - 4;

    memcpy(file.info, &length, sizeof length);
    memcpy(file.abbrevs, abbrevs, sizeof abbrevs);
    memcpy(file.names, section_names, sizeof section_names);
    file.header = (Elf64_Ehdr){.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT};
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    file.header.e_ident[EI_VERSION] = EV_CURRENT;
    file.header.e_ehsize = sizeof file.header;
    file.header.e_shoff = offsetof(__typeof__(file), section);
    file.header.e_shentsize = sizeof *file.section;
    file.header.e_shnum = file.section[4].sh_name ? 5 : 4;
    file.header.e_shstrndx = 3;
    file.section[1] =
        (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = sizeof abbrevs};
    file.section[1].sh_offset = offsetof(__typeof__(file), abbrevs);
    file.section[2] = (Elf64_Shdr){.sh_name = 15, .sh_type = SHT_PROGBITS, .sh_size = info_size};
    file.section[2].sh_offset = offsetof(__typeof__(file), info);
    file.section[3] = (Elf64_Shdr){.sh_name = 27, .sh_type = SHT_STRTAB};
    file.section[3].sh_offset = offsetof(__typeof__(file), names);
    file.section[3].sh_size = sizeof section_names;
    if (fd < 0)
        fd = memfd_create("dwarf", MFD_CLOEXEC);
    size_t size = offsetof(__typeof__(file), info) + info_size, n = strlen(rest);
    assert_true(fd >= 0 && ftruncate(fd, 0) == 0);
    assert_int_equal(pwrite(fd, &file, size, 0), size);
    assert_int_equal(pwrite(fd, rest, n, (off_t)size), n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static void test_names_end_in_the_section(void **state)
{
    struct gt_type_prototypes *p;

    (void)state;
    info_size = 0;
    file.section[4] = (Elf64_Shdr){0};
    put(unit, sizeof unit);
    function(0x1000, "good", 5);
    function(0x2000, "cut", 3);
    assert_int_equal(gt_type_dwarf_prototypes(make(" and more"), roots, &p, NULL), 0);
    assert_string_equal(gt_type_prototypes_at(p, 0x1000)->name, "good");
    const struct gt_type_prototype *cut = gt_type_prototypes_at(p, 0x2000);
    assert_true(!cut || !*cut->name);
    gt_type_prototypes_free(p);
}

/* A function whose name is the first string. */
static int read_named(unsigned section, const char *text, uint8_t n, bool compressed,
                      struct gt_type_prototypes **p, struct gt_error *err)
{
    static const uint8_t named[] = {3, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

    info_size = 0;
    make_strings(section, text, n, compressed);
    put(unit, sizeof unit);
    put(named, sizeof named);
    return gt_type_dwarf_prototypes(make("\1\1\1\1\1\1\1\1"), roots, p, err);
}

static void test_sections_of_strings_end(void **state)
{
    struct gt_type_prototypes *p;
    struct gt_error err = {0};

    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        assert_int_equal(read_named(DEBUG_STR, "named", 6, compressed, &p, &err), 0);
        assert_string_equal(gt_type_prototypes_at(p, 0x1000)->name, "named");
        gt_type_prototypes_free(p);
        assert_int_equal(read_named(DEBUG_STR, "named", 5, compressed, &p, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "section .debug_str: the last of its 5 bytes is 0x64,"));
        assert_int_equal(read_named(DEBUG_LINE_STR, "x", 1, compressed, &p, &err), GT_E_FORMAT);
        assert_non_null(strstr(err.text, "section .debug_line_str: the last of its 1 bytes"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_end_in_the_section),
        cmocka_unit_test(test_sections_of_strings_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
