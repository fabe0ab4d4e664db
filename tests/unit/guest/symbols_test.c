/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counts as a function, which name wins, sizes, lookups, PLT; and files that lie. */
#include "guest/elf/symbols.h"

#include "made_elf.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define FUNC(name, value, size, bind)                                                              \
    {                                                                                              \
        name, value, size, bind, STT_FUNC, 1                                                       \
    }
#define LABEL(name, value, bind)                                                                   \
    {                                                                                              \
        name, value, 0, bind, STT_NOTYPE, 1                                                        \
    }

static const char *const no_roots[] = {NULL};
static struct made_elf elf;

static struct gt_elf_symbols *load(const char *path)
{
    struct gt_elf_symbols *s = NULL;
    struct gt_error err = {0};

    if (gt_elf_symbols_load_with(path, no_roots, &s, &err) != GT_OK)
        fail_msg("%s", err.text);
    return s;
}

static struct gt_elf_symbols *load_made(const struct made_symbol *symbols, size_t n)
{
    elf.machine = EM_X86_64;
    elf.type = ET_DYN;
    elf.base = 0;
    made_elf(&elf, symbols, n);
    return load(made_elf_file(&elf, elf.size));
}

/* The symbols as one text: "addr+size type name; ..." without the PLT's. */
static const char *text_of(const struct gt_elf_symbols *s)
{
    static char text[4096];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->n_sym && n < sizeof text; i++)
        if (s->sym[i].type != 'P')
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%llx+%llx %c %s", n ? "; " : "",
                                  (unsigned long long)s->sym[i].addr,
                                  (unsigned long long)s->sym[i].size, s->sym[i].type,
                                  s->sym[i].name);
    return text;
}

static void expect_text(const struct made_symbol *symbols, size_t n, const char *expected)
{
    struct gt_elf_symbols *s = load_made(symbols, n);

    assert_string_equal(text_of(s), expected);
    gt_elf_symbols_free(s);
}

static void test_which_name_wins(void **state)
{
    static const struct {
        struct made_symbol a, b;
        const char *winner;
    } cases[] = {
        {FUNC("local", 0x1000, 8, STB_LOCAL), FUNC("__global", 0x1000, 8, STB_GLOBAL),
         "T __global"},
        {FUNC("local", 0x1000, 8, STB_LOCAL), FUNC("__weak", 0x1000, 8, STB_WEAK), "w __weak"},
        {FUNC("puts", 0x1000, 8, STB_WEAK), FUNC("_IO_puts", 0x1000, 8, STB_GLOBAL), "w puts"},
        {FUNC("nmi", 0x1000, 8, STB_WEAK), FUNC("default", 0x1000, 8, STB_GLOBAL), "T default"},
        {FUNC("longer", 0x1000, 8, STB_GLOBAL), FUNC("short", 0x1000, 8, STB_GLOBAL), "T short"},
        {FUNC("bbb", 0x1000, 8, STB_GLOBAL), FUNC("abc", 0x1000, 8, STB_GLOBAL), "T abc"},
        {LABEL("l", 0x1000, STB_GLOBAL), FUNC("function", 0x1000, 8, STB_LOCAL), "t function"},
    };
    char expected[64];

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_symbol one[] = {cases[i].a, cases[i].b}, two[] = {cases[i].b, cases[i].a};
        snprintf(expected, sizeof expected, "1000+8 %s", cases[i].winner);
        expect_text(one, 2, expected);
        expect_text(two, 2, expected);
    }
}

static void test_what_is_a_function(void **state)
{
    static const struct made_symbol symbols[] = {
        FUNC("typed", 0x1000, 0x10, STB_GLOBAL),
        LABEL("inside", 0x1008, STB_GLOBAL),
        LABEL("by_hand", 0x1010, STB_LOCAL),
        LABEL("$x", 0x1020, STB_LOCAL),
        LABEL(".Lloop", 0x1024, STB_LOCAL),
        LABEL("", 0x1028, STB_LOCAL),
        {"indirect", 0x1030, 4, STB_GLOBAL, STT_GNU_IFUNC, 1},
        {"object", 0x1040, 4, STB_GLOBAL, STT_OBJECT, 1},
        {"elsewhere", 0x1044, 0, STB_GLOBAL, STT_NOTYPE, 3},
        {"undefined", 0x1048, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF},
        {"absolute", 0x1050, 4, STB_GLOBAL, STT_FUNC, SHN_ABS},
        {"_etext", MADE_TEXT + MADE_TEXT_SIZE, 0, STB_GLOBAL, STT_NOTYPE, 1},
        FUNC("too_low", 0xff8, 8, STB_GLOBAL),
        FUNC("too_high", 0x9000, 8, STB_GLOBAL),
    };

    (void)state;
    expect_text(symbols, COUNT(symbols),
                "1000+10 T typed; 1010+20 t by_hand; 1030+4 T indirect; 1050+4 T absolute");
}

