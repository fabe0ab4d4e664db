/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads ranges from program headers, and candidates from symbol tables. */
#include "base/array.h"
#include "base/page.h"
#include "guest/elf/symbols_private.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct sym_cand *gt_elf_sym_append(struct sym_list *list)
{
    if (!GT_ARRAY_GROW(&list->at, &list->cap, list->n + 1))
        return NULL;
    list->at[list->n] = (struct sym_cand){0};
    return &list->at[list->n++];
}

uint64_t gt_elf_sym_text_end(const struct sym_reader *r, uint64_t rel)
{
    for (size_t i = 0; i < r->n_text; i++)
        if (rel >= r->text_lo[i] && rel < r->text_hi[i])
            return r->text_hi[i];
    return 0;
}

static void add_text_range(struct sym_reader *r, uint64_t lo, uint64_t hi)
{
    if (r->n_text == GT_MAX_TEXT_RANGES || lo >= hi)
        return;
    r->text_lo[r->n_text] = lo;
    r->text_hi[r->n_text++] = hi;
    if (r->n_text == 1 || lo < r->s->text_lo)
        r->s->text_lo = lo;
    if (hi > r->s->text_hi)
        r->s->text_hi = hi;
}

int gt_elf_sym_read_segments(struct sym_reader *r, Elf *elf, struct gt_error *err)
{
    struct gt_elf_symbols *s = r->s;
    uint64_t top = 0;
    GElf_Phdr ph;
    size_t n;

    if (elf_getphdrnum(elf, &n) != 0)
        return gt_error_set(err, GT_E_FORMAT, "%s: program headers lie outside the file", s->path);
    if (!gt_elf_load_base(elf, &s->load_base))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: no PT_LOAD among %zu program headers, expected one", s->path, n);
    for (size_t i = 0; i < n && i < INT_MAX; i++) {
        if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
            continue;
        if (ph.p_memsz > UINT64_MAX - GT_PAGE - ph.p_vaddr || ph.p_vaddr > UINT64_MAX - GT_PAGE)
            return gt_error_set(
                err, GT_E_FORMAT,
                "%s: program header %zu: %#llx bytes at %#llx, beyond the address space", s->path,
                i, (unsigned long long)ph.p_memsz, (unsigned long long)ph.p_vaddr);
        if (ph.p_vaddr + ph.p_memsz > top)
            top = ph.p_vaddr + ph.p_memsz;
        if (ph.p_flags & PF_X)
            add_text_range(r, ph.p_vaddr - s->load_base, ph.p_vaddr + ph.p_memsz - s->load_base);
    }
    s->load_size = ((top + GT_PAGE - 1) & ~(GT_PAGE - 1)) - s->load_base;
    return GT_OK;
}

/* The copy is made once a table: the names that we keep point into it. */
static struct string_table *string_table(struct sym_reader *r, Elf *elf, size_t section)
{
    struct string_table *t = r->tables;
    Elf_Data *data;
    GElf_Shdr sh;
    Elf_Scn *scn;

    for (; t < r->tables + r->n_tables; t++)
        if (t->elf == elf && t->section == section)
            return t;
    if (r->n_tables == GT_MAX_STRINGS)
        return NULL;
    scn = elf_getscn(elf, section);
    if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB ||
        !(data = elf_getdata(scn, NULL)) || !data->d_buf)
        return NULL;
    *t = (struct string_table){elf, section, malloc(data->d_size + 1), data->d_size};
    if (!t->text)
        return NULL;
    r->s->strings[r->n_tables++] = t->text;
    memcpy(t->text, data->d_buf, t->size);
    t->text[t->size] = '\0';
    for (size_t i = 0; i < t->size; i++)
        if (((unsigned char)t->text[i] < ' ' && t->text[i]) || t->text[i] == 0x7f)
            t->text[i] = '?';
    return t;
}

char *gt_elf_sym_string(struct sym_reader *r, Elf *elf, size_t section, uint64_t offset)
{
    struct string_table *t = string_table(r, elf, section);
    size_t length;
    char *name;

    if (!t || offset >= t->size || !t->text[offset])
        return NULL;
    name = t->text + offset;
    length = strnlen(name, GT_SYMBOL_NAME_MAX);
    name[gt_elf_sym_unversioned(elf, name, length)] = '\0';
    return name;
}

