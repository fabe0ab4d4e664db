/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories of units: see comp_dirs.h. */
#include "guest/elf/comp_dirs.h"

#include "base/array.h"
#include "base/search.h"
#include "guest/elf/leb128.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_MAX = 4096, ABBREVIATIONS_MAX = 65536 }; /* bytes that are looked at */

struct sections {
    struct gt_elf_debug_section info, abbreviations, strings, line_strings;
    uint8_t abbreviation[ABBREVIATIONS_MAX];
};

/* A unit's header. */
struct unit {
    uint64_t next, abbreviations;
    uint16_t version;
    uint8_t address_size;
    bool wide;
};

struct value {
    uint64_t number;
    const char *text; /* DW_FORM_string */
};

static uint64_t read_offset(struct gt_bytes_reader *r, bool wide)
{
    return wide ? gt_bytes_read_u64(r) : gt_bytes_read_u32(r);
}

static void skip(struct gt_bytes_reader *r, uint64_t n)
{
    if (n > r->left)
        r->short_of = true;
    else if (n)
        gt_bytes_read_bytes(r, (size_t)n);
}

static bool read_header(struct gt_bytes_reader *r, uint64_t at, struct unit *u)
{
    uint8_t type = DW_UT_compile;
    uint64_t length = gt_bytes_read_u32(r);
    u->wide = length == UINT32_MAX;
    if (u->wide)
        length = gt_bytes_read_u64(r);
    uint64_t head = u->wide ? 12 : 4;
    if (r->short_of || length > UINT64_MAX - at - head)
        return false;
    u->next = at + head + length;
    u->version = gt_bytes_read_u16(r);
    if (u->version >= 5) {
        type = gt_bytes_read_u8(r);
        u->address_size = gt_bytes_read_u8(r);
    }
    u->abbreviations = read_offset(r, u->wide);
    if (u->version < 5)
        u->address_size = gt_bytes_read_u8(r);
    if (type == DW_UT_skeleton)
        gt_bytes_read_u64(r);
    return true;
}

/* Values that are not needed here. False: the form is not known, and with it where the next
 * attribute is. */
static bool skip_form(struct gt_bytes_reader *r, const struct unit *u, uint64_t form)
{
    switch (form) {
    case DW_FORM_addr:
        skip(r, u->address_size);
        return true;
    case DW_FORM_data16:
        skip(r, 16);
        return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        skip(r, gt_elf_read_uleb(r));
        return true;
    case DW_FORM_block1:
        skip(r, gt_bytes_read_u8(r));
        return true;
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return true;
    default:
        return false;
    }
}

/* False: as skip_form. */
static bool read_form(struct gt_bytes_reader *r, const struct unit *u, uint64_t form,
                      struct value *v)
{
    *v = (struct value){0};
    switch (form) {
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        v->number = gt_bytes_read_u8(r);
        return true;
    case DW_FORM_data2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        v->number = gt_bytes_read_u16(r);
        return true;
    case DW_FORM_data4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
        v->number = gt_bytes_read_u32(r);
        return true;
    case DW_FORM_data8:
        v->number = gt_bytes_read_u64(r);
        return true;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_str_index:
    case DW_FORM_GNU_addr_index:
        v->number = gt_elf_read_uleb(r);
        return true;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
        v->number = read_offset(r, u->wide);
        return true;
    case DW_FORM_string:
        v->text = gt_elf_read_text(r);
        return true;
    default:
        return skip_form(r, u, form);
    }
}

/* Goes to the attributes of the abbreviation. */
static bool find_abbreviation(struct gt_bytes_reader *a, uint64_t wanted)
{
    for (;;) {
        uint64_t code = gt_elf_read_uleb(a), name, form;
        gt_elf_read_uleb(a); /* tag */
        gt_bytes_read_u8(a);
        if (!code || a->short_of)
            return false;
        if (code == wanted)
            return true;
        do {
            name = gt_elf_read_uleb(a);
            form = gt_elf_read_uleb(a);
            if (form == DW_FORM_implicit_const)
                gt_elf_read_sleb(a);
        } while ((name || form) && !a->short_of);
    }
}

