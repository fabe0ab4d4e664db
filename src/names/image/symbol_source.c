/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files with functions, and where they ran: see symbol_source.h. */
#include "names/image/symbol_source.h"

#include "base/number.h"
#include "base/page.h"
#include "base/search.h"
#include "guest/elf/file.h"
#include "names/image/program.h"

#include <elf.h>
#include <gelf.h>
#include <glib.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MAX (UINT64_C(16) << 20) /* of a kernel image, before _stext */

void gt_image_symbol_source_split(const char *argument, char **path, bool *has_offset,
                                  uint64_t *offset)
{
    const char *colon = strrchr(argument, ':');
    *offset = 0;
    *has_offset = colon && gt_text_number_parse_signed(colon + 1, offset) == 0;
    *path = *has_offset ? g_strndup(argument, (gsize)(colon - argument)) : g_strdup(argument);
}

int gt_image_symbol_source_fits(const char *path, uint64_t lo, uint64_t hi, uint64_t offset,
                                struct gt_error *err)
{
    uint64_t start = (lo + offset) & GT_UFTRACE_ADDR_MASK;
    if (hi - lo > GT_UFTRACE_ADDR_MASK - start)
        return gt_error_set(err, GT_E_RANGE,
                            "%s: its %" PRIu64 " bytes of code do not fit at 0x%" PRIx64, path,
                            hi - lo, lo + offset);
    return 0;
}

bool gt_image_symbol_source_given(const struct gt_image_symbol_source *source, size_t n,
                                  const char *file)
{
    for (size_t i = 0; i < n; i++)
        if (source[i].part[0].has_offset && strcmp(source[i].file, file) == 0)
            return true;
    return false;
}

/* ---- parts --------------------------------------------------------------------------------- */

static struct gt_image_source_part *add_part(struct gt_image_symbol_source *s, const char *path,
                                             uint64_t lo, uint64_t hi, size_t most)
{
    s->part = g_renew(struct gt_image_source_part, s->part, s->n_parts + 1);
    struct gt_image_source_part *p = &s->part[s->n_parts++];
    *p = (struct gt_image_source_part){.lo = gt_base_page_begin(lo), .hi = hi, .step = GT_PAGE};
    gt_uftrace_path(path, p->path, sizeof p->path);
    p->function = g_new0(struct gt_image_source_function, most + 1);
    return p;
}

/* One that lies elsewhere is left out. */
static void add_function(struct gt_image_source_part *p, const struct gt_image_source_function *f)
{
    if (f->addr < p->lo || f->addr >= p->hi || (p->n && f->addr <= p->function[p->n - 1].addr))
        return;
    p->function[p->n] = *f;
    if (f->size > p->hi - f->addr)
        p->function[p->n].size = p->hi - f->addr;
    p->n++;
}

const struct gt_image_source_function *
gt_image_source_part_find(const struct gt_image_source_part *p, uint64_t addr)
{
    size_t lo = GT_SEARCH_UP_TO(p->function, p->n, addr, addr);
    const struct gt_image_source_function *f = lo ? &p->function[lo - 1] : NULL;
    return f && addr - f->addr < f->size ? f : NULL;
}

static void add_elf_part(struct gt_image_symbol_source *s)
{
    const struct gt_elf_symbols *f = s->symbols;
    struct gt_image_source_part *p =
        add_part(s, s->file, f->load_base + f->text_lo, f->load_base + f->text_hi, f->n_sym);
    p->searched = f->dynamic && f->load_base == 0;
    for (size_t i = 0; i < f->n_sym; i++) {
        const struct gt_elf_symbol *from = &f->sym[i];
        const bool unnamed = from->type == 'e';
        const struct gt_image_source_function to = {
            f->load_base + from->addr,  from->size, from->name,
            unnamed ? 't' : from->type, unnamed,    from->guessed};
        add_function(p, &to);
    }
    s->build_id = f->build_id;
}

static void add_kernel_functions(struct gt_image_source_part *p, const struct gt_kernel_symbol *sym,
                                 size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char type = sym[i].type == 'W' ? 'w' : sym[i].type;
        const struct gt_image_source_function f = {sym[i].addr, sym[i].size, sym[i].name,
                                                   type,        false,       false};
        add_function(p, &f);
    }
}

/* How finely a kernel may be placed: on arm64 its text is aligned to 64 KiB, else to 2 MiB. A text
 * file does not say whose it is. */
