/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes candidates of PLT stubs: a stub jumps through a GOT slot, and the relocation of that slot
 * names its function. If the relocation has no symbol (IRELATIVE), the stub gets the resolver's
 * name.
 */
#include "base/array.h"
#include "base/search.h"
#include "guest/elf/symbols_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PLT_BYTES      (16u << 20)
#define MAX_RELOC_SECTIONS 16

struct stub {
    struct plt_stub code;
    uint64_t rel; /* relative address */
    uint64_t end; /* of the stub: where the next one or the section's end is */
    char *name;
};

struct slot {
    uint64_t at; /* address of the GOT slot */
    struct stub *stub;
};

struct plt_reader {
    struct sym_reader *r;
    Elf *elf;
    uint64_t got_base;
    struct stub *stubs;
    size_t n_stubs, cap;
    struct slot *by_slot; /* of the stubs that name one, sorted by address */
    size_t n_by_slot;
    size_t shstrndx;
};

static const char *section_name(const struct plt_reader *p, const GElf_Shdr *sh)
{
    const char *name = elf_strptr(p->elf, p->shstrndx, sh->sh_name);

    return name ? name : "";
}

/* The place in plt_lo[] of a section of that name; -1: no PLT. */
static int plt_index(const char *name)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};

    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return strcmp(name, ".plt.bnd") == 0 ? 1 : -1;
}

static struct stub *append_stub(struct plt_reader *p)
{
    if (!GT_ARRAY_GROW(&p->stubs, &p->cap, p->n_stubs + 1))
        return NULL;
    p->stubs[p->n_stubs] = (struct stub){0};
    return &p->stubs[p->n_stubs++];
}

/* The header of a lazy PLT: what lies before the first stub. */
static int put_header(struct plt_reader *p, uint64_t lo, uint64_t end)
{
    static char name[] = "PLT0";
    struct sym_cand *c = gt_elf_sym_append(&p->r->list);

    if (!c)
        return GT_E_NOMEM;
    *c = (struct sym_cand){.addr = lo, .size = end - lo, .limit = end, .name = name, .type = 'P'};
    c->typed = true;
    return GT_OK;
}

static int read_stubs(struct plt_reader *p, const struct plt_code *code, uint64_t lo)
{
    size_t first = p->n_stubs;
    uint64_t stride = code->size;
    struct plt_stub found;

    for (uint64_t at = 0; gt_elf_plt_next_stub(code, at, &found); at = found.offset + found.size) {
        struct stub *s = append_stub(p);
        if (!s)
            return GT_E_NOMEM;
        s->code = found;
        s->rel = lo + found.offset;
        s->end = lo + code->size;
        if (p->n_stubs > first + 1) {
            s[-1].end = s->rel;
            if (s->rel - s[-1].rel < stride)
                stride = s->rel - s[-1].rel;
        }
    }
    /* other code may follow the last one: aarch64's lazy TLS descriptors */
    if (p->n_stubs > first + 1 && p->stubs[p->n_stubs - 1].rel + stride < lo + code->size)
        p->stubs[p->n_stubs - 1].end = p->stubs[p->n_stubs - 1].rel + stride;
    return GT_OK;
}

static int read_plt_section(struct plt_reader *p, Elf_Scn *scn, const GElf_Shdr *sh, int index)
{
    struct gt_elf_symbols *s = p->r->s;
    uint64_t lo = sh->sh_addr - s->load_base;
    uint64_t text_end = sh->sh_addr < s->load_base ? 0 : gt_elf_sym_text_end(p->r, lo);
    Elf_Data *data;
    struct plt_code code = {.addr = sh->sh_addr, .machine = s->e_machine, .bits = s->bits};

    if (sh->sh_type != SHT_PROGBITS || !text_end || sh->sh_size > text_end - lo ||
        sh->sh_size == 0 || sh->sh_size > MAX_PLT_BYTES || s->plt_hi[index])
        return GT_OK;
    s->plt_lo[index] = lo;
    s->plt_hi[index] = lo + sh->sh_size;
    data = elf_getdata(scn, NULL);
    if (!data || !data->d_buf)
        return GT_OK;
    code.bytes = data->d_buf;
    code.size = data->d_size < sh->sh_size ? data->d_size : sh->sh_size;
    code.got_base = p->got_base;
    return read_stubs(p, &code, lo);
}