static void test_sizes(void **state)
{
    static const struct made_symbol symbols[] = {
        FUNC("open", 0x1000, 0, STB_GLOBAL),      FUNC("outer", 0x1010, 0x40, STB_GLOBAL),
        FUNC("nested", 0x1020, 8, STB_GLOBAL),    FUNC("unsized", 0x1060, 0, STB_GLOBAL),
        FUNC("its_alias", 0x1060, 4, STB_GLOBAL), FUNC("huge", 0x1100, UINT64_MAX, STB_GLOBAL),
    };

    (void)state;
    expect_text(symbols, COUNT(symbols),
                "1000+10 T open; 1010+10 T outer; 1020+8 T nested; 1060+4 T unsized; "
                "1100+100 T huge");
    expect_text(symbols, 1, "1000+200 T open");
}

static void test_names(void **state)
{
    static char longest[GT_SYMBOL_NAME_MAX + 11];
    const struct made_symbol symbols[] = {
        FUNC("versioned@@V_1", 0x1000, 8, STB_GLOBAL),
        FUNC("old@V_1", 0x1010, 8, STB_GLOBAL),
        FUNC("new\nline\x7f", 0x1020, 8, STB_GLOBAL),
        FUNC("@", 0x1030, 8, STB_GLOBAL),
        FUNC("go struct { int }", 0x1040, 8, STB_GLOBAL),
        FUNC("", 0x1050, 8, STB_GLOBAL),
        FUNC(longest, 0x1100, 8, STB_GLOBAL),
    };
    struct gt_elf_symbols *s;

    (void)state;
    memset(longest, 'n', sizeof longest - 1);
    expect_text(symbols, COUNT(symbols) - 1,
                "1000+8 T versioned; 1010+8 T old@V_1; 1020+8 T new?line?; 1030+8 T @; "
                "1040+8 T go struct { int }");
    s = load_made(symbols, COUNT(symbols));
    assert_int_equal(strlen(gt_elf_symbols_find(s, 0x1100)->name), GT_SYMBOL_NAME_MAX);
    assert_int_equal(s->n_bad, 1);
    gt_elf_symbols_free(s);
}

static void test_lookups(void **state)
{
    static const struct made_symbol symbols[] = {
        FUNC("first", 0x1008, 8, STB_GLOBAL),
        FUNC("twice", 0x1010, 8, STB_LOCAL),
        FUNC("twice", 0x1020, 8, STB_GLOBAL),
        FUNC("__other_name", 0x1020, 8, STB_GLOBAL),
    };
    struct gt_elf_symbols *s = load_made(symbols, COUNT(symbols));
    uint64_t rel = 0;

    (void)state;
    assert_null(gt_elf_symbols_find(s, 0));
    assert_null(gt_elf_symbols_find(s, 0x1007));
    assert_string_equal(gt_elf_symbols_find(s, 0x1008)->name, "first");
    assert_string_equal(gt_elf_symbols_find(s, 0x100f)->name, "first");
    assert_string_equal(gt_elf_symbols_find(s, 0x1010)->name, "twice");
    assert_null(gt_elf_symbols_find(s, 0x1018));
    assert_null(gt_elf_symbols_find(s, UINT64_MAX));
    assert_true(gt_elf_symbols_by_name(s, "twice", &rel));
    assert_int_equal(rel, 0x1020);
    assert_true(gt_elf_symbols_by_name(s, "__other_name", &rel));
    assert_int_equal(rel, 0x1020);
    assert_true(gt_elf_symbols_by_name(s, "first", &rel)); /* not its PLT stub, which comes after */
    assert_int_equal(rel, 0x1008);
    assert_false(gt_elf_symbols_by_name(s, "nothing", &rel));
    gt_elf_symbols_free(s);
    gt_elf_symbols_free(NULL);
}

