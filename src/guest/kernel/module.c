/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of a kernel module's file: a relocatable ELF file, whose symbols' values are
 * offsets in their sections. */
#include "base/array.h"
#include "base/file.h"
#include "guest/kernel/private.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, SECTIONS_MAX = 256, SYMBOLS_MAX = 1 << 20, NAME_AT = 24 };

struct gt_kernel_ko_private {
    struct gt_kernel_names names;
    char *data;
    size_t size;
    Elf *elf;
};

/* While a module is read. */
struct reader {
    struct gt_kernel_ko *m;
    size_t strings;                     /* section number of the sections' names */
    unsigned number[SECTIONS_MAX];      /* of section[]: its number in the file */
    struct gt_kernel_symbol *candidate; /* of one section */
    size_t n, cap;
};

static int read_file(struct gt_kernel_ko *m, struct gt_error *err)
{
    struct gt_kernel_ko_private *p = m->priv;
    struct gt_kernel_unpacked out;
    int status = gt_file_read(m->path, GT_KERNEL_SIZE_MAX, &p->data, &p->size, err);

    for (int i = 0; status == GT_OK && i < LAYERS; i++) {
        int r = gt_kernel_unpack(m->path, (const uint8_t *)p->data, p->size, GT_KERNEL_SIZE_MAX,
                                 &out, err);
        if (r <= 0) {
            status = r;
            break;
        }
        free(p->data);
        p->data = (char *)out.data;
        p->size = out.size;
    }
    return status;
}

static int open_elf(struct gt_kernel_ko *m, struct gt_error *err)
{
    struct gt_kernel_ko_private *p = m->priv;
    const char *ident;
    GElf_Ehdr header;

    elf_version(EV_CURRENT);
    p->elf = p->size < 64 || memcmp(p->data, ELFMAG, 4) != 0 ? NULL : elf_memory(p->data, p->size);
    ident = p->elf ? elf_getident(p->elf, NULL) : NULL;
    if (!ident || !gelf_getehdr(p->elf, &header))
        return gt_error_set(err, GT_E_FORMAT, "%s: not an ELF file, expected a kernel module",
                            m->path);
    if (ident[EI_DATA] != ELFDATA2LSB)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: big-endian, expected little-endian",
                            m->path);
    if (header.e_type != ET_REL)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: ELF type %u, expected a relocatable file (a kernel module)",
                            m->path, header.e_type);
    m->e_machine = header.e_machine;
    m->bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    return GT_OK;
}

/* One of the loader's two blocks while it fills. */
struct block {
    uint64_t at;
    bool unknown; /* after a PLT */
};

static bool is_plt(const char *name)
{
    return !strcmp(name, ".plt") || !strcmp(name, ".init.plt") ||
           !strcmp(name, ".text.ftrace_trampoline");
}

static void place(struct gt_kernel_section *s, struct block *block, uint64_t align)
{
    if (align > 1 && (align & (align - 1)) == 0 && align <= 1u << 20)
        block->at = (block->at + align - 1) & ~(align - 1);
    s->at = block->at;
    s->placed = !block->unknown;
    block->at += s->size;
    if (is_plt(s->name))
        block->unknown = true;
}

static int add_section(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh, struct block *blocks)
{
    struct gt_kernel_ko *m = r->m;
    const char *name = elf_strptr(m->priv->elf, r->strings, sh->sh_name);
    Elf_Data *data = elf_rawdata(scn, NULL);
    struct gt_kernel_section *s = &m->section[m->n_section];

    if (!name || !data || !data->d_buf || data->d_size == 0)
        return GT_OK;
    s->name = gt_kernel_names_add(&m->priv->names, name, strlen(name));
    if (!s->name)
        return GT_E_NOMEM;
    s->init = !strncmp(s->name, ".init", 5);
    s->data = data->d_buf;
    s->size = data->d_size;
    place(s, &blocks[s->init], sh->sh_addralign);
    r->number[m->n_section++] = (unsigned)elf_ndxscn(scn);
    return GT_OK;
}

