/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin's arguments: QEMU passes `name=value` words, a table has the type of each. An
 * unknown name or a malformed value is refused in one line that names it and the expected form.
 */
#ifndef GT_QEMU_SUPPORT_ARGS_H
#define GT_QEMU_SUPPORT_ARGS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum gt_support_arg_kind {
    GT_ARG_TEXT,   /* value: const char **; the word lives as long as QEMU's argv */
    GT_ARG_SWITCH, /* on/off, yes/no, true/false, 1/0; value: bool * */
    GT_ARG_NUMBER, /* decimal or 0x hex, [min, max]; value: uint64_t * */
    GT_ARG_CHOICE, /* one of `choices`; value: int *, its index */
    GT_ARG_EACH,   /* any text, several times: `each` accepts or refuses it; value: its self */
};

struct gt_support_arg {
    const char *name;
    enum gt_support_arg_kind kind;
    void *value;
    uint64_t min, max;          /* GT_ARG_NUMBER */
    const char *const *choices; /* GT_ARG_CHOICE, NULL-terminated */
    /* GT_ARG_EACH; the word lives as GT_ARG_TEXT's */
    int (*each)(void *self, const char *word, struct gt_error *err);
};

/* The table ends with a NULL name. A later word for the same name wins. GT_E_USAGE, or what `each`
 * returned. */
int gt_support_args_parse(const struct gt_support_arg *table, int argc, char **argv,
                          struct gt_error *err);

#endif
