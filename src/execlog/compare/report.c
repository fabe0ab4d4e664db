/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the first difference of a vCPU's lines: see compare.h. */
#include "execlog/compare/compare.h"

#include <inttypes.h>
#include <string.h>

/* ---- lines --------------------------------------------------------------------------------- */

static void put_lines(GString *out, const char *mark, const char *text, size_t n)
{
    const char *end = text + n;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        g_string_append(out, mark);
        g_string_append_len(out, text, stop - text);
        g_string_append_c(out, '\n');
        text = stop + 1;
    }
}

/* The last n whole lines of the same part; the first one may be a rest. */
static void put_before(GString *out, const GString *before, bool from_start, size_t n)
{
    const char *end = before->str + before->len, *at = end;
    while (n && at > before->str) {
        const char *newline = memrchr(before->str, '\n', (size_t)(at - 1 - before->str));
        if (!newline && !from_start)
            break;
        at = newline ? newline + 1 : before->str;
        n--;
    }
    put_lines(out, "  ", at, (size_t)(end - at));
}

/* ---- what differs -------------------------------------------------------------------------- */

/* `VCPU, 0xADDRESS, 0xOPCODE, "DISASSEMBLY"` apart: what stands before the quotes, and after. */
struct line {
    GStrv head, items; /* vCPU, address, opcode; then what comes after the disassembly */
    char *disassembly;
};

static struct line take_apart(const GString *text)
{
    g_autofree char *copy = g_strndup(text->str, strcspn(text->str, "\n"));
    char *open = strchr(copy, '"'), *close = strrchr(copy, '"');
    struct line l = {0};
    if (!open || close == open) {
        l.head = g_strsplit("", ", ", 0);
        l.items = g_strsplit(g_str_has_prefix(copy, ", ") ? copy + 2 : copy, ", ", 0);
        l.disassembly = g_strdup("");
        return l;
    }
    l.disassembly = g_strndup(open + 1, (gsize)(close - open - 1));
    l.items = g_strsplit(g_str_has_prefix(close + 1, ", ") ? close + 3 : close + 1, ", ", 0);
    *open = '\0';
    l.head = g_strsplit(copy, ", ", 0);
    return l;
}

static void clear_line(struct line *l)
{
    g_strfreev(l->head);
    g_strfreev(l->items);
    g_free(l->disassembly);
}

static const char *head_of(const struct line *l, guint i)
{
    return i < g_strv_length(l->head) ? l->head[i] : "";
}

/* The bits by which two numbers after "0x" differ, if they have 64 at most. */
static void put_bits(GString *out, const char *a, const char *b)
{
    const char *x = strstr(a, "0x"), *y = strstr(b, "0x");
    if (!x || !y || strlen(x) > 18 || strlen(y) > 18)
        return;
    uint64_t bits = g_ascii_strtoull(x, NULL, 16) ^ g_ascii_strtoull(y, NULL, 16);
    g_string_append_printf(out, " (bits 0x%" PRIx64 ")", bits);
}

/* Items from..i: which access it is that ends there, from 1. */
static guint access_number(const struct line *l, guint i)
{
    guint n = 0;
    for (guint k = 0; k <= i; k++)
        n += strcmp(l->items[k], "load") == 0 || strcmp(l->items[k], "store") == 0;
    return n;
}

/* Addresses that are a page or more apart, as stacks and libraries of two runs are. */
static void put_hint(GString *out, const char *x, const char *y)
{
    enum { PAGE = 4096, STACK_ALIGN = 16 };
    uint64_t a = g_ascii_strtoull(x, NULL, 0), b = g_ascii_strtoull(y, NULL, 0);
    uint64_t apart = a > b ? a - b : b - a;
    if (apart >= PAGE && apart % STACK_ALIGN == 0)
        g_string_append(out, "A program, its libraries and its stack may lie elsewhere in each run:"
                             " record both with --no-aslr.\n");
}

