/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a program before it runs. */
#include "filter/regex_program.h"

#include <stdlib.h>

/* The sets that the beginning leads to, whatever the place. */
void gt_regex_find_first(struct gt_regex *r)
{
    uint16_t stack[GT_REGEX_PROGRAM];
    bool seen[GT_REGEX_PROGRAM] = {false};
    size_t n = 0;
    stack[n++] = 0;
    while (n) {
        size_t pc = stack[--n];
        if (seen[pc])
            continue;
        seen[pc] = true;
        const struct gt_regex_insn *i = &r->insn[pc];
        if (i->op == GT_REGEX_MATCH)
            r->may_be_empty = true;
        else if (i->op == GT_REGEX_SET)
            for (size_t k = 0; k < 4; k++)
                r->first.bits[k] |= r->set[i->x].bits[k];
        else
            stack[n++] = (uint16_t)(pc + (i->op >= GT_REGEX_BEGIN ? 1 : i->x));
        if (i->op == GT_REGEX_SPLIT)
            stack[n++] = (uint16_t)(pc + i->y);
    }
}

void gt_regex_free(struct gt_regex *r)
{
    if (!r)
        return;
    free(r->insn);
    free(r->set);
    free(r);
}