static void find_got(struct plt_reader *p)
{
    GElf_Shdr sh;

    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(p->elf, scn));) {
        const char *name = gelf_getshdr(scn, &sh) ? section_name(p, &sh) : "";
        if (strcmp(name, ".got.plt") == 0 || (strcmp(name, ".got") == 0 && !p->got_base))
            p->got_base = sh.sh_addr;
    }
}

static int read_plt_sections(struct plt_reader *p)
{
    GElf_Shdr sh;
    int status = GT_OK;

    for (Elf_Scn *scn = NULL; status == GT_OK && (scn = elf_nextscn(p->elf, scn));) {
        int index = gelf_getshdr(scn, &sh) ? plt_index(section_name(p, &sh)) : -1;
        if (index >= 0)
            status = read_plt_section(p, scn, &sh, index);
    }
    return status;
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->stub < y->stub ? -1 : x->stub > y->stub;
}

static int index_slots(struct plt_reader *p)
{
    p->by_slot = calloc(p->n_stubs + 1, sizeof *p->by_slot);
    if (!p->by_slot)
        return GT_E_NOMEM;
    for (size_t i = 0; i < p->n_stubs; i++)
        if (!p->stubs[i].code.lazy)
            p->by_slot[p->n_by_slot++] = (struct slot){p->stubs[i].code.slot, &p->stubs[i]};
    if (p->n_by_slot)
        qsort(p->by_slot, p->n_by_slot, sizeof *p->by_slot, compare_slots);
    return GT_OK;
}

/* The best name of the function that begins at the relative address. */
static char *name_at(const struct sym_list *list, uint64_t rel)
{
    size_t i = GT_SEARCH_BELOW(list->at, list->n, addr, rel);

    return i < list->n && list->at[i].addr == rel ? list->at[i].name : NULL;
}

static bool is_irelative(uint16_t machine, uint32_t type)
{
    static const struct {
        uint16_t machine;
        uint32_t type;
    } types[] = {
        {EM_X86_64, R_X86_64_IRELATIVE},   {EM_386, R_386_IRELATIVE},
        {EM_AARCH64, R_AARCH64_IRELATIVE}, {EM_RISCV, 58},
        {EM_ARM, R_ARM_IRELATIVE},
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].machine == machine && types[i].type == type)
            return true;
    return false;
}

/* The 32-bit word that the file has at an address: a REL relocation's addend. */
static uint64_t word_in_file(const struct plt_reader *p, uint64_t addr)
{
    GElf_Phdr ph;
    size_t n;

    if (elf_getphdrnum(p->elf, &n) != 0)
        return 0;
    for (size_t i = 0; i < n && i < PN_XNUM; i++) {
        if (!gelf_getphdr(p->elf, (int)i, &ph) || ph.p_type != PT_LOAD || addr < ph.p_vaddr ||
            addr - ph.p_vaddr >= ph.p_filesz)
            continue;
        Elf_Data *d = elf_getdata_rawchunk(p->elf, (int64_t)(ph.p_offset + (addr - ph.p_vaddr)), 4,
                                           ELF_T_WORD);
        return d && d->d_buf && d->d_size == 4 ? *(const uint32_t *)d->d_buf : 0;
    }
    return 0;
}

struct reloc_table {
    GElf_Shdr sh;
    Elf_Data *data;
    size_t names;      /* section number of the symbols' names */
    Elf_Data *symbols; /* NULL: none */
};

static bool open_relocs(struct plt_reader *p, Elf_Scn *scn, struct reloc_table *t)
{
    GElf_Shdr sh;
    Elf_Scn *symbols;

    t->symbols = NULL;
    if ((t->sh.sh_type != SHT_RELA && t->sh.sh_type != SHT_REL) || !(t->sh.sh_flags & SHF_ALLOC))
        return false;
    t->data = elf_getdata(scn, NULL);
    symbols = t->sh.sh_link ? elf_getscn(p->elf, t->sh.sh_link) : NULL;
    if (symbols && gelf_getshdr(symbols, &sh) &&
        (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)) {
        t->symbols = elf_getdata(symbols, NULL);
        t->names = sh.sh_link;
    }
    return t->data && t->data->d_buf;
}

static bool get_reloc(const struct reloc_table *t, size_t i, GElf_Rela *out)
{
    GElf_Rel rel;

    if (i > INT32_MAX)
        return false;
    if (t->sh.sh_type == SHT_RELA)
        return gelf_getrela(t->data, (int)i, out) != NULL;
    if (!gelf_getrel(t->data, (int)i, &rel))
        return false;
    *out = (GElf_Rela){.r_offset = rel.r_offset, .r_info = rel.r_info};
    return true;
}