static void put_item(GString *out, const struct line *a, const struct line *b, guint i)
{
    const char *x = a->items[i], *y = b->items[i];
    if (!x || !y) {
        g_string_append_printf(out, "differs: only %s has \"%s\"\n", x ? "-" : "+", x ? x : y);
        return;
    }
    const char *arrow = strstr(x, " -> ");
    size_t name = arrow ? (size_t)(arrow - x) : 0;
    bool is_register = arrow && strncmp(x, y, name + 4) == 0;
    bool is_address =
        i && (strcmp(a->items[i - 1], "load") == 0 || strcmp(a->items[i - 1], "store") == 0);
    if (is_register)
        g_string_append_printf(out, "differs: register %.*s: %s and %s", (int)name, x, x + name + 4,
                               y + name + 4);
    else if (is_address)
        g_string_append_printf(out, "differs: address of access %u: %s and %s", access_number(a, i),
                               x, y);
    else
        g_string_append_printf(out, "differs: %s and %s", x, y);
    if (is_register || is_address)
        put_bits(out, x, y);
    g_string_append_c(out, '\n');
    if (is_address)
        put_hint(out, x, y);
}

static void put_difference(GString *out, const GString *first, const GString *second)
{
    struct line a = take_apart(first), b = take_apart(second);
    guint i = 0;
    if (strcmp(head_of(&a, 1), head_of(&b, 1)) != 0) {
        g_string_append_printf(out, "differs: the instruction's address: %s and %s\n",
                               head_of(&a, 1), head_of(&b, 1));
        put_hint(out, head_of(&a, 1), head_of(&b, 1));
    } else if (strcmp(head_of(&a, 2), head_of(&b, 2)) != 0) {
        g_string_append_printf(out, "differs: the opcode: %s and %s\n", head_of(&a, 2),
                               head_of(&b, 2));
    } else if (strcmp(a.disassembly, b.disassembly) != 0) {
        g_string_append(out, "differs: the disassembly\n");
    } else {
        while (a.items[i] && b.items[i] && strcmp(a.items[i], b.items[i]) == 0)
            i++;
        if (a.items[i] || b.items[i])
            put_item(out, &a, &b, i);
        else
            g_string_append(out, "differs: the end of the line\n");
    }
    clear_line(&a);
    clear_line(&b);
}

/* ---- registers ----------------------------------------------------------------------------- */

struct registers {
    int64_t vcpu;
    uint64_t until; /* a line of the log */
    GPtrArray *names;
    GHashTable *values; /* name -> value */
};

static void note_registers(struct registers *r, const char *line, size_t n)
{
    g_autofree char *copy = g_strndup(line, n);
    char *close = strrchr(copy, '"'), *at = close ? close : copy;
    while ((at = strstr(at, " -> "))) {
        char *name = at;
        while (name > copy && name[-1] != ' ')
            name--;
        char *key = g_strndup(name, (gsize)(at - name));
        at += 4;
        if (!g_hash_table_contains(r->values, key))
            g_ptr_array_add(r->names, g_strdup(key));
        g_hash_table_replace(r->values, key, g_strndup(at, strcspn(at, ",")));
    }
}

static int look_for_registers(void *user, const char *text, size_t n, uint64_t line)
{
    struct registers *r = user;
    const char *end = text + n;
    g_autofree char *prefix = g_strdup_printf("%" PRId64 ", ", r->vcpu);
    size_t len = strlen(prefix);
    for (; text && text < end && line < r->until && memmem(text, (size_t)(end - text), " -> ", 4);
         line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)((newline ? newline : end) - text);
        if (size > len && memcmp(text, prefix, len) == 0 && memmem(text, size, " -> ", 4))
            note_registers(r, text, size);
        text += size + 1;
    }
    return line >= r->until;
}