static void test_plt(void **state)
{
    static const struct made_symbol symbols[] = {
        FUNC("callee", 0x1000, 8, STB_GLOBAL),
        FUNC("no", MADE_PLT + 16, 8, STB_GLOBAL),
        FUNC("nor_this", MADE_PLT + 24, 8, STB_GLOBAL),
    };
    struct gt_elf_symbols *s = load_made(symbols, COUNT(symbols));
    const struct gt_elf_symbol *stub = gt_elf_symbols_find(s, MADE_PLT + 0x2f);

    (void)state;
    assert_non_null(stub);
    assert_string_equal(stub->name, "callee");
    assert_int_equal(stub->type, 'P');
    assert_int_equal(stub->addr, MADE_PLT + 16);
    assert_string_equal(gt_elf_symbols_find(s, MADE_PLT)->name, "PLT0");
    assert_int_equal(gt_elf_symbols_find(s, MADE_PLT)->size, 16);
    assert_false(gt_elf_symbols_in_plt(s, MADE_PLT - 1));
    assert_true(gt_elf_symbols_in_plt(s, MADE_PLT));
    assert_true(gt_elf_symbols_in_plt(s, MADE_PLT + MADE_PLT_SIZE - 1));
    assert_false(gt_elf_symbols_in_plt(s, MADE_PLT + MADE_PLT_SIZE));
    gt_elf_symbols_free(s);
}

static void test_load_range(void **state)
{
    static const struct made_symbol symbols[] = {FUNC("function", 0x1010, 8, STB_GLOBAL)};
    struct gt_elf_symbols *s;

    (void)state;
    elf.machine = EM_X86_64;
    elf.type = ET_EXEC;
    elf.base = 0xffffffff81000000;
    made_elf(&elf, symbols, 1);
    s = load(made_elf_file(&elf, elf.size));
    assert_false(s->dynamic);
    assert_int_equal(s->bits, 64);
    assert_int_equal(s->e_machine, EM_X86_64);
    assert_true(s->load_base == elf.base);
    assert_int_equal(s->load_size, 0x2000);
    assert_int_equal(s->text_lo, MADE_TEXT);
    assert_int_equal(s->text_hi, MADE_PLT + MADE_PLT_SIZE);
    assert_string_equal(text_of(s), "1010+8 T function");
    gt_elf_symbols_free(s);
}

static void expect_error(const char *path, int status, const char *word)
{
    struct gt_elf_symbols *s;
    struct gt_error err = {0};

    assert_int_equal(gt_elf_symbols_load_with(path, no_roots, &s, &err), status);
    assert_null(s);
    assert_non_null(strstr(err.text, word));
    assert_non_null(strstr(err.text, path));
}

static void test_no_elf_file(void **state)
{
    char fifo[] = "/tmp/symbols_test.XXXXXX";

    (void)state;
    expect_error("/nonexistent/file", GT_E_NOT_FOUND, "No such file");
    expect_error("/tmp", GT_E_FORMAT, "regular");
    expect_error("/proc/self/maps", GT_E_FORMAT, "ELF");
    assert_non_null(mkdtemp(fifo));
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    expect_error(fifo, GT_E_FORMAT, "regular");
    unlink(fifo);
}

static void test_headers_that_lie(void **state)
{
    static const struct made_symbol symbols[] = {FUNC("function", 0x1010, 8, STB_GLOBAL)};
    struct gt_elf_symbols *s = load_made(symbols, 1);

    (void)state;
    gt_elf_symbols_free(s);
    elf.header->e_type = ET_REL;
    expect_error(made_elf_file(&elf, elf.size), GT_E_UNSUPPORTED, "ELF type 1");
    elf.header->e_type = ET_DYN;
    elf.segment[0].p_type = elf.segment[1].p_type = PT_NOTE;
    expect_error(made_elf_file(&elf, elf.size), GT_E_FORMAT, "no PT_LOAD");
    elf.segment[0].p_type = elf.segment[1].p_type = PT_LOAD;
    elf.segment->p_memsz = UINT64_MAX - 0x1000;
    expect_error(made_elf_file(&elf, elf.size), GT_E_FORMAT, "beyond the address space");
    elf.segment->p_memsz = MADE_PLT + MADE_PLT_SIZE - MADE_TEXT;
    elf.header->e_phoff = elf.size * 2;
    expect_error(made_elf_file(&elf, elf.size), GT_E_FORMAT, "program header");
    elf.header->e_phoff = sizeof(Elf64_Ehdr);
    elf.header->e_shoff = UINT64_MAX - 3;
    s = load(made_elf_file(&elf, elf.size));
    assert_int_equal(s->n_sym, 0);
    assert_int_equal(s->load_size, 0x2000);
    gt_elf_symbols_free(s);
}

