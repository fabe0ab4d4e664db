/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files and where they ran: see symbol_source.h. */
#include "cli/symbol_source.h"

#include "cli/number.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

void gt_symbol_source_split(const char *argument, char **path, bool *has_offset, uint64_t *offset)
{
    const char *colon = strrchr(argument, ':');
    *offset = 0;
    *has_offset = colon && gt_number_parse_signed(colon + 1, offset) == 0;
    *path = *has_offset ? g_strndup(argument, (gsize)(colon - argument)) : g_strdup(argument);
}

static int place(struct gt_symbol_source *s, const char *path, bool has_offset,
                 struct gt_error *err)
{
    const struct gt_symbols *f = s->symbols;
    if (f->text_hi <= f->text_lo)
        return gt_error_set(err, GT_E_FORMAT, "%s has no code", path);
    if (f->dynamic && f->load_base == 0 && !has_offset)
        return gt_error_set(err, GT_E_USAGE,
                            "%s is position-independent: say where it ran, %s:ADDRESS", path, path);
    s->text = f->text_lo & ~UINT64_C(0xfff);
    uint64_t start = f->load_base + s->offset + s->text;
    s->start = start & GT_UFTRACE_ADDR_MASK;
    s->end = s->start + (f->text_hi - s->text);
    if (s->end < s->start || s->end > GT_UFTRACE_ADDR_MASK)
        return gt_error_set(err, GT_E_RANGE,
                            "%s: its %" PRIu64 " bytes of code do not fit at 0x%" PRIx64, path,
                            f->text_hi - s->text, start);
    return 0;
}

int gt_symbol_source_load(const char *argument, struct gt_symbol_source *out, struct gt_error *err)
{
    g_autofree char *path = NULL;
    bool has_offset;
    *out = (struct gt_symbol_source){0};
    gt_symbol_source_split(argument, &path, &has_offset, &out->offset);
    int status = gt_symbols_load(path, &out->symbols, err);
    if (status < 0)
        return status;
    status = place(out, path, has_offset, err);
    if (status < 0) {
        gt_symbol_source_clear(out);
        return status;
    }
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    gt_uftrace_path(absolute, out->file, sizeof out->file);
    return 0;
}

void gt_symbol_source_clear(struct gt_symbol_source *s)
{
    gt_symbols_free(s->symbols);
    s->symbols = NULL;
}