static uint64_t kernel_step(const struct gt_kernel *k)
{
    return k->e_machine == EM_AARCH64 || k->e_machine == 0 ? 0x10000 : 0x200000;
}

static void add_kernel_parts(struct gt_image_symbol_source *s)
{
    const struct gt_kernel *k = s->kernel;
    uint64_t lo = k->text_lo, hi = MAX(k->text_hi, k->init_hi);
    if (k->load_lo && k->load_lo < lo && lo - k->load_lo < HEAD_MAX)
        lo = k->load_lo;
    struct gt_image_source_part *p = add_part(s, s->file, lo, hi, k->n_sym);
    p->step = kernel_step(k);
    p->searched = true;
    add_kernel_functions(p, k->sym, k->n_sym);
    for (size_t i = 0; i < k->n_module; i++) {
        const struct gt_kernel_loaded *m = &k->module[i];
        if (m->n_sym == 0)
            continue;
        const struct gt_kernel_symbol *last = &m->sym[m->n_sym - 1];
        g_autofree char *path = g_strconcat(s->file, "/", m->name, NULL);
        p = add_part(s, path, m->sym[0].addr, last->addr + last->size, m->n_sym);
        add_kernel_functions(p, m->sym, m->n_sym);
    }
}

/* The code of a module that stays, or that of its start; each has addresses from 0 on. */
static void add_block(struct gt_image_symbol_source *s, bool init)
{
    const struct gt_kernel_ko *ko = s->ko;
    uint64_t hi = 0;
    for (size_t i = 0; i < ko->n_section; i++)
        if (ko->section[i].init == init && ko->section[i].placed && ko->section[i].size)
            hi = MAX(hi, ko->section[i].at + ko->section[i].size);
    if (hi == 0)
        return;
    g_autofree char *path = g_strconcat(s->file, init ? GT_SOURCE_START : NULL, NULL);
    struct gt_image_source_part *p = add_part(s, path, 0, hi, ko->n_sym);
    p->searched = true;
    p->init = init;
    for (size_t i = 0; i < ko->n_sym; i++) {
        const struct gt_kernel_ko_symbol *from = &ko->sym[i];
        const struct gt_kernel_section *section = &ko->section[from->section];
        const struct gt_image_source_function f = {
            section->at + from->offset,           from->size, from->name,
            from->type == 'W' ? 'w' : from->type, false,      false};
        if (section->init == init && section->placed)
            add_function(p, &f);
    }
}

/* ---- files --------------------------------------------------------------------------------- */

static bool is_kernel(const struct gt_kernel *k)
{
    uint64_t addr;
    return k->banner[0] && gt_kernel_address(k, "_stext", &addr);
}

/* An executable or a shared object: a vmlinux, if it has what only kernels have. */
static int load_elf(struct gt_image_symbol_source *s, struct gt_error *err)
{
    if (gt_kernel_load(s->opened, &s->kernel, NULL) == 0) {
        if (is_kernel(s->kernel))
            return 0;
        gt_kernel_free(s->kernel);
        s->kernel = NULL;
    }
    return gt_elf_symbols_load(s->opened, &s->symbols, err);
}

/* No program: a module, a kernel, or what either is packed in. */
static int load_other(struct gt_image_symbol_source *s, bool is_elf, struct gt_error *err)
{
    if (is_elf)
        return gt_kernel_module_load(s->opened, &s->ko, err);
    struct gt_error why = {0};
    int status = gt_kernel_load(s->opened, &s->kernel, &why);
    if (status == GT_E_FORMAT && gt_kernel_module_load(s->opened, &s->ko, NULL) == 0)
        return 0;
    return status < 0 ? gt_error_set(err, status, "%s", why.text) : 0;
}

static int load(struct gt_image_symbol_source *s, struct gt_error *err)
{
    struct gt_image_program p;
    int status = gt_image_program_inspect(s->opened, &p, err);
    if (status < 0)
        return status;
    bool program = p.is_elf && (p.e_type == ET_EXEC || p.e_type == ET_DYN);
    status = program ? load_elf(s, err) : load_other(s, p.is_elf, err);
    gt_image_program_clear(&p);
    if (status < 0)
        return status;
    s->kind = s->kernel ? GT_SOURCE_KERNEL : s->ko ? GT_SOURCE_MODULE : GT_SOURCE_ELF;
    s->build_id = "";
    if (s->symbols && s->symbols->text_hi > s->symbols->text_lo)
        add_elf_part(s);
    if (s->kernel && MAX(s->kernel->text_hi, s->kernel->init_hi) > s->kernel->text_lo)
        add_kernel_parts(s);
    if (s->ko) {
        add_block(s, false);
        add_block(s, true);
    }
    return s->n_parts ? 0 : gt_error_set(err, GT_E_FORMAT, "%s has no code", s->opened);
}

