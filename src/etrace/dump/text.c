/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The items of an etrace stream as text: see text.h. */
#include "etrace/dump/text.h"

#include <elf.h>

static const char *machine_name(uint32_t id)
{
    switch (id) {
    case EM_386:
        return "i386";
    case EM_68K:
        return "m68k";
    case EM_MIPS:
        return "mips";
    case EM_PPC:
        return "ppc";
    case EM_PPC64:
        return "ppc64";
    case EM_S390:
        return "s390x";
    case EM_ARM:
        return "arm";
    case EM_SPARCV9:
        return "sparc64";
    case EM_X86_64:
        return "x86_64";
    case EM_AARCH64:
        return "aarch64";
    case EM_MICROBLAZE:
        return "microblaze";
    case EM_RISCV:
        return "riscv";
    default:
        return NULL;
    }
}

void gt_etrace_dump_arch(struct gt_output *o, const struct gt_etrace_arch *arch)
{
    const char *name = machine_name(arch->guest.id);
    gt_output_text(o, "guest arch=");
    if (name)
        gt_output_text(o, name);
    else
        gt_output_decimal(o, arch->guest.id);
    gt_output_text(o, arch->guest.bits == 32 ? " 32bit" : " 64bit");
    gt_output_text(o, arch->guest.big_endian ? " big-endian\n" : "\n");
}

/* "E7 " and the like: its length; out has room for 8. */
static size_t line_start(char *out, char kind, uint16_t unit)
{
    char digits[5];
    size_t n = 0, at = 0;
    do
        digits[n++] = (char)('0' + unit % 10);
    while (unit /= 10);
    out[at++] = kind;
    while (n)
        out[at++] = digits[--n];
    out[at++] = ' ';
    return at;
}

enum { EXEC_LINE = 8 + 16 + 1 + 16 + 1 + 1 }; /* at most, without the function */

static char *put_range(char *p, uint64_t start, size_t start_len, const struct gt_etrace_entry *e)
{
    p = gt_text_hex_put_digits(p, start) - 8 + start_len;
    p = gt_text_hex_put(p, e->start);
    *p++ = ' ';
    return gt_text_hex_put(p, e->end);
}

void gt_etrace_dump_exec(struct gt_output *o, uint16_t unit, const struct gt_etrace_exec *x,
                         struct gt_etrace_names *names)
{
    char text[8] = "";
    size_t len = line_start(text, 'E', unit);
    uint64_t start;
    memcpy(&start, text, sizeof start);
    start = le64toh(start);
    for (size_t i = 0; i < x->n; i++) {
        const struct gt_etrace_entry e = gt_etrace_entry_at(x, i);
        const struct gt_etrace_name *name = names->n ? gt_etrace_names_at(names, e.start) : NULL;
        size_t name_len = name ? name->len : 0;
        char *p = put_range(gt_output_room(o, EXEC_LINE + name_len), start, len, &e);
        if (name_len) {
            *p++ = ' ';
            memcpy(p, name->name, name_len);
            p += name_len;
        }
        *p++ = '\n';
        gt_output_end(o, p);
    }
}

void gt_etrace_dump_mem(struct gt_output *o, uint16_t unit, const struct gt_etrace_mem *mem)
{
    char *p = gt_output_room(o, 8);
    gt_output_end(o, p + line_start(p, 'M', unit));
    gt_output_decimal(o, mem->time);
    p = gt_output_room(o, 3 + 16 + 1 + 16 + 1);
    *p++ = ' ';
    *p++ = mem->write ? 'w' : 'r';
    *p++ = ' ';
    p = gt_text_hex_put(p, mem->paddr);
    *p++ = ' ';
    p = gt_text_hex_put(p, mem->value);
    *p++ = '\n';
    gt_output_end(o, p);
}

void gt_etrace_dump_event(struct gt_output *o, const struct gt_etrace_event *event)
{
    gt_output_text(o, "EV ");
    gt_output_decimal(o, event->time);
    gt_output_text(o, " ");
    gt_output_decimal(o, event->unit);
    gt_output_text(o, " ");
    gt_output_clean(o, event->device, strlen(event->device));
    gt_output_text(o, ".");
    gt_output_clean(o, event->name, strlen(event->name));
    gt_output_text(o, " ");
    gt_output_decimal(o, event->value);
    gt_output_text(o, "\n");
}