/* "name=ext4" among the texts of .modinfo. */
static void name_by_info(struct gt_kernel_ko *m, const Elf_Data *data)
{
    const char *at = data->d_buf, *end = at + data->d_size;

    while (at < end) {
        size_t n = strnlen(at, (size_t)(end - at));
        if (n > 5 && n - 5 < sizeof m->name && !memcmp(at, "name=", 5)) {
            memcpy(m->name, at + 5, n - 5);
            m->name[n - 5] = '\0';
            return;
        }
        at += n + 1;
    }
}

/* struct module: an int, a list_head, the name; it is 56 bytes or, of 32 bits, 60. */
static void name_by_struct(struct gt_kernel_ko *m, const Elf_Data *data)
{
    size_t at = m->bits == 64 ? NAME_AT : NAME_AT / 2;

    if (m->name[0] || data->d_size < at + 56)
        return;
    memcpy(m->name, (const char *)data->d_buf + at, 55);
    m->name[55] = '\0';
}

static void name_by_path(struct gt_kernel_ko *m)
{
    const char *slash = strrchr(m->path, '/'), *name = slash ? slash + 1 : m->path;
    const char *end = strstr(name, ".ko");

    snprintf(m->name, sizeof m->name, "%.*s", end ? (int)(end - name) : (int)strlen(name), name);
}

static void finish_name(struct gt_kernel_ko *m)
{
    if (!m->name[0])
        name_by_path(m);
    for (char *at = m->name; *at; at++)
        *at = *at == '-' ? '_' : (unsigned char)*at <= ' ' || *at == 0x7f ? '?' : *at;
}

static int read_sections(struct reader *r)
{
    struct gt_kernel_ko *m = r->m;
    Elf *elf = m->priv->elf;
    struct block blocks[2] = {{0, false}, {0, false}};
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    int status = GT_OK;

    if (elf_getshdrstrndx(elf, &r->strings) != 0)
        return GT_OK;
    m->section = calloc(SECTIONS_MAX, sizeof *m->section);
    if (!m->section)
        return GT_E_NOMEM;
    while (status == GT_OK && (scn = elf_nextscn(elf, scn)) && m->n_section < SECTIONS_MAX) {
        const char *name;
        Elf_Data *data;
        if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
            continue;
        if (sh.sh_flags & SHF_EXECINSTR)
            status = add_section(r, scn, &sh, blocks);
        name = elf_strptr(elf, r->strings, sh.sh_name);
        if (!name || sh.sh_type != SHT_PROGBITS)
            continue;
        data = elf_rawdata(scn, NULL);
        if (data && data->d_buf && !strcmp(name, ".modinfo"))
            name_by_info(m, data);
        else if (data && data->d_buf && !strcmp(name, ".gnu.linkonce.this_module"))
            name_by_struct(m, data);
    }
    return status;
}

static int add_candidate(struct reader *r, const GElf_Sym *sym, const char *name)
{
    unsigned bind = GELF_ST_BIND(sym->st_info), type = GELF_ST_TYPE(sym->st_info);
    struct gt_kernel_symbol *c;

    if ((type != STT_FUNC && type != STT_NOTYPE) || !name || !name[0] || name[0] == '.')
        return GT_OK;
    if (!GT_ARRAY_GROW(&r->candidate, &r->cap, r->n + 1))
        return GT_E_NOMEM;
    c = &r->candidate[r->n];
    *c = (struct gt_kernel_symbol){.addr = sym->st_value,
                                   .size = type == STT_FUNC ? sym->st_size : 0,
                                   .type = bind == STB_LOCAL  ? 't'
                                           : bind == STB_WEAK ? 'W'
                                                              : 'T'};
    c->name = gt_kernel_names_add(&r->m->priv->names, name, strlen(name));
    if (!c->name)
        return GT_E_NOMEM;
    r->n++;
    return GT_OK;
}

