/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF that lies: a string in .debug_info without an end. */
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
    0,
};
static const char section_names[] = "\0.debug_abbrev\0.debug_info\0.shstrtab";

static struct {
    Elf64_Ehdr header;
    Elf64_Shdr section[4];
    uint8_t abbrevs[sizeof abbrevs];
    char names[sizeof section_names];
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
    file.header.e_shnum = 4;
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
    static const char *const roots[] = {NULL};
    static const uint8_t unit[] = {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0x0c, 0};
    struct gt_prototypes *p;

    (void)state;
    info_size = 0;
    put(unit, sizeof unit);
    function(0x1000, "good", 5);
    function(0x2000, "cut", 3);
    assert_int_equal(gt_dwarf_prototypes(make(" and more"), roots, &p, NULL), 0);
    assert_string_equal(gt_prototypes_at(p, 0x1000)->name, "good");
    const struct gt_prototype *cut = gt_prototypes_at(p, 0x2000);
    assert_true(!cut || !*cut->name);
    gt_prototypes_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_end_in_the_section),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