static char *reloc_name(struct plt_reader *p, const struct reloc_table *t, const GElf_Rela *rela)
{
    uint64_t number = GELF_R_SYM(rela->r_info), target;
    GElf_Sym sym;

    if (number) {
        if (!t->symbols || number > INT32_MAX || !gelf_getsym(t->symbols, (int)number, &sym))
            return NULL;
        return gt_elf_sym_string(p->r, p->elf, t->names, sym.st_name);
    }
    if (!is_irelative(p->r->s->e_machine, (uint32_t)GELF_R_TYPE(rela->r_info)))
        return NULL;
    target = t->sh.sh_type == SHT_RELA ? (uint64_t)rela->r_addend : word_in_file(p, rela->r_offset);
    return name_at(&p->r->list, target - p->r->s->load_base);
}

/* Names the stubs whose slots these relocations fill, and the lazy ones that push their number. */
static void name_stubs(struct plt_reader *p, const struct reloc_table *t)
{
    GElf_Rela rela;

    for (size_t i = 0; get_reloc(t, i, &rela); i++)
        for (size_t k = GT_SEARCH_BELOW(p->by_slot, p->n_by_slot, at, rela.r_offset);
             k < p->n_by_slot && p->by_slot[k].at == rela.r_offset && !p->by_slot[k].stub->name;
             k++)
            p->by_slot[k].stub->name = reloc_name(p, t, &rela);
    if (strncmp(section_name(p, &t->sh), ".rel", 4) != 0 ||
        !strstr(section_name(p, &t->sh), ".plt"))
        return;
    for (size_t i = 0; i < p->n_stubs; i++)
        if (p->stubs[i].code.lazy && get_reloc(t, (size_t)p->stubs[i].code.slot, &rela))
            p->stubs[i].name = reloc_name(p, t, &rela);
}

static void read_relocs(struct plt_reader *p)
{
    struct reloc_table t;
    int tables = 0;

    for (Elf_Scn *scn = NULL; tables < MAX_RELOC_SECTIONS && (scn = elf_nextscn(p->elf, scn));)
        if (gelf_getshdr(scn, &t.sh) && open_relocs(p, scn, &t)) {
            name_stubs(p, &t);
            tables++;
        }
}

/* In the PLT, what the stubs jump to counts, not what symbol tables say. */
static void drop_others(struct plt_reader *p)
{
    struct sym_list *list = &p->r->list;
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++)
        if (!gt_elf_symbols_in_plt(p->r->s, list->at[i].addr))
            list->at[kept++] = list->at[i];
    list->n = kept;
}

static int put_stubs(struct plt_reader *p)
{
    for (size_t i = 0; i < p->n_stubs; i++) {
        const struct stub *s = &p->stubs[i];
        struct sym_cand *c;
        if (!s->name)
            continue;
        c = gt_elf_sym_append(&p->r->list);
        if (!c)
            return GT_E_NOMEM;
        *c = (struct sym_cand){
            .addr = s->rel, .size = s->end - s->rel, .limit = s->end, .type = 'P'};
        c->name = s->name;
        c->typed = true;
    }
    return GT_OK;
}

/* What lies before the first stub of .plt that has a name. */
static int put_plt0(struct plt_reader *p)
{
    uint64_t lo = p->r->s->plt_lo[0], hi = p->r->s->plt_hi[0];

    for (size_t i = 0; i < p->n_stubs; i++)
        if (p->stubs[i].name && p->stubs[i].rel >= lo && p->stubs[i].rel < hi)
            return p->stubs[i].rel > lo ? put_header(p, lo, p->stubs[i].rel) : GT_OK;
    return GT_OK;
}

int gt_elf_sym_read_plt(struct sym_reader *r, Elf *elf)
{
    struct plt_reader p = {.r = r, .elf = elf};
    int status;

    if (elf_getshdrstrndx(elf, &p.shstrndx) != 0)
        return GT_OK;
    find_got(&p);
    status = read_plt_sections(&p);
    if (status == GT_OK)
        status = index_slots(&p);
    if (status == GT_OK) {
        if (p.n_stubs)
            read_relocs(&p);
        for (size_t i = 0; i < p.n_stubs; i++)
            if (!p.stubs[i].name)
                p.stubs[i].name = name_at(&r->list, p.stubs[i].rel);
        drop_others(&p);
        status = put_stubs(&p);
    }
    if (status == GT_OK)
        status = put_plt0(&p);
    free(p.by_slot);
    free(p.stubs);
    return status;
}
