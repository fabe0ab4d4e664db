/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a unit: see line_program.h. The machine is DWARF's: registers address, op_index, file
 * and line; special opcodes advance both. */
#include "guest/elf/line_program.h"

#include "base/array.h"
#include "guest/elf/leb128.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the header ----------------------------------------------------------------------------- */

static bool add_name(struct gt_elf_line_name **list, size_t *n, size_t *room,
                     struct gt_elf_line_name name)
{
    if (!GT_ARRAY_GROW(list, room, *n + 1))
        return false;
    (*list)[(*n)++] = name;
    return true;
}

static bool add_dir(struct gt_elf_line_program *p, struct gt_elf_line_name name)
{
    return add_name(&p->dir, &p->n_dirs, &p->room_dirs, name);
}

static bool add_file(struct gt_elf_line_program *p, struct gt_elf_line_name name)
{
    return add_name(&p->file, &p->n_files, &p->room_files, name);
}

/* DWARF 2 to 4: texts until an empty one. The compiler's directory has number 0 there, too, but is
 * not in the list; files count from 1. */
static int read_old_names(struct gt_elf_line_program *p, struct gt_bytes_reader *r)
{
    struct gt_elf_line_name name = {0};
    if (!add_dir(p, name) || !add_file(p, name))
        return GT_E_NOMEM;
    while ((name.text = gt_elf_read_text(r)) && *name.text)
        if (!add_dir(p, name))
            return GT_E_NOMEM;
    while ((name.text = gt_elf_read_text(r)) && *name.text) {
        name.dir = gt_elf_read_uleb(r);
        gt_elf_read_uleb(r);
        gt_elf_read_uleb(r);
        if (!add_file(p, name))
            return GT_E_NOMEM;
    }
    return r->short_of ? GT_E_FORMAT : 0;
}

static uint64_t read_offset(struct gt_bytes_reader *r, bool wide)
{
    return wide ? gt_bytes_read_u64(r) : gt_bytes_read_u32(r);
}

/* One value: a number, or where a text is. False: its size is not known. */
static bool read_value(struct gt_bytes_reader *r, uint64_t form, bool wide,
                       struct gt_elf_line_name *text, uint64_t *number)
{
    switch (form) {
    case DW_FORM_string:
        text->text = gt_elf_read_text(r);
        return true;
    case DW_FORM_line_strp:
    case DW_FORM_strp:
        text->form = (uint8_t)form;
        text->strings = read_offset(r, wide);
        return true;
    case DW_FORM_udata:
    case DW_FORM_strx:
        *number = gt_elf_read_uleb(r);
        return true;
    case DW_FORM_data1:
    case DW_FORM_strx1:
        *number = gt_bytes_read_u8(r);
        return true;
    case DW_FORM_data2:
    case DW_FORM_strx2:
        *number = gt_bytes_read_u16(r);
        return true;
    case DW_FORM_data4:
    case DW_FORM_strx4:
        *number = gt_bytes_read_u32(r);
        return true;
    case DW_FORM_data8:
        *number = gt_bytes_read_u64(r);
        return true;
    case DW_FORM_data16:
        return gt_bytes_read_bytes(r, 16) != NULL;
    case DW_FORM_block: {
        uint64_t n = gt_elf_read_uleb(r);
        return n <= r->left && (n == 0 || gt_bytes_read_bytes(r, (size_t)n));
    }
    default:
        return false;
    }
}

/* DWARF 5: a description of an entry's values, then the entries. */
static int read_names(struct gt_elf_line_program *p, struct gt_bytes_reader *r, bool wide,
                      bool (*add)(struct gt_elf_line_program *, struct gt_elf_line_name))
{
    struct {
        uint64_t content, form;
    } value[255];
    unsigned n_values = gt_bytes_read_u8(r);
    for (unsigned i = 0; i < n_values; i++) {
        value[i].content = gt_elf_read_uleb(r);
        value[i].form = gt_elf_read_uleb(r);
    }
    uint64_t n = gt_elf_read_uleb(r);
    if (r->short_of || n > r->left || (n && !n_values)) /* each has a byte at least */
        return GT_E_FORMAT;
    for (; n > 0; n--) {
        struct gt_elf_line_name name = {0};
        for (unsigned i = 0; i < n_values; i++) {
            struct gt_elf_line_name text = {0};
            uint64_t number = 0;
            if (!read_value(r, value[i].form, wide, &text, &number) || r->short_of)
                return GT_E_FORMAT;
            if (value[i].content == DW_LNCT_directory_index)
                name.dir = number;
            else if (value[i].content == DW_LNCT_path)
                name.text = text.text, name.form = text.form, name.strings = text.strings;
        }
        if (!add(p, name))
            return GT_E_NOMEM;
    }
    return 0;
}