/* What the log says of the vCPU's registers before a line; it is read again for that. */
static void read_registers(struct gt_diff *d, struct registers *r)
{
    struct gt_diff_source s = {
        .in = {.fd = -1, .listener.fd = -1}, .lines = look_for_registers, .user = r};
    struct gt_error err;
    int status = gt_diff_source_open(&s, d->notices, d->names[0], &err);
    if (status == 0)
        status = gt_diff_source_begin(&s, false, &err);
    while (status == 0 && !s.ended && s.line < r->until)
        status = gt_diff_source_step(&s, &err);
    gt_diff_source_close(&s);
}

static void put_registers(struct gt_diff *d, const struct gt_diff_sequence *q, GString *out)
{
    struct registers r = {.vcpu = q->vcpu, .until = gt_diff_sequence_line(q, 0, 0)};
    if (q->vcpu < 0 || !g_file_test(d->names[0], G_FILE_TEST_IS_REGULAR))
        return;
    r.until = r.until ? r.until : d->side[0].line;
    r.names = g_ptr_array_new_with_free_func(g_free);
    r.values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    read_registers(d, &r);
    for (guint i = 0; i < r.names->len; i++)
        g_string_append_printf(out, "%s%s = %s",
                               i ? ", " : "registers before: ", (char *)r.names->pdata[i],
                               (char *)g_hash_table_lookup(r.values, r.names->pdata[i]));
    if (r.names->len)
        g_string_append_c(out, '\n');
    g_hash_table_destroy(r.values);
    g_ptr_array_free(r.names, TRUE);
}

/* ---- the report ---------------------------------------------------------------------------- */

static void put_place(const struct gt_diff *d, const struct gt_diff_sequence *q, GString *out)
{
    if (q->vcpu < 0)
        g_string_append(out, "lines of no vCPU: the logs differ:");
    else
        g_string_append_printf(out, "vCPU %" PRId64 ": the logs differ:", q->vcpu);
    for (int i = 0; i < 2; i++) {
        uint64_t line = gt_diff_sequence_line(q, i, 0);
        if (line)
            g_string_append_printf(out, "%s %s line %" PRIu64, i ? "," : "", d->names[i], line);
        else
            g_string_append_printf(out, "%s %s has no more", i ? "," : "", d->names[i]);
    }
    g_string_append_c(out, '\n');
}

static void give(struct gt_diff *d, struct gt_diff_sequence *q)
{
    struct gt_diff_found found = {.vcpu = q->vcpu};
    char *text[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        size_t n;
        GString *line = gt_diff_sequence_next(q, i, 1, &n);
        found.line[i] = gt_diff_sequence_line(q, i, 0);
        if (n)
            found.text[i] = text[i] = g_strndup(line->str, strcspn(line->str, "\n"));
        g_string_free(line, TRUE);
    }
    d->found(d->found_self, &found);
    g_free(text[0]);
    g_free(text[1]);
}

void gt_diff_report(struct gt_diff *d, struct gt_diff_sequence *q, GString *out)
{
    if (d->found) {
        give(d, q);
        return;
    }
    size_t n[2];
    bool from_start = !q->events && q->before->len < q->keep;
    gt_diff_skipped_lines(d, q);
    put_place(d, q, out);
    put_before(out, q->before, from_start, d->context);
    GString *lines[2];
    for (int i = 0; i < 2; i++) {
        lines[i] = gt_diff_sequence_next(q, i, d->context + 1, &n[i]);
        put_lines(out, i ? "+ " : "- ", lines[i]->str, lines[i]->len);
        if (n[i] == 0)
            g_string_append(out, i ? "+ (no more lines)\n" : "- (no more lines)\n");
    }
    if (n[0] && n[1])
        put_difference(out, lines[0], lines[1]);
    gt_diff_put_again(d, q, out);
    put_registers(d, q, out);
    for (int i = 0; i < 2; i++)
        g_string_free(lines[i], TRUE);
}
