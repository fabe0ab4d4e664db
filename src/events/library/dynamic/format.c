/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording and formatting events that are declared at run time: see dynamic.h. */
#include "events/library/dynamic/dynamic.h"
#include "events/library/record/simple.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void gt_events_dynamic_record(const struct gt_events_dynamic_event *e,
                              const struct gt_trace_value *value,
                              const struct gt_events_dynamic_source *source)
{
    struct gt_trace_slot slot;
    const struct gt_events_task task = {source->pid, source->tid};
    uint32_t payload = e->event.vcpu ? 8 : 0;
    for (unsigned i = 0; i < e->n_arguments; i++)
        payload += e->argument[i].kind == GT_TRACE_STRING ? 4 + (uint32_t)value[i].number : 8;
    if (!gt_events_simple_begin(&slot, &e->event, payload, source->has_task ? &task : NULL))
        return;
    if (e->event.vcpu)
        gt_trace_put_u64(&slot, source->vcpu);
    for (unsigned i = 0; i < e->n_arguments; i++) {
        if (e->argument[i].kind == GT_TRACE_STRING)
            gt_trace_put_string(&slot, value[i].text, (uint32_t)value[i].number);
        else
            gt_trace_put_u64(&slot, value[i].number);
    }
    gt_trace_simple_end(&slot);
}

/* ---- text ---------------------------------------------------------------------------------- */

struct text {
    char *at, *end;
};

static void put(struct text *t, const char *s, size_t n)
{
    size_t room = (size_t)(t->end - t->at);
    n = n < room ? n : room;
    memcpy(t->at, s, n);
    t->at += n;
}

static void put_repeated(struct text *t, char c, int n)
{
    for (; n > 0; n--)
        put(t, &c, 1);
}

static void put_padded(struct text *t, const struct gt_events_dynamic_part *p, const char *before,
                       int zeros, const char *s, size_t n)
{
    size_t sign = strlen(before);
    int padding = (int)p->width - (int)sign - zeros - (int)(n < 1024 ? n : 1024);
    bool fill = p->zero && !p->left && p->precision < 0;
    if (!p->left && !fill)
        put_repeated(t, ' ', padding);
    put(t, before, sign);
    put_repeated(t, '0', fill ? padding + zeros : zeros);
    put(t, s, n);
    if (p->left)
        put_repeated(t, ' ', padding);
}

static uint64_t narrow(uint64_t v, unsigned bytes, bool is_signed)
{
    if (bytes >= 8)
        return v;
    unsigned shift = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(v << shift) >> shift) : v << shift >> shift;
}

/* As C: what an argument of that size gives under that conversion. */
static void put_number(struct text *t, const struct gt_events_dynamic_part *p,
                       const struct gt_events_dynamic_argument *a, uint64_t v)
{
    char digits[32];
    const char *before = "";
    unsigned bytes = a->size < p->bytes ? a->size : p->bytes;
    bool is_signed = p->conversion == 'd';
    /* a short that is signed becomes an int before %x has it */
    if (!is_signed && a->kind == GT_TRACE_SIGNED && a->size < 4 && p->bytes >= 4)
        v = narrow(narrow(v, a->size, true), p->bytes > 4 ? 8 : 4, false);
    else
        v = narrow(v, bytes, is_signed && (a->kind == GT_TRACE_SIGNED || bytes == p->bytes));
    if (is_signed && (int64_t)v < 0) {
        before = "-";
        v = 0 - v;
    } else if (is_signed) {
        before = p->plus ? "+" : p->blank ? " " : "";
    } else if (p->alternative && v && p->conversion != 'u') {
        before = p->conversion == 'x' ? "0x" : p->conversion == 'X' ? "0X" : "0";
    }
    int n = p->conversion == 'x'   ? snprintf(digits, sizeof digits, "%" PRIx64, v)
            : p->conversion == 'X' ? snprintf(digits, sizeof digits, "%" PRIX64, v)
            : p->conversion == 'o' ? snprintf(digits, sizeof digits, "%" PRIo64, v)
                                   : snprintf(digits, sizeof digits, "%" PRIu64, v);
    int zeros = p->precision > n ? p->precision - n : 0;
    put_padded(t, p, before, zeros, digits, (size_t)n);
}

static void put_pointer(struct text *t, const struct gt_events_dynamic_part *p, uint64_t v)
{
    char digits[32];
    int n = v ? snprintf(digits, sizeof digits, "0x%" PRIx64, v)
              : snprintf(digits, sizeof digits, "(nil)");
    put_padded(t, p, "", 0, digits, (size_t)n);
}

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && c != 127;
}

static void put_string(struct text *t, const struct gt_events_dynamic_part *p,
                       const struct gt_trace_value *v)
{
    char escape[8];
    const char *s = v->text ? v->text : "(null)";
    size_t n = v->text ? (size_t)v->number : strlen(s);
    if (p->precision >= 0 && n > (size_t)p->precision)
        n = (size_t)p->precision;
    int padding = n < p->width ? (int)(p->width - n) : 0;
    put_repeated(t, ' ', p->left ? 0 : padding);
    for (size_t i = 0; i < n; i++) {
        bool plain = is_plain(s[i]);
        size_t m =
            plain ? 1 : (size_t)snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)s[i]);
        put(t, plain ? s + i : escape, m);
    }
    put_repeated(t, ' ', p->left ? padding : 0);
}

static void convert(struct text *t, const struct gt_events_dynamic_part *p,
                    const struct gt_events_dynamic_argument *a, const struct gt_trace_value *v)
{
    char c = (char)v->number;
    switch (p->conversion) {
    case 's':
        put_string(t, p, v);
        return;
    case 'p':
        put_pointer(t, p, v->number);
        return;
    case 'c':
        put_padded(t, p, "", 0, is_plain(c) ? &c : "?", 1);
        return;
    default:
        put_number(t, p, a, v->number);
    }
}

size_t gt_events_dynamic_format(char *out, size_t room, const struct gt_events_dynamic_event *e,
                                const struct gt_trace_value *value,
                                const struct gt_events_dynamic_source *source)
{
    struct text t = {out, out + room - 2};
    char cpu[32];
    put(&t, e->event.name, strlen(e->event.name));
    if (e->n_parts)
        put(&t, " ", 1);
    if (e->event.vcpu)
        put(&t, cpu, (size_t)snprintf(cpu, sizeof cpu, "cpu=%u ", source->vcpu));
    for (unsigned i = 0; i < e->n_parts; i++) {
        const struct gt_events_dynamic_part *p = &e->part[i];
        put(&t, p->text, p->n);
        if (p->conversion)
            convert(&t, p, &e->argument[p->argument], &value[p->argument]);
    }
    *t.at++ = '\n';
    *t.at = '\0';
    return (size_t)(t.at - out);
}