/* Chooses among the candidates of section `number` and appends them to sym[]. */
static int add_functions(struct reader *r, unsigned number)
{
    struct gt_kernel_ko *m = r->m;
    const struct gt_kernel ranges = {.text_hi = m->section[number].size};
    struct gt_kernel_ko_symbol *sym;
    size_t n;

    if (r->n == 0)
        return GT_OK;
    if (!gt_kernel_sort(r->candidate, r->n))
        return GT_E_NOMEM;
    n = gt_kernel_choose(r->candidate, r->n, &ranges);
    sym = reallocarray(m->sym, m->n_sym + n + 1, sizeof *sym);
    if (!sym)
        return GT_E_NOMEM;
    m->sym = sym;
    for (size_t i = 0; i < n; i++) {
        const struct gt_kernel_symbol *c = &r->candidate[i];
        m->sym[m->n_sym++] =
            (struct gt_kernel_ko_symbol){c->addr, c->size, c->name, c->type, number};
    }
    return GT_OK;
}

static int read_symbols(struct reader *r)
{
    struct gt_kernel_ko *m = r->m;
    Elf *elf = m->priv->elf;
    Elf_Scn *scn = NULL;
    Elf_Data *data;
    GElf_Shdr sh;
    GElf_Sym sym;
    int status = GT_OK;

    do {
        scn = elf_nextscn(elf, scn);
    } while (scn && (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB));
    data = scn ? elf_getdata(scn, NULL) : NULL;
    for (unsigned s = 0; data && data->d_buf && s < m->n_section && status == GT_OK; s++) {
        r->n = 0;
        for (int i = 1; status == GT_OK && i < SYMBOLS_MAX && gelf_getsym(data, i, &sym); i++)
            if (sym.st_shndx == r->number[s] && sym.st_value < m->section[s].size)
                status = add_candidate(r, &sym, elf_strptr(elf, sh.sh_link, sym.st_name));
        if (status == GT_OK)
            status = add_functions(r, s);
    }
    return status;
}

static int read_module(struct gt_kernel_ko *m, struct gt_error *err)
{
    struct reader r = {.m = m};
    int status = read_file(m, err);

    if (status == GT_OK)
        status = open_elf(m, err);
    if (status != GT_OK)
        return status;
    status = read_sections(&r);
    finish_name(m);
    if (status == GT_OK)
        status = read_symbols(&r);
    if (status == GT_OK)
        status = gt_kernel_module_mark(m, m->priv->elf, r.number);
    free(r.candidate);
    if (status != GT_OK)
        gt_error_set(err, status, "%s: %s", m->path, gt_error_status_text(status));
    return status;
}

int gt_kernel_module_btf(const struct gt_kernel_ko *m, struct gt_kernel_btf *b)
{
    Elf_Scn *scn = NULL;
    size_t strings;
    GElf_Shdr sh;

    *b = (struct gt_kernel_btf){0};
    if (elf_getshdrstrndx(m->priv->elf, &strings) != 0)
        return GT_OK;
    while ((scn = elf_nextscn(m->priv->elf, scn))) {
        const char *name =
            gelf_getshdr(scn, &sh) ? elf_strptr(m->priv->elf, strings, sh.sh_name) : NULL;
        Elf_Data *data = name && !strcmp(name, ".BTF") ? elf_rawdata(scn, NULL) : NULL;
        if (data && data->d_buf && gt_kernel_btf_header(b, data->d_buf, data->d_size))
            return gt_kernel_btf_index(b);
    }
    *b = (struct gt_kernel_btf){0};
    return GT_OK;
}

int gt_kernel_module_load(const char *path, struct gt_kernel_ko **out, struct gt_error *err)
{
    struct gt_kernel_ko *m = calloc(1, sizeof *m);
    int status;

    *out = NULL;
    if (m) {
        m->path = strdup(path);
        m->priv = calloc(1, sizeof *m->priv);
    }
    if (!m || !m->path || !m->priv) {
        gt_kernel_module_free(m);
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    }
    status = read_module(m, err);
    if (status != GT_OK) {
        gt_kernel_module_free(m);
        return status;
    }
    *out = m;
    return GT_OK;
}

void gt_kernel_module_free(struct gt_kernel_ko *m)
{
    if (!m)
        return;
    if (m->priv) {
        if (m->priv->elf)
            elf_end(m->priv->elf);
        gt_kernel_names_free(&m->priv->names);
        free(m->priv->data);
        free(m->priv);
    }
    for (size_t i = 0; i < m->n_section; i++)
        free(m->section[i].patched);
    free(m->section);
    free(m->sym);
    free(m->path);
    free(m);
}
