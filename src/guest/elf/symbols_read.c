/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads ranges from program headers, and candidates from symbol tables; makes symbols of these. */
#include "guest/elf/symbols_private.h"

#include "base/array.h"
#include "base/page.h"
#include "guest/arch/arch.h"
#include "guest/arch/insn_size.h"

#include <limits.h>
#include <lzma.h>
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

/* ---- .gnu_debugdata ------------------------------------------------------------------------- */

/*
 * .gnu_debugdata ("MiniDebugInfo"): an ELF file, packed by xz, whose .symtab has the functions that
 * .dynsym lacks. Distributions add it to programs that they strip. A damaged section, and one of
 * more than 64 MiB unpacked, counts as missing.
 */

enum {
    UNPACKED_MOST = 64 << 20,
    MEMORY_MOST = 80 << 20, /* of the decoder; xz -9 asks for 65 MiB */
};

/* NULL: it is damaged or too large, or there is no memory. */
static char *unpack(const Elf_Data *packed, size_t *size)
{
    lzma_stream z = LZMA_STREAM_INIT;
    lzma_ret r = lzma_stream_decoder(&z, MEMORY_MOST, 0);
    size_t room = 1 << 16;
    char *data = NULL;
    z.next_in = packed->d_buf;
    z.avail_in = packed->d_size;
    while (r == LZMA_OK && room <= UNPACKED_MOST) {
        char *more = realloc(data, room);
        if (!more)
            break;
        data = more;
        z.next_out = (uint8_t *)data + z.total_out;
        z.avail_out = room - z.total_out;
        r = lzma_code(&z, LZMA_FINISH);
        if (z.avail_out == 0)
            room *= 2;
    }
    *size = z.total_out;
    lzma_end(&z);
    if (r == LZMA_STREAM_END)
        return data;
    free(data);
    return NULL;
}

int gt_elf_sym_read_debugdata(struct sym_reader *r, Elf *elf)
{
    GElf_Shdr sh;
    Elf_Scn *scn = gt_elf_find_section(elf, ".gnu_debugdata", &sh);
    const Elf_Data *packed = scn ? elf_rawdata(scn, NULL) : NULL;
    size_t size;
    char *data = packed && packed->d_buf ? unpack(packed, &size) : NULL;
    Elf *inner = data ? elf_memory(data, size) : NULL;
    int status = 0;
    if (inner && elf_kind(inner) == ELF_K_ELF)
        status = gt_elf_sym_read_table(r, inner, SHT_SYMTAB);
    elf_end(inner);
    free(data);
    return status;
}

/* ---- ends of symbols without a size --------------------------------------------------------- */

/*
 * Finds the end of a symbol without a size in a file without .symtab.
 *
 * If all symbols are known it ends at the next one, as nm -S and gdb assume. In a stripped file
 * functions without names may follow a symbol of .dynsym. There a symbol ends where its control
 * flow does.
 */

/* Control goes elsewhere after it, always. */
static bool leaves(const struct gt_arch_insn *insn)
{
    switch (insn->kind) {
    case GT_INSN_RETURN:
    case GT_INSN_JUMP:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_EXCEPTION_RETURN:
        return !insn->conditional;
    default:
        return false;
    }
}

/* Bytes up to the first instruction that leaves and that no branch before it goes beyond. */
static uint64_t flow_size(const struct gt_arch *arch, const uint8_t *bytes, uint64_t size)
{
    uint64_t reached = 0;
    struct gt_arch_insn insn = {0};

    if (!gt_arch_insn_size_known(arch))
        return arch && arch->insn_min < size ? arch->insn_min : 1;
    for (uint64_t at = 0; at < size;) {
        size_t n = gt_arch_insn_size(arch, bytes + at, size - at);
        arch->classify(bytes + at, n, at, &insn);
        at += n;
        if (insn.kind == GT_INSN_BRANCH && insn.target > reached && insn.target < size)
            reached = insn.target;
        if (leaves(&insn) && at > reached)
            return at;
    }
    return size;
}

/* The symbols of a section, `lo` being its relative address. */
static void end_guesses_in(struct gt_elf_symbols *s, const struct gt_arch *arch, uint64_t lo,
                           const Elf_Data *data)
{
    size_t first = lo ? gt_elf_sym_count_to(s, lo - 1) : 0;
    for (size_t i = first; i < s->n_sym && s->sym[i].addr - lo < data->d_size; i++) {
        struct gt_elf_symbol *sym = &s->sym[i];
        uint64_t at = sym->addr - lo, left = data->d_size - at;
        if (sym->guessed)
            sym->size = flow_size(arch, (const uint8_t *)data->d_buf + at,
                                  sym->size < left ? sym->size : left);
    }
}