/* Of each section: where its code lies. */
struct section_range {
    uint64_t lo, hi; /* relative; hi 0: not executable */
};

static struct section_range *section_ranges(const struct sym_reader *r, Elf *elf, size_t *n)
{
    struct section_range *ranges;
    GElf_Shdr sh;

    if (elf_getshdrnum(elf, n) != 0)
        return NULL;
    ranges = calloc(*n + 1, sizeof *ranges);
    for (size_t i = 0; ranges && i < *n; i++) {
        Elf_Scn *scn = elf_getscn(elf, i);
        if (!scn || !gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
            sh.sh_addr < r->s->load_base || sh.sh_size > UINT64_MAX - sh.sh_addr)
            continue;
        ranges[i].lo = sh.sh_addr - r->s->load_base;
        ranges[i].hi = ranges[i].lo + sh.sh_size;
    }
    return ranges;
}

static unsigned leading_underscores(const char *name)
{
    unsigned n = 0;

    while (name[n] == '_' && n < 255)
        n++;
    return n;
}

/* The rule of the header, but for length and alphabet. */
static uint32_t rank_of(const char *name, unsigned bind, bool typed)
{
    return (typed ? 0u : 1u << 17) | (bind == STB_LOCAL ? 1u << 16 : 0u) |
           leading_underscores(name) << 1 | (bind == STB_WEAK ? 1u : 0u);
}

struct table {
    Elf *elf;
    size_t strings; /* section number */
    struct section_range *ranges;
    size_t n_ranges;
};

/* Untyped symbols count in executable sections only, and not those that tools put there. */
static bool is_assembler_name(const char *name)
{
    return name[0] != '.' && name[0] != '$';
}

static int add_symbol(struct sym_reader *r, const struct table *t, const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
    bool typed = type == STT_FUNC || type == STT_GNU_IFUNC;
    const struct section_range *range =
        sym->st_shndx < t->n_ranges ? &t->ranges[sym->st_shndx] : NULL;
    uint64_t addr = sym->st_value, limit;
    struct sym_cand *c;
    char *name;

    if (sym->st_shndx == SHN_UNDEF || !(typed || (type == STT_NOTYPE && range && range->hi)))
        return GT_OK;
    if (typed && r->s->e_machine == EM_ARM)
        addr &= ~1ull; /* Thumb */
    addr -= r->s->load_base;
    limit = sym->st_value < r->s->load_base ? 0 : gt_elf_sym_text_end(r, addr);
    name = gt_elf_sym_string(r, t->elf, t->strings, sym->st_name);
    if (!typed && (!name || !is_assembler_name(name) || addr < range->lo || addr >= range->hi))
        return GT_OK;
    if (!limit || !name) {
        r->s->n_bad++;
        return GT_OK;
    }
    c = gt_elf_sym_append(&r->list);
    if (!c)
        return GT_E_NOMEM;
    if (range && addr >= range->lo && addr < range->hi && range->hi < limit)
        limit = range->hi;
    *c = (struct sym_cand){.addr = addr, .size = sym->st_size, .limit = limit, .name = name};
    c->rank = rank_of(name, bind, typed);
    c->type = bind == STB_LOCAL ? 't' : bind == STB_WEAK ? 'w' : 'T';
    c->typed = typed;
    return GT_OK;
}

int gt_elf_sym_read_table(struct sym_reader *r, Elf *elf, unsigned type)
{
    Elf_Scn *scn = NULL;
    Elf_Data *data;
    GElf_Shdr sh;
    GElf_Sym sym;
    struct table t = {.elf = elf};
    int status = GT_OK;

    do {
        scn = elf_nextscn(elf, scn);
    } while (scn && (!gelf_getshdr(scn, &sh) || sh.sh_type != type));
    if (!scn || !(data = elf_getdata(scn, NULL)) || !data->d_buf)
        return 0;
    t.strings = sh.sh_link;
    t.ranges = section_ranges(r, elf, &t.n_ranges);
    if (!t.ranges)
        return GT_E_NOMEM;
    for (int i = 1; status == GT_OK && gelf_getsym(data, i, &sym); i++)
        status = add_symbol(r, &t, &sym);
    free(t.ranges);
    return status == GT_OK ? 1 : status;
}
