/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which instructions are logged: decided for a whole block when it is translated.
 *
 * Without filters all are; with them those that one of the prefixes or addresses matches; of these
 * those in one of the ranges or functions (where.c), if there are any. With
 * rdisas=on an instruction whose operands name a watched register is logged, too, and registers
 * are looked at only where the next instruction begins, and where a block does: what the last
 * instruction of a block did is seen there. Operands are what follows the first blank; a name
 * counts wherever its letters stand in them.
 */
#include "plugin/execlog/execlog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static GPtrArray *prefixes; /* char, argv's */
static GArray *addresses;   /* uint64_t */

int gt_exlog_add_prefix(const char *value, struct gt_error *err)
{
    if (!*value)
        return gt_error_set(err, GT_E_USAGE,
                            "argument ifilter=: expected how a disassembly begins");
    if (!prefixes)
        prefixes = g_ptr_array_new();
    g_ptr_array_add(prefixes, (char *)value);
    gt_exlog.filtered = true;
    return 0;
}

int gt_exlog_add_address(const char *value, struct gt_error *err)
{
    char *end;
    errno = 0;
    uint64_t address = strtoull(value, &end, 16);
    if (!g_ascii_isxdigit(*value) || *end || errno)
        return gt_error_set(err, GT_E_USAGE, "argument afilter=%.200s: expected a hex address",
                            value);
    if (!addresses)
        addresses = g_array_new(FALSE, FALSE, sizeof address);
    g_array_append_val(addresses, address);
    gt_exlog.filtered = true;
    return 0;
}

static bool matches(const struct gt_exlog_insn *insn)
{
    for (guint i = 0; prefixes && i < prefixes->len; i++)
        if (g_str_has_prefix(insn->disassembly, prefixes->pdata[i]))
            return true;
    for (guint i = 0; addresses && i < addresses->len; i++)
        if (g_array_index(addresses, uint64_t, i) == insn->pc)
            return true;
    return false;
}

void gt_exlog_filter(struct gt_exlog_insn *insns, size_t n)
{
    bool check = gt_exlog.register_globs != NULL;
    for (size_t i = 0; i < n; i++) {
        bool inside = gt_exlog_is_inside(insns[i].pc);
        bool log = !gt_exlog.filtered || matches(&insns[i]);
        bool names = gt_exlog.rdisas && gt_exlog_names_register(insns[i].disassembly);
        if (inside && (log || names))
            insns[i].step = check ? GT_EXLOG_CHECK_LOG : GT_EXLOG_LOG;
        else
            insns[i].step = check ? GT_EXLOG_CHECK : GT_EXLOG_SKIP;
        if (gt_exlog.rdisas)
            check = names;
    }
}
