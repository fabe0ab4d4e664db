/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules' files: their functions by section, names, where the loader will put sections; lies. */
#include "guest/kernel/kernel.h"

#include "made_kernel.h"

#include <assert.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* The sections of a made module, by number; their contents are these bytes of a pattern. */
static const struct {
    const char *name;
    uint32_t type, flags, size, align;
} sections[] = {
    {"", SHT_NULL, 0, 0, 0},
    {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x46, 16},
    {".init.text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x20, 16},
    {".exit.text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x10, 16},
    {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x40, 8},
    {".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 1, 1},
    {".text.unlikely", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x20, 32},
    {".modinfo", SHT_PROGBITS, SHF_ALLOC, 0, 1},
    {".gnu.linkonce.this_module", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 64},
    {".symtab", SHT_SYMTAB, 0, 0, 8},
    {".strtab", SHT_STRTAB, 0, 0, 1},
    {".rela.text", SHT_RELA, SHF_INFO_LINK, 0, 8},
    {"__patchable_function_entries", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, 8},
    {".rela__patchable_function_entries", SHT_RELA, SHF_INFO_LINK, 0, 8},
    {".rela.data", SHT_RELA, SHF_INFO_LINK, 0, 8},
    {".altinstructions", SHT_PROGBITS, SHF_ALLOC, 0, 8},
    {".rela.altinstructions", SHT_RELA, SHF_INFO_LINK, 0, 8},
};
enum { MODINFO = 7, THIS_MODULE = 8, SYMTAB = 9, STRTAB = 10, RELA_TEXT = 11 };
enum { ENTRIES = 12, RELA_ENTRIES = 13, RELA_DATA = 14, ALTERNATIVES = 15, RELA_ALTERNATIVES = 16 };
enum { FIRST = 2, MY_INIT = 10 }; /* numbers of symbols */

static const struct {
    const char *name;
    unsigned bind, type, section, value, size;
} symbols[] = {
    {"", 0, 0, 0, 0, 0},
    {"$x", STB_LOCAL, STT_NOTYPE, 1, 0, 0},
    {"first", STB_LOCAL, STT_FUNC, 1, 0, 0x10},
    {"label", STB_LOCAL, STT_NOTYPE, 1, 8, 0},
    {"__pfx_second", STB_LOCAL, STT_FUNC, 1, 0x10, 0x10},
    {"second", STB_GLOBAL, STT_FUNC, 1, 0x20, 0x10},
    {"by_hand", STB_WEAK, STT_NOTYPE, 1, 0x40, 0},
    {"outside", STB_GLOBAL, STT_FUNC, 1, 0x46, 4},
    {"object", STB_GLOBAL, STT_OBJECT, 1, 0x30, 4},
    {"init_module", STB_GLOBAL, STT_FUNC, 2, 0, 0x20},
    {"my_init", STB_LOCAL, STT_FUNC, 2, 0, 0x20},
    {"my_exit", STB_LOCAL, STT_FUNC, 3, 4, 0x100},
    {"data", STB_GLOBAL, STT_FUNC, 4, 0, 8},
    {"cold", STB_LOCAL, STT_FUNC, 6, 0, 8},
    {"printk", STB_GLOBAL, STT_NOTYPE, SHN_UNDEF, 0, 0},
};

static uint8_t file[8192];
static size_t file_size;
static Elf64_Shdr *header_of[COUNT(sections)];

static size_t put(const void *data, size_t size)
{
    size_t at = file_size;

    assert(size <= sizeof file - at - 8);
    if (data)
        memcpy(file + at, data, size);
    file_size = (at + size + 7) & ~(size_t)7;
    return at;
}

static void set_contents(unsigned section, const void *data, size_t size)
{
    header_of[section]->sh_offset = put(data, size);
    header_of[section]->sh_size = size;
}

static void put_symbols(void)
{
    Elf64_Sym table[COUNT(symbols)];
    char strings[512];
    size_t at = 0;

    for (size_t i = 0; i < COUNT(symbols); i++) {
        table[i] = (Elf64_Sym){.st_name = (Elf64_Word)at,
                               .st_info = ELF64_ST_INFO(symbols[i].bind, symbols[i].type),
                               .st_shndx = (Elf64_Half)symbols[i].section,
                               .st_value = symbols[i].value,
                               .st_size = symbols[i].size};
        strcpy(strings + at, symbols[i].name);
        at += strlen(symbols[i].name) + 1;
    }
    set_contents(SYMTAB, table, sizeof table);
    header_of[SYMTAB]->sh_entsize = sizeof table[0];
    header_of[SYMTAB]->sh_link = STRTAB;
    /* section names are in the same strings */
    for (size_t i = 0; i < COUNT(sections); i++) {
        header_of[i]->sh_name = (Elf64_Word)at;
        strcpy(strings + at, sections[i].name);
        at += strlen(sections[i].name) + 1;
    }
    set_contents(STRTAB, strings, at);
}

static void set_relocations(unsigned section, unsigned of, const Elf64_Rela *r, size_t n)
{
    set_contents(section, r, n * sizeof *r);
    header_of[section]->sh_entsize = sizeof *r;
    header_of[section]->sh_link = SYMTAB;
    header_of[section]->sh_info = of;
}

/* Of the code at 4, 8 and 0x40, two bytes before its end; places outside; a list with first + 0x10,
 * my_init + 0x18, of which only the first is for the tracer; one with my_init + 0x10 and places
 * that are no code. */
static void put_relocations(void)
{
    static const Elf64_Rela text[] = {
        {4, ELF64_R_INFO(MY_INIT, R_AARCH64_CALL26), 0},
        {8, ELF64_R_INFO(MY_INIT, R_AARCH64_ADD_ABS_LO12_NC), 0},
        {0x44, ELF64_R_INFO(MY_INIT, R_AARCH64_ADR_PREL_PG_HI21), 0},
        {0x46, ELF64_R_INFO(MY_INIT, R_AARCH64_CALL26), 0},
        {UINT64_MAX - 1, ELF64_R_INFO(MY_INIT, R_AARCH64_CALL26), 0},
    };
    static const Elf64_Rela entries[] = {
        {0, ELF64_R_INFO(FIRST, R_AARCH64_ABS64), 0x10},
        {8, ELF64_R_INFO(MY_INIT, R_AARCH64_ABS64), 0x18}, /* no nop */
    };
    static const Elf64_Rela alternatives[] = {
        {0, ELF64_R_INFO(MY_INIT, R_AARCH64_PREL32), 0x10},
        {8, ELF64_R_INFO(MY_INIT, R_AARCH64_ABS64), -1},
        {8, ELF64_R_INFO(0, R_AARCH64_ABS64), 0},
        {8, ELF64_R_INFO(99999, R_AARCH64_ABS64), 0},
    };
    static const uint64_t zero[2];

    set_contents(ENTRIES, zero, sizeof zero);
    set_relocations(RELA_TEXT, 1, text, COUNT(text));
    set_relocations(RELA_ENTRIES, ENTRIES, entries, COUNT(entries));
    set_contents(ALTERNATIVES, zero, sizeof zero);
    set_relocations(RELA_ALTERNATIVES, ALTERNATIVES, alternatives, COUNT(alternatives));
    set_relocations(RELA_DATA, 4, text, COUNT(text)); /* of what is no code */
}

/* With the name in .modinfo and in struct module, NULL: none. */
static void make(const char *info, const char *name)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_REL,
                         .e_machine = EM_AARCH64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header,
                         .e_shoff = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = COUNT(sections),
                         .e_shstrndx = STRTAB};
    static const uint32_t nops[] = {0xd503201f, 0xd503245f, 0xd503201f};
    char module[128] = "", text[64] = "license=GPL", contents[256];

    memset(file, 0, sizeof file);
    file_size = 0;
    put(&header, sizeof header);
    for (size_t i = 0; i < COUNT(sections); i++) {
        header_of[i] = (Elf64_Shdr *)(file + put(NULL, sizeof(Elf64_Shdr)));
        *header_of[i] = (Elf64_Shdr){.sh_type = sections[i].type,
                                     .sh_flags = sections[i].flags,
                                     .sh_addralign = sections[i].align};
    }
    for (unsigned i = 1; i < MODINFO; i++) {
        memset(contents, 0xa0 + (int)i, sizeof contents);
        set_contents(i, contents, sections[i].size);
    }
    if (info)
        snprintf(text + 12, sizeof text - 12, "name=%s", info);
    set_contents(MODINFO, text, sizeof text);
    if (name)
        strcpy(module + 24, name);
    set_contents(THIS_MODULE, module, sizeof module);
    memcpy(file + header_of[1]->sh_offset + 0x10, nops, sizeof nops);
    put_symbols();
    put_relocations();
}

static struct gt_kernel_ko *load_from(const char *path)
{
    struct gt_kernel_ko *m = NULL;
    struct gt_error err = {0};

    if (gt_kernel_module_load(path, &m, &err) != GT_OK)
        fail_msg("%s", err.text);
    return m;
}

static struct gt_kernel_ko *load(void)
{
    return load_from(made_file(file, file_size));
}

static const char *text_of(const struct gt_kernel_ko *m)
{
    static char text[1024];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < m->n_sym && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s+%llx+%llx %c %s", i ? "; " : "",
                               m->section[m->sym[i].section].name,
                               (unsigned long long)m->sym[i].offset,
                               (unsigned long long)m->sym[i].size, m->sym[i].type, m->sym[i].name);
    return text;
}

