/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System.map and copies of /proc/kallsyms: a line a symbol, "address type name" and, in the latter
 * for symbols of modules, a tab and "[module]". The address is 8 or 16 hexadecimal digits.
 *
 * Without root rights, or with kptr_restrict=2, all addresses are zero: that is an error with its
 * own message.
 */
#include "base/cursor.h"
#include "guest/kernel/private.h"

#include <stdlib.h>
#include <string.h>

struct line {
    struct gt_kernel_symbol symbol; /* the name without its end */
    size_t name_size;
    const char *module; /* NULL: the kernel's */
    size_t module_size;
    size_t digits;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool parse_line(const char *at, const char *end, struct line *line)
{
    static const struct line empty;
    struct gt_text_cursor c = {at, (size_t)(end - at)};
    const char *start;

    *line = empty;
    if (gt_text_take_lower_hex(&c, UINT64_MAX, &line->symbol.addr))
        line->digits = (size_t)(c.at - at);
    at = c.at;
    if ((line->digits != 8 && line->digits != 16) || end - at < 4 || *at != ' ' || at[2] != ' ')
        return false;
    line->symbol.type = at[1];
    if (at[1] <= ' ' || at[1] > '~')
        return false;
    start = at += 3;
    while (at < end && !is_blank(*at))
        at++;
    line->symbol.name = (char *)(uintptr_t)start;
    line->name_size = (size_t)(at - start);
    while (at < end && is_blank(*at))
        at++;
    if (at < end && *at == '[' && end[-1] == ']') {
        line->module = at + 1;
        line->module_size = (size_t)(end - 1 - line->module);
    } else if (at < end) {
        return false;
    }
    return line->name_size > 0 && (!line->module || line->module_size > 0);
}

/* The end of the line at at, without its newline. */
static const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    return newline ? newline : end;
}

/* What Debian installs as System.map: one line that says which package has it. */
static const char placeholder[] = "ffffffffffffffff B The real System.map";

bool gt_kernel_is_text(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    struct line line;

    if (size >= sizeof placeholder && !memcmp(data, placeholder, sizeof placeholder - 1))
        return true;
    return size > 0 && parse_line(at, line_end(at, at + (size < 2048 ? size : 2048)), &line);
}

static struct gt_kernel_loaded *module_of(struct gt_kernel *k, const struct line *line)
{
    struct gt_kernel_loaded *m = k->module, *all;
    char *name;

    /* the kernel lists a module's symbols together, most recent last */
    for (size_t i = k->n_module; i > 0; i--)
        if (strlen(m[i - 1].name) == line->module_size &&
            !memcmp(m[i - 1].name, line->module, line->module_size))
            return &m[i - 1];
    if (k->n_module % 64 == 0) {
        all = reallocarray(k->module, k->n_module + 64, sizeof *all);
        if (!all)
            return NULL;
        k->module = all;
    }
    name = gt_kernel_names_add(&k->priv->names, line->module, line->module_size);
    if (!name)
        return NULL;
    k->module[k->n_module] = (struct gt_kernel_loaded){.name = name};
    return &k->module[k->n_module++];
}

static int add_loaded(struct gt_kernel *k, const struct line *line)
{
    struct gt_kernel_loaded *m = module_of(k, line);
    struct gt_kernel_symbol *sym;

    if (!m)
        return GT_E_NOMEM;
    if ((m->n_sym & (m->n_sym - 1)) == 0) { /* full at each power of two */
        size_t cap = m->n_sym ? m->n_sym * 2 : 1;
        if (cap > GT_KERNEL_SYMBOLS_MAX)
            return GT_E_RANGE;
        sym = reallocarray(m->sym, cap, sizeof *sym);
        if (!sym)
            return GT_E_NOMEM;
        m->sym = sym;
    }
    sym = &m->sym[m->n_sym];
    *sym = line->symbol;
    sym->name = gt_kernel_names_add(&k->priv->names, line->symbol.name, line->name_size);
    if (!sym->name)
        return GT_E_NOMEM;
    m->n_sym++;
    return GT_OK;
}

static int by_first(const void *a, const void *b)
{
    const struct gt_kernel_loaded *x = a, *y = b;
    uint64_t ax = x->n_sym ? x->sym[0].addr : UINT64_MAX;
    uint64_t ay = y->n_sym ? y->sym[0].addr : UINT64_MAX;

    return ax < ay ? -1 : ax > ay;
}

static int finish_modules(struct gt_kernel *k)
{
    /* a module's code is not the kernel's: what 'w' would be is decided by the type alone */
    static const struct gt_kernel none;
    size_t kept = 0;

    for (size_t i = 0; i < k->n_module; i++) {
        struct gt_kernel_loaded *m = &k->module[i];
        if (!gt_kernel_sort(m->sym, m->n_sym))
            return GT_E_NOMEM;
        m->n_sym = gt_kernel_choose(m->sym, m->n_sym, &none);
    }
    if (k->n_module)
        qsort(k->module, k->n_module, sizeof *k->module, by_first);
    while (kept < k->n_module && k->module[kept].n_sym)
        kept++;
    for (size_t i = kept; i < k->n_module; i++)
        free(k->module[i].sym);
    k->n_module = kept;
    return GT_OK;
}

int gt_kernel_read_text(struct gt_kernel *k, struct gt_error *err)
{
    const char *at = (const char *)k->priv->data, *end = at + k->priv->size, *stop;
    uint64_t seen = 0;
    struct line line = {0};
    size_t n = 1;

    if (k->priv->size >= sizeof placeholder && !memcmp(at, placeholder, sizeof placeholder - 1))
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no symbols, it says: %.*s", k->path,
                            (int)(line_end(at, end) - at < 200 ? line_end(at, end) - at : 200) - 19,
                            at + 19);
    for (; at < end; at = stop + 1, n++) {
        stop = line_end(at, end);
        if (stop == at)
            continue;
        if (!parse_line(at, stop, &line))
            return gt_error_set(err, GT_E_FORMAT,
                                "%s:%zu: `%.*s`, expected `address type name [module]`", k->path, n,
                                (int)(stop - at < 60 ? stop - at : 60), at);
        seen |= line.symbol.addr;
        int status =
            line.module ? add_loaded(k, &line) : gt_kernel_add(k, &line.symbol, line.name_size);
        if (status != GT_OK)
            return gt_error_set(err, status, "%s:%zu: %s", k->path, n,
                                gt_error_status_text(status));
        if (end - stop < 1)
            break;
    }
    k->bits = line.digits == 8 ? 32 : 64;
    if (k->n_all && !seen)
        return gt_error_set(err, GT_E_NOT_FOUND,
                            "%s: every address is 0, expected a copy that root made with "
                            "kernel.kptr_restrict below 2",
                            k->path);
    if (finish_modules(k) != GT_OK)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", k->path);
    return GT_OK;
}
