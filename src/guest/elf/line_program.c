/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a unit: see line_program.h. The machine is DWARF's: registers address, op_index, file
 * and line; special opcodes advance both. */
#include "guest/elf/line_program.h"
#include "guest/elf/leb128.h"

#include <dwarf.h>
#include <stdlib.h>

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
