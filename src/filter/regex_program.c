/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a program before it runs. */
#include "filter/regex_program.h"

#include <stdlib.h>
#include <string.h>

/* The sets that the beginning leads to, whatever the place. */
static void find_first(struct gt_regex *r)
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

/* The one byte of a set; -1: it has none, or several. */
static int only_byte(const struct gt_regex_set *s)
{
    int byte = -1;
    for (int i = 0; i < 4; i++) {
        if (!s->bits[i])
            continue;
        if (byte >= 0 || s->bits[i] & (s->bits[i] - 1))
            return -1;
        byte = 64 * i + __builtin_ctzll(s->bits[i]);
    }
    return byte;
}

/* Where the part of the program ends that the split at pc makes optional, or one of two. */
static size_t after_split(const struct gt_regex *r, size_t pc)
{
    size_t end = pc + (size_t)r->insn[pc].y;
    const struct gt_regex_insn *last = &r->insn[end - 1];
    return last->op == GT_REGEX_JUMP && last->x > 0 ? end - 1 + (size_t)last->x : end;
}

/* The longest run of single bytes that every match goes through. */
static void find_part(struct gt_regex *r)
{
    char run[GT_REGEX_PART];
    size_t n = 0, longest = 0;
    for (size_t pc = 0; r->insn[pc].op != GT_REGEX_MATCH;) {
        const struct gt_regex_insn *i = &r->insn[pc];
        int byte = i->op == GT_REGEX_SET ? only_byte(&r->set[i->x]) : -1;
        if (byte > 0 && n + 1 < sizeof run)
            run[n++] = (char)byte;
        else if (i->op <= GT_REGEX_JUMP)
            n = 0;
        if (n > longest) {
            longest = n;
            memcpy(r->part, run, n);
            r->part[n] = 0;
        }
        bool skips = i->op == GT_REGEX_SPLIT && i->x > 0;
        pc = skips ? after_split(r, pc) : pc + 1;
    }
}

void gt_regex_analyse(struct gt_regex *r)
{
    find_first(r);
    find_part(r);
}

void gt_regex_free(struct gt_regex *r)
{
    if (!r)
        return;
    free(r->insn);
    free(r->set);
    free(r);
}