#define FUNCTIONS                                                                                  \
    ".text+0+10 t first; .text+20+10 T second; .text+40+6 W by_hand; .init.text+0+20 t my_init; "  \
    ".exit.text+4+c t my_exit; .text.unlikely+0+8 t cold"

static void test_functions(void **state)
{
    static const struct {
        const char *name;
        bool init, placed;
        uint64_t at, size;
    } expected[] = {{".text", false, true, 0, 0x46},
                    {".init.text", true, true, 0, 0x20},
                    {".exit.text", false, true, 0x50, 0x10},
                    {".plt", false, true, 0x60, 1},
                    {".text.unlikely", false, false, 0x80, 0x20}};
    struct gt_kernel_ko *m;

    (void)state;
    make("my-module", NULL);
    m = load();
    assert_string_equal(text_of(m), FUNCTIONS);
    assert_string_equal(m->name, "my_module");
    assert_int_equal(m->e_machine, EM_AARCH64);
    assert_int_equal(m->bits, 64);
    assert_int_equal(m->n_section, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_string_equal(m->section[i].name, expected[i].name);
        assert_int_equal(m->section[i].init, expected[i].init);
        assert_int_equal(m->section[i].placed, expected[i].placed);
        assert_int_equal(m->section[i].size, expected[i].size);
        if (expected[i].placed)
            assert_int_equal(m->section[i].at, expected[i].at);
    }
    assert_int_equal(m->section[1].data[0x1f], 0xa2);
    gt_kernel_module_free(m);
}

