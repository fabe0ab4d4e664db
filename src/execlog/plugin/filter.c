/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions are logged: see filter.h. */
#include "execlog/plugin/filter.h"

#include "execlog/plugin/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int gt_exlog_add_prefix(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_filter *f = &((struct gt_exlog *)self)->filter;
    if (!*value)
        return gt_error_set(err, GT_E_USAGE,
                            "argument ifilter=: expected how a disassembly begins");
    if (!f->prefixes)
        f->prefixes = g_ptr_array_new();
    g_ptr_array_add(f->prefixes, (char *)value);
    return 0;
}

int gt_exlog_add_address(void *self, const char *value, struct gt_error *err)
{
    struct gt_exlog_filter *f = &((struct gt_exlog *)self)->filter;
    char *end;
    errno = 0;
    uint64_t address = strtoull(value, &end, 16);
    if (!g_ascii_isxdigit(*value) || *end || errno)
        return gt_error_set(err, GT_E_USAGE, "argument afilter=%.200s: expected a hex address",
                            value);
    if (!f->addresses)
        f->addresses = g_array_new(FALSE, FALSE, sizeof address);
    g_array_append_val(f->addresses, address);
    return 0;
}

static bool matches(const struct gt_exlog_filter *f, const struct gt_exlog_insn *insn)
{
    for (guint i = 0; f->prefixes && i < f->prefixes->len; i++)
        if (g_str_has_prefix(insn->disassembly, f->prefixes->pdata[i]))
            return true;
    for (guint i = 0; f->addresses && i < f->addresses->len; i++)
        if (g_array_index(f->addresses, uint64_t, i) == insn->pc)
            return true;
    return false;
}

void gt_exlog_decide_steps(struct gt_exlog *e, struct gt_exlog_insn *insns, size_t n)
{
    const bool filtered = e->filter.prefixes || e->filter.addresses;
    bool check = e->registers.globs != NULL;
    for (size_t i = 0; i < n; i++) {
        bool inside = gt_exlog_is_inside(e, insns[i].pc);
        bool log = !filtered || matches(&e->filter, &insns[i]);
        bool names = e->registers.rdisas && gt_exlog_names_register(e, insns[i].disassembly);
        if (inside && (log || names))
            insns[i].step = check ? GT_EXLOG_CHECK_LOG : GT_EXLOG_LOG;
        else
            insns[i].step = check ? GT_EXLOG_CHECK : GT_EXLOG_SKIP;
        if (e->registers.rdisas)
            check = names;
    }
}

void gt_exlog_filter_fini(struct gt_exlog *e)
{
    if (e->filter.prefixes)
        g_ptr_array_free(e->filter.prefixes, TRUE);
    if (e->filter.addresses)
        g_array_free(e->filter.addresses, TRUE);
}
