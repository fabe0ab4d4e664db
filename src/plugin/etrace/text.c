/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes: the disassembly of code that is translated, registers where blocks begin. */
#include "base/clock.h"
#include "plugin/etrace/etrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEADERS = 64, TEXT_MOST = GT_ETRACE_BUFFER / 2, CODE_MOST = 1024 * 16 };

/* Readers print notes as they are, so the last line of one ends, too. */
static void end_note(GString *text)
{
    g_string_truncate(text, TEXT_MOST - 1);
    if (text->len == 0 || text->str[text->len - 1] != '\n')
        g_string_append_c(text, '\n');
}

static void put_note(struct gt_writer *w, uint16_t unit, uint64_t time, const GString *text)
{
    gt_etrace_put_note(
        w, unit,
        &(struct gt_etrace_note){.time = time, .text = text->str, .len = (uint32_t)text->len});
}

/* A line for each instruction: address, bytes, text. */
static void disassemble(struct gt_block *block, const struct gt_etrace_block *b, uint8_t *code,
                        size_t *size, GString *text)
{
    *size = 0;
    for (uint32_t i = 0; i < b->insns; i++) {
        struct gt_insn_ref *insn = gt_block_insn(block, i);
        uint8_t *at = code + *size;
        size_t n = gt_insn_bytes(insn, at, 16);
        *size += n;
        char *words = gt_insn_text(insn);
        g_string_append_printf(text, "0x%" PRIx64 ": ", gt_insn_pc(insn));
        for (size_t k = 0; k < n; k++)
            g_string_append_printf(text, "%02x", at[k]);
        g_string_append_printf(text, "  %s\n", words ? words : "?");
        g_free(words);
    }
    end_note(text);
}

void gt_etrace_put_code(struct gt_block *block, const struct gt_etrace_block *b)
{
    uint8_t code[CODE_MOST];
    size_t size;
    GString *text = g_string_new(NULL);
    disassemble(block, b, code, &size, text);
    uint64_t physical = b->start;
    if (gt_etrace.host.system && !gt_physical(b->start, &physical))
        physical = 0;
    const struct gt_etrace_vcpu *v = gt_etrace_current();
    uint64_t time = gt_etrace_time_at(v, 0);
    struct gt_writer *w = gt_etrace_put_begin(NULL, HEADERS + size + HEADERS + text->len);
    if (w) {
        gt_etrace_put_tb(w, v->unit,
                         &(struct gt_etrace_tb){.vaddr = b->start,
                                                .paddr = physical,
                                                .guest_code = code,
                                                .guest_len = (uint32_t)size});
        put_note(w, v->unit, time, text);
        gt_etrace_put_end();
    }
    g_string_free(text, TRUE);
}

void gt_etrace_on_block_registers(unsigned vcpu, void *data)
{
    const struct gt_etrace_block *b = data;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    GString *text = g_string_new(NULL);
    g_string_printf(text, "pc=0x%" PRIx64, b->start);
    const char *name;
    uint64_t value;
    for (size_t i = 0; (name = gt_register_name(i)); i++)
        if (strcmp(name, "pc") != 0 && gt_register_value(i, &value))
            g_string_append_printf(text, " %s=0x%" PRIx64, name, value);
    end_note(text);
    uint64_t time = gt_etrace.host_clock ? gt_clock_monotonic() : v->time;
    struct gt_writer *w = gt_etrace_put_begin(v, HEADERS + text->len);
    if (w) {
        put_note(w, v->unit, time, text);
        gt_etrace_put_end();
    }
    g_string_free(text, TRUE);
}