/* "4-7": what is marked of a section, hex. */
static const char *marks_of(const struct gt_kernel_section *s)
{
    static char text[256];
    size_t at = 0, end;

    text[0] = '\0';
    for (size_t i = 0; i < s->size && at < sizeof text; i = end + 1) {
        for (end = i; end < s->size && s->patched[end]; end++)
            ;
        if (end > i)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%zx-%zx", at ? " " : "", i,
                                   end - 1);
    }
    return text;
}

static void test_patched(void **state)
{
    struct gt_kernel_ko *m;

    (void)state;
    make(NULL, NULL);
    m = load();
    assert_string_equal(marks_of(&m->section[0]), "4-7 9-a 10-1b 44-45");
    assert_string_equal(marks_of(&m->section[1]), "10-1f");
    assert_string_equal(marks_of(&m->section[2]), "");
    gt_kernel_module_free(m);
}

static void test_names(void **state)
{
    char path[] = "/tmp/guesttrace-XXXXXX.ko.gz";
    struct gt_kernel_ko *m;
    uint8_t packed[8192];
    z_stream z = {.next_out = packed, .avail_out = sizeof packed};
    int fd;

    (void)state;
    make(NULL, "from-struct");
    m = load();
    assert_string_equal(m->name, "from_struct");
    gt_kernel_module_free(m);
    make("from-info", "from-struct");
    m = load();
    assert_string_equal(m->name, "from_info");
    gt_kernel_module_free(m);
    /* neither: the file's, which is compressed besides */
    make(NULL, NULL);
    z.next_in = file;
    z.avail_in = (uInt)file_size;
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    fd = mkstemps(path, 6);
    assert_true(fd >= 0 && write(fd, packed, z.total_out) == (ssize_t)z.total_out);
    close(fd);
    m = load_from(path);
    unlink(path);
    assert_int_equal(strncmp(m->name, "guesttrace_", 11), 0);
    assert_int_equal(strlen(m->name), strlen("guesttrace-XXXXXX"));
    assert_string_equal(text_of(m), FUNCTIONS);
    gt_kernel_module_free(m);
}

static int status_of(size_t size)
{
    struct gt_kernel_ko *m = NULL;
    struct gt_error err = {0};
    int status = gt_kernel_module_load(made_file(file, size), &m, &err);

    assert_true((status == GT_OK) == (m != NULL));
    assert_int_equal(err.status, status);
    for (size_t i = 0; m && i < m->n_sym; i++) {
        const struct gt_kernel_ko_symbol *s = &m->sym[i];
        assert_true(s->section < m->n_section && s->size > 0);
        assert_true(s->offset + s->size <= m->section[s->section].size);
        assert_true(m->section[s->section].patched[s->offset] <= 1);
    }
    gt_kernel_module_free(m);
    return status;
}

static void test_lies(void **state)
{
    (void)state;
    make("m", NULL);
    for (size_t n = 0; n < file_size; n++)
        status_of(n);
    for (size_t n = 0; n < file_size; n++)
        for (int bit = 0; bit < 8; bit += 7) {
            file[n] ^= (uint8_t)(1 << bit);
            status_of(file_size);
            file[n] ^= (uint8_t)(1 << bit);
        }
    ((Elf64_Ehdr *)file)->e_type = ET_EXEC;
    assert_int_equal(status_of(file_size), GT_E_FORMAT);
    ((Elf64_Ehdr *)file)->e_type = ET_REL;
    file[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(status_of(file_size), GT_E_UNSUPPORTED);
    strcpy((char *)file, "no module");
    assert_int_equal(status_of(file_size), GT_E_FORMAT);
    gt_kernel_module_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_patched),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