/* False: *text does not hold it. */
static bool text_of(const struct sections *s, uint64_t form, const struct value *v,
                    char text[GT_DEBUG_TEXT_MAX])
{
    if (form == DW_FORM_strp)
        return gt_elf_debug_section_text(&s->strings, v->number, text);
    if (form == DW_FORM_line_strp)
        return gt_elf_debug_section_text(&s->line_strings, v->number, text);
    size_t n = form == DW_FORM_string && v->text ? strlen(v->text) : GT_DEBUG_TEXT_MAX;
    if (n >= GT_DEBUG_TEXT_MAX)
        return false;
    memcpy(text, v->text, n + 1);
    return true;
}

/* The first entry of a unit. False: it says nothing of lines. */
static bool read_entry(struct sections *s, const struct unit *u, struct gt_bytes_reader *r,
                       uint64_t *lines, char dir[GT_DEBUG_TEXT_MAX])
{
    struct gt_bytes_reader a;
    bool found = false;
    size_t n = gt_elf_debug_section_copy(&s->abbreviations, u->abbreviations, s->abbreviation,
                                         ABBREVIATIONS_MAX);
    gt_bytes_reader_init(&a, s->abbreviation, n);
    *dir = '\0';
    if (!find_abbreviation(&a, gt_elf_read_uleb(r)))
        return false;
    for (;;) {
        uint64_t name = gt_elf_read_uleb(&a), form = gt_elf_read_uleb(&a);
        struct value v;
        if (form == DW_FORM_implicit_const)
            gt_elf_read_sleb(&a);
        if ((!name && !form) || a.short_of || !read_form(r, u, form, &v) || r->short_of)
            return found;
        if (name == DW_AT_stmt_list) {
            *lines = v.number;
            found = true;
        } else if (name == DW_AT_comp_dir && !text_of(s, form, &v, dir)) {
            *dir = '\0';
        }
    }
}

static int add(struct gt_elf_comp_dirs *d, uint64_t lines, const char *dir)
{
    if (!GT_ARRAY_GROW(&d->dir, &d->room, d->n + 1))
        return GT_E_NOMEM;
    char *copy = strdup(dir);
    if (!copy)
        return GT_E_NOMEM;
    d->dir[d->n++] = (struct gt_elf_comp_dir){lines, copy};
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct gt_elf_comp_dir *x = a, *y = b;
    return x->lines < y->lines ? -1 : x->lines > y->lines;
}

int gt_elf_comp_dirs_read(const struct gt_elf *e, struct gt_elf_comp_dirs *out)
{
    struct sections *s = malloc(sizeof *s);
    int status = s ? 0 : GT_E_NOMEM;
    *out = (struct gt_elf_comp_dirs){0};
    if (!s)
        return status;
    gt_elf_debug_section_find(e, ".debug_info", &s->info);
    gt_elf_debug_section_find(e, ".debug_abbrev", &s->abbreviations);
    gt_elf_debug_section_find(e, ".debug_str", &s->strings);
    gt_elf_debug_section_find(e, ".debug_line_str", &s->line_strings);
    struct unit u = {0};
    for (uint64_t at = 0; at < s->info.size && status == 0; at = u.next) {
        uint8_t bytes[ENTRY_MAX];
        char dir[GT_DEBUG_TEXT_MAX];
        struct gt_bytes_reader r;
        uint64_t lines;
        gt_bytes_reader_init(&r, bytes,
                             gt_elf_debug_section_copy(&s->info, at, bytes, sizeof bytes));
        if (!read_header(&r, at, &u) || u.next <= at)
            break;
        if (read_entry(s, &u, &r, &lines, dir) && *dir)
            status = add(out, lines, dir);
    }
    if (out->n)
        qsort(out->dir, out->n, sizeof *out->dir, compare);
    free(s);
    return status;
}

const char *gt_elf_comp_dirs_find(const struct gt_elf_comp_dirs *d, uint64_t lines)
{
    size_t i = GT_SEARCH_BELOW(d->dir, d->n, lines, lines);
    return i < d->n && d->dir[i].lines == lines ? d->dir[i].path : NULL;
}

void gt_elf_comp_dirs_free(struct gt_elf_comp_dirs *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->dir[i].path);
    free(d->dir);
    *d = (struct gt_elf_comp_dirs){0};
}