static bool read_fields(struct gt_elf_line_program *p, struct gt_bytes_reader *r)
{
    p->least_insn = gt_bytes_read_u8(r);
    p->most_ops = p->version >= 4 ? gt_bytes_read_u8(r) : 1;
    gt_bytes_read_u8(r); /* whether rows are statements */
    p->line_base = (int8_t)gt_bytes_read_u8(r);
    p->line_range = gt_bytes_read_u8(r);
    p->opcode_base = gt_bytes_read_u8(r);
    if (!p->line_range || !p->opcode_base)
        return false;
    p->operands = gt_bytes_read_bytes(r, p->opcode_base - 1u);
    return !r->short_of;
}

int gt_elf_line_program_begin(struct gt_elf_line_program *p, const uint8_t *bytes, size_t n,
                              bool wide)
{
    struct gt_bytes_reader r, head;
    gt_bytes_reader_init(&r, bytes, n);
    p->n_dirs = p->n_files = 0;
    p->version = gt_bytes_read_u16(&r);
    if (p->version < 2 || p->version > 5)
        return GT_E_UNSUPPORTED;
    if (p->version == 5)
        gt_bytes_read_u16(&r); /* sizes of addresses and segments */
    uint64_t length = read_offset(&r, wide);
    const uint8_t *start = r.at;
    if (r.short_of || length > r.left)
        return GT_E_FORMAT;
    gt_bytes_reader_init(&head, start, (size_t)length);
    gt_bytes_reader_init(&p->program, start + length, r.left - (size_t)length);
    if (!read_fields(p, &head))
        return GT_E_FORMAT;
    if (p->version < 5)
        return read_old_names(p, &head);
    int status = read_names(p, &head, wide, add_dir);
    return status == 0 ? read_names(p, &head, wide, add_file) : status;
}

static bool text_of(const struct gt_elf_line_program *p, const struct gt_elf_line_name *name,
                    char text[GT_DEBUG_TEXT_MAX])
{
    if (name->text)
        return (size_t)snprintf(text, GT_DEBUG_TEXT_MAX, "%s", name->text) < GT_DEBUG_TEXT_MAX;
    if (!name->form)
        return false;
    return gt_elf_debug_section_text(name->form == DW_FORM_strp ? &p->strings : &p->line_strings,
                                     name->strings, text);
}

/* Puts the directory before the path, if that is relative. False: there is no room. */
static bool prepend(char path[GT_DEBUG_TEXT_MAX], const char *dir)
{
    size_t n = strlen(dir), length = strlen(path);
    if (*path == '/' || !n)
        return true;
    if (n + 1 + length >= GT_DEBUG_TEXT_MAX)
        return false;
    memmove(path + n + 1, path, length + 1);
    memcpy(path, dir, n);
    path[n] = '/';
    return true;
}

bool gt_elf_line_program_path(const struct gt_elf_line_program *p, uint64_t file,
                              const char *comp_dir, char path[GT_DEBUG_TEXT_MAX])
{
    char dir[GT_DEBUG_TEXT_MAX];
    if (file >= p->n_files || !text_of(p, &p->file[file], path) || !*path)
        return false;
    uint64_t number = p->file[file].dir;
    if (number && number < p->n_dirs && text_of(p, &p->dir[number], dir) && !prepend(path, dir))
        return false;
    if (p->version >= 5 && p->n_dirs && text_of(p, &p->dir[0], dir) && !prepend(path, dir))
        return false;
    return !comp_dir || prepend(path, comp_dir);
}