static void test_tables_that_lie(void **state)
{
    static const struct made_symbol symbols[] = {
        FUNC("good", 0x1010, 8, STB_GLOBAL),
        FUNC("bad", 0x1020, 8, STB_GLOBAL),
    };
    struct gt_elf_symbols *s = load_made(symbols, 2);

    (void)state;
    gt_elf_symbols_free(s);
    elf.symbol[2].st_name = 0x10000000;
    elf.symbol[2].st_shndx = 0x7fff;
    s = load(made_elf_file(&elf, elf.size));
    assert_string_equal(text_of(s), "1010+8 T good");
    assert_int_equal(s->n_bad, 1);
    gt_elf_symbols_free(s);
    elf.section[2].sh_size = UINT64_MAX / 2;
    s = load(made_elf_file(&elf, elf.size));
    assert_int_equal(s->n_sym, 0);
    gt_elf_symbols_free(s);
    elf.section[2].sh_size = 3 * sizeof(Elf64_Sym);
    elf.section[2].sh_link = 4; /* no string table */
    s = load(made_elf_file(&elf, elf.size));
    assert_int_equal(s->n_sym, 0);
    assert_int_equal(s->n_bad, 2);
    gt_elf_symbols_free(s);
}

/* Whatever is loaded has to keep what the header says. */
static void check_invariants(const struct gt_elf_symbols *s)
{
    for (size_t i = 0; i < s->n_sym; i++) {
        const struct gt_elf_symbol *sym = &s->sym[i];
        assert_true(sym->size > 0 && sym->addr + sym->size > sym->addr);
        assert_true(sym->addr + sym->size <= s->load_size);
        assert_true(sym->name[0] && strlen(sym->name) <= GT_SYMBOL_NAME_MAX);
        assert_ptr_equal(gt_elf_symbols_find(s, sym->addr), sym);
        if (i > 0)
            assert_true(sym[-1].addr + sym[-1].size <= sym->addr);
    }
}

static unsigned try_load(size_t size)
{
    struct gt_elf_symbols *s;

    if (gt_elf_symbols_load_with(made_elf_file(&elf, size), no_roots, &s, NULL) != GT_OK)
        return 0;
    check_invariants(s);
    gt_elf_symbols_free(s);
    return 1;
}

static void test_every_byte_cut_or_changed(void **state)
{
    static const struct made_symbol symbols[] = {
        FUNC("first", 0x1010, 8, STB_GLOBAL),
        FUNC("second", 0x1020, 0, STB_WEAK),
        LABEL("third", 0x1040, STB_LOCAL),
    };
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    unsigned loaded = 0;
    struct gt_elf_symbols *s = load_made(symbols, COUNT(symbols));

    (void)state;
    gt_elf_symbols_free(s);
    for (size_t size = 0; size < elf.size; size++)
        loaded += try_load(size);
    assert_in_range(loaded, 1, elf.size - sizeof(Elf64_Ehdr));
    for (size_t i = 0; i < elf.size; i++) {
        uint8_t saved = elf.data[i];
        for (size_t v = 0; v < COUNT(values); v++) {
            elf.data[i] = values[v];
            try_load(elf.size);
        }
        elf.data[i] = saved;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_name_wins),
        cmocka_unit_test(test_what_is_a_function),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_plt),
        cmocka_unit_test(test_load_range),
        cmocka_unit_test(test_no_elf_file),
        cmocka_unit_test(test_headers_that_lie),
        cmocka_unit_test(test_tables_that_lie),
        cmocka_unit_test(test_every_byte_cut_or_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
