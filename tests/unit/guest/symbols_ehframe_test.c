/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that only .eh_frame knows: which entries count, how addresses are encoded, what symbols
 * win over; and sections that lie. The section is made from CIEs and FDEs, at address AT. */
#include "guest/elf/symbols.h"

#include "base/bytes.h"
#include "made_elf.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FUNC(name, value, size)                                                                    \
    (struct made_symbol)                                                                           \
    {                                                                                              \
        name, value, size, STB_GLOBAL, STT_FUNC, 1                                                 \
    }
#define LABEL(name, value)                                                                         \
    (struct made_symbol)                                                                           \
    {                                                                                              \
        name, value, 0, STB_GLOBAL, STT_NOTYPE, 1                                                  \
    }

enum { AT = 0x3000, NO_SYMBOLS = 0 };

static const char *const no_roots[] = {NULL};
static const struct made_symbol none = {"undefined", 0, 0, STB_GLOBAL, STT_FUNC, 0};
static struct made_elf elf;
static uint8_t frames[1024];
static size_t used, cie;
static uint8_t encoding;

static void begin_entry(struct gt_bytes_writer *w)
{
    gt_bytes_writer_init(w, frames + used, sizeof frames - used);
    gt_bytes_write_u32(w, 0);
}

static void end_entry(struct gt_bytes_writer *w)
{
    size_t size = (size_t)(w->at - (frames + used));
    assert_false(w->short_of);
    while (size % 4) {
        gt_bytes_write_u8(w, DW_CFA_nop);
        size++;
    }
    gt_bytes_writer_init(w, frames + used, 4);
    gt_bytes_write_u32(w, (uint32_t)size - 4);
    used += size;
}

/* `data` is the augmentation's; its size comes before it where the augmentation begins with z. */
static void put_cie(const char *augmentation, const char *data, size_t n, uint8_t pointers)
{
    struct gt_bytes_writer w;
    cie = used;
    encoding = pointers;
    begin_entry(&w);
    gt_bytes_write_u32(&w, 0);
    gt_bytes_write_u8(&w, 1);
    gt_bytes_write_bytes(&w, augmentation, strlen(augmentation) + 1);
    gt_bytes_write_bytes(&w, "\x01\x78\x10", 3);
    if (augmentation[0] == 'z')
        gt_bytes_write_u8(&w, (uint8_t)n);
    gt_bytes_write_bytes(&w, data, n);
    gt_bytes_write_bytes(&w, "\x0c\x07\x08\x90\x01", 5);
    end_entry(&w);
}

