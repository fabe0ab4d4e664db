/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes of disassembly and registers: see text.h. */
#include "etrace/plugin/text.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { HEADERS = 64, MAX_TEXT = GT_ETRACE_BUFFER / 2, MAX_CODE = 1024 * 16 };

/* The note's last line ends with a newline. */
static void end_note(GString *text)
{
    g_string_truncate(text, MAX_TEXT - 1);
    if (text->len == 0 || text->str[text->len - 1] != '\n')
        g_string_append_c(text, '\n');
}

static void put_note(struct gt_bytes_writer *w, uint16_t unit, uint64_t time, const GString *text)
{
    gt_etrace_put_note(
        w, unit,
        &(struct gt_etrace_note){.time = time, .text = text->str, .len = (uint32_t)text->len});
}

/* A line for each instruction: address, bytes, text. */
static void disassemble(struct gt_host_block *block, const struct gt_etrace_block *b, uint8_t *code,
                        size_t *size, GString *text)
{
    *size = 0;
    for (uint32_t i = 0; i < b->insns; i++) {
        struct gt_host_insn *insn = gt_host_block_insn(block, i);
        uint8_t *at = code + *size;
        size_t n = gt_host_insn_bytes(insn, at, 16);
        *size += n;
        char *words = gt_host_insn_text(insn);
        g_string_append_printf(text, "0x%" PRIx64 ": ", gt_host_insn_pc(insn));
        for (size_t k = 0; k < n; k++)
            g_string_append_printf(text, "%02x", at[k]);
        g_string_append_printf(text, "  %s\n", words ? words : "?");
        g_free(words);
    }
    end_note(text);
}

void gt_etrace_put_code(struct gt_etrace *e, struct gt_host_block *block,
                        const struct gt_etrace_block *b)
{
    uint8_t code[MAX_CODE];
    size_t size;
    GString *text = g_string_new(NULL);
    disassemble(block, b, code, &size, text);
    uint64_t physical = b->start;
    if (e->host.system && !gt_host_physical(b->start, &physical))
        physical = 0;
    const struct gt_etrace_vcpu *v = gt_etrace_current_vcpu(e);
    uint64_t time = gt_etrace_time_at(e, v, 0);
    struct gt_etrace_buffer *buf =
        gt_etrace_put_begin(e, NULL, HEADERS + size + HEADERS + text->len);
    if (buf) {
        gt_etrace_put_tb(&buf->w, v->unit,
                         &(struct gt_etrace_tb){.vaddr = b->start,
                                                .paddr = physical,
                                                .guest_code = code,
                                                .guest_len = (uint32_t)size});
        put_note(&buf->w, v->unit, time, text);
        gt_etrace_put_end(buf);
    }
    g_string_free(text, TRUE);
}

void gt_etrace_on_block_registers(unsigned vcpu, void *data)
{
    struct gt_etrace *e = gt_etrace_loaded();
    const struct gt_etrace_block *b = data;
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (!v)
        return;
    GString *text = g_string_new(NULL);
    g_string_printf(text, "pc=0x%" PRIx64, b->start);
    const char *name;
    uint64_t value;
    for (size_t i = 0; (name = gt_host_register_name(i)); i++)
        if (strcmp(name, "pc") != 0 && gt_host_register_value(i, &value))
            g_string_append_printf(text, " %s=0x%" PRIx64, name, value);
    end_note(text);
    uint64_t time = e->host_clock ? gt_base_clock_monotonic() : v->time;
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, v, HEADERS + text->len);
    if (buf) {
        put_note(&buf->w, v->unit, time, text);
        gt_etrace_put_end(buf);
    }
    g_string_free(text, TRUE);
    gt_etrace_leave(v);
}