void gt_elf_line_program_finish(struct gt_elf_line_program *p)
{
    free(p->dir);
    free(p->file);
    *p = (struct gt_elf_line_program){0};
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct machine {
    const struct gt_elf_line_program *program;
    void (*span)(void *self, const struct gt_elf_line_span *s);
    void *self;
    uint64_t address, file, sequence;
    uint32_t op_index, line;
    bool open;                    /* a row waits for its end */
    struct gt_elf_line_span last; /* that row */
};

static void reset(struct machine *m)
{
    m->address = m->op_index = 0;
    m->file = m->line = 1;
    m->open = false;
}

static void advance(struct machine *m, uint64_t operations)
{
    const struct gt_elf_line_program *p = m->program;
    if (p->most_ops <= 1) {
        m->address += operations * p->least_insn;
        return;
    }
    uint64_t all = m->op_index + operations;
    m->address += all / p->most_ops * p->least_insn;
    m->op_index = (uint32_t)(all % p->most_ops);
}

static void end_row(struct machine *m)
{
    m->last.hi = m->address;
    if (m->open && m->last.lo <= m->last.hi)
        m->span(m->self, &m->last);
    m->open = false;
}

static void put_row(struct machine *m)
{
    bool first = !m->open;
    end_row(m);
    if (first)
        m->sequence = m->address;
    m->last = (struct gt_elf_line_span){m->address, 0, m->sequence, m->file, m->line};
    m->open = true;
}

static void run_special(struct machine *m, uint8_t opcode)
{
    const struct gt_elf_line_program *p = m->program;
    uint8_t adjusted = (uint8_t)(opcode - p->opcode_base);
    advance(m, adjusted / p->line_range);
    m->line += (uint32_t)(p->line_base + adjusted % p->line_range);
    put_row(m);
}

static void set_address(struct machine *m, struct gt_bytes_reader r)
{
    m->address = r.left == 8 ? gt_bytes_read_u64(&r) : r.left == 4 ? gt_bytes_read_u32(&r) : 0;
    m->op_index = 0;
}

static void run_extended(struct machine *m, struct gt_bytes_reader *all)
{
    uint64_t n = gt_elf_read_uleb(all);
    struct gt_bytes_reader r;
    const uint8_t *bytes = n <= all->left ? gt_bytes_read_bytes(all, (size_t)n) : NULL;
    if (!bytes) {
        all->left = 0;
        return;
    }
    gt_bytes_reader_init(&r, bytes, (size_t)n);
    switch (n ? gt_bytes_read_u8(&r) : 0) {
    case DW_LNE_end_sequence:
        end_row(m);
        reset(m);
        break;
    case DW_LNE_set_address:
        set_address(m, r);
        break;
    default:
        break;
    }
}

static void run_standard(struct machine *m, struct gt_bytes_reader *r, uint8_t opcode)
{
    const struct gt_elf_line_program *p = m->program;
    switch (opcode) {
    case DW_LNS_copy:
        put_row(m);
        return;
    case DW_LNS_advance_pc:
        advance(m, gt_elf_read_uleb(r));
        return;
    case DW_LNS_advance_line:
        m->line += (uint32_t)gt_elf_read_sleb(r);
        return;
    case DW_LNS_set_file:
        m->file = gt_elf_read_uleb(r);
        return;
    case DW_LNS_const_add_pc:
        advance(m, (uint8_t)(255 - p->opcode_base) / p->line_range);
        return;
    case DW_LNS_fixed_advance_pc:
        m->address += gt_bytes_read_u16(r);
        m->op_index = 0;
        return;
    default:
        for (uint8_t i = 0; i < p->operands[opcode - 1]; i++)
            gt_elf_read_uleb(r);
    }
}

void gt_elf_line_program_run(const struct gt_elf_line_program *p,
                             void (*span)(void *self, const struct gt_elf_line_span *s), void *self)
{
    struct gt_bytes_reader r = p->program;
    struct machine m = {.program = p, .span = span, .self = self};
    reset(&m);
    while (r.left && !r.short_of) {
        uint8_t opcode = gt_bytes_read_u8(&r);
        if (opcode >= p->opcode_base)
            run_special(&m, opcode);
        else if (opcode == 0)
            run_extended(&m, &r);
        else
            run_standard(&m, &r, opcode);
    }
}