static void put_plain_cie(void)
{
    used = 0;
    put_cie("zR", "\x1b", 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
}

static void put_value(struct gt_bytes_writer *w, uint64_t value)
{
    unsigned format = encoding & 7;
    if (format == DW_EH_PE_udata2)
        gt_bytes_write_u16(w, (uint16_t)value);
    else if (format == DW_EH_PE_udata4)
        gt_bytes_write_u32(w, (uint32_t)value);
    else
        gt_bytes_write_u64(w, value);
}

/* Of the last CIE; `code`: the first instructions. */
static void put_fde_with(uint64_t addr, uint64_t size, const char *data, const char *code)
{
    struct gt_bytes_writer w;
    uint64_t field = AT + used + 8;
    begin_entry(&w);
    gt_bytes_write_u32(&w, (uint32_t)(used + 4 - cie));
    put_value(&w, (encoding & 0x70) == DW_EH_PE_pcrel ? addr - field : addr);
    put_value(&w, size);
    if (data) {
        gt_bytes_write_u8(&w, (uint8_t)strlen(data));
        gt_bytes_write_bytes(&w, data, strlen(data));
    }
    gt_bytes_write_bytes(&w, code, strlen(code));
    end_entry(&w);
}

static void put_fde(uint64_t addr, uint64_t size)
{
    put_fde_with(addr, size, "", "\x41\x0e\x10");
}

/* The section takes the place of .rela.plt, with a name of its own. */
static void make_file(const struct made_symbol *symbols, size_t n)
{
    static const char names[] = "\0.eh_frame\0.plt";
    elf.machine = EM_X86_64;
    elf.type = ET_DYN;
    elf.base = 0;
    made_elf(&elf, n ? symbols : &none, n ? n : 1);
    for (unsigned i = 1; i < 7; i++)
        elf.section[i].sh_name = 0;
    elf.section[4].sh_name = 11;
    elf.section[5] = (Elf64_Shdr){.sh_name = 1,
                                  .sh_type = SHT_PROGBITS,
                                  .sh_flags = SHF_ALLOC,
                                  .sh_addr = AT,
                                  .sh_offset = elf.size,
                                  .sh_size = used,
                                  .sh_addralign = 8};
    memcpy(elf.data + elf.size, frames, used);
    elf.size += (used + 7) & ~(size_t)7;
    elf.section[6].sh_offset = elf.size;
    elf.section[6].sh_size = sizeof names;
    memcpy(elf.data + elf.size, names, sizeof names);
    elf.size += sizeof names;
}

static struct gt_elf_symbols *load(void)
{
    struct gt_elf_symbols *s = NULL;
    struct gt_error err = {0};
    if (gt_elf_symbols_load_with(made_elf_file(&elf, elf.size), no_roots, &s, &err) != GT_OK)
        fail_msg("%s", err.text);
    return s;
}

/* "addr+size type", and the name where it is a symbol's. */
static void expect(const struct made_symbol *symbols, size_t n, const char *expected)
{
    char text[1024] = "";
    size_t end = 0;
    make_file(symbols, n);
    struct gt_elf_symbols *s = load();
    for (size_t i = 0; i < s->n_sym && end < sizeof text; i++)
        end +=
            (size_t)snprintf(text + end, sizeof text - end, "%s%llx+%llx %c%s", end ? "; " : "",
                             (unsigned long long)s->sym[i].addr, (unsigned long long)s->sym[i].size,
                             s->sym[i].type, s->sym[i].type == 'e' ? "" : s->sym[i].name);
    assert_string_equal(text, expected);
    gt_elf_symbols_free(s);
}

static void test_functions(void **state)
{
    (void)state;
    put_plain_cie();
    put_fde(0x1100, 0x20);
    put_fde(0x1000, 0x40);
    put_fde(0x1030, 0x20);       /* cuts the one before */
    put_fde(0x1200, 0x1000);     /* up to the PLT */
    put_fde(0, 0x20);            /* no code */
    put_fde(0x1180, 0);          /* empty */
    put_fde(MADE_PLT + 0x10, 8); /* a stub */
    put_fde(0x2000, 8);          /* not in executable memory */
    put_fde(UINT32_MAX - 7, 8);
    expect(NULL, NO_SYMBOLS, "1000+30 e; 1030+20 e; 1100+20 e; 1200+40 e");
}

static void test_name(void **state)
{
    (void)state;
    put_plain_cie();
    put_fde(0x1010, 8);
    make_file(NULL, NO_SYMBOLS);
    struct gt_elf_symbols *s = load();
    uint64_t rel;
    char name[64];
    snprintf(name, sizeof name, "%s+0x1010", strrchr(made_elf_file(&elf, elf.size), '/') + 1);
    assert_int_equal(s->n_sym, 1);
    assert_string_equal(s->sym[0].name, name);
    assert_false(s->sym[0].guessed);
    assert_true(gt_elf_symbols_by_name(s, name, &rel));
    assert_int_equal(rel, 0x1010);
    gt_elf_symbols_free(s);
}

/* A name that would break a line of a text file. */
static void test_name_is_clean(void **state)
{
    char folder[] = "/tmp/ehframe_test.XXXXXX", path[64];
    struct gt_elf_symbols *s;
    (void)state;
    put_plain_cie();
    put_fde(0x1010, 8);
    make_file(NULL, NO_SYMBOLS);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a\nb\x7f", folder);
    assert_int_equal(symlink(made_elf_file(&elf, elf.size), path), 0);
    int status = gt_elf_symbols_load_with(path, no_roots, &s, NULL);
    unlink(path);
    rmdir(folder);
    assert_int_equal(status, GT_OK);
    assert_string_equal(s->sym[0].name, "a?b?+0x1010");
    gt_elf_symbols_free(s);
}

/* What the linker dropped has the address 0, which may be code's. */
static void test_dropped(void **state)
{
    (void)state;
    used = 0;
    put_cie("zR", "\x04", 1, 4);
    put_fde(0, 8);
    put_fde(0x10, 8);
    make_file(NULL, NO_SYMBOLS);
    elf.segment[1].p_flags = PF_R | PF_X;
    struct gt_elf_symbols *s = load();
    assert_int_equal(s->n_sym, 1);
    assert_int_equal(s->sym[0].addr, 0x10);
    gt_elf_symbols_free(s);
}

static void test_symbols_win(void **state)
{
    (void)state;
    put_plain_cie();
    put_fde(0x1000, 0x20); /* has a symbol */
    put_fde(0x1010, 0x40); /* begins in it */
    put_fde(0x1060, 0x40); /* cut by a symbol */
    put_fde(0x1100, 0x30); /* says the size of one */
    put_fde(0x11b0, 8);    /* begins in one without a type */
    put_fde(0x1180, 0x10); /* ends what a symbol without a size may be */
    const struct made_symbol symbols[] = {
        FUNC("first", 0x1000, 0x20),
        FUNC("second", 0x1070, 0x10),
        FUNC("third", 0x1100, 0),
        LABEL("label", 0x1140),
        {"sized", 0x11a0, 0x20, STB_GLOBAL, STT_NOTYPE, 1},
    };
    expect(symbols, 5,
           "1000+20 Tfirst; 1060+10 e; 1070+10 Tsecond; 1100+30 Tthird; 1140+40 Tlabel; "
           "1180+10 e; 11a0+20 Tsized");
}

/* What the compiler moved out of a function has its frame from the beginning. */
static void test_parts(void **state)
{
    static const char *const first[] = {"\x0e\x20", "\x0c\x06\x10", "\x0d\x06",    "\x12\x07\x08",
                                        "\x13\x08", "\x83\x02",     "\x2d\x0e\x20"};
    (void)state;
    put_plain_cie();
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        put_fde_with(0x1000 + 0x10 * i, 8, "", first[i]);
    put_fde_with(0x1100, 8, "", "\x2d\x41\x0e\x20");
    put_fde_with(0x1110, 8, "", "\x07\x10");
    put_fde_with(0x1120, 8, "", "");
    expect(NULL, NO_SYMBOLS, "1100+8 e; 1110+8 e; 1120+8 e");
}

static void test_encodings(void **state)
{
    static const uint8_t good[] = {0x00, 0x02, 0x03, 0x04, 0x0a, 0x0b, 0x0c, 0x10, 0x1a, 0x1c};
    static const uint8_t bad[] = {0x01, 0x09, 0x0f, 0x1e, 0x20, 0x3b, 0x4b, 0x50, 0x9b, 0xff};
    (void)state;
    for (size_t i = 0; i < sizeof good; i++) {
        used = 0;
        put_cie("zR", (const char *)&good[i], 1, good[i]);
        put_fde(0x1020, 8);
        expect(NULL, NO_SYMBOLS, "1020+8 e");
    }
    for (size_t i = 0; i < sizeof bad; i++) {
        used = 0;
        put_cie("zR", (const char *)&bad[i], 1, 0x04);
        put_fde(0x1020, 8);
        expect(NULL, NO_SYMBOLS, "");
    }
}

static void test_augmentations(void **state)
{
    (void)state;
    used = 0;
    put_cie("", "", 0, DW_EH_PE_absptr);
    put_fde_with(0x1000, 8, NULL, "\x41\x0e\x10");
    put_cie("zPLR", "\x1b\0\0\0\0\x1b\x1b", 7, 0x1b);
    /* its size and content would be instructions */
    put_fde_with(0x1010, 8, "\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e\x0e",
                 "\x41\x0e\x10");
    put_cie("zRB", "\x1b", 1, 0x1b);
    put_fde(0x1020, 8);
    put_cie("zRS", "\x1b", 1, 0x1b); /* a signal handler's trampoline */
    put_fde(0x1030, 8);
    put_cie("zR?", "\x1b", 1, 0x1b);
    put_fde(0x1040, 8);
    put_cie("zP", "\x01", 1, 0x1b);
    put_fde(0x1050, 8);
    put_cie("zR", "", 0, 0); /* no data for it */
    put_fde(0x1060, 8);
    put_cie("eh", "\0\0\0\0\0\0\0\0", 8, 0);
    put_fde(0x1070, 8);
    expect(NULL, NO_SYMBOLS, "1000+8 e; 1010+8 e; 1020+8 e");
}

/* An FDE whose CIE is none, and a terminator that is not the end. */
static void test_lies(void **state)
{
    (void)state;
    put_plain_cie();
    put_fde(0x1000, 8);
    cie = used; /* itself */
    put_fde(0x1010, 8);
    cie = 4;
    put_fde(0x1020, 8);
    cie = 0;
    put_fde(0x1030, 8);
    memset(frames + used, 0, 4);
    used += 4;
    expect(NULL, NO_SYMBOLS, "1000+8 e; 1030+8 e");
}

static void check_invariants(const struct gt_elf_symbols *s)
{
    for (size_t i = 0; i < s->n_sym; i++) {
        const struct gt_elf_symbol *sym = &s->sym[i];
        assert_true(sym->size > 0 && sym->addr + sym->size > sym->addr);
        assert_true(sym->addr + sym->size <= s->load_size);
        assert_true(sym->name[0] && strlen(sym->name) <= GT_SYMBOL_NAME_MAX);
        assert_ptr_equal(gt_elf_symbols_find(s, sym->addr), sym);
        assert_true(i == 0 || sym[-1].addr + sym[-1].size <= sym->addr);
    }
}

static void try_load(size_t size)
{
    struct gt_elf_symbols *s;
    if (gt_elf_symbols_load_with(made_elf_file(&elf, size), no_roots, &s, NULL) != GT_OK)
        return;
    check_invariants(s);
    gt_elf_symbols_free(s);
}

static void test_every_byte_cut_or_changed(void **state)
{
    static const uint8_t values[] = {0x00, 0x01, 0x0c, 0x7f, 0x80, 0xff};
    const struct made_symbol symbols[] = {FUNC("first", 0x1000, 0x20), LABEL("second", 0x1070)};
    (void)state;
    put_plain_cie();
    put_fde(0x1010, 0x40);
    put_fde(0x1060, 0x40);
    put_cie("zPLR", "\x1b\0\0\0\0\x1b\x1b", 7, 0x1b);
    put_fde_with(0x1100, 8, "\x01\x01\x01\x01", "\x41\x0e\x10");
    make_file(symbols, 2);
    for (size_t size = 0; size < elf.size; size++)
        try_load(size);
    for (uint64_t size = used; size-- > 0;) {
        elf.section[5].sh_size = size;
        try_load(elf.size);
    }
    elf.section[5].sh_size = used;
    for (size_t i = elf.section[5].sh_offset; i < elf.size; i++) {
        uint8_t saved = elf.data[i];
        for (size_t v = 0; v < sizeof values; v++) {
            elf.data[i] = values[v];
            try_load(elf.size);
        }
        elf.data[i] = saved;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),     cmocka_unit_test(test_name),
        cmocka_unit_test(test_name_is_clean), cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_symbols_win),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_encodings),     cmocka_unit_test(test_augmentations),
        cmocka_unit_test(test_lies),          cmocka_unit_test(test_every_byte_cut_or_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