void gt_elf_sym_end_guesses(struct sym_reader *r, Elf *elf)
{
    const struct gt_arch *arch = gt_arch_by_elf(r->s->e_machine, r->s->bits);
    GElf_Shdr sh;

    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        Elf_Data *data;
        if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
            sh.sh_addr < r->s->load_base || !(data = elf_rawdata(scn, NULL)) || !data->d_buf)
            continue;
        end_guesses_in(r->s, arch, sh.sh_addr - r->s->load_base, data);
    }
}

/* ---- candidates to symbols ------------------------------------------------------------------ */

/* Merges candidates into symbols: one an address, sorted, not overlapping. */

static int compare(const void *a, const void *b)
{
    const struct sym_cand *x = a, *y = b;
    size_t lx, ly;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->name == y->name)
        return x->size > y->size ? -1 : x->size < y->size;
    lx = strlen(x->name);
    ly = strlen(y->name);
    return lx != ly ? (lx < ly ? -1 : 1) : strcmp(x->name, y->name);
}

void gt_elf_sym_sort(struct sym_list *list)
{
    if (list->n)
        qsort(list->at, list->n, sizeof list->at[0], compare);
}

static struct gt_elf_symbol *put(struct gt_elf_symbol *at, size_t *n, const struct sym_cand *c)
{
    at[*n] = (struct gt_elf_symbol){.addr = c->addr, .name = c->name, .type = c->type};
    return &at[(*n)++];
}

/* The size that the winner or, if it says none, another name of its address or .eh_frame says. */
static uint64_t size_of_group(const struct sym_cand *first, const struct sym_cand *end)
{
    for (const struct sym_cand *c = first; c < end; c++)
        if (c->size && (c->typed == first->typed || c->type == 'e'))
            return c->size;
    return 0;
}

static void put_aliases(struct gt_elf_symbols *s, const struct sym_cand *first,
                        const struct sym_cand *end, const char *winner)
{
    const char *last = winner;

    for (const struct sym_cand *c = first; c < end; c++) {
        if (!c->name || strcmp(c->name, last) == 0)
            continue;
        put(s->alias, &s->n_alias, c);
        last = c->name;
    }
}

static uint64_t end_of(const struct sym_cand *c, uint64_t size)
{
    return size && size < c->limit - c->addr ? c->addr + size : c->limit;
}

/* Sizes are ends here until trim() knows the next symbol. */
static void put_groups(struct gt_elf_symbols *s, const struct sym_list *list)
{
    const struct sym_cand *end = list->at + list->n, *next;
    uint64_t sized_end = 0;   /* of the functions so far */
    uint64_t covered_end = 0; /* of the symbols so far that say their size */

    for (const struct sym_cand *c = list->at; c < end; c = next) {
        uint64_t size;
        for (next = c + 1; next < end && next->addr == c->addr;)
            next++;
        if (c->type == 'e' && c->addr < covered_end)
            continue;
        if (!c->typed && c->addr < sized_end) {
            put_aliases(s, c, next, "");
            continue;
        }
        size = size_of_group(c, next);
        struct gt_elf_symbol *sym = put(s->sym, &s->n_sym, c);
        sym->size = end_of(c, size);
        sym->guessed = size == 0;
        put_aliases(s, c + 1, next, c->name);
        if (size && c->type != 'e' && end_of(c, size) > covered_end)
            covered_end = end_of(c, size);
        if (c->typed && size && end_of(c, size) > sized_end)
            sized_end = end_of(c, size);
    }
}

static void trim(struct gt_elf_symbols *s)
{
    for (size_t i = 0; i < s->n_sym; i++) {
        struct gt_elf_symbol *sym = &s->sym[i];
        uint64_t end = sym->size;
        if (i + 1 < s->n_sym && s->sym[i + 1].addr < end)
            end = s->sym[i + 1].addr;
        sym->size = end - sym->addr;
    }
}

int gt_elf_sym_merge(struct sym_reader *r)
{
    struct gt_elf_symbols *s = r->s;

    gt_elf_sym_sort(&r->list);
    s->sym = calloc(r->list.n + 1, sizeof *s->sym);
    s->alias = calloc(r->list.n + 1, sizeof *s->alias);
    if (!s->sym || !s->alias)
        return GT_E_NOMEM;
    if (r->list.n)
        put_groups(s, &r->list);
    trim(s);
    struct gt_elf_symbol *fit = realloc(s->sym, (s->n_sym + 1) * sizeof *fit);
    s->sym = fit ? fit : s->sym;
    fit = realloc(s->alias, (s->n_alias + 1) * sizeof *fit);
    s->alias = fit ? fit : s->alias;
    return GT_OK;
}