int gt_image_symbol_source_load(const char *argument, struct gt_image_symbol_source *out,
                                struct gt_error *err)
{
    g_autofree char *path = NULL;
    bool has_offset;
    uint64_t offset;
    *out = (struct gt_image_symbol_source){0};
    gt_image_symbol_source_split(argument, &path, &has_offset, &offset);
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    gt_uftrace_path(absolute, out->file, sizeof out->file);
    out->opened = g_strdup(path);
    int status = load(out, err);
    if (status == 0 && has_offset) {
        struct gt_image_source_part *first = &out->part[0];
        first->has_offset = true;
        first->offset = offset;
        status = gt_image_symbol_source_fits(path, first->lo, first->hi, offset, err);
    }
    if (status < 0)
        gt_image_symbol_source_clear(out);
    return status;
}

void gt_image_symbol_source_clear(struct gt_image_symbol_source *s)
{
    for (size_t i = 0; i < s->n_parts; i++) {
        g_free(s->part[i].function);
        free(s->part[i].order);
    }
    g_free(s->part);
    g_free(s->opened);
    gt_elf_symbols_free(s->symbols);
    gt_kernel_free(s->kernel);
    gt_kernel_module_free(s->ko);
    *s = (struct gt_image_symbol_source){0};
}

#define SIZE_LIMIT (UINT64_C(512) << 20) /* of the segments of a file */

struct segment {
    uint64_t addr, size;
    const uint8_t *data;
};

struct gt_image_code_bytes {
    const struct gt_kernel *kernel; /* or: */
    struct gt_elf elf;
    GArray *segments;
};

static void add_segment(struct gt_image_code_bytes *c, const GElf_Phdr *ph, uint64_t *total)
{
    if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || ph->p_filesz == 0 ||
        ph->p_offset > INT64_MAX || ph->p_filesz > SIZE_LIMIT - *total)
        return;
    const Elf_Data *data =
        elf_getdata_rawchunk(c->elf.elf, (int64_t)ph->p_offset, ph->p_filesz, ELF_T_BYTE);
    if (!data || !data->d_buf || data->d_size > UINT64_MAX - ph->p_vaddr)
        return;
    *total += data->d_size;
    const struct segment s = {ph->p_vaddr, data->d_size, data->d_buf};
    g_array_append_val(c->segments, s);
}

struct gt_image_code_bytes *gt_image_code_bytes_open(const struct gt_image_symbol_source *source)
{
    struct gt_image_code_bytes *c = g_new0(struct gt_image_code_bytes, 1);
    GElf_Phdr ph;
    size_t n;
    uint64_t total = 0;
    c->elf.fd = -1;
    c->kernel = source->kernel;
    if (source->kernel)
        return c;
    if (!source->symbols || gt_elf_open(source->opened, &c->elf, NULL) < 0) {
        g_free(c);
        return NULL;
    }
    c->segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
    if (elf_getphdrnum(c->elf.elf, &n) == 0)
        for (size_t i = 0; i < n && i < INT_MAX && gelf_getphdr(c->elf.elf, (int)i, &ph); i++)
            add_segment(c, &ph, &total);
    return c;
}

const uint8_t *gt_image_code_bytes_at(const struct gt_image_code_bytes *c, uint64_t addr, size_t n)
{
    if (c->kernel)
        return gt_kernel_bytes(c->kernel, addr, n);
    for (guint i = 0; i < c->segments->len; i++) {
        const struct segment *s = &g_array_index(c->segments, struct segment, i);
        if (addr >= s->addr && addr - s->addr < s->size && n <= s->size - (addr - s->addr))
            return s->data + (addr - s->addr);
    }
    return NULL;
}

void gt_image_code_bytes_close(struct gt_image_code_bytes *c)
{
    if (!c)
        return;
    if (c->segments)
        g_array_free(c->segments, TRUE);
    gt_elf_close(&c->elf);
    g_free(c);
}
